"""Hook payloads of Continue's CLI, by its published sources; it calls none yet. Pure.

Source: `extensions/cli/src/hooks` and `extensions/cli/src/tools` of github.com/continuedev/continue
at d0a3c0b (2026-06-18); no caller of the hooks is there, nor in @continuedev/cli 1.5.47.
Configuration: `.continue/settings.json` in the project or in the home folder, in Claude Code's
form, and Claude Code's own settings. Events to subscribe to: those of Claude Code.

The members are those of Claude Code's hooks; `transcript_path` is always an empty text. Tools
have the names of Claude Code's, but `Write` and `Read` have `filepath`, and answers are texts, with
a unified diff after an edit. No payload after the start names the model, and none an exit code.
"""

from __future__ import annotations

from dataclasses import replace

from vibes_lsp.ingest.events import Action, Agent, AgentEvent, CommandRun, FileEdit
from vibes_lsp.ingest.patches import read_unified_diff
from vibes_lsp.ingest.payload_members import (
    absolute_path,
    files_edited,
    files_read,
    read_claude_like_event,
    replacement,
)
from vibes_lsp.model.members import Members, mapping, text


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    return read_claude_like_event(Agent.CONTINUE, payload, _tool_use)


def _tool_use(payload: Members) -> Action | None:
    folder, members = text(payload, "cwd") or "", mapping(payload, "tool_input")
    told = text(payload, "tool_response") or ""
    has_failed = text(payload, "hook_event_name") == "PostToolUseFailure"
    path = text(members, "filepath") or text(members, "file_path")
    match text(payload, "tool_name"):
        case "Bash":
            command = text(members, "command")
            output = text(payload, "error") if has_failed else told
            return CommandRun(command, None, output) if command else None
        case "Read" if not has_failed:
            return files_read(folder, path)
        case "Edit" | "MultiEdit" | "Write" if path and not has_failed:
            diff = told.partition("\nDiff:\n")[2]
            if diff and "\n@@ " not in diff:  # nothing was changed
                return None
            names = ("file_path", "old_string", "new_string")
            edit = replacement(folder, members, names, replace_all="replace_all")
            return files_edited(
                replace(
                    edit or FileEdit(absolute_path(folder, path), after=text(members, "content")),
                    creates=told.startswith("Successfully created file: "),
                    hunks=read_unified_diff(diff),
                )
            )
    return None
