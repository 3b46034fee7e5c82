"""The payloads in which agents report generated edits, by their published schemas.

They are built from texts and `difflib` alone, never with the code that reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.unit.agents.generated_edits import FOLDER
from tests.unit.agents.tool_calls import (
    Call,
    Payload,
    file_of,
    patch_of,
)

if TYPE_CHECKING:
    from tests.unit.agents.generated_edits import GeneratedEdit


def _texts(call: Call) -> list[Payload]:
    return [
        {
            "old_string": edit.replaced[0],
            "new_string": edit.new if edit.before is None else edit.replaced[1],
        }
        for edit in call
    ]


def _cursor(event: str, members: Payload) -> Payload:
    return {
        "conversation_id": "a6f1",
        "generation_id": "g1",
        "model": "claude-sonnet-5",
        "hook_event_name": event,
        "cursor_version": "2.6.21",
        "workspace_roots": [FOLDER],
        "user_email": None,
        "transcript_path": None,
        **members,
    }


def cursor(call: Call) -> Payload:
    return _cursor("afterFileEdit", {"file_path": file_of(call[0]), "edits": _texts(call)})


def cursor_delete(call: Call) -> Payload:
    return _cursor(
        "postToolUse",
        {"tool_name": "Delete", "tool_input": {"path": file_of(call[0])}, "tool_use_id": "t1"},
    )


def windsurf(call: Call) -> Payload:
    return {
        "agent_action_name": "post_write_code",
        "trajectory_id": "b7a2",
        "execution_id": "x1",
        "timestamp": "2026-11-22T08:33:05Z",
        "model_name": "SWE-1.5",
        "tool_info": {"file_path": file_of(call[0]), "edits": _texts(call)},
    }


def _vscode(tool: str, given: Payload) -> Payload:
    return {
        "timestamp": "2026-11-22T08:33:05.275Z",
        "hook_event_name": "PostToolUse",
        "session_id": "c8b3",
        "transcript_path": "/home/someone/.config/Code/User/workspaceStorage/5f/"
        "GitHub.copilot-chat/transcripts/c8b3.jsonl",
        "tool_name": tool,
        "tool_input": given,
        "tool_response": "The following files were successfully edited:\nx",
        "tool_use_id": "call_1__vscode-1795336384957",
        "cwd": FOLDER,
    }


def _camel(edit: GeneratedEdit) -> Payload:
    old, text = edit.replaced
    return {"filePath": file_of(edit), "oldString": old, "newString": text}


def vscode(call: Call) -> Payload:
    [edit] = call
    if edit.before is None:
        return _vscode("create_file", {"filePath": file_of(edit), "content": edit.new})
    return _vscode("replace_string_in_file", _camel(edit))


def vscode_early(call: Call) -> Payload:
    """The form of early versions."""
    payload = vscode(call)
    payload["hookEventName"] = payload.pop("hook_event_name")
    payload["sessionId"] = payload.pop("session_id")
    return payload


def vscode_multi(call: Call) -> Payload:
    replacements = [_camel(edit) for edit in call]
    return _vscode("multi_replace_string_in_file", {"replacements": replacements})


def vscode_partly_failed(call: Call) -> Payload:
    payload = vscode_multi(call)
    payload["tool_response"] += "\nString replacement failed: no match"
    return payload


def vscode_patch(call: Call) -> Payload:
    return _vscode("apply_patch", {"input": patch_of(call), "explanation": "e"})


def vscode_insert(call: Call) -> Payload:
    given = {"filePath": file_of(call[0]), "code": "# ...existing code..."}
    return _vscode("insert_edit_into_file", given)


def _amp(tool: str, given: Payload, output: Any) -> Payload:
    return {
        "amp": "tool.result",
        "cwd": FOLDER,
        "event": {
            "tool": tool,
            "input": given,
            "toolUseID": "t1",
            "status": "done",
            "output": output,
            "thread": {"id": "T-d9c4"},
        },
        "command": None,
        "files": [],
    }


def amp(call: Call, *, has_diff: bool = True) -> Payload:
    [edit] = call
    if edit.before is None:
        return _amp("create_file", {"path": file_of(edit), "content": edit.new}, "Created")
    old, text = edit.replaced
    diff = {"diff": f"```diff\n{edit.diff}```", "lineRange": [1, 2]} if has_diff else "done"
    return _amp("edit_file", {"path": file_of(edit), "old_str": old, "new_str": text}, diff)


def amp_patch(call: Call) -> Payload:
    return _amp("apply_patch", {"patchText": patch_of(call)}, "Success")


def amp_undo(call: Call) -> Payload:
    return {**_amp("undo_edit", {"path": file_of(call[0])}, "done"), "files": [file_of(call[0])]}
