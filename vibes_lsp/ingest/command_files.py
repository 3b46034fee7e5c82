"""The files that changed while an agent's command ran: no event reports them, only times tell.

A file that was there before is named with the command; its lines are unknown. A file that came into
being is claimed whole, and never more than claimed (R32). What is known between two batches of
events is in the user's cache folder, which no commit can write.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sqlite3
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from vibes_lsp.agents.events import AgentEvent, CommandRun, SessionEnded, TurnEnded
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.diff import changed_in_work_tree, untracked_files
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.project_files import read_content
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.patience import TRAIL_INDEX
from vibes_lsp.recording.paths import is_bookkeeping, project_path
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir
from vibes_lsp.store.cache_database import CacheDatabase

if TYPE_CHECKING:
    from pathlib import Path

_logger = logging.getLogger(__name__)

MAX_CHANGED: Final = 200
"""Most changed files that are looked at: more of them are a checkout or an installation."""
_MAX_FILE: Final = 1 << 20
"""Bytes of the largest file that is looked at."""
_SECOND: Final = 1_000_000_000
_MILLISECOND: Final = 1_000_000
_TICK: Final = 10 * _MILLISECOND
"""How far the time of a file may be behind the clock: systems count it in ticks."""
_SLACK: Final = _SECOND
"""Time between the end of a command and the receipt of its event: hooks start slowly."""
_SHORT: Final = 10 * _SECOND
"""Longest command that need not name the file: a person may well save one during a longer one."""
_IDLE: Final = 30 * 60 * _SECOND
"""Time after which a session whose turn did not end is taken for gone."""
_DATABASE: Final = CacheDatabase(
    "events", "seen-1", ("CREATE TABLE seen (id INTEGER PRIMARY KEY, state BLOB)",), TRAIL_INDEX
)
_NAME: Final = re.compile(r"[\w.+@-]+")
_SAVED: Final = "saved"
"""A folder of the spool: one empty file for each file that an editor saved."""
_READERS: Final = frozenset(
    {
        "basename", "cat", "cd", "cmp", "date", "df", "dirname", "du", "echo", "egrep", "false",
        "fgrep", "file", "grep", "head", "ls", "nl", "printf", "ps", "pwd", "readlink", "realpath",
        "sleep", "stat", "tail", "test", "true", "type", "uname", "wc", "which", "whoami",
    }
)  # fmt: skip
"""Programs that write no file, with any options."""
_GIT_READERS: Final = frozenset(
    {"blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "rev-parse", "show",
     "shortlog", "status"}
)  # fmt: skip
_SEPARATORS: Final = re.compile(r"&&|\|\||[;|\n]")
_WRITES: Final = re.compile(r"[>`&]|\$\(|<\(|--output")
"""What may write a file, or run a command that does."""


class SeenSession(msgspec.Struct, array_like=True, frozen=True):
    """A session of an agent, with its subagents.

    Attributes:
        last: When its last event was received, in nanoseconds.
        is_quiet: Whether that event ended its turn.
    """

    last: int
    is_quiet: bool


class _Seen(msgspec.Struct, array_like=True, frozen=True):
    """What was known after a batch of events.

    Attributes:
        until: When its last event was received, in nanoseconds.
        sessions: The agents' sessions.
        untracked: The files that git does not track; None where there were too many.
    """

    until: int
    sessions: dict[str, SeenSession]
    untracked: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class CommandFile:
    """A file that changed while a command ran.

    Attributes:
        path: The file, relative to the project.
        event: The event after the command.
        run: The command.
        moment: When that was received, in nanoseconds.
        content: Its text, if it came into being; None if it was there before, or is no text.
    """

    path: str
    event: AgentEvent
    run: CommandRun
    moment: int
    content: str | None


@dataclass(frozen=True, slots=True)
class _Window:
    """The time in which a command ran, in nanoseconds.

    Attributes:
        event: The event after it.
        run: The command.
        start: When it started at the earliest.
        end: When its event was received.
        is_short: Whether it is known to have run for a short time.
    """

    event: AgentEvent
    run: CommandRun
    start: int
    end: int
    is_short: bool


class CommandFiles:
    """Finds the files that commands changed.

    Args:
        directory: The trail.
    """

    def __init__(self, directory: AuditDir) -> None:
        self._directory = directory

    @property
    def sessions(self) -> Mapping[str, SeenSession]:
        """The agents' sessions as they were after the last events."""
        seen = self._load()
        return {} if seen is None else seen.sessions

    def changed(
        self, events: Sequence[tuple[AgentEvent, int]], reported: Collection[str]
    ) -> list[CommandFile]:
        """Return the files that commands changed, and keep what is known for the next events.

        Args:
            events: Events with the time of their receipt, in order.
            reported: The files that events report as edited.
        """
        repository = open_repository(self._directory.project) if events else None
        if repository is None:
            return []
        try:
            return self._changed(repository, events, reported)
        except HistoryUnavailable as error:
            _logger.info("the files of commands are not known: %s", error.message)
        except Exception as error:  # noqa: BLE001  # it must not block what is recorded next
            _logger.info("the files of commands are not known: %s", type(error).__name__)
        return []

    def _changed(
        self,
        repository: Repository,
        events: Sequence[tuple[AgentEvent, int]],
        reported: Collection[str],
    ) -> list[CommandFile]:
        """Return the files; see `changed`.

        Raises:
            HistoryUnavailable: Git fails.
        """
        project = self._directory.project
        seen = self._load() or _Seen(0, {}, None)
        windows = list(_windows(events, seen.sessions))
        untracked = frozenset(filter(_is_text, untracked_files(project)))
        files: list[CommandFile] = []
        if windows and len(_active(events, seen.sessions)) == 1:
            names = set(filter(_is_text, changed_in_work_tree(project)))
            names -= frozenset(reported)
            new = frozenset() if seen.untracked is None else untracked - seen.untracked
            if len(names) <= MAX_CHANGED:
                with GitObjects(repository.root, limit=_MAX_FILE) as objects:
                    changed = self._changed_since(seen.until, sorted(names), windows)
                    files = [
                        file
                        for name, window in changed
                        if (file := self._file(name, window, objects, is_new=name in new))
                    ]
        self._save(events, seen, untracked)
        return files

    def _changed_since(
        self, until: int, names: Sequence[str], windows: Sequence[_Window]
    ) -> Iterator[tuple[str, _Window]]:
        """Yield the files that commands changed after a time, each with the command."""
        for name in names:
            changed = _time_of_change(self._directory.project / name)
            if changed is None or changed <= until or not self._is_own(name):
                continue
            window = _responsible(windows, name, changed)
            if window is not None and not self._was_saved(name, window.start):
                yield name, window

    def _file(
        self, path: str, window: _Window, objects: GitObjects, *, is_new: bool
    ) -> CommandFile | None:
        """Return a file; None if git has its content: a checkout or a stash may have brought it."""
        try:
            content = read_content(self._directory.project, path, limit=_MAX_FILE)
        except UnreadableFile:
            return None
        if objects.has_content(content):
            return None
        text = _text(content) if is_new else None
        return CommandFile(path, window.event, window.run, window.end, text)

    def _is_own(self, path: str) -> bool:
        """Return whether a file belongs to this trail."""
        project = self._directory.project
        relative = project_path(project, path)
        if relative is None or is_bookkeeping(project, relative):
            return False
        owner = find_audit_dir((project / relative).parent)
        return owner.path.resolve() == self._directory.path.resolve()

    def _was_saved(self, path: str, since: int) -> bool:
        """Return whether an editor has saved a file since a time in nanoseconds."""
        try:
            mark = self._directory.spool / _SAVED / _mark(path)
            return mark.lstat().st_mtime_ns >= since - _TICK
        except OSError:
            return False

    def _load(self) -> _Seen | None:
        database = _DATABASE.open_shared(self._directory.path)
        if database is None:
            return None
        try:
            with closing(database):
                row = database.execute("SELECT state FROM seen").fetchone()
            return None if row is None else msgspec.msgpack.decode(row[0], type=_Seen)
        except (sqlite3.Error, msgspec.DecodeError, TypeError, ValueError):
            _DATABASE.remove(self._directory.path)
            return None

    def _save(
        self, events: Sequence[tuple[AgentEvent, int]], seen: _Seen, untracked: frozenset[str]
    ) -> None:
        """Keep what is known; what came into being after the last event waits for the next one."""
        until = max(received for _, received in events)
        names: frozenset[str] | None = None
        if len(untracked) <= 10 * MAX_CHANGED:
            old = seen.untracked or frozenset()
            times = {name: _time_of_change(self._directory.project / name) for name in untracked}
            names = frozenset(
                name for name, changed in times.items() if name in old or (changed or 0) <= until
            )
        following = _Seen(until, _advance_sessions(events, seen.sessions), names)
        database = _DATABASE.open_shared(self._directory.path)
        if database is not None:
            state = msgspec.msgpack.encode(following)
            with suppress(sqlite3.Error), closing(database):
                database.execute("INSERT OR REPLACE INTO seen VALUES (1, ?)", (state,))


