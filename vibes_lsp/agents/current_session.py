"""What only the session file of an event says: which model answered, and what it thought before.

The path comes from the payload, which is untrusted. So only a file of that session in the agent's
own folder is read, and only its end. Of a model only name and version are taken. Reasoning is taken
only from the answer of the model that holds the tool call; if the file does not say which one that
is, there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from vibes_lsp.agents.all_agents import BY_NAME
from vibes_lsp.agents.claude_like import checked_version, milliseconds
from vibes_lsp.agents.events import AgentEvent, CommandRun, FilesEdited, SessionKey
from vibes_lsp.agents.session_files import RawLines, last_lines, parsed
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.files import is_inside

_MAX_LENGTH: Final = 1 << 20
"""Characters of a longer text, which no model writes before one call, are not recorded."""


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


class ModelUses:
    """Finds the model of an event; reads a session file again once it has grown."""

    def __init__(self) -> None:
        self._uses: dict[Path, tuple[int, list[ModelUse]]] = {}

    def find(self, event: AgentEvent) -> ModelUse | None:
        """Return the answer that an event follows; None if that is not certain.

        It is the one with the event's tool call, else the latest before the event, else any if the
        file names one model only.
        """
        session = BY_NAME[event.agent].session
        path = _session_path(event)
        if session is None or session.model is None or path is None:
            return None
        known_size, uses = self._uses.get(path, (-1, []))
        try:
            size = path.stat().st_size
        except OSError:
            return None
        if size != known_size:
            uses = list(_uses(session.model, last_lines(path)))
            self._uses[path] = size, uses
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
    session = BY_NAME[event.agent].session
    if session is None or not session.has_subagents or ModelUses().find(event) is not None:
        return False
    parent = replace(event, session=SessionKey(event.session.parent))
    return _session_path(parent) is not None


def find_reasoning(events: Sequence[AgentEvent | None], project: Path) -> list[str | None]:
    """Return the reasoning of each event; empty for none, None if its call is not in a file yet.

    Args:
        events: The events; only edits and commands have reasoning.
        project: The project; a session file in it is not read.
    """
    files: dict[Path, RawLines] = {}

    def find(event: AgentEvent | None) -> str | None:
        if event is None or not isinstance(event.action, FilesEdited | CommandRun):
            return ""
        session = BY_NAME[event.agent].session
        if session is None or not event.transcript:
            return ""
        path = _session_path(event)
        if path is None or is_inside(path, project):
            return None
        if path not in files:
            files[path] = last_lines(path)
        thoughts = session.reasoning(files[path], event)
        if thoughts is None:
            return None
        joined = "\n\n".join(thought.strip() for thought in thoughts if thought.strip())
        return joined if len(joined) <= _MAX_LENGTH else ""

    return [find(event) for event in events]


def _session_path(event: AgentEvent) -> Path | None:
    """Return an event's session file; None for a path that is not one of its agent."""
    session = BY_NAME[event.agent].session
    if session is None or not event.transcript or "\0" in event.transcript:
        return None
    return session.find(event)


def _uses(model_of: Callable[[Members], str | None], lines: RawLines) -> Iterator[ModelUse]:
    for line in lines:
        members = parsed(line) if b'"model"' in line else {}
        model = model_of(members)
        if model is not None:
            moment = milliseconds(members.get("timestamp"))
            yield ModelUse(
                model,
                None if moment is None else int(moment),
                line.decode("utf-8", "replace"),
                checked_version(text(members, "version")),
            )
