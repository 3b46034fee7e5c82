"""What the readers of all session files have in common: the edits that they yield, and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from vibes_lsp.agents.claude_like import checked_model, checked_version
from vibes_lsp.agents.events import Agent, AgentEvent, FileEdit, FilesEdited, SessionKey
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.timestamps import parse_timestamp

Lines: TypeAlias = Iterable[tuple[int, Members]]
"""The objects of a file with their line numbers."""


@dataclass(frozen=True, slots=True)
class AgentEdit:
    """An edit of one file that an agent made.

    Attributes:
        agent: The agent.
        session: Its session.
        call: What identifies the edit in the session: the tool call and the file's number in it.
        moment: When it was done.
        folder: The agent's current folder.
        edit: The edit.
        prompt: What was asked last before.
        model: The model, if known.
        version: The agent's version, if known.
        place: The session file with a line.
    """

    agent: Agent
    session: SessionKey
    call: str
    moment: datetime
    folder: str
    edit: FileEdit
    prompt: str | None
    model: str | None
    version: str | None
    place: str


@dataclass(slots=True)
class SessionState:
    """What a reader knows at a line of a session file.

    Attributes:
        place: The file.
        folder: The agent's current folder.
        version: The agent's version.
        model: The model.
        prompts: The latest prompt, by subagent.
        calls: Name, input and model of the tool calls that have no result yet.
        done: The tool calls whose edits were read.
    """

    place: str
    folder: str = ""
    version: str | None = None
    model: str | None = None
    prompts: dict[str | None, str] = field(default_factory=dict)
    calls: dict[str, tuple[str, Members, str | None]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    def edits(
        self,
        event: AgentEvent | None,
        line: int,
        moment: JsonValue,
        call: str,
        *,
        model: str | None = None,
        agent: str | None = None,
    ) -> Iterator[AgentEdit]:
        """Yield the edits of an event; none if it is no edit, or its time is unknown.

        Args:
            event: The event.
            line: Where it was read.
            moment: When it was done, as the file says it.
            call: The tool call.
            model: The model, if the file names one for the call.
            agent: The subagent, where a file has several.
        """
        when = _moment(moment)
        if event is None or when is None or not isinstance(event.action, FilesEdited):
            return
        for number, edit in enumerate(event.action.edits):
            yield AgentEdit(
                event.agent,
                event.session,
                f"{call} {number}",
                when,
                event.folder,
                edit,
                self.prompts.get(agent),
                checked_model(model or self.model),
                checked_version(self.version),
                f"{self.place}:{line}",
            )


def parsed(value: JsonValue) -> Members:
    """Return the object in a JSON text; an empty one for anything else."""
    return (object_or_none(value) if isinstance(value, str) else None) or {}


def joined_texts(parts: Sequence[Members]) -> str:
    """Return the texts of a message's parts."""
    return "\n".join(found for each in parts if (found := text(each, "text")))


def _moment(value: JsonValue) -> datetime | None:
    return parse_timestamp(value) if isinstance(value, str) else None
