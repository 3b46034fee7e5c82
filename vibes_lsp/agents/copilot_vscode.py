"""GitHub Copilot in VS Code, by its documentation; not tried with VS Code.

Source: https://code.visualstudio.com/docs/agents/reference/hooks-reference, approved 2026-10-14,
and the tools' input schemas in microsoft/vscode-copilot-chat. Configuration: `.github/hooks/*.json`
in the project, `~/.copilot/hooks` for a person; also Claude Code's settings. Events to subscribe
to: `SessionStart`, `UserPromptSubmit`, `PostToolUse`, `SubagentStart`, `SubagentStop`.

This is the *Local* harness. Sessions of the Copilot, Claude and Codex harnesses send the payloads
of Copilot CLI, Claude Code and Codex, and are recorded as theirs.

The members are those of Claude Code's hooks with `timestamp`, and the text of `tool_response`; in
early versions `sessionId` and `hookEventName`. No payload names the model. `Stop` ends a request,
not a session. `PostToolUse` may run before VS Code writes the file (microsoft/vscode#315926), so an
edit that its file does not have yet is awaited for a second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from vibes_lsp.agents import copilot_cli
from vibes_lsp.agents.agent import CodingAgent, Form, ServerList, TrustStep
from vibes_lsp.agents.claude_like import read_claude_like_event
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
)
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    files_edited,
    files_read,
    patched_files,
    replacement,
)
from vibes_lsp.model.members import Members, mapping, objects, text, texts

_REPLACED: Final = ("filePath", "oldString", "newString")
_SUCCEEDED: Final = ("successfully edited", "was applied successfully", "File created at")
_FAILED: Final = ("failed: ", "There was an error applying")
_NOTEBOOK: Final = ".ipynb"


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    members = {
        **payload,
        "session_id": payload.get("session_id", payload.get("sessionId")),
        "hook_event_name": payload.get("hook_event_name", payload.get("hookEventName")),
    }
    if not text(members, "session_id"):
        return None
    return read_claude_like_event(Agent.COPILOT_VSCODE, members, _tool_use)


def _tool_use(payload: Members) -> Action | None:
    folder, members = text(payload, "cwd") or "", mapping(payload, "tool_input")
    answer = text(payload, "tool_response") or ""
    path = text(members, "filePath")
    match text(payload, "tool_name"):
        case "run_in_terminal":
            command = text(members, "command")
            return CommandRun(command, None, answer) if command else None
        case "read_file":
            return files_read(folder, path)
        case "create_file":
            content = text(members, "content")
            if not path or content is None:
                return None
            # The tool refuses a file that has text.
            created = FileEdit(absolute_path(folder, path), creates=True, after=content)
            return _checked((created,), answer)
        case "replace_string_in_file":
            edit = replacement(folder, members, _REPLACED)
            return None if edit is None else _checked((edit,), answer)
        case "multi_replace_string_in_file":
            edits = (
                replacement(folder, replaced, _REPLACED)
                for replaced in objects(members.get("replacements"))
            )
            return _checked(tuple(edit for edit in edits if edit is not None), answer)
        case "apply_patch":
            return _checked(patched_files(folder, text(members, "input") or "").edits, answer)
        case "insert_edit_into_file" | "edit_notebook_file" | "editFiles":
            paths = (path, *texts(members, "files"))
            return files_edited(*(FileEdit(absolute_path(folder, name)) for name in paths if name))
    return None


def _checked(edits: tuple[FileEdit, ...], answer: str) -> FilesEdited | None:
    """Return the edits that were made; without lines where the answer leaves that open.

    Args:
        edits: What was asked for.
        answer: The tool's answer. It names failures, but not which of several edits failed, and
            corrections that a model made to the texts.
    """
    has_failed = any(words in answer for words in _FAILED)
    if has_failed and not any(words in answer for words in _SUCCEEDED):
        return None
    if has_failed:
        return files_edited(
            *(FileEdit(path) for path in dict.fromkeys(edit.path for edit in edits))
        )
    return files_edited(
        *(
            FileEdit(edit.path)
            if edit.path.endswith(_NOTEBOOK)  # the texts are those of cells
            else replace(edit, may_be_unsaved=True)
            for edit in edits
        )
    )


AGENT: Final = CodingAgent(
    agent=Agent.COPILOT_VSCODE,
    slug="copilot-vscode",
    programs=("code", "code-insiders"),
    folder=".vscode",
    form=Form.ENTRIES,
    project_file=copilot_cli.CONFIGURATION,  # whose form VS Code reads too
    events=copilot_cli.EVENTS,
    handler=copilot_cli.HANDLER,
    base=copilot_cli.BASE,
    trust=TrustStep.FOLDER,
    read_event=_read_event,
    servers=ServerList(".vscode/mcp.json", "", member="servers", base={"type": "stdio"}),
)
