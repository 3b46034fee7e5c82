"""The payloads in which agents report generated edits, by payloads captured from them.

They are built from texts and `difflib` alone, never with the code that reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.agents.generated_edits import FOLDER
from tests.unit.agents.tool_calls import (
    Call,
    Payload,
    claude_event,
    file_of,
    patch_of,
    replacement_of,
)

if TYPE_CHECKING:
    from tests.unit.agents.generated_edits import GeneratedEdit


def _structured(edit: GeneratedEdit) -> list[Payload]:
    found: list[Payload] = []
    for line in edit.diff.split("\n")[4:-1]:
        if line.startswith("@@"):
            start = line.split("+")[1].split(" ")[0].split(",")[0]
            found.append({"newStart": int(start), "lines": []})
        else:
            found[-1]["lines"].append(line)
    return found


def claude_edit(call: Call, *, all_places: bool = False, has_patch: bool = True) -> Payload:
    [edit] = call
    response = {"originalFile": edit.old, "userModified": False}
    patch = {"structuredPatch": _structured(edit)} if has_patch else {}
    return claude_event("Edit", replacement_of(edit, all_places=all_places), {**response, **patch})


def claude_multi_edit(call: Call) -> Payload:
    [edit] = call
    edits = [{"old_string": "a", "new_string": "b"}]
    given = {"file_path": file_of(edit), "edits": edits}
    return claude_event(
        "MultiEdit", given, {"originalFile": edit.old, "structuredPatch": _structured(edit)}
    )


def claude_write(call: Call) -> Payload:
    [edit] = call
    is_new = edit.before is None
    response = {
        "type": "create" if is_new else "update",
        "originalFile": None if is_new else edit.old,
        "structuredPatch": [] if is_new else _structured(edit),
    }
    return claude_event("Write", {"file_path": file_of(edit), "content": edit.new}, response)


def claude_large_write(call: Call) -> Payload:
    """The text before is too large for the payload."""
    payload = claude_write(call)
    payload["tool_response"].update(originalFile=None, structuredPatch=[])
    return payload


def claude_notebook(call: Call) -> Payload:
    [edit] = call
    given = {"notebook_path": file_of(edit), "new_source": "x"}
    return claude_event(
        "NotebookEdit", given, {"original_file": edit.old, "updated_file": edit.new}
    )


# Gemini CLI and Qwen Code.


def _gemini(tool: str, given: Payload, edit: GeneratedEdit) -> Payload:
    shown = {
        "fileDiff": edit.diff,
        "filePath": file_of(edit),
        "originalContent": edit.old,
        "newContent": edit.new,
        "isNewFile": edit.before is None,
    }
    return {
        "session_id": "6a2d",
        "transcript_path": "/home/someone/.gemini/tmp/p/chats/session-6a2d.jsonl",
        "cwd": FOLDER,
        "hook_event_name": "AfterTool",
        "timestamp": "2026-11-22T08:31:07.854Z",
        "tool_name": tool,
        "tool_input": {"file_path": edit.path, **given},
        "tool_response": {"llmContent": "done", "returnDisplay": shown},
    }


def gemini_replace(call: Call, *, all_places: bool = False) -> Payload:
    old, text = call[0].replaced
    given = {"old_string": old, "new_string": text, "allow_multiple": all_places}
    return _gemini("replace", given, call[0])


def gemini_write(call: Call) -> Payload:
    return _gemini("write_file", {"content": call[0].new}, call[0])


def qwen(payload: Payload) -> Payload:
    tool = {"replace": "edit"}.get(payload["tool_name"], payload["tool_name"])
    return {
        **payload,
        "transcript_path": "/home/someone/.qwen/projects/p/chats/6a2d.jsonl",
        "hook_event_name": "PostToolUse",
        "permission_mode": "yolo",
        "tool_name": tool,
        "tool_call_id": "c1",
        "tool_use_id": "toolu_1",
    }


# Agents with `apply_patch`.


def codex_patch(call: Call) -> Payload:
    return {
        "session_id": "7c3e",
        "turn_id": "u1",
        "transcript_path": None,
        "cwd": FOLDER,
        "hook_event_name": "PostToolUse",
        "model": "gpt-5.5",
        "tool_name": "apply_patch",
        "tool_input": {"command": patch_of(call)},
        "tool_response": "Exit code: 0\nOutput:\nSuccess.",
        "tool_use_id": "t1",
    }


def _copilot(tool: str, given: object) -> Payload:
    return {
        "sessionId": "8d4f",
        "timestamp": 1795336304916,
        "cwd": FOLDER,
        "toolName": tool,
        "toolArgs": given,
        "toolResult": {"resultType": "success", "textResultForLlm": "done"},
    }


def _copilot_input(edit: GeneratedEdit) -> Payload:
    if edit.before is None:
        return {"path": file_of(edit), "file_text": edit.new}
    old, text = edit.replaced
    return {"path": file_of(edit), "old_str": old, "new_str": text}


def copilot(call: Call) -> Payload:
    [edit] = call
    return _copilot("create" if edit.before is None else "edit", _copilot_input(edit))


def copilot_patch(call: Call) -> Payload:
    return _copilot("apply_patch", patch_of(call))


def copilot_capital(call: Call) -> Payload:
    [edit] = call
    return {
        "hook_event_name": "PostToolUse",
        "session_id": "8d4f",
        "timestamp": "2026-11-22T08:31:44.916Z",
        "cwd": FOLDER,
        "tool_name": "Write" if edit.before is None else "Edit",
        "tool_input": _copilot_input(edit),
        "tool_result": {"result_type": "success", "text_result_for_llm": "done"},
    }


def _opencode(tool: str, given: Payload, metadata: Payload) -> Payload:
    return {
        "opencode": "tool.execute.after",
        "cwd": FOLDER,
        "input": {"tool": tool, "sessionID": "ses_1", "callID": "c1", "args": given},
        "output": {"metadata": metadata, "output": "done"},
    }


def opencode_edit(call: Call, *, all_places: bool = False) -> Payload:
    [edit] = call
    old, text = edit.replaced
    given = {"filePath": file_of(edit), "oldString": old, "newString": text}
    return _opencode("edit", {**given, "replaceAll": all_places}, {"diff": edit.diff})


def opencode_write(call: Call) -> Payload:
    [edit] = call
    given = {"filePath": file_of(edit), "content": edit.new}
    return _opencode("write", given, {"exists": edit.before is not None})


def opencode_patch(call: Call) -> Payload:
    shown = [{"filePath": file_of(edit), "patch": edit.diff} for edit in call]
    return _opencode("apply_patch", {"patchText": patch_of(call)}, {"files": shown})


# Agents whose payloads have no whole text and no diff.


def cline(call: Call) -> Payload:
    [edit] = call
    given = {"path": file_of(edit)}
    if edit.before is None:
        given["new_text"] = edit.new
    else:
        given["old_text"], given["new_text"] = edit.replaced
    told = "File created successfully at: x" if edit.before is None else "Edited x"
    return {
        "clineVersion": "3.0.65",
        "timestamp": "2026-11-22T08:33:05.275Z",
        "taskId": "conv_1",
        "sessionContext": {"rootSessionId": "9e5a"},
        "workspaceRoots": [FOLDER],
        "agent_id": "agent_1",
        "parent_agent_id": None,
        "hookName": "tool_result",
        "tool_result": {
            "id": "c1",
            "name": "editor",
            "input": given,
            "output": {"result": told, "success": True},
        },
    }