def session_key(event: AgentEvent) -> str:
    """Return what names a session with its subagents."""
    return f"{event.agent.value} {event.session.parent or event.session.id}"


def _advance_sessions(
    events: Sequence[tuple[AgentEvent, int]], sessions: Mapping[str, SeenSession]
) -> dict[str, SeenSession]:
    """Return the sessions after some events; those that ended or went idle are dropped."""
    following = dict(sessions)
    for event, received in events:
        is_subagent = event.session.parent is not None
        is_quiet = isinstance(event.action, TurnEnded | SessionEnded) and not is_subagent
        following[session_key(event)] = SeenSession(received, is_quiet)
    latest = max((received for _, received in events), default=0)
    return {key: seen for key, seen in following.items() if seen.last > latest - _IDLE}


def _active(
    events: Sequence[tuple[AgentEvent, int]], sessions: Mapping[str, SeenSession]
) -> frozenset[str]:
    """Return the sessions that may have written a file since the events before."""
    first = min(received for _, received in events)
    waiting = {
        key for key, seen in sessions.items() if not seen.is_quiet and seen.last > first - _IDLE
    }
    return frozenset(waiting | {session_key(event) for event, _ in events})


def _windows(
    events: Sequence[tuple[AgentEvent, int]], sessions: Mapping[str, SeenSession]
) -> Iterator[_Window]:
    """Yield the times in which commands ran that may write."""
    last = {key: seen.last for key, seen in sessions.items()}
    for event, received in events:
        key, action = session_key(event), event.action
        if isinstance(action, CommandRun) and not only_reads(action.text):
            if action.duration is not None and action.duration >= 0:
                length = action.duration * _MILLISECOND
                start = received - length - _SLACK
                yield _Window(event, action, start, received, is_short=length <= _SHORT)
            elif key in last:
                yield _Window(event, action, last[key], received, is_short=False)
        last[key] = max(received, last.get(key, 0))


