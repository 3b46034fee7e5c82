"""The payloads in which each agent would report generated edits.

They are built from texts and `difflib` alone, never with the code that reads them.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.unit.ingest.generated_edits import (
    FOLDER,
    GeneratedEdit,
    create,
    delete,
    moved,
    patched,
    replace_all,
    replace_once,
    rewrite,
)
from vibes_lsp.ingest.events import Agent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Payload = dict[str, Any]
Call = list[GeneratedEdit]


@dataclass(frozen=True)
class Kind:
    """A kind of payload.

    Attributes:
        agent: Who sends it.
        generate: Returns the edits of one tool call, in order.
        report: Returns the payload of such a call.
        has_texts: Whether it has the whole text before and after.
        unknown: Why no edit of this kind has lines; None if all have.
    """

    agent: Agent
    generate: Callable[[random.Random], Call]
    report: Callable[[Call], Payload]
    has_texts: bool = False
    unknown: str | None = None


def file_of(edit: GeneratedEdit) -> str:
    """Return the absolute path of an edited file."""
    return f"{FOLDER}/{edit.path}"


# Edits of one tool call.


def one(rng: random.Random) -> Call:
    return [replace_once(rng)]


def every(rng: random.Random) -> Call:
    return [replace_all(rng)]


def new(rng: random.Random) -> Call:
    return [create(rng)]


def whole(rng: random.Random) -> Call:
    return [rewrite(rng)]


def gone(rng: random.Random) -> Call:
    return [delete(rng)]


def move(rng: random.Random) -> Call:
    return [moved(rng)]


def hunks(rng: random.Random) -> Call:
    return [patched(rng)]


def files(rng: random.Random) -> Call:
    """A patch of several files, one of them new."""
    return [patched(rng, "a.py"), create(rng, "b.py"), patched(rng, "src/c.py"), moved(rng)]


def sequence(rng: random.Random) -> Call:
    """Several replacements in one file, each in the text that the one before it made."""
    edits = [replace_once(rng)]
    for _ in range(rng.randint(1, 3)):
        following = replace_once(rng, edits[-1])
        if following.before == edits[-1].after and following.ends[0] == edits[-1].ends[1]:
            edits.append(following)
    return edits


# Claude Code, and agents with its hooks.


def _claude(tool: str, given: Payload, response: Any) -> Payload:
    return {
        "session_id": "5b1c",
        "transcript_path": "/home/someone/.claude/projects/p/5b1c.jsonl",
        "cwd": FOLDER,
        "prompt_id": "p1",
        "permission_mode": "acceptEdits",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_response": response,
        "tool_use_id": "t1",
    }


def _structured(edit: GeneratedEdit) -> list[Payload]:
    found: list[Payload] = []
    for line in edit.diff.split("\n")[4:-1]:
        if line.startswith("@@"):
            start = line.split("+")[1].split(" ")[0].split(",")[0]
            found.append({"newStart": int(start), "lines": []})
        else:
            found[-1]["lines"].append(line)
    return found


def _replacement(edit: GeneratedEdit, *, all_places: bool = False) -> Payload:
    old, text = edit.replaced
    return {
        "file_path": file_of(edit),
        "old_string": old,
        "new_string": text,
        "replace_all": all_places,
    }


def claude_edit(call: Call, *, all_places: bool = False, has_patch: bool = True) -> Payload:
    [edit] = call
    response = {"originalFile": edit.old, "userModified": False}
    patch = {"structuredPatch": _structured(edit)} if has_patch else {}
    return _claude("Edit", _replacement(edit, all_places=all_places), {**response, **patch})


def claude_multi_edit(call: Call) -> Payload:
    [edit] = call
    edits = [{"old_string": "a", "new_string": "b"}]
    given = {"file_path": file_of(edit), "edits": edits}
    return _claude(
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
    return _claude("Write", {"file_path": file_of(edit), "content": edit.new}, response)


def claude_large_write(call: Call) -> Payload:
    """The text before is too large for the payload."""
    payload = claude_write(call)
    payload["tool_response"].update(originalFile=None, structuredPatch=[])
    return payload


def claude_notebook(call: Call) -> Payload:
    [edit] = call
    given = {"notebook_path": file_of(edit), "new_source": "x"}
    return _claude("NotebookEdit", given, {"original_file": edit.old, "updated_file": edit.new})


def continue_edit(call: Call, *, tool: str = "Edit", all_places: bool = False) -> Payload:
    [edit] = call
    given = {
        "Edit": _replacement(edit, all_places=all_places),
        "MultiEdit": {"file_path": file_of(edit), "edits": []},
        "Write": {"filepath": file_of(edit), "content": edit.new},
    }[tool]
    told = f"Successfully edited {file_of(edit)}\nDiff:\n{edit.diff.partition(chr(10))[2]}"
    if tool == "Write" and not edit.before:
        told = f"Successfully created file: {file_of(edit)}"
    return {**_claude(tool, given, told), "transcript_path": "", "permission_mode": "normal"}


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


def _qwen(payload: Payload) -> Payload:
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


def _patch(call: Sequence[GeneratedEdit]) -> str:
    lines = [line for edit in call for line in edit.patch()]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def codex_patch(call: Call) -> Payload:
    return {
        "session_id": "7c3e",
        "turn_id": "u1",
        "transcript_path": None,
        "cwd": FOLDER,
        "hook_event_name": "PostToolUse",
        "model": "gpt-5.5",
        "tool_name": "apply_patch",
        "tool_input": {"command": _patch(call)},
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
    return _copilot("apply_patch", _patch(call))


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
    return _opencode("apply_patch", {"patchText": _patch(call)}, {"files": shown})


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
    return _vscode("apply_patch", {"input": _patch(call), "explanation": "e"})


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
    return _amp("apply_patch", {"patchText": _patch(call)}, "Success")


def amp_undo(call: Call) -> Payload:
    return {**_amp("undo_edit", {"path": file_of(call[0])}, "done"), "files": [file_of(call[0])]}


NO_TEXT: Final = "the event names no text"
NO_BEFORE: Final = "the text before the edit is not known"
_C, _G, _Q = Agent.CLAUDE_CODE, Agent.GEMINI_CLI, Agent.QWEN_CODE
_O, _V, _N = Agent.OPENCODE, Agent.COPILOT_VSCODE, Agent.CONTINUE
KINDS: Final[dict[str, Kind]] = {
    "claude-edit": Kind(_C, one, claude_edit, has_texts=True),
    "claude-edit-without-patch": Kind(
        _C, one, lambda call: claude_edit(call, has_patch=False), has_texts=True
    ),
    "claude-replace-all": Kind(
        _C, every, lambda call: claude_edit(call, all_places=True), has_texts=True
    ),
    "claude-multi-edit": Kind(_C, hunks, claude_multi_edit),
    "claude-create": Kind(_C, new, claude_write, has_texts=True),
    "claude-write": Kind(_C, whole, claude_write, has_texts=True),
    "claude-large-write": Kind(_C, whole, claude_large_write, unknown=NO_BEFORE),
    "claude-notebook": Kind(_C, whole, claude_notebook, has_texts=True),
    "codex-patch": Kind(Agent.CODEX, hunks, codex_patch),
    "codex-files": Kind(Agent.CODEX, files, codex_patch),
    "codex-create": Kind(Agent.CODEX, new, codex_patch),
    "codex-move": Kind(Agent.CODEX, move, codex_patch),
    "codex-delete": Kind(Agent.CODEX, gone, codex_patch),
    "gemini-replace": Kind(_G, one, gemini_replace, has_texts=True),
    "gemini-replace-all": Kind(
        _G, every, lambda call: gemini_replace(call, all_places=True), has_texts=True
    ),
    "gemini-create": Kind(_G, new, gemini_write, has_texts=True),
    "gemini-write": Kind(_G, whole, gemini_write, has_texts=True),
    "qwen-edit": Kind(_Q, one, lambda call: _qwen(gemini_replace(call)), has_texts=True),
    "qwen-create": Kind(_Q, new, lambda call: _qwen(gemini_write(call)), has_texts=True),
    "qwen-write": Kind(_Q, whole, lambda call: _qwen(gemini_write(call)), has_texts=True),
    "copilot-edit": Kind(Agent.COPILOT_CLI, one, copilot),
    "copilot-create": Kind(Agent.COPILOT_CLI, new, copilot),
    "copilot-capital-edit": Kind(Agent.COPILOT_CLI, one, copilot_capital),
    "copilot-capital-create": Kind(Agent.COPILOT_CLI, new, copilot_capital),
    "copilot-patch": Kind(Agent.COPILOT_CLI, hunks, copilot_patch),
    "copilot-files": Kind(Agent.COPILOT_CLI, files, copilot_patch),
    "copilot-delete": Kind(Agent.COPILOT_CLI, gone, copilot_patch),
    "opencode-edit": Kind(_O, one, opencode_edit),
    "opencode-replace-all": Kind(_O, every, lambda call: opencode_edit(call, all_places=True)),
    "opencode-create": Kind(_O, new, opencode_write),
    "opencode-write": Kind(_O, whole, opencode_write, unknown=NO_BEFORE),
    "opencode-patch": Kind(_O, hunks, opencode_patch),
    "opencode-files": Kind(_O, files, opencode_patch),
    "cline-edit": Kind(Agent.CLINE, one, cline),
    "cline-create": Kind(Agent.CLINE, new, cline),
    "cursor-edit": Kind(Agent.CURSOR, one, cursor),
    "cursor-edits": Kind(Agent.CURSOR, sequence, cursor),
    "cursor-create": Kind(Agent.CURSOR, new, cursor),
    "cursor-delete": Kind(Agent.CURSOR, gone, cursor_delete),
    "windsurf-edit": Kind(Agent.WINDSURF, one, windsurf),
    "windsurf-edits": Kind(Agent.WINDSURF, sequence, windsurf),
    "windsurf-create": Kind(Agent.WINDSURF, new, windsurf),
    "vscode-edit": Kind(_V, one, vscode),
    "vscode-edits": Kind(_V, sequence, vscode_multi),
    "vscode-partly-failed": Kind(_V, one, vscode_partly_failed, unknown=NO_TEXT),
    "vscode-create": Kind(_V, new, vscode),
    "vscode-early": Kind(_V, one, vscode_early),
    "vscode-patch": Kind(_V, hunks, vscode_patch),
    "vscode-files": Kind(_V, files, vscode_patch),
    "vscode-insert": Kind(_V, one, vscode_insert, unknown=NO_TEXT),
    "continue-edit": Kind(_N, one, continue_edit),
    "continue-replace-all": Kind(_N, every, lambda call: continue_edit(call, all_places=True)),
    "continue-multi-edit": Kind(_N, whole, lambda call: continue_edit(call, tool="MultiEdit")),
    "continue-create": Kind(_N, new, lambda call: continue_edit(call, tool="Write")),
    "continue-write": Kind(_N, whole, lambda call: continue_edit(call, tool="Write")),
    "amp-edit": Kind(Agent.AMP, one, amp),
    "amp-edit-without-diff": Kind(Agent.AMP, one, lambda call: amp(call, has_diff=False)),
    "amp-create": Kind(Agent.AMP, new, amp),
    "amp-patch": Kind(Agent.AMP, hunks, amp_patch),
    "amp-undo": Kind(Agent.AMP, one, amp_undo, unknown=NO_TEXT),
}
"""What each kind of payload edits, and how it reports that."""


def as_bytes(payload: Payload) -> bytes:
    """Return a payload as an agent writes it."""
    return json.dumps(payload, ensure_ascii=False).encode()
