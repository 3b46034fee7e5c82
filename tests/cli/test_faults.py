"""An internal error is one line with a report id, exit code 2 and no text of the audit trail."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.run_vibes import clean_environment
from tests.fault_injection import FAULT_TEXT, command_with_fault
from tests.stories.workspace import Workspace
from vibes_lsp.cli.main import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

LINE: Final = re.compile(
    r"vibes: internal error ([0-9a-f]{8}): KeyError in \S+:\d+; please report this line as a bug of vibes; .*VIBES_DEBUG=1.*\n"
)
ARGUMENTS: Final[dict[str, list[str]]] = {
    "blame": ["src/auth.py"],
    "diff": ["HEAD~1..HEAD"],
    "query": ["SELECT 1"],
    "export": ["--current", "elsewhere"],
    "show": ["0"],
    "record": ["session-end", "--input", "request.json"],
    "merge": ["HEAD"],
    "review": ["--list"],
    "demo": ["elsewhere"],
    "init": ["elsewhere"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_ends_in_one_line(
    project: Project, run_vibes_unchecked: RunVibes, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def fails(*_arguments: object, **_named: object) -> object:
        raise KeyError(FAULT_TEXT)

    monkeypatch.setattr("click.Command.invoke", fails)
    (project.root / "request.json").write_text('{"sessionId":"x"}')
    done = run_vibes_unchecked(command, *ARGUMENTS.get(command, []), cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert LINE.fullmatch(done.err), done.err
    assert FAULT_TEXT not in done.err


@pytest.mark.parametrize(
    "error",
    [
        RecursionError,
        MemoryError,
        AssertionError,
        UnicodeEncodeError("utf-8", "x", 0, 1, FAULT_TEXT),
        StopIteration,
    ],
)
def test_any_exception(
    project: Project,
    run_vibes_unchecked: RunVibes,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception | type[Exception],
) -> None:
    def fails(*_arguments: object, **_named: object) -> object:
        raise error

    monkeypatch.setattr("vibes_lsp.trail.trail.Trail.refresh", fails)
    done = run_vibes_unchecked("log", cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("vibes: internal error ")
    assert FAULT_TEXT not in done.err


def run(command: list[str], cwd: Path, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_same_fault_has_the_same_id_and_its_details_on_demand(project: Project) -> None:
    command = command_with_fault("vibes_lsp.cli.main", "vibes_lsp.trail.trail:Trail.refresh", "log")
    one, other = run(command, project.root), run(command, project.root)
    assert one == other
    assert (one[0], one[1]) == (2, "")
    assert LINE.fullmatch(one[2])
    code, out, err = run(command, project.root, VIBES_DEBUG="1")
    assert (code, out) == (2, "")
    assert "Traceback" in err
    assert FAULT_TEXT in err
    elsewhere = run(
        command_with_fault("vibes_lsp.cli.main", "vibes_lsp.trail.lineage:build_lineages", "find"),
        project.root,
    )
    assert one[2][:40] != elsewhere[2][:40]


@pytest.mark.parametrize(
    "place",
    [
        "vibes_lsp.maintenance.pre_commit:prepare_commit",
        "vibes_lsp.maintenance.pre_commit:_backfill",
        "vibes_lsp.maintenance.pre_commit:_trails",
        "vibes_lsp.maintenance.pre_commit:journal_files",
        "vibes_lsp.git.staging:CommitIndex.stage",
    ],
)
def test_a_commit_succeeds_with_any_error_of_the_hook(tmp_path: Path, place: str) -> None:
    workspace = Workspace(tmp_path / "project")
    workspace.init()
    workspace.write_as_ai("a.py", "one = 1\ntwo = 2\nthree = 3\n", 1, 3)
    hook = workspace.path / ".git/hooks/pre-commit"
    command = shlex.join(
        command_with_fault("vibes_lsp.cli.main", place, "backfill", "--pre-commit")
    )
    hook.write_text(f"#!/bin/sh\nPYTHONPATH= exec {command}\n", encoding="utf-8", newline="\n")
    workspace.git("add", "a.py")
    done = workspace.try_commit("Add a.py")
    assert done.returncode == 0, done.stderr
    assert re.search(r"vibes: warning: .*internal error [0-9a-f]{8}: KeyError in ", done.stderr), (
        done.stderr
    )
    assert "Traceback" not in done.stderr
    assert FAULT_TEXT not in done.stderr
