"""Find the command that changed a file when no event says so, or decide that none is certain. Pure.

A change of a file belongs to a command of an agent only if all of this is known: its text before;
that it was changed last while the command ran; that no other session ran then; that no editor saved
it, and that no one else changes files while the agent works. Where the time of a command is not
known well, the command must name the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.ingest.edited_lines import ResolvedEdit
from vibes_lsp.ingest.events import AgentEvent, CommandRun, PromptSubmitted, SessionEnded, TurnEnded
from vibes_lsp.ingest.shell_commands import only_reads
from vibes_lsp.ingest.work_tree import TICK, SeenSession, WorkTreeChange

_SECOND: Final = 1_000_000_000
_MILLISECOND: Final = 1_000_000
_SLACK: Final = _SECOND
"""Time between the end of a command and the receipt of its event: hooks start slowly."""
_SHORT: Final = 10 * _SECOND
"""Longest command that need not name the file: a person may well save one during a longer one."""
_IDLE: Final = 30 * 60 * _SECOND
"""Time after which a session whose turn did not end, or a person, is taken for gone."""
_NAME: Final = re.compile(r"[\w.+@-]+")
_GRACE: Final = 10 * _SECOND
"""Time in which the event of an edit comes: parallel calls are on the disk before their events."""
_COPIED: Final = 12
"""Least length of a line that shows that a new file has lines of another one."""


class Doubt(StrEnum):
    """Why a change of a file is claimed for no one."""

    TEXT = "the text before is unknown"
    GIT = "the text may come from git"
    COPY = "the lines may come from another file"
    TIME = "it was not changed during a command"
    NAME = "the command is long and does not name the file"
    SESSIONS = "several sessions were active"
    PERSON = "a person may have changed the file"
    NUMBER = "too many files changed"


@dataclass(frozen=True, slots=True)
class Window:
    """The time in which a command ran.

    Attributes:
        event: The event after it.
        start: When it started at the earliest, in nanoseconds.
        end: When its event was received.
        is_short: Whether it is known to have run for a short time.
    """

    event: AgentEvent
    start: int
    end: int
    is_short: bool

    @property
    def command(self) -> str:
        """The command."""
        return self.event.action.text if isinstance(self.event.action, CommandRun) else ""


@dataclass(frozen=True, slots=True)
class CommandEdit:
    """A change of a file that a command made.

    Attributes:
        path: The file.
        before: Its text before; empty for a new file.
        after: Its text after.
        event: The event after the command.
        moment: When that was received, in nanoseconds.
    """

    path: str
    before: str
    after: str
    event: AgentEvent
    moment: int


def session_key(event: AgentEvent) -> str:
    """Return what names a session with its subagents."""
    return f"{event.agent.value} {event.session.parent or event.session.id}"


def windows_of(
    events: Sequence[tuple[AgentEvent, int]], sessions: Mapping[str, SeenSession]
) -> list[Window]:
    """Return the times in which the commands of some events ran.

    Args:
        events: Events with the time of their receipt, in order.
        sessions: What was known of the sessions before.
    """
    last = {key: seen.last for key, seen in sessions.items()}
    windows: list[Window] = []
    for event, received in events:
        key = session_key(event)
        if isinstance(event.action, CommandRun):
            duration = event.action.duration
            if duration is not None and duration >= 0:
                length = duration * _MILLISECOND
                start = received - length - _SLACK
                windows.append(Window(event, start, received, is_short=length <= _SHORT))
            elif key in last:
                windows.append(Window(event, last[key], received, is_short=False))
        last[key] = max(received, last.get(key, 0))
    return windows


def advance_sessions(
    events: Sequence[tuple[AgentEvent, int]], sessions: Mapping[str, SeenSession]
) -> dict[str, SeenSession]:
    """Return the sessions after some events; those that ended or went idle are dropped."""
    found = dict(sessions)
    for event, received in events:
        is_subagent = event.session.parent is not None
        is_quiet = isinstance(event.action, TurnEnded | SessionEnded) and not is_subagent
        key = session_key(event)
        known = found.get(key)
        is_asked = isinstance(event.action, PromptSubmitted)
        turn = received if known is None or is_asked else known.turn
        found[key] = SeenSession(received, is_quiet, turn)
    latest = max((received for _, received in events), default=0)
    return {key: seen for key, seen in found.items() if seen.last > latest - _IDLE}


def active_sessions(
    events: Sequence[tuple[AgentEvent, int]], sessions: Mapping[str, SeenSession]
) -> frozenset[str]:
    """Return the sessions that may have written a file since the last events.

    Args:
        events: The events since then.
        sessions: What was known of the sessions before.
    """
    first = min((received for _, received in events), default=0)
    waiting = {
        key for key, seen in sessions.items() if not seen.is_quiet and seen.last > first - _IDLE
    }
    return frozenset(waiting | {session_key(event) for event, _ in events})


def is_disturbing(change: WorkTreeChange, windows: Sequence[Window], turn: int) -> bool:
    """Return whether someone else changes files while an agent works.

    Args:
        change: A change that no event explains.
        windows: The times in which commands ran.
        turn: When the agent was asked.
    """
    return change.modified > turn and not _fitting(change, windows)


def confirmed(suspects: Mapping[str, int], until: int) -> dict[str, int]:
    """Return the files that someone else changed: no event of theirs can come any more."""
    return {path: changed for path, changed in suspects.items() if until - changed > _GRACE}


def is_disturbed(disturbed: int, moment: int) -> bool:
    """Return whether someone else changed files shortly before a moment."""
    return disturbed > moment - _IDLE


def text_after_events(before: str | None, edits: Sequence[ResolvedEdit | None]) -> str | None:
    """Return a file's text after the edits that events report; None where that is not known.

    A change before one of the edits is left out: no time is known for it.
    """
    for edit in edits:
        before = None if edit is None else edit.after
    return before


def claim(
    change: WorkTreeChange,
    edits: Sequence[ResolvedEdit | None],
    windows: Sequence[Window],
    active: Collection[str],
    others: Sequence[str],
) -> CommandEdit | Doubt | None:
    """Return the change of a file that no event explains, as a claim or with the doubt.

    Args:
        change: The file.
        edits: Its edits that events report, in order.
        windows: The times in which commands ran.
        active: The sessions that were active since the baseline.
        others: The texts of files that are gone, or that a command names.

    Returns:
        None for no change, or one that the events explain.
    """
    if change.after is None or (change.before is None and edits):
        return None
    before = text_after_events(change.before, edits)
    if before is None:
        return Doubt.TEXT
    if Text(before).lines == Text(change.after).lines:
        return None
    window = _responsible(change, windows)
    if isinstance(window, Doubt):
        return window
    if len(active) > 1:
        return Doubt.SESSIONS
    if change.is_known_to_git:
        return Doubt.GIT
    if change.was_saved:
        return Doubt.PERSON
    if change.is_new and not edits and any(_has_lines_of(change.after, each) for each in others):
        return Doubt.COPY
    return CommandEdit(change.path, before, change.after, window.event, window.end)


def _fitting(change: WorkTreeChange, windows: Sequence[Window]) -> list[Window]:
    """Return the commands that may write and ran when a file was last changed."""
    return [each for each in windows if _has_time_of(each, change) and not only_reads(each.command)]


def _responsible(change: WorkTreeChange, windows: Sequence[Window]) -> Window | Doubt:
    """Return the command that ran when a file was last changed."""
    fitting = _fitting(change, windows)
    if not fitting:
        return Doubt.TIME
    if len({each.event.session.id for each in fitting}) > 1:
        return Doubt.SESSIONS
    certain = [each for each in fitting if _names(each.command, change.path)]
    certain = certain or [each for each in fitting if each.is_short]
    return certain[-1] if certain else Doubt.NAME


def _has_time_of(window: Window, change: WorkTreeChange) -> bool:
    """Return whether a file was last changed while a command ran.

    Programs can set the modification time, but not the status change time.
    """
    return all(
        window.start - TICK <= moment <= window.end for moment in (change.modified, change.changed)
    )


def _names(command: str, path: str) -> bool:
    return path.rpartition("/")[2] in _NAME.findall(command)


def _has_lines_of(text: str, other: str) -> bool:
    """Return whether a text has a telling line of another one, or half of its lines."""
    others = {line.strip() for line in Text(other).lines}
    lines = [line.strip() for line in Text(text).lines if line.strip()]
    common = [line for line in lines if line in others]
    return 0 < len(lines) <= 2 * len(common) or any(len(line) >= _COPIED for line in common)
