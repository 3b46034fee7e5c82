"""The reasoning that led to a tool call, which only an agent's own session file has.

No hook gets it. It is taken only from the answer of the model that holds this very call; if the
file does not say which one that is, there is none. The file is one that `transcripts` or
`codex_session_file` would read as well, and it lies outside the project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from vibes_lsp.agents.claude_like import call_content, milliseconds
from vibes_lsp.agents.codex_session_file import codex_session_path
from vibes_lsp.agents.events import Agent, AgentEvent, CommandRun, FilesEdited
from vibes_lsp.agents.transcripts import last_lines, transcript_path
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.members import Members, mapping, objects, text
from vibes_lsp.store.files import is_inside

_Lines: TypeAlias = Sequence[bytes]
_MAX_LENGTH: Final = 1 << 20
"""Characters of a longer text, which no model writes before one call, are not recorded."""


def find_reasoning(events: Sequence[AgentEvent | None], project: Path) -> list[str | None]:
    """Return the reasoning of each event; empty for none, None if its call is not in a file yet.

    Args:
        events: The events; only edits and commands have reasoning.
        project: The project; a session file in it is not read.
    """
    files: dict[Path, _Lines] = {}

    def find(event: AgentEvent | None) -> str | None:
        if event is None or not isinstance(event.action, FilesEdited | CommandRun):
            return ""
        reader = _READERS.get(event.agent)
        if reader is None or not event.transcript:
            return ""
        path = _path(event, project)
        if path is None:
            return None
        if path not in files:
            files[path] = last_lines(path)
        found = reader(files[path], event)
        if found is None:
            return None
        joined = "\n\n".join(each.strip() for each in found if each.strip())
        return joined if len(joined) <= _MAX_LENGTH else ""

    return [find(event) for event in events]


def _path(event: AgentEvent, project: Path) -> Path | None:
    if event.agent == Agent.CODEX:
        return codex_session_path(event, project)
    path = transcript_path(event)
    return None if path is None or is_inside(path, project) else path


def _claude_code(lines: _Lines, event: AgentEvent) -> list[str] | None:
    """Return the thinking of the call's message: each block of it is a line of its own."""
    for number, line in _lines_with(lines, event.call_id):
        message = _claude_message(line)
        before = _before(message, event.call_id)
        if before is not None:
            earlier = [
                block
                for _, each in _lines_with(lines[:number], text(message, "id"))
                if b'"thinking"' in each
                and text(found := _claude_message(each), "id") == text(message, "id")
                for block in objects(found.get("content"))
            ]
            thinking = [each for each in (*earlier, *before) if text(each, "type") == "thinking"]
            return [text(each, "thinking") or "" for each in thinking]
    return None


def _claude_message(line: bytes) -> Members:
    members = _parsed(line)
    return mapping(members, "message") if text(members, "type") == "assistant" else {}


def _before(message: Members, call_id: str | None) -> list[Members] | None:
    """Return the blocks before a call; None if the message does not hold it."""
    blocks = objects(message.get("content"))
    for number, each in enumerate(blocks):
        if text(each, "type") == "tool_use" and text(each, "id") == call_id:
            return blocks[:number]
    return None


def _gemini_cli(lines: _Lines, event: AgentEvent) -> list[str] | None:
    """Return the thoughts of the latest answer before the event, if it holds the call.

    The calls of an answer have no id in the payload, and are written when all of them are done.
    """
    moment = milliseconds(event.moment)
    for line in reversed(lines):
        members = _parsed(line) if moment is not None and b'"gemini"' in line else {}
        answered = milliseconds(members.get("timestamp"))
        if text(members, "type") != "gemini" or answered is None or moment is None:
            continue
        if int(answered) <= int(moment):
            calls = [
                call_content(text(each, "name"), mapping(each, "args"))
                for each in objects(members.get("toolCalls"))
            ]
            if event.call_content not in calls:
                return None
            thoughts = objects(members.get("thoughts"))
            names = ("subject", "description")
            return ["\n".join(text(each, name) or "" for name in names) for each in thoughts]
    return None


def _qwen_code(lines: _Lines, event: AgentEvent) -> list[str] | None:
    """Return the parts that are thoughts, before the call in its message."""
    for _, line in _lines_with(lines, event.call_id):
        members = _parsed(line)
        parts = objects(mapping(members, "message").get("parts"))
        for number, each in enumerate(parts):
            call = mapping(each, "functionCall")
            if text(members, "type") == "assistant" and text(call, "id") == event.call_id:
                thoughts = (part for part in parts[:number] if part.get("thought") is True)
                return [text(part, "text") or "" for part in thoughts]
    return None


def _codex(lines: _Lines, event: AgentEvent) -> list[str] | None:
    """Return the summaries of the reasoning before the call, in the same answer of the model.

    A call that a script makes is named only when it is done. It is one of the script that then
    runs, unless a script of that turn still runs in the background.
    """
    for number, line in _lines_with(lines, event.call_id):
        members = _parsed(line)
        payload = mapping(members, "payload")
        kind = text(payload, "type")
        if kind in ("function_call", "custom_tool_call"):
            if text(payload, "call_id") == event.call_id:
                return _codex_summaries(lines[:number])
        elif kind == "item_completed" and text(mapping(payload, "item"), "id") == event.call_id:
            script = _codex_script(lines[:number])
            return [] if script is None else _codex_summaries(lines[:script])
    return None


def _codex_script(lines: _Lines) -> int | None:
    """Return the number of the line with the script that runs at the end of lines."""
    script: int | None = None
    for number in range(len(lines) - 1, -1, -1):
        payload = _codex_payload(lines[number])
        match text(payload, "type"):
            case "task_started":
                return script
            case "custom_tool_call" if script is None:
                script = number
            case "custom_tool_call_output" | "function_call_output" if (
                script is None or _is_running(payload)
            ):
                return None
    return None


def _is_running(output: Members) -> bool:
    parts = [text(each, "text") or "" for each in objects(output.get("output"))]
    return any(each.startswith("Script running") for each in (*parts, text(output, "output") or ""))


def _codex_summaries(lines: _Lines) -> list[str]:
    """Return the summaries in the answer of the model that lines end with."""
    found: list[str] = []
    for line in reversed(lines):
        if b'"token_usage_record"' in line:
            break
        payload = _codex_payload(line)
        match text(payload, "type"):
            case "reasoning":
                summary = objects(payload.get("summary"))
                found.append("\n\n".join(text(each, "text") or "" for each in summary))
            case "custom_tool_call_output" | "function_call_output" | "task_started":
                break
            case "message" if text(payload, "role") != "assistant":
                break
    return found[::-1]


def _codex_payload(line: bytes) -> Members:
    if b'"response_item"' not in line and b'"task_started"' not in line:
        return {}
    return mapping(_parsed(line), "payload")


def _lines_with(lines: _Lines, identifier: str | None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that have an identifier as a string, with their numbers."""
    if identifier:
        quoted = f'"{identifier}"'.encode("utf-8", "replace")
        yield from ((number, line) for number, line in enumerate(lines) if quoted in line)


def _parsed(line: bytes) -> Members:
    return object_or_none(line) or {}  # the last line may be being written


_READERS: Final[dict[Agent, Callable[[_Lines, AgentEvent], list[str] | None]]] = {
    Agent.CLAUDE_CODE: _claude_code,
    Agent.CODEX: _codex,
    Agent.GEMINI_CLI: _gemini_cli,
    Agent.QWEN_CODE: _qwen_code,
}
