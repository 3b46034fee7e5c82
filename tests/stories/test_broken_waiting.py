"""What waits for a commit (R29) is broken, or something else is in its place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.stories.workspace import Workspace
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.waiting import records_in_journal, waiting_place

if TYPE_CHECKING:
    from pathlib import Path

LINES = "".join(
    f"def function_{number}(value):\n    return value * {number}001\n" for number in (1, 2)
)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A repository with an installed hook."""
    made = Workspace(tmp_path / "work", hook=False)
    assert vibes("init", "--project-name", "p", cwd=made.path).code == 0
    made.write("app.py", "# an app\n")
    made.step("add", "--all")
    made.step("commit", "-m", "Begin")
    return made


def test_a_broken_line_among_what_waits_is_said_and_hides_nothing(work: Workspace) -> None:
    place = waiting_place(AuditDir(work.path / ".ai-audit"))
    assert place is not None
    edit = work.write_as_ai("app.py", LINES, 1, 2)
    with place.records.open("a", encoding="utf-8") as file:
        file.write('{"annotation_id":"cut of\n')
    more = work.write_as_ai("app.py", LINES, 3, 4)
    listed = vibes("log", "--waiting", "--json", cwd=work.path).json["records"]
    assert [each["id"] for each in listed] == [edit, more]
    steps = vibes("doctor", "--json", cwd=work.path).json["steps"]
    told = [each["message"] for each in steps if each["health"] == "problem"]
    assert any(str(place.records) in each and "is no record" in each for each in told), told
    done = vibes("check", "--json", cwd=work.path)
    assert [each["message"] for each in done.json["findings"] if each["severity"] == "error"] == [
        "unterminated string starting (column 18), in what waits for a commit"
    ]


@pytest.mark.parametrize("level", [b'"m\xffdium"', b'"medium","assurance_level":"low"'])
def test_a_damaged_record_among_what_waits_stops_no_other(work: Workspace, level: bytes) -> None:
    place = waiting_place(AuditDir(work.path / ".ai-audit"))
    assert place is not None
    edit = work.write_as_ai("app.py", LINES, 1, 2)
    [line] = [line for line in place.records.read_bytes().split(b"\n") if b'"line"' in line]
    damaged = line.replace(edit.encode(), edit[::-1].encode()).replace(b'"medium"', level)
    with place.records.open("ab") as file:
        file.write(damaged + b"\n")
    work.step("commit", "-am", "Work")
    assert edit in work.git("show", "HEAD:.ai-audit/annotations.jsonl")
    assert vibes("flush", cwd=work.path).code == 0


def test_a_pipe_in_the_place_of_what_waits_is_named(work: Workspace) -> None:
    place = waiting_place(AuditDir(work.path / ".ai-audit"))
    assert place is not None
    place.records.unlink(missing_ok=True)
    os.mkfifo(place.records)
    with pytest.raises(RefusedWrite) as refused:
        work.write_as_ai("app.py", LINES, 1, 2)
    assert str(refused.value.hint).startswith("move it away: expected a file")


def test_what_waits_in_a_file_that_git_tracks_enters_no_log(work: Workspace) -> None:
    directory = AuditDir(work.path / ".ai-audit")
    edit = work.write_as_ai("app.py", LINES, 1, 2)
    place = waiting_place(directory)
    assert place is not None
    directory.journal.mkdir(exist_ok=True)
    place.records.rename(records_in_journal(directory))
    work.git("add", "--force", ".ai-audit/wal/waiting")
    work.git("add", "app.py")
    committed = work.try_commit("Forged")
    assert "is tracked by git" in committed.stderr
    assert edit not in work.git("show", "HEAD:.ai-audit/annotations.jsonl")
    assert edit not in vibes("flush", "--json", cwd=work.path).json["written"]
