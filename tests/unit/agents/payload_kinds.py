"""Every kind of payload that reports an edit."""

from __future__ import annotations

from typing import Final

from tests.unit.agents.published_edits import (
    amp,
    amp_patch,
    amp_undo,
    cursor,
    cursor_delete,
    vscode,
    vscode_early,
    vscode_insert,
    vscode_multi,
    vscode_partly_failed,
    vscode_patch,
    windsurf,
)
from tests.unit.agents.reported_edits import (
    claude_edit,
    claude_large_write,
    claude_multi_edit,
    claude_notebook,
    claude_write,
    cline,
    codex_patch,
    copilot,
    copilot_capital,
    copilot_patch,
    gemini_replace,
    gemini_write,
    opencode_edit,
    opencode_patch,
    opencode_write,
    qwen,
)
from tests.unit.agents.tool_calls import (
    Kind,
    every,
    files,
    gone,
    hunks,
    move,
    new,
    one,
    sequence,
    whole,
)
from vibes_lsp.agents.events import Agent

NO_TEXT: Final = "the event names no text"
NO_BEFORE: Final = "the text before the edit is not known"
_C, _G, _Q = Agent.CLAUDE_CODE, Agent.GEMINI_CLI, Agent.QWEN_CODE
_O, _V = Agent.OPENCODE, Agent.COPILOT_VSCODE
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
    "qwen-edit": Kind(_Q, one, lambda call: qwen(gemini_replace(call)), has_texts=True),
    "qwen-replace-all": Kind(
        _Q, every, lambda call: qwen(gemini_replace(call, all_places=True)), has_texts=True
    ),
    "qwen-create": Kind(_Q, new, lambda call: qwen(gemini_write(call)), has_texts=True),
    "qwen-write": Kind(_Q, whole, lambda call: qwen(gemini_write(call)), has_texts=True),
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
    "amp-edit": Kind(Agent.AMP, one, amp),
    "amp-edit-without-diff": Kind(Agent.AMP, one, lambda call: amp(call, has_diff=False)),
    "amp-create": Kind(Agent.AMP, new, amp),
    "amp-patch": Kind(Agent.AMP, hunks, amp_patch),
    "amp-files": Kind(Agent.AMP, files, amp_patch),
    "amp-undo": Kind(Agent.AMP, one, amp_undo, unknown=NO_TEXT),
}
"""What each kind of payload edits, and how it reports that."""
