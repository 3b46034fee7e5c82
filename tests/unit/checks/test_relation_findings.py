"""Findings about relations: references, edges, causes, sessions and delegations."""

from __future__ import annotations

import pytest

from tests.unit.checks.projects import LOG, Project, Seen
from vibes_lsp.checks import report

NOTHING = "0" * 64


@pytest.mark.parametrize(
    "field", ["environment_hash", "command_hash", "prompt_hash", "reasoning_hash", "decision_hash"]
)
def test_reference_dangling(project: Project, field: str) -> None:
    project.line(**{field: NOTHING})
    message = f"{field} {NOTHING[:8]} has no manifest entry"
    assert project.seen() == [Seen("reference-dangling", "error", LOG, 26, field, message)]


def test_reference_type(project: Project) -> None:
    project.line(prompt_hash=project.trail.command)
    message = "prompt_hash refers to an entry of type command: expected prompt"
    assert project.seen() == [Seen("reference-type", "error", LOG, 26, "prompt_hash", message)]


@pytest.mark.parametrize("kind", ["annotation", "context", "session"])
def test_edge_end(project: Project, kind: str) -> None:
    project.writer.edge("informed_by", project.trail.created, NOTHING, target_type=kind)
    message = f"target_ref {NOTHING[:36]} refers to no {kind}"
    assert project.seen() == [Seen("edge-end", "error", LOG, 26, "target_ref", message)]


def test_an_edge_to_an_almost_equal_id_leads_nowhere(project: Project) -> None:
    real = project.trail.created
    wrong = real[:20] + ("0" if real[20] != "0" else "1") + real[21:]
    project.writer.edge("informed_by", wrong, real, target_type="annotation")
    message = f"source_ref {wrong[:36]} refers to no annotation"
    assert project.seen() == [Seen("edge-end", "error", LOG, 26, "source_ref", message)]


@pytest.mark.parametrize("kind", ["session", "edge"])
def test_an_edge_to_an_annotation_leads_to_no_other_record(project: Project, kind: str) -> None:
    other = next(
        str(record["annotation_id"])
        for record in project.writer.files.records()
        if record["type"] == kind
    )
    project.writer.edge("informed_by", project.trail.created, other, target_type="annotation")
    message = f"target_ref {other[:36]} refers to no annotation"
    assert project.seen() == [Seen("edge-end", "error", LOG, 26, "target_ref", message)]


def test_an_edge_may_come_before_the_record_that_it_names(project: Project) -> None:
    before = project.writer.files.log.read_bytes()
    project.line()
    line, cause = (
        project.writer.files.log.read_bytes().removeprefix(before).splitlines(keepends=True)
    )
    project.writer.files.log.write_bytes(before + cause + line)
    assert project.seen() == []


def test_edge_names(project: Project) -> None:
    project.writer.edge("depends_on", project.trail.modified, project.trail.created, old_names=True)
    assert project.seen() == [
        Seen("edge-names", "warning", LOG, 26, None, "1 edge uses source_id and target_id")
    ]


def test_cause_missing(project: Project) -> None:
    project.writer.line("src/auth.py", 1, 2, commit=project.head, session=project.trail.session)
    message = "1 of 6 annotations have no caused_by edge"
    assert project.seen() == [Seen("cause-missing", "warning", LOG, 26, None, message)]


def test_a_review_needs_no_cause(project: Project) -> None:
    project.writer.line(
        "src/auth.py", 1, 2, action="review", commit=project.head, session=project.trail.session
    )
    assert project.seen() == []


def test_the_cause_of_any_member_is_that_of_the_lineage(project: Project) -> None:
    project.writer.remap(project.line(commit_hash=None), commit=project.head)
    assert project.seen() == []


@pytest.mark.parametrize(
    ("action", "severity"), [("rebase_remap", "error"), ("rebase_orphan", "warning")]
)
def test_remap_edge(project: Project, action: str, severity: str) -> None:
    project.line(action=action)
    assert project.seen() == [
        Seen(
            "remap-edge", severity, LOG, 26, "action", f"the {action} record has no supersedes edge"
        )
    ]


def test_session_open(project: Project) -> None:
    session = project.writer.session_start()
    message = f"session {session} has no end record"
    assert project.seen() == [Seen("session-open", "warning", LOG, 26, "session_id", message)]


def test_session_unknown(project: Project) -> None:
    for _ in range(2):
        project.line(session_id="stray")
    message = "session stray has no start record"
    assert project.seen() == [Seen("session-unknown", "warning", LOG, 26, "session_id", message)]


def test_a_session_that_only_ends_has_no_start(project: Project) -> None:
    project.writer.session_end("stray")
    assert project.seen() == [
        Seen(
            "session-unknown",
            "warning",
            LOG,
            26,
            None,
            "session stray has an end record but no start record",
        )
    ]


def test_session_order(project: Project) -> None:
    session = project.writer.session_start(timestamp="2026-02-03T11:00:02Z")
    project.writer.session_end(session, timestamp="2026-02-03T11:00:01Z")
    message = f"session {session} ends before it starts"
    assert project.seen() == [Seen("session-order", "warning", LOG, 27, "timestamp", message)]


def delegate(
    project: Project, *, parent: str | None, record: bool = True, edge: bool = True
) -> str:
    """Delegate to a new session without some of the records."""
    child = project.writer.session_start(parent=parent)
    if record:
        project.writer.delegation(project.trail.session, child)
    if edge:
        project.writer.edge(
            "delegated_to",
            project.trail.session,
            child,
            source_type="session",
            target_type="session",
        )
    project.writer.session_end(child)
    return child


def test_a_whole_delegation_is_no_finding(project: Project) -> None:
    delegate(project, parent=project.trail.session)
    assert project.seen() == []


def test_delegation_child(project: Project) -> None:
    child = delegate(project, parent=None)
    message = f"the start record of session {child} lacks its parent {project.trail.session}"
    assert project.seen() == [
        Seen("delegation-child", "warning", LOG, 26, "parent_session_id", message)
    ]


def test_delegation_record(project: Project) -> None:
    child = delegate(project, parent=project.trail.session, record=False)
    message = f"session {child} has no delegation record of parent {project.trail.session}"
    assert project.seen() == [
        Seen("delegation-record", "warning", LOG, 26, "parent_session_id", message)
    ]


def test_delegation_edge(project: Project) -> None:
    child = delegate(project, parent=project.trail.session, edge=False)
    message = f"there is no delegated_to edge from session {project.trail.session} to {child}"
    assert project.seen() == [Seen("delegation-edge", "warning", LOG, 27, None, message)]


def test_an_edge_from_the_child_to_its_parent_is_the_wrong_way_round(project: Project) -> None:
    child = delegate(project, parent=project.trail.session, edge=False)
    project.writer.edge(
        "delegated_to", child, project.trail.session, source_type="session", target_type="session"
    )
    assert [finding.check for finding in project.seen()] == ["delegation-edge"]


def test_findings_do_not_depend_on_how_many_records_are_read_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.writer.edge("informed_by", project.trail.created, NOTHING, target_type="annotation")
    project.line(prompt_hash=NOTHING)
    log = project.writer.files.log
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[-1], *lines, lines[0], b'{"type": "line", \n', *lines[-2:]]))
    expected = project.report()
    assert {finding.check.id for finding in expected.findings} >= {"edge-end", "log-line"}
    for name in ("_LINES_AT_ONCE", "_ENTRIES_AT_ONCE"):
        monkeypatch.setattr(report, name, 1)
    assert project.report() == expected
