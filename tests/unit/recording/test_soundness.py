"""`vibes check` has no findings in what is recorded, at any level and concurrently."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.requirements import REPOSITORY
from tests.trails import Repository
from tests.unit.recording.projects import (
    MODEL,
    PROMPT,
    SOURCE,
    TOOL,
    Project,
    new_project,
    session_origin,
)
from tests.unit.recording.request_builders import (
    Completion,
    decision_request,
    edge_request,
    function_request,
    read_request,
    review_request,
)
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.report import check_trail
from vibes_lsp.git.project_files import read_source
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording import (
    Command,
    CommandType,
    Decision,
    DecisionOption,
    EndSession,
    Model,
    Origin,
    Prompt,
    PromptType,
    Reasoning,
    RecordCommand,
    RecordDelegation,
    Recorder,
    StartSession,
)
from vibes_lsp.reports.blame import Blame, blame_file
from vibes_lsp.risk.policy import Policy
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

RECORD = """
import sys
from vibes_lsp.recording import Origin, Recorder
with Recorder(sys.argv[1]) as recorder:
    for number in range(1, 11):
        recorder.annotate_lines("a.py", number, number, "modify", Origin(session_id=sys.argv[2]))
"""


def findings(project: Project) -> list[str]:
    """Commit everything, and check."""
    project.recorder.close()
    Repository(project.root, start=datetime.now(UTC).isoformat()).commit("All")
    report = check_trail(open_context(project.recorder.directory, datetime.now(UTC)))
    return [f"{finding.check.id}: {finding.message}" for finding in report.findings]


def everything(project: Project) -> None:
    """Record in every way there is."""
    recorder = project.recorder
    session = project.session(description="All of it", agent_name="worker", agent_type="some-agent")
    command = Command(
        "make digest", CommandType.SHELL, 0, "token ghp_" + "a1B2" * 9, str(project.root)
    )
    recorder.execute(RecordCommand(session_id=session, command=command))
    recorder.execute(read_request(session, "a.py"))
    decision = Decision(
        "Which way", (DecisionOption("l", "left"), DecisionOption("r", "right")), "l", "no time"
    )
    origin = session_origin(
        session,
        prompt=Prompt("Write a digest.", PromptType.USER_INSTRUCTION, ("a.py",)),
        reasoning=Reasoning("Think. " * 3000, 7),
        command=command,
        decision=recorder.execute(decision_request(decision)).decision_hash,
        informed_by=("b.py",),
    )
    first = (
        recorder.annotate_lines("a.py", 4, 6, "create", origin, request_id="first").annotation_id
        or ""
    )
    recorder.annotate_lines("a.py", 4, 10, "modify", session_origin(session, decision=decision))
    recorder.annotate_lines("a.py", 5, 5, "review", session_origin(session))
    recorder.annotate_lines(
        "a.py", 9, 10, "delete", Origin(tool=TOOL, model=Model("other", "1")), text=SOURCE
    )
    recorder.execute(function_request("a.py", "digest", "modify", origin, signature="(data)"))
    for part, new in enumerate(("x = 1\n", "y = 2\n"), 1):
        before = SOURCE + "x = 1\n" * (part - 1)
        place = (9 + part, 0)
        recorder.execute(
            Completion("a.py", "c", place, place, new, before, None, part, part == 2).request(
                session_origin(session)
            )
        )
    child = recorder.execute(
        RecordDelegation(
            parent_session_id=session, task_description="Check it", delegated_files=("a.py",)
        )
    ).child_session_id
    grandchild = project.session(parent_session_id=child)
    recorder.execute(
        edge_request(
            "depends_on",
            first,
            "annotation",
            session,
            "session",
            session_id=session,
            metadata={"why": "to see it"},
        )
    )
    recorder.execute(review_request("approved", "a.py", (1, 10), note="Good.", reviewer="Ada"))
    for each in (grandchild, child, session):
        recorder.execute(EndSession(session_id=each))


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_the_check_has_no_findings(tmp_path: Path, level: str) -> None:
    project = new_project(tmp_path / "project", level)
    everything(project)
    assert findings(project) == []
    assert {edge["edge_type"] for edge in project.records("edge")} == {
        "caused_by",
        "informed_by",
        "depends_on",
        "supersedes",
        "delegated_to",
        "reviewed_by",
    }
    assert project.entries()


def test_all_timestamps_are_utc_with_milliseconds(project: Project) -> None:
    everything(project)
    assert {len(record["timestamp"]) for record in project.records()} == {
        len("2026-02-03T10:00:00.000Z")
    }
    assert {record["timestamp"][-1] for record in project.records()} == {"Z"}
    assert {
        record["commit_hash"]
        for record in project.records()
        if record["type"] in {"line", "function"}
    } == {None}


def blamed(project: Project) -> Blame:
    trail = Trail(project.recorder.directory)
    trail.refresh()
    with ProjectLocator(trail, use_git=False) as locator:
        return blame_file(
            locator, "a.py", read_source(project.root, "a.py"), Scorer(trail, Policy())
        )


def test_a_record_is_visible_at_once(project: Project) -> None:
    recorded = project.recorder.annotate_lines(
        "a.py", 4, 6, "create", session_origin(project.session(), prompt=PROMPT)
    )
    [placement] = blamed(project).placements
    assert (placement.current.id, placement.owned_ranges, placement.located.state) == (
        recorded.annotation_id,
        ((4, 6),),
        "exact",
    )


def test_a_covered_annotation_is_history(project: Project) -> None:
    session = project.session()
    older, newer = (project.annotate(session, 4, end, "modify") for end in (6, 7))
    assert [(each.current.id, each.is_history) for each in blamed(project).placements] == [
        (newer, False),
        (older, True),
    ]


def test_two_recorders_see_each_others_records(project: Project) -> None:
    with Recorder(project.root) as other:
        session = other.execute(StartSession(tool=TOOL, model=MODEL)).session_id
        older = project.annotate(session, 4, 6)
        newer = other.annotate_lines("a.py", 4, 6, "modify", session_origin(session)).annotation_id
    assert project.edges("supersedes") == [(newer, older)]


def test_concurrent_threads_and_processes_lose_nothing(project: Project) -> None:
    session = project.session()
    running = [
        subprocess.Popen([sys.executable, "-c", RECORD, str(project.root), session], cwd=REPOSITORY)
        for _ in range(2)
    ]

    def record() -> None:
        for number in range(1, 11):
            project.recorder.annotate_lines(
                "a.py", number, number, "create", session_origin(session, prompt=PROMPT)
            )

    threads = [threading.Thread(target=record) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.wait() for each in running] == [0, 0]
    assert len(project.records("line")) == 40
    project.recorder.execute(EndSession(session_id=session))
    assert findings(project) == []
