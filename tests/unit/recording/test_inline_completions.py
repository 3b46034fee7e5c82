"""Inline completions: one annotation for all parts, each part once, nothing that was undone."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.requirements import REPOSITORY
from tests.unit.recording.projects import (
    MODEL,
    PROMPT,
    SOURCE,
    TOOL,
    Project,
    new_project,
    session_origin,
)
from tests.unit.recording.request_builders import Completion, review_request
from vibes_lsp.recording import EndSession, Origin, Recorder, WrongArgument
from vibes_lsp.recording.requests import REQUESTS, parse
from vibes_lsp.recording.results import Pending, Recorded
from vibes_lsp.trail.pending_completions import PendingCompletions as Waiting

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = Origin(tool=TOOL, model=MODEL, prompt=PROMPT)
HALF = "def half(one):\n    return one / 2\n"
PUT = Completion("a.py", "c1", (7, 0), (7, 0), HALF, SOURCE)
"""Puts a function before the last one of the source, on lines 8 and 9."""
WITH_HALF = SOURCE.replace("\n\ndef same", "\n" + HALF + "\ndef same")
KILLED = """
import os, signal, sys
from tests.unit.recording.request_builders import Completion
from vibes_lsp.recording import Origin, Recorder
origin = Origin(session_id="s1")
print(Recorder(sys.argv[1]).execute(Completion("a.py", "c1", (7, 0), (7, 0), "one = 1", part=1, final=False).request(origin)))
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def recorded(answer: Recorded | Pending) -> Recorded:
    assert isinstance(answer, Recorded)
    assert answer.record is not None
    return answer


def lines(answer: Recorded | Pending) -> tuple[int, int]:
    record = recorded(answer).record
    assert record is not None
    return record["line_start"], record["line_end"]


def words(*parts: str, text: str = SOURCE, line: int = 7) -> list[Completion]:
    """Return the acceptance of a completion part by part, each at the end of the one before."""
    found, column = [], 0
    for number, part in enumerate(parts, 1):
        place = (line, column)
        found.append(
            Completion(
                "a.py", "c1", place, place, part, text, part=number, final=number == len(parts)
            )
        )
        rows = text.split("\n")
        rows[line] = rows[line][:column] + part + rows[line][column:]
        text = "\n".join(rows)
        line, column = (
            line + part.count("\n"),
            len(part.rpartition("\n")[2]) + (0 if "\n" in part else column),
        )
    return found


def test_a_completion_is_recorded_with_its_prompt(project: Project) -> None:
    project.file("a.py")
    answer = project.recorder.execute(PUT.request(ORIGIN))
    assert lines(answer) == (8, 9)
    assert recorded(answer).record == project.records("line")[0]
    [(source, target)] = project.edges("caused_by")
    assert (source, target) == (
        recorded(answer).annotation_id,
        project.records("line")[0]["prompt_hash"],
    )


def test_a_repeat_changes_nothing_in_any_process(project: Project) -> None:
    project.file("a.py")
    first = project.recorder.execute(PUT.request(ORIGIN))
    before = project.records()
    assert project.recorder.execute(PUT.request(ORIGIN)) == first
    assert Recorder(project.root).execute(PUT.request(ORIGIN)) == first
    assert project.records() == before


