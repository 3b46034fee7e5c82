"""Where our hook goes, and where not: work trees, submodules, `core.hooksPath`; and what `vibes doctor` says of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.hooked import CALL, OTHER, Hooked, executable, health
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Vibes

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the stubs are shell scripts that the system itself runs"
)


def test_hooks_in_the_work_tree(hooked: Hooked, within: Vibes) -> None:
    hooked.repository.git("config", "core.hooksPath", "tools/hooks")
    hook = executable(hooked.root / "tools" / "hooks" / "pre-commit", OTHER)
    (hooked.root / "sub").mkdir()
    done = within("init", "../", "--git-hooks", cwd=hooked.root / "sub")
    assert done.lines[-1] == "  it is in the work tree (core.hooksPath): commit it to share it"
    assert "vibes=''" in hook.read_text(), "no path of this machine in a file for everybody"
    assert hooked.commit() == [CALL, "other "]
    assert not hooked.hook.exists()


@pytest.mark.parametrize(
    "place", ["absolute", "home", "linked", "", "/dev/null", "for every repository"]
)
def test_hooks_that_are_not_the_repositorys_own_are_left_alone(
    hooked: Hooked, within: Vibes, tmp_path: Path, place: str
) -> None:
    outside = tmp_path / "home" / "hooks"
    outside.mkdir(parents=True)
    (hooked.root / "linked").symlink_to(outside, target_is_directory=True)
    value = {"absolute": str(outside), "home": "~/hooks", "for every repository": str(outside)}.get(
        place, place
    )
    where = ["--file", str(tmp_path / "gitconfig")] if place == "for every repository" else []
    hooked.repository.git("config", *where, "core.hooksPath", value)
    done = within("init", "--git-hooks", cwd=hooked.root)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "core.hooksPath is" in done.err
    assert list(outside.iterdir()) == []
    assert not hooked.hook.exists()


def test_a_hooks_folder_that_leads_out_of_the_repository_is_left_alone(
    hooked: Hooked, within: Vibes, tmp_path: Path
) -> None:
    hooked.hook.parent.rename(tmp_path / "shared")
    hooked.hook.parent.symlink_to(tmp_path / "shared", target_is_directory=True)
    done = within("init", "--git-hooks", cwd=hooked.root)
    assert done.code == 2
    assert "is a link out of the repository" in done.err
    assert not (tmp_path / "shared" / "pre-commit").exists()


def test_what_is_in_the_way_is_said(hooked: Hooked, within: Vibes) -> None:
    hooked.hook.mkdir()
    done = within("init", "--git-hooks", cwd=hooked.root)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{hooked.hook} is a folder" in done.err


def test_hooks_that_another_tool_makes_anew_are_not_ours_to_change(
    hooked: Hooked, within: Vibes
) -> None:
    hooked.repository.git("config", "core.hooksPath", ".husky/_")
    own = executable(hooked.root / ".husky" / "_" / "pre-commit", "#!/bin/sh\n")
    done = within("init", "--git-hooks", cwd=hooked.root)
    assert done.code == 2
    assert "add the line `vibes backfill --pre-commit` to .husky/pre-commit" in done.err
    assert own.read_text() == "#!/bin/sh\n"
    assert health(within("doctor", "--json", cwd=hooked.root))[0] == "note"
    executable(hooked.root / ".husky" / "pre-commit", "vibes backfill --pre-commit\n")
    assert health(within("doctor", "--json", cwd=hooked.root)) == (
        "ok",
        f"{hooked.root / '.husky' / 'pre-commit'} runs `vibes backfill`",
    )


def test_every_work_tree_runs_it(hooked: Hooked, within: Vibes, tmp_path: Path) -> None:
    within("init", cwd=hooked.root)
    hooked.commit()
    hooked.repository.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    done = within("init", "--git-hooks", "--json", cwd=tmp_path / "other")
    assert done.json["hook"]["file"] == str(hooked.hook)
    assert hooked.commit(tmp_path / "other") == hooked.commit() == [CALL]


def test_a_submodule_has_hooks_of_its_own(hooked: Hooked, within: Vibes, tmp_path: Path) -> None:
    inner = Repository(tmp_path / "inner")
    inner.commit("Begin")
    hooked.repository.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.path), "sub"
    )
    within("init", "sub", "--git-hooks", cwd=hooked.root)
    assert hooked.commit(hooked.root / "sub") == [CALL]
    assert hooked.commit() == []


def test_without_git_it_is_wrong_use(tmp_path: Path, within: Vibes) -> None:
    for option in ("--git-hooks", "--remove-git-hooks"):
        done = within("init", option, cwd=tmp_path)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "is not in a git work tree" in done.err


def test_the_doctor_tells_of_every_way_in_which_it_does_not_run(
    hooked: Hooked, within: Vibes
) -> None:
    def seen() -> tuple[str, str]:
        return health(within("doctor", "--json", cwd=hooked.root))

    within("init", cwd=hooked.root)
    assert seen() == ("note", "no pre-commit hook updates the trail")
    within("init", "--git-hooks", cwd=hooked.root)
    assert seen() == ("ok", f"{hooked.hook} updates the trail")
    hooked.hook.chmod(0o644)
    assert seen() == ("problem", f"{hooked.hook} is not executable, so git ignores it")
    within("init", "--git-hooks", cwd=hooked.root)
    assert seen()[0] == "ok"
    hooked.repository.git("config", "core.hooksPath", "tools")
    assert seen() == ("problem", f"git does not run {hooked.hook}: core.hooksPath is 'tools'")
    assert hooked.commit() == []
    assert within("init", "--remove-git-hooks", cwd=hooked.root).lines == [
        f"hook {hooked.hook}: removed"
    ]
    assert seen()[0] == "note"
