"""The log of agents' events, for `vibes doctor`: what was recorded of each, or why not.

It has the last events of each agent without any text of prompts or files. Git ignores its folder,
and only its owner can read it. A failure to write it changes nothing else.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Final

from vibes_lsp.agents.events import (
    AgentEvent,
    ChoicesMade,
    CommandRun,
    FilesEdited,
    FilesRead,
    PromptSubmitted,
    ProvenanceAsked,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from vibes_lsp.agents.tool_calls import inner
from vibes_lsp.errors import VibesError
from vibes_lsp.git.repository import is_tracked
from vibes_lsp.ingest.record_events import EditedFile
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    make_folder,
    make_ignored_folder,
    read_file,
    replace_file,
    write_temporary,
)

_logger = logging.getLogger(__name__)

NO_AGENT: Final = "unknown"
"""The agent of a payload that none of those that are read would send."""
REPEATED: Final = "reported before"
NOTHING_TO_RECORD: Final = "nothing to record"
"""Outcomes of events that are as they should be."""
UNNAMED_EDIT: Final = "the edit is not recorded: its tool's input does not name a file"
_MAX_EVENTS: Final = 20
"""Events of each agent that the log keeps."""
_MAX_LOG: Final = 1 << 20
_LOG: Final = "events.jsonl"
_MAX_RANGES: Final = 5
_EVENT_MEMBERS: Final = (
    "hook_event_name", "hookEventName", "hookName", "agent_action_name", "opencode", "amp",
)  # fmt: skip
_TOOL_MEMBERS: Final = ("tool_name", "toolName")
_NAME: Final = re.compile(r"[\w.:/ -]{1,80}", re.ASCII)
_WORDS: Final = {
    SessionStarted: "session start",
    SessionEnded: "session end",
    TurnEnded: "end of an answer",
    PromptSubmitted: "prompt",
    ChoicesMade: "decision",
    CommandRun: "command",
    FilesRead: "read",
    ProvenanceAsked: "answer about provenance",
}


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event that an agent sent.

    Attributes:
        received: When, as ISO 8601.
        agent: The agent, or `NO_AGENT`.
        event: The agent's own names of event and tool; empty if unknown.
        recorded: Whether anything was recorded.
        outcome: What was recorded, or why nothing was.
    """

    received: str
    agent: str
    event: str
    recorded: bool
    outcome: str


def log_events(directory: AuditDir, events: Sequence[LoggedEvent]) -> None:
    """Add what became of events to the log, and remove what is too old; nothing is raised."""
    if not events:
        return
    try:
        make_ignored_folder(directory.spool)
        folder = directory.agent_events
        make_folder(folder)
        folder.chmod(0o700)
        kept = _newest([*read_event_log(directory), *events])
        lines = b"".join(canonical_json(asdict(event)) + b"\n" for event in kept)
        replace_file(write_temporary(folder, lines, durable=False), folder / _LOG)
    except Exception as error:  # noqa: BLE001  # the events are recorded without it as well
        _logger.info("the log of events is not written: %s", type(error).__name__)


def event_name(payload: Members) -> str:
    """Return an agent's own names of event and tool; empty if the payload has none."""
    tool_call = inner(payload, "tool_result")
    places = (
        *((payload, name) for name in _EVENT_MEMBERS),
        *((payload, name) for name in _TOOL_MEMBERS),
        (inner(payload, "input"), "tool"),
        (tool_call, "name"),
    )
    names = (text(members, name) for members, name in places)
    return " ".join(name for name in names if name and _NAME.fullmatch(name))


def outcome_of(event: AgentEvent, edited: Sequence[EditedFile]) -> tuple[bool, str]:
    """Return whether anything is recorded of an event, and what.

    Args:
        event: The event.
        edited: The files of the project that it edited.
    """
    if not isinstance(event.action, FilesEdited):
        return True, _WORDS[type(event.action)]
    if not event.action.edits:
        return False, UNNAMED_EDIT
    if not edited:
        return False, "no edited file belongs to this trail"
    return True, "; ".join(_edit_words(file) for file in edited[:_MAX_RANGES])


def _edit_words(file: EditedFile) -> str:
    if file.edit.deletes:
        return f"{file.path}: deleted"
    if file.resolved is None:
        return f"{file.path}: {file.doubt}"
    ranges = file.resolved.ranges
    if not ranges:
        return f"{file.path}: no line added or changed"
    shown = [
        str(lines.start) if lines.start == lines.end else f"{lines.start}-{lines.end}"
        for lines in ranges[:_MAX_RANGES]
    ]
    more = ", ..." if len(ranges) > _MAX_RANGES else ""
    return f"{file.path}: lines {', '.join(shown)}{more} by {file.resolved.method}"


def read_event_log(directory: AuditDir) -> list[LoggedEvent]:
    """Return the events in the log, oldest first; damaged lines are left out."""
    path = directory.agent_events / _LOG
    try:
        content = None if is_tracked(path) else read_file(path, limit=_MAX_LOG)
    except VibesError:
        return []
    events: list[LoggedEvent] = []
    for line in (content or b"").splitlines():
        with suppress(VibesError):
            members = parse_object(line)
            values = [text(members, name) for name in ("received", "agent", "event", "outcome")]
            received, agent, event, outcome = values
            if received is not None and agent and event is not None and outcome is not None:
                recorded = members.get("recorded") is True
                events.append(LoggedEvent(received, agent, event, recorded, outcome))
    return events


def _newest(events: Iterable[LoggedEvent]) -> list[LoggedEvent]:
    """Return the last events of each agent, in their order."""
    listed = list(events)
    by_agent: defaultdict[str, list[int]] = defaultdict(list)
    for number, event in enumerate(listed):
        by_agent[event.agent].append(number)
    kept = {number for numbers in by_agent.values() for number in numbers[-_MAX_EVENTS:]}
    return [event for number, event in enumerate(listed) if number in kept]
