"""Every tool that records; an AI can record nothing in a person's name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.clients import connected
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.report import check_trail
from vibes_lsp.recording import RecordReview

if TYPE_CHECKING:
    from pathlib import Path


TOOL = {"name": "Some Agent", "version": "1.0"}
MODEL = {"name": "some-model", "version": "20260101"}
DECISION = {
    "decisionPoint": "Which hash", "selected": "sha256", "rationale": "It is in the library.",
    "options": [{"id": "sha256", "description": "SHA-256"}, {"id": "md5", "description": "MD5"}],
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


async def test_a_session_is_recorded_as_it_went(project: Project) -> None:
    earlier = project.annotate(project.session(), 9, 10)
    async with connected(project.root, "--tools", "all") as server:
        session = (await server.ask("start_session", tool=TOOL, model=MODEL))["sessionId"]
        prompt = {"text": "Make it faster.", "type": "user_instruction"}
        asked = await server.ask("record_prompt", sessionId=session, prompt=prompt)
        read = await server.ask("record_read", sessionId=session, files=["a.py"])
        decided = await server.ask("record_decision", **DECISION)
        told = await server.ask("why", file="a.py", function="same")
        edit = await server.ask(
            "record_annotation",
            file="a.py", lineStart=4, lineEnd=6, action="modify", sessionId=session,
            decision=decided["decisionHash"], requestId="r1",
        )  # fmt: skip
        again = await server.ask(
            "record_annotation",
            file="a.py", lineStart=4, lineEnd=6, action="modify", sessionId=session,
            decision=decided["decisionHash"], requestId="r1",
        )  # fmt: skip
        child = await server.ask("record_delegation", parentSessionId=session)
        await server.ask("end_session", sessionId=child["childSessionId"])
        await server.ask("end_session", sessionId=session)
        reasons = await server.ask("why", file="a.py", lineStart=5)
    assert [each["annotationId"] for each in told["annotations"]] == [earlier]
    assert again == edit
    record = edit["record"]
    assert record["prompt_hash"] == asked["promptHash"]
    assert record["decision_hash"] == decided["decisionHash"]
    informed = {
        target for source, target in project.edges("informed_by") if source == edit["annotationId"]
    }
    assert informed == {earlier, read["commandHash"]}
    [reason] = reasons["annotations"]
    assert reason["decision"]["rationale"]["quoted"] == "| It is in the library."
    assert {each["kind"] for each in reason["informedBy"]} == {"annotation", "context"}
    assert project.entries("prompt")  # every hash is checked
    report = check_trail(open_context(project.recorder.directory, datetime.now(UTC)))
    assert not [each for each in report.findings if each.severity == "error"]


async def test_answers_inform_only_edits_of_the_file_and_only_on_their_connection(
    project: Project,
) -> None:
    project.file("b.py")
    earlier = project.annotate(project.session(), 4, 6)
    edit: dict[str, Any] = {
        "lineStart": 1,
        "lineEnd": 1,
        "action": "modify",
        "tool": TOOL,
        "model": MODEL,
    }
    async with connected(project.root, "--tools", "all") as one:
        await one.ask("provenance_at", file="a.py")
        other_file = await one.ask("record_annotation", file="b.py", **edit)
        same_file = await one.ask("record_annotation", file=str(project.root / "a.py"), **edit)
        async with connected(project.root, "--tools", "all") as other:
            elsewhere = await other.ask(
                "record_annotation", file="a.py", **{**edit, "action": "create"}
            )
    edges = project.edges("informed_by")
    assert (same_file["annotationId"], earlier) in edges
    sources = {source for source, _ in edges}
    assert not {other_file["annotationId"], elsewhere["annotationId"]} & sources


async def test_nothing_is_recorded_in_a_persons_name(project: Project) -> None:
    session = project.session()
    annotation = project.annotate(session, 4, 6)
    project.recorder.execute(
        RecordReview(verdict="approved", annotation_ids=(annotation,), reviewer="Ada")  # type: ignore[arg-type]  # as in JSON
    )
    [person] = [
        each["session_id"]
        for each in project.records("session")
        if each.get("agent_type") == "human"
    ]
    before = project.records()
    lines = {"file": "a.py", "lineStart": 4, "lineEnd": 6}
    nobody = {"name": "none", "version": "none"}
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("record_annotation", {**lines, "action": "review", "sessionId": session}, "people review"),
        ("record_annotation", {**lines, "action": "modify", "sessionId": person}, "a person's session"),
        ("record_annotation", {**lines, "action": "modify", "tool": TOOL, "model": nobody}, "stands for a person"),
        ("record_annotation", {**lines, "action": "modify", "sessionId": session, "signals": []}, "signals: is not a member"),
        ("start_session", {"tool": TOOL, "model": nobody}, "stands for a person"),
        ("start_session", {"tool": TOOL, "model": MODEL, "agentType": "human"}, "only an AI"),
        ("start_session", {"tool": TOOL, "model": MODEL, "parentSessionId": person}, "a person's session"),
        ("record_prompt", {"sessionId": person, "prompt": {"text": "x", "type": "other"}}, "a person's session"),
        ("record_read", {"sessionId": person, "files": ["a.py"]}, "a person's session"),
        ("record_delegation", {"parentSessionId": person}, "a person's session"),
        ("record_delegation", {"parentSessionId": session, "agentType": "human"}, "only an AI"),
        ("end_session", {"sessionId": person}, "a person's session"),
    ]  # fmt: skip
    async with connected(project.root, "--tools", "all") as server:
        for tool, arguments, expected in wrong:
            assert expected in await server.fail(tool, **arguments), tool
        names = {tool.name for tool in (await server.client.list_tools()).tools}
    assert not [name for name in names if "approve" in name or "verdict" in name]
    assert project.records() == before


async def test_a_wrong_request_records_nothing_and_says_why(project: Project) -> None:
    session = project.session()
    before = project.records()
    lines: dict[str, Any] = {"lineStart": 1, "lineEnd": 1, "action": "modify", "sessionId": session}
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("record_annotation", {**lines, "file": "../b.py"}, "inside the project"),
        ("record_annotation", {**lines, "file": ".git/config"}, "belongs to git"),
        ("record_annotation", {**lines, "file": "a.py", "lineEnd": 99}, "has 10"),
        ("record_annotation", {**lines, "file": "a.py", "informedBy": ["f" * 64]}, "no record"),
        ("record_annotation", {**lines, "file": "a.py", "uri": "file:///a.py"}, "uri"),
        ("record_annotation", {**lines, "file": "a.py", "sessionId": "s99"}, "s99"),
        ("record_prompt", {"sessionId": session, "prompt": {"text": "", "type": "other"}}, "prompt.text"),
        ("record_read", {"sessionId": session, "files": ["/etc/passwd"]}, "files"),
        ("record_decision", {**DECISION, "options": "none"}, "options"),
    ]  # fmt: skip
    async with connected(project.root, "--tools", "all") as server:
        for tool, arguments, expected in wrong:
            assert expected in await server.fail(tool, **arguments), tool
    assert project.records() == before


async def test_an_edit_of_another_project_is_recorded_there(tmp_path: Path) -> None:
    here, there = new_project(tmp_path / "here"), new_project(tmp_path / "there")
    async with connected(here.root, "--tools", "all") as server:
        session = (await server.ask("start_session", tool=TOOL, model=MODEL))["sessionId"]
        prompt = {"text": "Keep this private.", "type": "user_instruction"}
        await server.ask("record_prompt", sessionId=session, prompt=prompt)
        edit = await server.ask(
            "record_annotation",
            file=str(there.root / "a.py"), lineStart=4, lineEnd=6, action="modify",
            sessionId=session,
        )  # fmt: skip
    [line] = there.records("line")
    assert line == edit["record"]
    assert [each["session_id"] for each in there.records("session")] == [session]
    assert there.entries("prompt") == {}
    assert here.records("line") == []


async def test_a_person_is_refused_in_another_project_too(tmp_path: Path) -> None:
    here, there = new_project(tmp_path / "here"), new_project(tmp_path / "there")
    annotation = there.annotate(there.session(), 4, 6)
    there.recorder.execute(
        RecordReview(verdict="approved", annotation_ids=(annotation,), reviewer="Ada")  # type: ignore[arg-type]  # as in JSON
    )
    [person] = [
        each["session_id"] for each in there.records("session") if each.get("agent_type") == "human"
    ]
    async with connected(here.root, "--tools", "all") as server:
        refused = await server.fail(
            "record_annotation",
            file=str(there.root / "a.py"), lineStart=9, lineEnd=9, action="modify",
            sessionId=person,
        )  # fmt: skip
    assert "person's session" in refused
