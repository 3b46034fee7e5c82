"""`vibes init --git-hooks` in real repositories: commits run the backfill and the previous hook."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.hook_repository import CALL, OTHER, HookRepository, executable, health
from tests.cli.run_vibes import vibes
from vibes_lsp.store.file_stamps import file_stamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.run_vibes import RunVibes

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="the stubs are shell scripts that the system itself runs"
)


def test_a_commit_runs_the_backfill(hook_repository: HookRepository) -> None:
    done = vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert (done.code, done.err) == (0, "")
    installed = (
        f"hook {hook_repository.hook}: installed; records wait for the commit of their lines"
    )
    assert installed in done.lines
    assert hook_repository.commit() == [CALL]
    assert sorted(
        path.name
        for path in hook_repository.hook.parent.glob("[!.]*")
        if not path.name.endswith(".sample")
    ) == ["pre-commit"]


def test_a_previous_hook_runs_with_its_arguments_input_and_exit_code(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    executable(hook_repository.hook, OTHER)
    done = run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert "  the previous hook runs before it: pre-commit.before-vibes" in done.lines
    run = hook_repository.run("one", "two words", given="input\n", OTHER_EXIT="7")
    assert run.returncode == 7
    assert hook_repository.calls() == ["other one two words", "input"], (
        "nothing is written for a commit that the other hook refuses"
    )
    assert hook_repository.commit() == ["other ", CALL]


def test_a_previous_hook_that_fails_still_stops_the_commit(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    executable(hook_repository.hook, "#!/bin/sh\nexit 3\n")
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    with pytest.raises(RuntimeError, match="git commit"):
        hook_repository.commit()


@pytest.mark.parametrize(
    "stub",
    ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nkill -9 $$\n", "#!/nowhere/at/all\n"],
    ids=["fails", "dies", "broken"],
)
def test_the_hook_never_stops_a_commit(
    hook_repository: HookRepository, run_vibes: RunVibes, stub: str
) -> None:
    executable(hook_repository.hook, OTHER)
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    hook_repository.stub.write_text(stub)
    assert hook_repository.commit() == ["other "]
    run = hook_repository.run()
    assert run.returncode == 0
    assert run.stderr.splitlines()[-1] == "vibes failed: this commit has the audit trail as staged"


def test_without_a_program_it_says_one_line_and_lets_the_commit_pass(
    hook_repository: HookRepository, run_vibes: RunVibes, tmp_path: Path
) -> None:
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    recorded = [
        line for line in hook_repository.hook.read_text().splitlines() if line.startswith("vibes=")
    ]
    assert recorded[0].endswith("/vibes")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname"):
        (tools / name).symlink_to(
            next(path for folder in ("/bin", "/usr/bin") if (path := Path(folder, name)).exists())
        )
    executable(
        hook_repository.hook,
        hook_repository.hook.read_text().replace(
            recorded[0], "vibes=$(command -v vibes) || vibes=/gone/vibes"
        ),
    )
    run = hook_repository.run(PATH=str(tools))
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == "vibes is not on PATH: this commit has the audit trail as staged\n"
    assert hook_repository.calls() == []


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "no permission", "none"])
def test_removing_it_restores_the_previous_hook(
    hook_repository: HookRepository, run_vibes: RunVibes, kind: str
) -> None:
    if kind == "link":
        executable(hook_repository.root / "tools" / "check.sh", OTHER)
    if "link" in kind:
        hook_repository.hook.symlink_to("../../tools/check.sh")
    elif kind != "none":
        executable(hook_repository.hook, OTHER).chmod(0o600 if kind == "no permission" else 0o750)
    before = [
        (path.name, stat.S_IMODE(path.lstat().st_mode), path.is_symlink())
        for path in sorted(hook_repository.hook.parent.iterdir())
    ]
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert hook_repository.commit() == [*(["other "] if kind in {"file", "link"} else []), CALL]
    done = run_vibes("init", "--remove-git-hooks", cwd=hook_repository.root)
    assert done.lines[0] == f"hook {hook_repository.hook}: removed"
    assert [
        (path.name, stat.S_IMODE(path.lstat().st_mode), path.is_symlink())
        for path in sorted(hook_repository.hook.parent.iterdir())
    ] == before
    assert kind in {"none", "dangling link"} or hook_repository.hook.read_text() == OTHER
    assert hook_repository.commit() == (["other "] if kind in {"file", "link"} else [])
    assert run_vibes("init", "--remove-git-hooks", cwd=hook_repository.root).lines == [
        f"hook {hook_repository.hook}: not installed"
    ]


def test_a_second_time_changes_nothing(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    executable(hook_repository.hook, OTHER)
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    before = file_stamp(hook_repository.hook)
    done = run_vibes("init", "--git-hooks", "--json", cwd=hook_repository.root)
    assert done.json["hook"] == {
        "file": str(hook_repository.hook),
        "change": "kept",
        "before": str(hook_repository.before),
    }
    assert file_stamp(hook_repository.hook) == before


def test_a_hook_of_another_version_is_updated(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    body = b"back_fill .\nexit 0\n"
    executable(hook_repository.hook, "")
    hook_repository.hook.write_bytes(
        b"#!/bin/sh\n# vibes-lsp pre-commit hook 99, sha256 of what follows: %s\n"
        % hashlib.sha256(body).hexdigest().encode()
        + body
    )
    run_vibes("init", "--no-git-hooks", cwd=hook_repository.root)
    assert health(run_vibes("doctor", "--json", cwd=hook_repository.root))[1].endswith(
        "was installed by another version of vibes"
    )
    assert (
        run_vibes("init", "--git-hooks", "--json", cwd=hook_repository.root).json["hook"]["change"]
        == "updated"
    )
    assert hook_repository.commit() == [CALL]
    assert health(run_vibes("doctor", "--json", cwd=hook_repository.root))[0] == "ok"


def test_init_installs_it_unless_declined(
    hook_repository: HookRepository, run_vibes: RunVibes, tmp_path: Path
) -> None:
    done = run_vibes("init", "--no-git-hooks", "--json", cwd=hook_repository.root)
    assert "hook" not in done.json
    assert not hook_repository.hook.exists()
    done = run_vibes("init", "--json", cwd=hook_repository.root)
    assert done.json["hook"]["change"] == "installed"
    (tmp_path / "elsewhere").mkdir()
    done = run_vibes("init", cwd=tmp_path / "elsewhere")
    assert (done.code, done.err) == (0, ""), "outside a repository there is no hook"


def test_init_says_why_it_cannot_install_it(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    hook_repository.hook.mkdir()
    done = run_vibes("init", cwd=hook_repository.root)
    assert done.code == 0
    assert "no git hook" in done.err
    assert f"{hook_repository.hook} is a folder" in done.err


def test_a_changed_hook_is_not_touched(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    executable(hook_repository.hook, hook_repository.hook.read_text() + "echo mine\n")
    changed = hook_repository.hook.read_text()
    for option in ("--git-hooks", "--remove-git-hooks"):
        done = run_vibes("init", option, cwd=hook_repository.root)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert f"{hook_repository.hook} was modified since it was installed" in done.err
    assert hook_repository.hook.read_text() == changed
    assert health(run_vibes("doctor", "--json", cwd=hook_repository.root)) == (
        "problem",
        f"{hook_repository.hook} was modified since it was installed",
    )


def test_a_hook_that_replaced_it_is_not_touched(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    executable(hook_repository.hook, OTHER)
    run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    executable(hook_repository.hook, "#!/bin/sh\nexit 0\n")
    done = run_vibes("init", "--git-hooks", cwd=hook_repository.root)
    assert done.code == 2
    assert f"{hook_repository.before} exists, but" in done.err
    assert (hook_repository.hook.read_text(), hook_repository.before.read_text()) == (
        "#!/bin/sh\nexit 0\n",
        OTHER,
    )
    assert health(run_vibes("doctor", "--json", cwd=hook_repository.root))[0] == "problem"


def test_an_interrupted_installation_is_completed(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    executable(hook_repository.before, OTHER)
    assert run_vibes("init", "--git-hooks", cwd=hook_repository.root).code == 0
    assert hook_repository.commit() == ["other ", CALL]


def test_a_hook_runs_at_every_moment_of_the_installation(
    hook_repository: HookRepository, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed program leaves what was there before one of its steps."""
    executable(hook_repository.hook, OTHER)
    hooks: list[bool] = []

    def watched(real: Callable[..., None]) -> Callable[..., None]:
        def step(*given: object, **more: object) -> None:
            hooks.append(os.access(hook_repository.hook, os.X_OK))
            real(*given, **more)

        return step

    for name in ("link", "rename", "replace"):
        monkeypatch.setattr(os, name, watched(getattr(os, name)))
    assert run_vibes("init", "--git-hooks", cwd=hook_repository.root).code == 0
    assert len(hooks) > 1
    assert all(hooks)
    assert hook_repository.commit() == ["other ", CALL]


