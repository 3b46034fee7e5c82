"""What an agent asked about provenance informs its later edits of the file, by its hook's payload."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.unit.recording.projects import Project, new_project
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.events import AnnotationShown, ProvenanceAsked
from vibes_lsp.agents.provenance_answers import provenance_asked
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

SESSION: Final = "0d9ac5f2-9a1f-4a3c-8a39-37a8a4f6c3b1"
FAKE: Final = "f" * 64


def answer(*shown: tuple[str, str], said: str = "| Write a digest.") -> dict[str, Any]:
    """Return an answer as `why` gives it."""
    annotations = [
        {"annotationId": identifier, "filePath": path, "prompt": {"quoted": said}}
        for identifier, path in shown
    ]
    return {"notice": "", "more": 0, "file": "a.py", "annotations": annotations}


def payloads(told: dict[str, Any], root: str) -> dict[str, dict[str, Any]]:
    """Return the events about one call of `why`, as each agent gives them to its hook."""
    given = {"file": "a.py", "lineStart": 4}
    text = json.dumps(told)
    blocks = [{"type": "text", "text": text}]
    common: dict[str, Any] = {"session_id": SESSION, "cwd": root, "tool_input": given}
    after: dict[str, Any] = {**common, "hook_event_name": "PostToolUse", "tool_use_id": "call-1"}
    return {
        "Claude Code": {
            **after, "prompt_id": "p1", "transcript_path": f"/home/someone/.claude/{SESSION}.jsonl",
            "tool_name": "mcp__vibes__why", "tool_response": json.dumps(told, separators=(",", ":")),
        },
        "Codex": {
            **after, "turn_id": "t1", "model": "gpt-5.5", "tool_name": "mcp__vibes__why",
            "tool_response": {"content": blocks, "structuredContent": told},
        },
        "Gemini CLI": {
            **common, "hook_event_name": "AfterTool", "timestamp": "2026-02-03T10:00:00.000Z",
            "tool_name": "mcp_vibes_why",
            "tool_response": {
                "llmContent": [{"text": f"<untrusted_context>\n{text}\n</untrusted_context>"}],
                "returnDisplay": text,
            },
        },
        "Qwen Code": {
            **after, "timestamp": "2026-02-03T10:00:00.000Z", "permission_mode": "yolo",
            "tool_call_id": "call-1", "tool_name": "mcp__vibes__why",
            "tool_response": {"llmContent": [{"text": text}]},
        },
        "Copilot CLI": {
            "sessionId": SESSION, "timestamp": 1_795_372_345_654, "cwd": root,
            "toolName": "vibes-why", "toolArgs": given,
            "toolResult": {"resultType": "success", "textResultForLlm": f"{text}\n\n{text}"},
        },
        "opencode": {
            "opencode": "tool.execute.after", "cwd": root,
            "input": {"tool": "vibes_why", "sessionID": SESSION, "callID": "call-1", "args": given},
            "output": {"content": blocks, "structuredContent": told},
        },
    }  # fmt: skip


AGENTS: Final = sorted(payloads(answer(), ""))


@pytest.mark.parametrize("agent", AGENTS)
def test_each_agents_payload_says_what_it_was_told(agent: str) -> None:
    told = answer((FAKE, "a.py"), ("e" * 64, "b.py"))
    event = read_event(payloads(told, "/home/someone/project")[agent])
    assert event is not None
    assert event.agent == agent
    assert event.action == ProvenanceAsked(
        (AnnotationShown(FAKE, "a.py"), AnnotationShown("e" * 64, "b.py"))
    )


@pytest.mark.parametrize("agent", AGENTS)
def test_an_answer_without_annotations_says_nothing(agent: str) -> None:
    assert read_event(payloads(answer(), "/home/someone/project")[agent]) is None


@pytest.mark.parametrize(
    "response",
    [None, 3, "", "{", "{}", "[" * 5_000, '{"annotations": 3}', {"content": [{"text": "x"}]},
     {"annotations": [{"annotationId": 3, "filePath": "a.py"}]}, {"annotations": [{}] * 9},
     json.dumps({"content": {"content": {"content": {"content": {"content": answer((FAKE, "a"))}}}}})],
)  # fmt: skip
def test_a_response_that_is_no_answer_says_nothing(response: Any) -> None:
    assert provenance_asked("mcp__vibes__why", response) is None


@pytest.mark.parametrize(
    "tool", [None, "", "why", "mcp__other__why", "mcp__vibes__record_prompt", "mcp__vibes__why2"]
)
def test_other_tools_say_nothing(tool: str | None) -> None:
    assert provenance_asked(tool, answer((FAKE, "a.py"))) is None


def test_a_recorded_text_adds_no_annotation() -> None:
    said = json.dumps(answer(("e" * 64, "b.py")))
    asked = provenance_asked("mcp__vibes__why", json.dumps(answer((FAKE, "a.py"), said=said)))
    assert asked == ProvenanceAsked((AnnotationShown(FAKE, "a.py"),))


def test_prompts_that_were_found_name_their_annotations() -> None:
    found: Any = {"prompts": [{"promptHash": "", **answer((FAKE, "a.py"))}, {"annotations": []}]}
    asked = provenance_asked("mcp__vibes__find_prompts", found)
    assert asked == ProvenanceAsked((AnnotationShown(FAKE, "a.py"),))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def edit(root: str, path: str, content: str, call: str) -> dict[str, Any]:
    return {
        "session_id": SESSION, "cwd": root, "prompt_id": "p1", "hook_event_name": "PostToolUse",
        "tool_name": "Write", "tool_use_id": call,
        "tool_input": {"file_path": f"{root}/{path}", "content": content},
        "tool_response": {"type": "create", "originalFile": None, "structuredPatch": []},
    }  # fmt: skip


def fold(project: Project, *given: dict[str, Any]) -> None:
    for each in given:
        store_event(json.dumps(each).encode(), lambda: str(project.root))
    fold_events(project.recorder.directory)


def test_the_edits_that_follow_in_the_file_are_informed_by_the_answer(project: Project) -> None:
    earlier = project.annotate(project.session(), 4, 6)
    other = project.annotate(project.session(), 9, 10)
    root = str(project.root)
    project.file("new.py", "x = 1\n")
    project.file("c.py", "y = 1\n")
    before = edit(root, "c.py", "y = 1\n", "call-0")
    asked = payloads(answer((earlier, "a.py"), (other, "a.py"), (FAKE, "a.py")), root)
    project.file("a.py", "a = 1\n")
    fold(project, before, asked["Claude Code"], edit(root, "a.py", "a = 1\n", "call-2"))
    fold(project, edit(root, "new.py", "x = 1\n", "call-3"))
    project.file("a.py", "a = 2\n")
    fold(project, edit(root, "a.py", "a = 2\n", "call-4"))
    records = {each["annotation_id"]: each for each in project.records("line")}
    informed = [
        (records[source]["file_path"], target)
        for source, target in project.edges("informed_by")
        if source in records
    ]
    assert informed == [("a.py", earlier), ("a.py", other)] * 2
    session = [
        (edge["target_ref"], edge["metadata"])
        for edge in project.records("edge")
        if edge["edge_type"] == "informed_by" and edge["source_type"] == "session"
    ]
    assert session == [(earlier, {"file": "a.py"}), (other, {"file": "a.py"})]


def test_the_same_answer_again_changes_nothing(project: Project) -> None:
    earlier = project.annotate(project.session(), 4, 6)
    asked = payloads(answer((earlier, "a.py")), str(project.root))["Claude Code"]
    fold(project, asked, asked, {**asked, "tool_use_id": "call-7"})
    assert [target for _, target in project.edges("informed_by")] == [earlier]


@pytest.mark.parametrize("path", ["../a.py", "/etc/passwd", "a\0.py", ""])
def test_an_answer_about_a_path_outside_informs_nothing(project: Project, path: str) -> None:
    earlier = project.annotate(project.session(), 4, 6)
    fold(project, payloads(answer((earlier, path)), str(project.root))["Codex"])
    assert project.edges("informed_by") == []


def test_only_the_last_answers_of_a_long_session_inform_an_edit(project: Project) -> None:
    lines = "".join(f"v{number} = {number}\n" for number in range(30))
    project.file("a.py", lines)
    session = project.session()
    ids = [project.annotate(session, number, number) for number in range(1, 31)]
    root = str(project.root)
    told = payloads(answer(*((each, "a.py") for each in ids)), root)["Claude Code"]
    project.file("a.py", "a = 1\n")
    fold(project, told, edit(root, "a.py", "a = 1\n", "call-2"))
    written = project.records("line")[-1]["annotation_id"]
    targets = [target for source, target in project.edges("informed_by") if source == written]
    assert targets == ids[-20:]
