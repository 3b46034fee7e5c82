"""Edits by a tool of an MCP server, as the payload of each agent names such a tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.unit.recording.projects import Project, new_project
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.events import FilesEdited
from vibes_lsp.agents.tool_calls import edited_by_server
from vibes_lsp.ingest.event_log import UNNAMED_EDIT, read_event_log
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

SESSION: Final = "0d9ac5f2-9a1f-4a3c-8a39-37a8a4f6c3b1"
BEFORE: Final = "import sys\n\n\ndef main():\n    return 0\n"
AFTER: Final = "import sys\n\n\ndef main():\n    run(sys.argv)\n    return 1\n"
EDIT: Final[dict[str, Any]] = {
    "oldText": "    return 0\n",
    "newText": "    run(sys.argv)\n    return 1\n",
}


def payloads(tool: str, given: dict[str, Any], answer: str, root: str) -> dict[str, dict[str, Any]]:
    """Return the event after a call of a server's tool, as each agent gives it to its hook."""
    blocks = [{"type": "text", "text": answer}]
    common: dict[str, Any] = {"session_id": SESSION, "cwd": root, "tool_input": given}
    after: dict[str, Any] = {**common, "hook_event_name": "PostToolUse", "tool_use_id": "call-1"}
    moment = "2026-02-03T10:00:00.000Z"
    return {
        "Claude Code": {
            **after, "transcript_path": f"/home/someone/.claude/{SESSION}.jsonl",
            "tool_name": f"mcp__files__{tool}", "tool_response": blocks,
        },
        "Codex": {
            **after, "turn_id": "t1", "model": "gpt-5.5", "tool_name": f"mcp__files__{tool}",
            "tool_response": {"content": blocks},
        },
        "Gemini CLI": {
            **common, "hook_event_name": "AfterTool", "timestamp": moment,
            "tool_name": f"mcp_files_{tool}", "tool_response": {"llmContent": blocks},
        },
        "Qwen Code": {
            **after, "timestamp": moment, "permission_mode": "yolo", "tool_call_id": "call-1",
            "tool_name": f"mcp__files__{tool}", "tool_response": {"llmContent": blocks},
        },
        "Copilot CLI": {
            "sessionId": SESSION, "timestamp": 1_795_372_345_654, "cwd": root,
            "toolName": f"files-{tool}", "toolArgs": given,
            "toolResult": {"resultType": "success", "textResultForLlm": answer},
        },
        "opencode": {
            "opencode": "tool.execute.after", "cwd": root,
            "input": {"tool": f"files_{tool}", "sessionID": SESSION, "callID": "c", "args": given},
            "output": {"content": blocks},
        },
        "Cline": {
            "clineVersion": "3.0.65", "hookName": "tool_result", "taskId": SESSION,
            "workspaceRoots": [root], "timestamp": "1795372345654",
            "tool_result": {"id": "c", "name": f"files__{tool}", "input": given, "output": answer},
        },
        "Cursor": {
            **after, "hook_event_name": "postToolUse", "cursor_version": "2.6",
            "conversation_id": SESSION, "generation_id": "g1", "workspace_roots": [root],
            "tool_name": f"MCP:{tool}", "tool_output": answer,
        },
        "Copilot in VS Code": {
            **after, "timestamp": moment, "transcript_path": "/u/transcripts/c1.jsonl",
            "tool_name": f"mcp_files_{tool}", "tool_response": answer,
        },
        "Amp": {
            "amp": "tool.result", "cwd": root,
            "event": {
                "thread": {"id": SESSION}, "status": "done", "toolUseID": "c",
                "tool": f"mcp__files__{tool}", "input": given, "output": answer,
            },
        },
    }  # fmt: skip


AGENTS: Final = list(payloads("edit_file", {}, "", ""))


def recorded(project: Project, payload: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Return the lines that are recorded of an event."""
    store_event(json.dumps(payload).encode(), lambda: str(project.root))
    fold_events(project.recorder.directory)
    return [
        (line["file_path"], line["line_start"], line["line_end"])
        for line in project.records("line")
    ]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path / "project")
    project.file("app.py", AFTER)
    return project


@pytest.mark.parametrize("agent", AGENTS)
def test_replaced_texts_are_recorded(project: Project, agent: str) -> None:
    given = {"path": "app.py", "edits": [EDIT]}
    payload = payloads("edit_file", given, "done", str(project.root))[agent]
    assert recorded(project, payload) == [("app.py", 5, 6)]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_written_file_is_recorded(project: Project, agent: str) -> None:
    given = {"path": str(project.root / "app.py"), "content": AFTER}
    payload = payloads("write_file", given, "Successfully wrote", str(project.root))[agent]
    assert recorded(project, payload) == [("app.py", 1, 6)]


@pytest.mark.parametrize("agent", AGENTS)
def test_an_edit_of_an_unknown_file_is_named_in_the_log_of_events(
    project: Project, agent: str
) -> None:
    payload = payloads("update_file", {"target": "app.py"}, "done", str(project.root))[agent]
    assert recorded(project, payload) == []
    [logged] = read_event_log(project.recorder.directory)
    assert (logged.agent, logged.recorded, logged.outcome) == (agent, False, UNNAMED_EDIT)


def test_the_diff_in_the_answer_says_which_lines_were_written(project: Project) -> None:
    diff = "```diff\n--- app.py\n+++ app.py\n@@ -4,2 +4,3 @@\n def main():\n-    return 0\n+    run(sys.argv)\n+    return 1\n```"
    given = {"path": "app.py", "edits": [{"oldText": "return  0", "newText": "…"}]}
    payload = payloads("edit_file", given, diff, str(project.root))["Claude Code"]
    assert recorded(project, payload) == [("app.py", 5, 6)]


def test_several_texts_of_which_one_is_unknown_claim_no_line() -> None:
    edited = edited_by_server("mcp__f__edit_file", "/p", {"path": "a", "edits": [EDIT, {}]}, "")
    assert edited is not None
    assert [(edit.path, edit.new) for edit in edited.edits] == [("/p/a", None)]


@pytest.mark.parametrize(
    ("more", "answer"),
    [({"dryRun": True}, "done"), ({}, {"isError": True}), ({}, {"error": {"message": "denied"}})],
)
def test_what_was_not_written_is_no_edit(more: dict[str, Any], answer: Any) -> None:
    given = {"path": "app.py", "edits": [EDIT], **more}
    assert edited_by_server("mcp__files__edit_file", "/p", given, answer) is None


@pytest.mark.parametrize(
    "tool", ["edit_file", "mcp__files__read_file", "mcp__files__list_edited_files", "Write", ""]
)
def test_other_tools_edit_no_file_of_a_server(tool: str) -> None:
    assert edited_by_server(tool, "/p", {"path": "app.py", "content": AFTER}, "") is None


def test_a_tool_that_failed_is_no_edit() -> None:
    given = {"path": "app.py", "edits": [EDIT]}
    payload = payloads("edit_file", given, "", "/p")["Claude Code"]
    assert isinstance(getattr(read_event(payload), "action", None), FilesEdited)
    assert read_event({**payload, "hook_event_name": "PostToolUseFailure"}) is None
