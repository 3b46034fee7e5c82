"""A repeated request changes nothing: in this process, in another, and after a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.requirements import REPOSITORY
from tests.unit.recording.projects import MODEL, PROMPT, SOURCE, TOOL, Project, session_origin
from tests.unit.recording.request_builders import (
    decision_request,
    edge_request,
    function_request,
    read_request,
    review_request,
)
from vibes_lsp.recording import (
    Command,
    CommandType,
    Decision,
    DecisionOption,
    EndSession,
    RecordCommand,
    RecordDelegation,
    Recorder,
    StartSession,
    WrongArgument,
)
from vibes_lsp.recording.spool import RETENTION_SECONDS
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from collections.abc import Callable

ANNOTATE = """
import sys
from vibes_lsp.recording import Origin, Recorder
print(Recorder(sys.argv[1]).annotate_lines("a.py", 4, 6, "create", Origin(session_id=sys.argv[2]), request_id="edit-1").annotation_id)
"""

USE_CASES: list[Callable[[Recorder, str], object]] = [
    lambda recorder, request: recorder.execute(
        StartSession(tool=TOOL, model=MODEL, parent_session_id="s1", request_id=request)
    ),
    lambda recorder, request: recorder.execute(EndSession(session_id="s1", request_id=request)),
    lambda recorder, request: recorder.annotate_lines(
        "a.py", 4, 6, "modify", session_origin("s1", prompt=PROMPT), request_id=request
    ),
    lambda recorder, request: recorder.execute(
        function_request("a.py", "same", "create", session_origin("s1"), request_id=request)
    ),
    lambda recorder, request: recorder.execute(
        RecordCommand(
            session_id="s1", command=Command("make", CommandType.SHELL), request_id=request
        )
    ),
    lambda recorder, request: recorder.execute(read_request("s1", "a.py", request_id=request)),
    lambda recorder, request: recorder.execute(
        decision_request(
            Decision("Which", (DecisionOption("a", "it"),), "a", "only one"), request_id=request
        )
    ),
    lambda recorder, request: recorder.execute(
        RecordDelegation(parent_session_id="s1", request_id=request)
    ),
    lambda recorder, request: recorder.execute(
        edge_request("depends_on", "s1", "session", "s1", "session", request_id=request)
    ),
    lambda recorder, request: recorder.execute(
        review_request("approved", "a.py", (1, 10), reviewer="Ada", request_id=request)
    ),
]


@pytest.mark.parametrize("use_case", USE_CASES)
def test_every_request_can_be_repeated(
    project: Project, use_case: Callable[[Recorder, str], object]
) -> None:
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(project.session()))
    first = use_case(project.recorder, "request")
    before = project.records()
    assert use_case(project.recorder, "request") == first
    assert use_case(Recorder(project.root), "request") == first
    assert project.records() == before


def test_other_request_ids_are_other_records(project: Project) -> None:
    session = project.session()
    ids = {
        project.recorder.annotate_lines(
            "a.py", 4, 6, "create", session_origin(session), request_id=name
        ).annotation_id
        for name in "ab"
    }
    assert len(ids) == len(project.records("line")) == 2


def test_the_same_id_with_another_request_type_is_another_request(project: Project) -> None:
    session = project.session(request_id="1")
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(session), request_id="1")
    assert project.session(request_id="1") == session
    assert [record["type"] for record in project.records()] == ["session", "line", "edge"]


def test_concurrent_repeats_record_once(project: Project) -> None:
    session = project.session()
    command = [sys.executable, "-c", ANNOTATE, str(project.root), session]
    running = [subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) for _ in range(3)]
    said = {each.communicate()[0] for each in running}
    assert all(each.returncode == 0 for each in running)
    [record] = project.records("line")
    assert said == {record["annotation_id"].encode() + os.linesep.encode()}
    assert len(project.records("edge")) == 1


def test_a_repeat_after_a_crash_has_the_same_ids(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = project.session()

    def crash(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(AuditWriter, "append", crash)
        with pytest.raises(KeyboardInterrupt):
            project.recorder.annotate_lines(
                "a.py", 4, 6, "create", session_origin(session), request_id="edit"
            )
    assert project.records("line") == []
    again = Recorder(project.root).annotate_lines(
        "a.py", 4, 6, "create", session_origin(session), request_id="edit"
    )
    [record] = project.records("line")
    assert record == again.record
    assert record["timestamp"] == "2026-02-03T10:00:02.000Z"
    assert project.edges("caused_by") == [(again.annotation_id, session)]


def test_a_refused_request_can_be_repeated(project: Project) -> None:
    session = project.session()
    with pytest.raises(WrongArgument):
        project.recorder.annotate_lines(
            "a.py", 4, 60, "create", session_origin(session), request_id="edit"
        )
    assert project.recorder.annotate_lines(
        "a.py", 4, 6, "create", session_origin(session), request_id="edit"
    ).annotation_id


@pytest.mark.parametrize(
    "when",
    [
        lambda recorder: recorder.execute(EndSession(session_id="s1")),
        Recorder.flush,
        Recorder.close,
    ],
)
def test_old_requests_are_removed(project: Project, when: Callable[[Recorder], object]) -> None:
    session = project.session()
    for name in ("old", "new"):
        project.recorder.annotate_lines(
            "a.py", 4, 6, "create", session_origin(session), request_id=name
        )
    files = sorted(
        (project.root / ".ai-audit" / "spool").glob("*.json"),
        key=lambda path: path.stat().st_mtime_ns,
    )
    long_ago = files[0].stat().st_mtime - RETENTION_SECONDS - 60
    os.utime(files[0], (long_ago, long_ago))
    when(project.recorder)
    assert [path.exists() for path in files] == [False, True]


def test_what_a_killed_program_left_is_removed(project: Project) -> None:
    project.session()
    spool = project.root / ".ai-audit" / "spool"
    (spool / "held").mkdir(parents=True)
    left = [folder / f"{'ab' * 8}.tmp" for folder in (spool, spool / "held")]
    new = spool / f"{'cd' * 8}.tmp"
    for path in (*left, new):
        path.write_text("{")
    for path in left:
        os.utime(path, (0, 0))
    project.recorder.flush()
    assert [path.exists() for path in (*left, new)] == [False, False, True]


def test_old_requests_are_removed_once_a_day(project: Project) -> None:
    session = project.session()
    project.recorder.flush()
    project.recorder.annotate_lines(
        "a.py", 4, 6, "create", session_origin(session), request_id="edit"
    )
    project.recorder.flush()
    spool = project.root / ".ai-audit" / "spool"
    [file] = spool.glob("*.json")
    os.utime(file, (0, 0))
    Recorder(project.root).flush()
    assert file.exists()
    os.utime(spool / "forgotten", (0, 0))
    Recorder(project.root).flush()
    assert not file.exists()


def test_a_file_that_cannot_be_removed_does_not_keep_the_others(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = project.session()
    for name in "abc":
        project.recorder.annotate_lines(
            "a.py", 4, 6, "create", session_origin(session), request_id=name
        )
    files = sorted((project.root / ".ai-audit" / "spool").glob("*.json"))
    for file in files:
        os.utime(file, (0, 0))
    unlink = Path.unlink

    def refusing(self: Path, *, missing_ok: bool = False) -> None:
        if self == files[0]:
            raise PermissionError
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refusing)
    project.recorder.flush()
    assert [file.exists() for file in files] == [True, False, False]


def test_a_damaged_spool_file_is_a_new_request(project: Project) -> None:
    session = project.session()
    project.recorder.annotate_lines(
        "a.py", 4, 6, "create", session_origin(session), request_id="edit"
    )
    [file] = (project.root / ".ai-audit" / "spool").glob("*.json")
    file.write_text('{"records": 1}')
    assert project.recorder.annotate_lines(
        "a.py", 4, 6, "create", session_origin(session), request_id="edit", text=SOURCE
    ).annotation_id
    assert len(project.records("line")) == 2