def test_a_repeat_appends_what_a_crash_left_out_of_the_log(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.file("a.py")
    with monkeypatch.context() as dying:
        dying.setattr("vibes_lsp.store.writer.append_lines", _die)
        with pytest.raises(KeyboardInterrupt):
            project.recorder.execute(PUT.request(ORIGIN))
    answer = Recorder(project.root).execute(PUT.request(ORIGIN))
    assert [record["annotation_id"] for record in project.records("line")] == [
        recorded(answer).annotation_id
    ]


def _die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("everywhere_another", [False, True])
def test_parts_become_one_annotation(project: Project, everywhere_another: bool) -> None:
    project.file("a.py")
    recorder = project.recorder
    parts = words("def half", "(one):", "\n    return", " one / 2", "\n")
    waiting = Waiting(recorder.directory)
    for part in parts[:-1]:
        recorder = Recorder(project.root) if everywhere_another else recorder
        assert recorder.execute(part.request(ORIGIN)) == Pending()
        assert recorder.execute(part.request(ORIGIN)) == Pending()
        assert project.records() == []
        assert waiting.refresh()
        assert len(waiting.lineages_in("a.py")) == 1
    assert lines(recorder.execute(parts[-1].request(ORIGIN))) == (8, 9)
    assert len(project.records("line")) == 1
    assert waiting.refresh()
    assert waiting.lineages_in("a.py") == []
    assert isinstance(Recorder(project.root).execute(parts[1].request(ORIGIN)), Recorded)
    assert len(project.records("line")) == 1


def test_a_late_part_supersedes_the_recorded_parts(project: Project) -> None:
    project.file("a.py")
    first, second = words("def half(one):", "\n    return one / 2")
    project.recorder.execute(first.request(ORIGIN))
    project.recorder.record_pending_completions()
    answer = project.recorder.execute(second.request(ORIGIN))
    earlier, whole = project.records("line")
    assert (earlier["line_start"], earlier["line_end"]) == (8, 8)
    assert lines(answer) == (whole["line_start"], whole["line_end"]) == (8, 9)
    assert project.edges("supersedes") == [(whole["annotation_id"], earlier["annotation_id"])]


def test_lines_typed_between_two_parts_are_not_annotated(project: Project) -> None:
    project.file("a.py")
    first, second = words("one = 1\n", "two = 2\n")
    project.recorder.execute(first.request(ORIGIN))
    assert second.text is not None
    typed = second.text.replace("one = 1\n", "one = 1\nmine = 0\n")
    answer = project.recorder.execute(
        replace(second, start=(9, 0), end=(9, 0), text=typed).request(ORIGIN)
    )
    assert lines(answer) == (10, 10)
    assert [(each["line_start"], each["line_end"]) for each in project.records("line")] == [
        (8, 8),
        (10, 10),
    ]


def test_a_completion_that_moved_is_recorded_at_its_new_lines(project: Project) -> None:
    project.file("a.py")
    moved = replace(PUT, current_text="# new\n" + WITH_HALF)
    assert lines(project.recorder.execute(moved.request(ORIGIN))) == (9, 10)


def test_an_edited_completion_is_recorded_as_the_ai_wrote_it(project: Project) -> None:
    project.file("a.py")
    edited = replace(PUT, current_text=WITH_HALF.replace("one / 2", "one // 2"))
    answer = recorded(project.recorder.execute(edited.request(ORIGIN)))
    assert lines(answer) == (8, 9)
    assert answer.record is not None
    assert answer.record["anchor_context"] == HALF.rstrip("\n")


@pytest.mark.parametrize("now", [SOURCE, "", "print()\n"])
def test_an_undone_completion_is_not_recorded(project: Project, now: str) -> None:
    project.file("a.py")
    answer = project.recorder.execute(replace(PUT, current_text=now).request(ORIGIN))
    assert answer == Recorded(None, gone=True)
    project.recorder.execute(replace(PUT, completion_id="c2", final=False).request(ORIGIN))
    project.recorder.record_pending_completions({"a.py": now})
    assert project.records() == []


def test_an_undone_part_of_a_line_is_not_recorded(project: Project) -> None:
    start = "total = one\nreturn total\n"
    project.file("a.py", start)
    put = Completion("a.py", "c1", (0, 11), (0, 11), " + two", start)
    answer = project.recorder.execute(replace(put, current_text=start).request(ORIGIN))
    assert answer == Recorded(None, gone=True)


def test_white_space_alone_is_not_recorded(project: Project) -> None:
    project.file("a.py")
    answer = project.recorder.execute(replace(PUT, new_text="\n    ").request(ORIGIN))
    assert answer == Recorded(None, gone=True)
    assert project.records() == []


def test_without_a_text_the_saved_file_before_or_after_is_used(project: Project) -> None:
    project.file("a.py")
    assert lines(project.recorder.execute(replace(PUT, text=None).request(ORIGIN))) == (
        8,
        9,
    )
    project.file("a.py", WITH_HALF)
    assert lines(
        project.recorder.execute(replace(PUT, text=None, completion_id="c2").request(ORIGIN))
    ) == (8, 9)


@pytest.mark.parametrize("how", ["session", "close", "annotate", "review"])
def test_pending_completions_are_recorded_before_later_records(project: Project, how: str) -> None:
    project.file("a.py", WITH_HALF)
    session = project.session()
    project.recorder.execute(replace(PUT, final=False).request(session_origin(session)))
    if how == "session":
        Recorder(project.root).execute(EndSession(session_id=session))
    elif how == "close":
        project.recorder.close()
    elif how == "annotate":
        project.recorder.annotate_lines("a.py", 9, 9, "modify", session_origin(session))
        assert len(project.edges("depends_on")) == 1
    else:
        assert (
            len(
                project.recorder.execute(
                    review_request("approved", "a.py", (8, 8), reviewer="Ada")
                ).reviewed
            )
            == 1
        )
    first = project.records("line")[0]
    assert (first["line_start"], first["line_end"], first["session_id"]) == (8, 9, session)


def test_a_completion_in_an_untracked_file_is_not_recorded(tmp_path: Path) -> None:
    project = new_project(tmp_path / "other", tracked_extensions=[".ts"])
    project.file("a.py")
    assert project.recorder.execute(PUT.request(ORIGIN)) == Recorded(None, untracked=True)
    assert project.records() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no such signal")
@pytest.mark.parametrize("moment", [0, 1 << 32], ids=["long ago", "before the clock was set back"])
def test_an_acknowledged_part_survives_a_kill(project: Project, moment: int) -> None:
    project.file("a.py")
    session = project.session()
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(project.root)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert "Pending" in run.stdout, run.stderr
    project.recorder.close()
    assert project.records("line") == [], "it may be going on still"
    for held in (project.root / ".ai-audit" / "spool" / "held").iterdir():
        os.utime(held, (moment, moment))
    project.recorder.close()
    assert [record["session_id"] for record in project.records("line")] == [session]


def test_a_foreign_file_in_the_spool_is_ignored(project: Project) -> None:
    project.file("a.py")
    project.recorder.execute(replace(PUT, final=False).request(ORIGIN))
    [held] = (project.root / ".ai-audit" / "spool" / "held").iterdir()
    held.write_bytes(b"{}")
    project.recorder.record_pending_completions()
    assert not Waiting(project.recorder.directory).lineages_in("a.py")
    assert lines(project.recorder.execute(PUT.request(ORIGIN))) == (8, 9)


def test_the_records_of_a_completion_pass_the_check(project: Project) -> None:
    project.file("a.py", WITH_HALF)
    for part in words("def half(one):", "\n    return one / 2"):
        project.recorder.execute(part.request(ORIGIN))
    assert len(project.entries("prompt")) == 1
    run = subprocess.run(
        [sys.executable, "-c", "from vibes_lsp.cli.main import main; main()", "check"],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("start", "end", "member"),
    [
        ((99, 0), (99, 0), "range.start"),
        ((1, 0), (99, 0), "range.end"),
        ((5, 4), (5, 2), "range.end"),
        ((5, 0), (4, 9), "range.end"),
    ],
)
def test_a_range_outside_the_text_is_refused(
    project: Project, start: tuple[int, int], end: tuple[int, int], member: str
) -> None:
    with pytest.raises(WrongArgument) as refused:
        project.recorder.execute(replace(PUT, start=start, end=end).request(ORIGIN))
    assert refused.value.member == member
    assert project.records() == []


def test_a_range_may_end_at_the_line_after_the_last(project: Project) -> None:
    """As editors say it of a whole last line."""
    text = "def one():\n    return 1"
    answer = project.recorder.execute(
        replace(PUT, start=(1, 0), end=(2, 0), new_text="    return 2", text=text).request(ORIGIN)
    )
    assert lines(answer) == (2, 2)


def test_parts_are_counted_from_one() -> None:
    given: dict[str, Any] = {
        "start": {"line": 7, "character": 0},
        "end": {"line": 7, "character": 0},
    }
    members: dict[str, Any] = {
        "file": "a.py",
        "completionId": "c1",
        "range": given,
        "newText": "x",
        "partial": {"part": 0, "final": False},
    }
    with pytest.raises(WrongArgument) as refused:
        parse(REQUESTS["inline-completion"], members)
    assert (refused.value.member, refused.value.expected) == (
        "partial.part",
        "expected at least 1",
    )
