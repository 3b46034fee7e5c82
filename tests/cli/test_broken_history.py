"""A broken log line in an old commit: commands that read history ignore it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.stories.workspace import LOG, Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

LINES: Final = {
    "nested 1,200 deep": b'{"type":"line","annotation_id":"x","a":'
    + b"[" * 1200
    + b"]" * 1200
    + b"}",
    "nested deeper than any parser": b"[" * 200_000 + b"]" * 200_000,
    "deep and no record": b"{" * 5_000,
    "a number of 5,000 digits": b'{"type":"line","x":' + b"7" * 5000 + b"}",
    "an id of 5,000 digits": b'{"type":"line","annotation_id":' + b"7" * 5000 + b"}",
    "not UTF-8": b'{"type":"line","annotation_id":"tr\xe9s"}',
    "a lone surrogate": b'{"type":"line","annotation_id":"half \\ud83d"}',
    "out of range": b'{"type":"line","x":1e999}',
    "not a number": b'{"type":"line","annotation_id":NaN}',
    "two ids": b'{"annotation_id":"one","annotation_id":"two"}',
    "NUL": b"\x00" * 50,
    "9 MB": b'{"type":"line","x":"' + b"x" * (9 << 20) + b'"}',
}
COMMANDS: Final = (
    ("blame", "a.py"),
    ("find",),
    ("log",),
    ("diff", "HEAD~2..HEAD"),
    ("gate", "--base", "HEAD~1"),
    ("check", "--base", "HEAD~2"),
    ("stats", "--by", "file"),
    ("stats",),
    ("stats", "--by", "model"),
    ("stats", "--by", "session"),
    ("review", "--list"),
    ("doctor", "a.py"),
    ("query", "SELECT count(*) FROM line_annotations"),
    ("backfill", "--dry-run"),
    ("backfill", "--dry-run"),
    ("backfill",),
    ("backfill",),
    ("merge", "HEAD~2"),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "project", hook=False)
    workspace.init(risk_scoring={"enabled": True})
    workspace.write_as_ai("a.py", "one = 1\ntwo = 2\nthree = 3\n", 1, 3)
    workspace.step("add", ".")
    workspace.step("commit", "-m", "Add a.py")
    return workspace


@pytest.mark.parametrize(
    "name",
    LINES,
)
def test_every_command_ignores_a_broken_line_of_an_old_commit(
    workspace: Workspace, run_vibes: RunVibes, name: str, tmp_path: Path
) -> None:
    log = workspace.path / LOG
    valid_trail = log.read_bytes()
    log.write_bytes(LINES[name] + b"\n" + valid_trail)
    workspace.step("commit", "-am", "Break the log")
    log.write_bytes(valid_trail)
    workspace.step("commit", "-am", "Repair the log")
    for command in (*COMMANDS, ("export", "--current", str(tmp_path / "export"))):
        done = run_vibes(*command, cwd=workspace.path)
        assert done.code in (0, 1), (command, done.err)
        assert "Traceback" not in done.err
    (owner,) = workspace.owners("a.py")
    assert owner[:3] == (1, 3, "exact")


def test_the_hook_works_with_a_broken_line_in_history(workspace: Workspace) -> None:
    log = workspace.path / LOG
    valid_trail = log.read_bytes()
    log.write_bytes(next(iter(LINES.values())) + b"\n" + valid_trail)
    workspace.step("commit", "-am", "Break the log")
    log.write_bytes(valid_trail)
    workspace.step("commit", "-am", "Repair the log")
    workspace.install()
    workspace.write_as_ai("a.py", "one = 1\ntwo = 2\nthree = 3\nfour = 4\n", 4, 4)
    workspace.step("add", ".")
    done = workspace.try_commit("Add four")
    assert (done.returncode, "warning" in done.stderr) == (0, False), done.stderr
    assert workspace.status() == ""