def test_an_installation_that_ended_before_its_last_step_is_completed(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    executable(hook_repository.hook, OTHER)
    hook_repository.before.hardlink_to(hook_repository.hook)
    assert run_vibes("init", "--git-hooks", cwd=hook_repository.root).code == 0
    assert hook_repository.commit() == ["other ", CALL]


def test_several_projects_of_one_repository_share_it(
    hook_repository: HookRepository, run_vibes: RunVibes
) -> None:
    names = ["a b", "it's", "deep/er"]
    for name in names:
        (hook_repository.root / name).mkdir(parents=True)
        run_vibes("init", name, "--git-hooks", cwd=hook_repository.root)
    calls = [f"vibes backfill --pre-commit --audit-dir {name}/.ai-audit" for name in sorted(names)]
    assert hook_repository.commit() == calls
    run_vibes("init", "it's", "--remove-git-hooks", cwd=hook_repository.root)
    assert hook_repository.commit() == [call for call in calls if "it's" not in call]
    for file in (hook_repository.root / "a b" / ".ai-audit").iterdir():
        file.unlink()
    (hook_repository.root / "a b" / ".ai-audit").rmdir()
    left = [call for call in calls if "it's" not in call]
    assert hook_repository.commit() == left  # HEAD has the trail: `vibes` would stop the commit
    assert hook_repository.commit() == [call for call in calls if "deep" in call]