def only_reads(command: str) -> bool:
    """Return whether a shell command is known to write no file.

    An agent reads by many short commands, and a person may save a file beside one of them.
    """
    parts = [part.split() for part in _SEPARATORS.split(command)]
    if _WRITES.search(_SEPARATORS.sub(" ", command)):
        return False
    words = [part for part in parts if part]
    return bool(words) and all(
        part[0] in _READERS or (part[0] == "git" and part[1:2] and part[1] in _GIT_READERS)
        for part in words
    )


def _responsible(windows: Sequence[_Window], path: str, changed: int) -> _Window | None:
    """Return the command that ran when a file was last changed; None if that is not certain."""
    fitting = [window for window in windows if window.start - _TICK <= changed <= window.end]
    if len({window.event.session.id for window in fitting}) != 1:
        return None
    window = fitting[0]  # a later command began after the event of this one
    is_named = path.rpartition("/")[2] in _NAME.findall(window.run.text)
    return window if is_named or window.is_short else None


def _is_text(name: str) -> bool:
    """Return whether a path can be stored: it has no bytes that are not UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(content: bytes) -> str | None:
    """Return the text of a new file; None if it is no text."""
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _time_of_change(path: Path) -> int | None:
    """Return when a regular file was changed last, in nanoseconds; None if there is none.

    Programs can set the time of modification, but not that of the status change.
    """
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return None
    return max(status.st_mtime_ns, status.st_ctime_ns) if stat.S_ISREG(status.st_mode) else None


def note_saved_file(directory: AuditDir, path: str) -> None:
    """Mark a file as saved by an editor: what changed in it may be a person's.

    Nothing happens in a project where no agent has called the hook.
    """
    if not directory.waiting_events.is_dir():
        return
    try:
        folder = directory.spool / _SAVED
        folder.mkdir(exist_ok=True)
        mark = folder / _mark(path)
        mark.touch()
        os.utime(mark)
    except OSError as error:
        _logger.info("a saved file is not noted: %s", error)


def remove_old_marks(directory: AuditDir, before: float) -> None:
    """Remove the marks of files that were saved before a time, in seconds since 1970."""
    try:
        for mark in (directory.spool / _SAVED).iterdir():
            if mark.lstat().st_mtime < before:
                mark.unlink(missing_ok=True)
    except OSError:  # there is no such folder
        return


def _mark(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
