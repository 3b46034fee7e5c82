"""The model and version in an agent's own session file, for payloads that do not name them.

The path comes from the payload, which is untrusted. So only a file of that session in an agent's
own folder is read, only its end, and only names are taken from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from vibes_lsp.agents.claude_like import checked_model, checked_version, milliseconds
from vibes_lsp.agents.events import Agent, AgentEvent, SessionKey
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.store.files import open_file

_FOLDERS: Final = {
    Agent.CLAUDE_CODE: ".claude",
    Agent.GEMINI_CLI: ".gemini",
    Agent.QWEN_CODE: ".qwen",
}
"""Where agents keep their session files."""
_MAX_READ: Final = 16 << 20
"""Bytes that are read, from the end."""
_ID_LENGTH: Final = 8
"""Characters of the session's id that every agent's file name has."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """An answer of a model in a session file.

    Attributes:
        model: Its name.
        moment: When, in milliseconds; None if unknown.
        calls: The line as text, which names the tool calls.
        version: The agent's version.
    """

    model: str
    moment: int | None
    calls: str
    version: str | None


class Transcripts:
    """Reads each session file once."""

    def __init__(self) -> None:
        self._uses: dict[Path, list[ModelUse]] = {}

    def find(self, event: AgentEvent) -> ModelUse | None:
        """Return the answer that an event follows; None if that is not certain.

        It is the one with the event's tool call, else the latest before the event, else any if the
        file names one model only.
        """
        path = transcript_path(event)
        if path is None:
            return None
        if path not in self._uses:
            self._uses[path] = _read(path)
        uses = self._uses[path]
        if event.call_id:
            quoted = f'"{event.call_id}"'
            named = [use for use in uses if quoted in use.calls]
            if named:
                return named[0]
        moment = milliseconds(event.moment)
        if moment is not None and not event.call_id:
            earlier = [use for use in uses if use.moment is not None and use.moment <= int(moment)]
            if earlier:
                return earlier[-1]
        return uses[-1] if len({use.model for use in uses}) == 1 else None


def awaits_session_file(event: AgentEvent | None) -> bool:
    """Return whether the file of a subagent is not there yet, or does not name its model yet."""
    if event is None or event.model is not None or event.session.parent is None:
        return False
    if event.agent != Agent.CLAUDE_CODE or Transcripts().find(event) is not None:
        return False
    parent = replace(event, session=SessionKey(event.session.parent))
    return transcript_path(parent) is not None


def transcript_path(event: AgentEvent) -> Path | None:
    """Return an event's session file; None for a path that is not one of its agent."""
    folder = _FOLDERS.get(event.agent)
    if folder is None or not event.transcript or "\0" in event.transcript:
        return None
    path = _own_transcript(event, Path(event.transcript))
    if path is None:
        return None
    session = event.session.id.partition("/")[0][:_ID_LENGTH]
    if len(session) < _ID_LENGTH or session not in event.transcript or path.suffix != ".jsonl":
        return None
    try:
        there = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    is_own = folder in there.parts and folder in path.parts and there.name == path.name
    return there if path.is_absolute() and is_own else None


def _own_transcript(event: AgentEvent, path: Path) -> Path | None:
    """Return the file of a session, or of a subagent; None where it is not known."""
    if event.session.parent is None:
        return path
    if event.agent != Agent.CLAUDE_CODE:
        return None
    agent_id = event.session.id.partition("/")[2]
    if not agent_id.isalnum():
        return None
    return path.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl"


def last_lines(path: Path) -> list[bytes]:
    """Return the last lines of a session file; none if it cannot be read."""
    try:
        with open_file(path) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _MAX_READ))
            lines = file.read(_MAX_READ).split(b"\n")
    except (OSError, UnreadableFile):
        return []
    if size > _MAX_READ:
        del lines[0]
    return lines


def _read(path: Path) -> list[ModelUse]:
    return [use for line in last_lines(path) if b'"model"' in line for use in _uses(line)]


def _uses(line: bytes) -> Iterator[ModelUse]:
    members = object_or_none(line) or {}  # the last line may be being written
    model = _model(members)
    if model is not None:
        moment = milliseconds(members.get("timestamp"))
        yield ModelUse(
            model,
            None if moment is None else int(moment),
            line.decode("utf-8", "replace"),
            checked_version(text(members, "version")),
        )


def _model(members: Members) -> str | None:
    """Return the model of an answer; other lines also have members of that name."""
    match text(members, "type"):
        case "assistant":  # Claude Code; Qwen Code
            return checked_model(
                text(mapping(members, "message"), "model") or text(members, "model")
            )
        case "gemini":
            return checked_model(text(members, "model"))
    return None
