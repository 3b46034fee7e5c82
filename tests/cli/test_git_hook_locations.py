"""Where the pre-commit hook is installed, and what `vibes doctor` reports about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.hook_repository import CALL, OTHER, HookRepository, executable, health
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the stubs are shell scripts that the system itself runs"
)


def test_hooks_in_the_work_tree(hook_repository: HookRepository, run_vibes: RunVibes) -> None:
    hook_repository.repository.git("config", "core.hooksPath", "tools/hooks")
    hook = executable(hook_repository.root / "tools" / "hooks" / "pre-commit", OTHER)
    (hook_repository.root / "sub").mkdir()
    done = run_vibes("init", "../", "--git-hooks", cwd=hook_repository.root / "sub")
    assert "  it is in the work tree (core.hooksPath): commit it to share it" in done.lines
    assert "vibes=''" in hook.read_text(), "no path of this machine in a file for everybody"
    assert hook_repository.commit() == ["other ", CALL]
    assert not hook_repository.hook.exists()


@pytest.mark.parametrize(
    "place", ["absolute", "home", "linked", "", "/dev/null", "for every repository"]
)
def test_hooks_that_are_not_the_repositorys_own_are_left_alone(
    hook_repository: HookRepository, run_vibes: RunVibes, tmp_path: Path, place: str
) -> None:
    outside = tmp_path / "home" / "hooks"
    outside.mkdir(parents=True)
    (hook_repository.root / "linked").symlink_to(outside, target_is_directory=True)
    value = {"absolute": str(outside), "home": "~/hooks", "for every repository": str(outside)}.get(
        place, place
    )
    where = ["--file", str(tmp_path / "gitconfig")] if place == "for every repository" else []
    hook_repository.repository.git("config", *where, "core.hooksPath", value)
    done = run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "core.hooksPath is" in done.err
    assert list(outside.iterdir()) == []
    assert not hook_repository.hook.exists()


def test_a_hooks_folder_that_leads_out_of_the_repository_is_left_alone(
    hook_repository: HookRepository, run_vibes: RunVibes, tmp_path: Path
) -> None:
    hook_repository.hook.parent.rename(tmp_path / "shared")
    hook_repository.hook.parent.symlink_to(tmp_path / "shared", target_is_directory=True)
    done = run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert done.code == 2
    assert "is a link out of the repository" in done.err
    assert not (tmp_path / "shared" / "pre-commit").exists()


def test_a_folder_in_place_of_the_hook_is_reported(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    hook_repository.hook.mkdir()
    done = run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{hook_repository.hook} is a folder" in done.err


def test_hooks_that_another_tool_generates_are_not_changed(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    hook_repository.repository.git("config", "core.hooksPath", ".husky/_")
    own = executable(hook_repository.root / ".husky" / "_" / "pre-commit", "#!/bin/sh\n")
    done = run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert done.code == 2
    assert "add the line `vibes backfill --pre-commit` to .husky/pre-commit" in done.err
    assert own.read_text() == "#!/bin/sh\n"
    assert health(run_vibes("doctor", "--json", cwd=hook_repository.root))[0] == "note"
    executable(hook_repository.root / ".husky" / "pre-commit", "vibes backfill --pre-commit\n")
    assert health(run_vibes("doctor", "--json", cwd=hook_repository.root)) == (
        "ok",
        f"{hook_repository.root / '.husky' / 'pre-commit'} runs `vibes backfill`",
    )


def test_every_work_tree_runs_it(
    hook_repository: HookRepository, run_vibes: RunVibes, tmp_path: Path
) -> None:
    run_vibes("init", cwd=hook_repository.root)
    hook_repository.commit()
    hook_repository.repository.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    done = run_vibes("init", "--git-hooks", "--json", cwd=tmp_path / "other")
    assert done.json["hook"]["file"] == str(hook_repository.hook)
    assert hook_repository.commit(tmp_path / "other") == hook_repository.commit() == [CALL]


def test_a_submodule_has_hooks_of_its_own(
    hook_repository: HookRepository, run_vibes: RunVibes, tmp_path: Path
) -> None:
    inner = Repository(tmp_path / "inner")
    inner.commit("Begin")
    hook_repository.repository.add_submodule(inner, "sub")
    run_vibes("init", "sub", "--git-hooks", cwd=hook_repository.root)
    assert hook_repository.commit(hook_repository.root / "sub") == [CALL]
    assert hook_repository.commit() == []


def test_without_git_it_is_wrong_use(tmp_path: Path, run_vibes: RunVibes) -> None:
    for option in ("--git-hooks", "--remove-git-hooks"):
        done = run_vibes("init", option, cwd=tmp_path)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "is not in a git work tree" in done.err


def test_the_doctor_reports_each_reason_why_the_hook_does_not_run(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    def seen() -> tuple[str, str]:
        return health(run_vibes("doctor", "--json", cwd=hook_repository.root))

    run_vibes("init", "--no-git-hooks", cwd=hook_repository.root)
    assert seen() == ("note", "no pre-commit hook updates the audit trail")
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert seen() == ("ok", f"{hook_repository.hook} updates the audit trail")
    hook_repository.hook.chmod(0o644)
    assert seen() == ("problem", f"{hook_repository.hook} is not executable, so git ignores it")
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert seen()[0] == "ok"
    hook_repository.repository.git("config", "core.hooksPath", "tools")
    assert seen() == (
        "problem",
        f"git does not run {hook_repository.hook}: core.hooksPath is 'tools'",
    )
    assert hook_repository.commit() == []
    assert run_vibes("init", "--remove-git-hooks", cwd=hook_repository.root).lines == [
        f"hook {hook_repository.hook}: removed"
    ]
    assert seen()[0] == "note"
