"""`vibes init --git-hooks` in real repositories: commits run the back-fill, and whatever else they ran before."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.hooked import CALL, OTHER, Hooked, executable, health
from tests.cli.running import vibes

if TYPE_CHECKING:
    from tests.cli.running import Vibes

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the stubs are shell scripts that the system itself runs"
)


def test_a_commit_runs_the_back_fill(hooked: Hooked) -> None:
    done = vibes("init", "--git-hooks", cwd=hooked.root)
    assert (done.code, done.err) == (0, "")
    assert done.lines[-1] == f"hook {hooked.hook}: installed; each commit updates the audit trail"
    assert hooked.commit() == [CALL]
    assert sorted(
        path.name for path in hooked.hook.parent.glob("[!.]*") if not path.name.endswith(".sample")
    ) == ["pre-commit"]


def test_a_hook_that_was_there_runs_with_its_arguments_input_and_exit_code(
    hooked: Hooked, within: Vibes
) -> None:
    executable(hooked.hook, OTHER)
    done = within("init", "--git-hooks", cwd=hooked.root)
    assert done.lines[-1] == "  the previous hook runs after it: pre-commit.before-vibes"
    run = hooked.run("one", "two words", given="input\n", OTHER_EXIT="7")
    assert run.returncode == 7
    assert hooked.said() == [CALL, "other one two words", "input"]
    assert hooked.commit() == [CALL, "other "]


def test_a_hook_that_was_there_and_fails_still_stops_the_commit(
    hooked: Hooked, within: Vibes
) -> None:
    executable(hooked.hook, "#!/bin/sh\nexit 3\n")
    within("init", "--git-hooks", cwd=hooked.root)
    with pytest.raises(RuntimeError, match="git commit"):
        hooked.commit()


@pytest.mark.parametrize(
    "stub",
    ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nkill -9 $$\n", "#!/nowhere/at/all\n"],
    ids=["fails", "dies", "broken"],
)
def test_ours_never_stops_a_commit(hooked: Hooked, within: Vibes, stub: str) -> None:
    executable(hooked.hook, OTHER)
    within("init", "--git-hooks", cwd=hooked.root)
    hooked.stub.write_text(stub)
    assert hooked.commit() == ["other "]
    run = hooked.run()
    assert run.returncode == 0
    assert run.stderr.splitlines()[-1] == "vibes failed: this commit has the audit trail as staged"


def test_without_a_program_it_says_one_line_and_lets_the_commit_pass(
    hooked: Hooked, within: Vibes, tmp_path: Path
) -> None:
    within("init", "--git-hooks", cwd=hooked.root)
    recorded = [line for line in hooked.hook.read_text().splitlines() if line.startswith("vibes=")]
    assert recorded[0].endswith("/vibes")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname"):
        (tools / name).symlink_to(
            next(path for folder in ("/bin", "/usr/bin") if (path := Path(folder, name)).exists())
        )
    executable(
        hooked.hook,
        hooked.hook.read_text().replace(
            recorded[0], "vibes=$(command -v vibes) || vibes=/gone/vibes"
        ),
    )
    run = hooked.run(PATH=str(tools))
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == "vibes is not on PATH: this commit has the audit trail as staged\n"
    assert hooked.said() == []


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "no permission", "none"])
def test_taking_it_out_leaves_what_was_there(hooked: Hooked, within: Vibes, kind: str) -> None:
    if kind == "link":
        executable(hooked.root / "tools" / "check.sh", OTHER)
    if "link" in kind:
        hooked.hook.symlink_to("../../tools/check.sh")
    elif kind != "none":
        executable(hooked.hook, OTHER).chmod(0o600 if kind == "no permission" else 0o750)
    before = [
        (path.name, stat.S_IMODE(path.lstat().st_mode), path.is_symlink())
        for path in sorted(hooked.hook.parent.iterdir())
    ]
    within("init", "--git-hooks", cwd=hooked.root)
    assert hooked.commit() == [CALL, *(["other "] if kind in {"file", "link"} else [])]
    done = within("init", "--remove-git-hooks", cwd=hooked.root)
    assert done.lines[0] == f"hook {hooked.hook}: removed"
    assert [
        (path.name, stat.S_IMODE(path.lstat().st_mode), path.is_symlink())
        for path in sorted(hooked.hook.parent.iterdir())
    ] == before
    assert kind in {"none", "dangling link"} or hooked.hook.read_text() == OTHER
    assert hooked.commit() == (["other "] if kind in {"file", "link"} else [])
    assert within("init", "--remove-git-hooks", cwd=hooked.root).lines == [
        f"hook {hooked.hook}: not installed"
    ]


def test_a_second_time_changes_nothing(hooked: Hooked, within: Vibes) -> None:
    executable(hooked.hook, OTHER)
    within("init", "--git-hooks", cwd=hooked.root)
    before = hooked.hook.stat()
    done = within("init", "--git-hooks", "--json", cwd=hooked.root)
    assert done.json["hook"] == {
        "file": str(hooked.hook),
        "change": "kept",
        "before": str(hooked.before),
    }
    assert hooked.hook.stat() == before


def test_one_of_another_version_is_brought_up_to_date(hooked: Hooked, within: Vibes) -> None:
    body = b"back_fill .\nexit 0\n"
    executable(hooked.hook, "")
    hooked.hook.write_bytes(
        b"#!/bin/sh\n# vibes-lsp pre-commit hook 99, sha256 of what follows: %s\n"
        % hashlib.sha256(body).hexdigest().encode()
        + body
    )
    within("init", cwd=hooked.root)
    assert health(within("doctor", "--json", cwd=hooked.root))[1].endswith(
        "was installed by another version of vibes"
    )
    assert (
        within("init", "--git-hooks", "--json", cwd=hooked.root).json["hook"]["change"] == "updated"
    )
    assert hooked.commit() == [CALL]
    assert health(within("doctor", "--json", cwd=hooked.root))[0] == "ok"


def test_one_that_somebody_changed_is_left_alone(hooked: Hooked, within: Vibes) -> None:
    within("init", "--git-hooks", cwd=hooked.root)
    executable(hooked.hook, hooked.hook.read_text() + "echo mine\n")
    changed = hooked.hook.read_text()
    for option in ("--git-hooks", "--remove-git-hooks"):
        done = within("init", option, cwd=hooked.root)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert f"{hooked.hook} was modified since it was installed" in done.err
    assert hooked.hook.read_text() == changed
    assert health(within("doctor", "--json", cwd=hooked.root)) == (
        "problem",
        f"{hooked.hook} was modified since it was installed",
    )


def test_a_hook_that_took_the_place_of_ours_is_left_alone(hooked: Hooked, within: Vibes) -> None:
    executable(hooked.hook, OTHER)
    within("init", "--git-hooks", cwd=hooked.root)
    executable(hooked.hook, "#!/bin/sh\nexit 0\n")
    done = within("init", "--git-hooks", cwd=hooked.root)
    assert done.code == 2
    assert f"{hooked.before} exists, but" in done.err
    assert (hooked.hook.read_text(), hooked.before.read_text()) == ("#!/bin/sh\nexit 0\n", OTHER)
    assert health(within("doctor", "--json", cwd=hooked.root))[0] == "problem"


def test_an_installation_that_was_cut_short_is_finished(hooked: Hooked, within: Vibes) -> None:
    executable(hooked.before, OTHER)
    assert within("init", "--git-hooks", cwd=hooked.root).code == 0
    assert hooked.commit() == [CALL, "other "]


def test_several_projects_of_one_repository_share_it(hooked: Hooked, within: Vibes) -> None:
    names = ["a b", "it's", "deep/er"]
    for name in names:
        (hooked.root / name).mkdir(parents=True)
        within("init", name, "--git-hooks", cwd=hooked.root)
    calls = [f"vibes backfill --pre-commit --audit-dir {name}/.ai-audit" for name in sorted(names)]
    assert hooked.commit() == calls
    within("init", "it's", "--remove-git-hooks", cwd=hooked.root)
    assert hooked.commit() == [call for call in calls if "it's" not in call]
    for file in (hooked.root / "a b" / ".ai-audit").iterdir():
        file.unlink()
    (hooked.root / "a b" / ".ai-audit").rmdir()
    assert hooked.commit() == [call for call in calls if "deep" in call]
