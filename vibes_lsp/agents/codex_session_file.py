"""What only Codex's session file says: exit codes, and patches applied through the shell.

Codex applies such a patch itself, so no hook runs after it. Its session file has the diff of every
change that it made. The path of the file comes from the payload, which is untrusted. So only a file
of that session in Codex's own folder is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from vibes_lsp.agents.codex import edit_identity
from vibes_lsp.agents.events import Agent, AgentEvent, CommandRun, FileEdit, FilesEdited
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.members import Members, integer, mapping, text
from vibes_lsp.model.paths import PathKind, path_kind
from vibes_lsp.model.vocabulary import SESSION_FILE
from vibes_lsp.store.files import is_inside, open_file

_FOLDER: Final = ".codex"
_NAME: Final = re.compile(r"rollout-[\w.-]+\.jsonl")
_MAX_READ: Final = 16 << 20
"""Bytes that are read, from the end."""
_MIN_ID: Final = 8
_MAX_AGE: Final = 60_000
"""Milliseconds before the first known event of a session in which a change is its."""


@dataclass(frozen=True, slots=True)
class CompletedItem:
    """A command or a change of files in a session file.

    Attributes:
        id: The tool call.
        completed: When it was done, in milliseconds.
        exit_code: Of a command.
        duration: Of a command, in milliseconds.
        edits: Of a change.
    """

    id: str
    completed: int
    exit_code: int | None
    duration: int | None
    edits: tuple[FileEdit, ...]


class CodexSessionFiles:
    """Reads session files; each again only when it has grown.

    Args:
        project: The project; a session file in it is not read.
    """

    def __init__(self, project: Path) -> None:
        self._project = project
        self._items: dict[Path, tuple[int, tuple[CompletedItem, ...]]] = {}

    def complete(self, event: AgentEvent) -> AgentEvent:
        """Return an event of a command with its exit code and duration, if they are known."""
        if not isinstance(event.action, CommandRun) or not event.call_id:
            return event
        for item in self._read(event):
            if item.id == event.call_id and not item.edits:
                code = item.exit_code if event.action.exit_code is None else event.action.exit_code
                return replace(
                    event, action=replace(event.action, exit_code=code, duration=item.duration)
                )
        return event

    def unreported_edits(
        self, event: AgentEvent, *, since: int | None, until: int, reported: Iterable[str | None]
    ) -> Iterator[tuple[int, AgentEvent]]:
        """Yield the edits before an event that no event reports, with their time in milliseconds.

        Args:
            event: An event of a session.
            since: When the event before it was received, in milliseconds; None if that is unknown.
            until: When the event was received.
            reported: The tool calls that events report.
        """
        known = set(reported)
        begin = until - _MAX_AGE if since is None else since
        for item in self._read(event):
            if item.edits and begin < item.completed <= until and item.id not in known:
                yield (
                    item.completed,
                    replace(
                        event,
                        action=FilesEdited(item.edits),
                        identity=edit_identity(item.id),
                        call_id=item.id,
                        method=SESSION_FILE,
                    ),
                )

    def _read(self, event: AgentEvent) -> tuple[CompletedItem, ...]:
        path = codex_session_path(event, self._project)
        if path is None:
            return ()
        try:
            with open_file(path) as file:
                size = file.seek(0, os.SEEK_END)
                if path in self._items and self._items[path][0] == size:
                    return self._items[path][1]
                file.seek(max(0, size - _MAX_READ))
                lines = file.read(_MAX_READ).split(b"\n")
        except (OSError, UnreadableFile):
            return ()
        if size > _MAX_READ:
            del lines[0]
        items = tuple(item for line in lines if (item := _item(line)) is not None)
        self._items[path] = size, items
        return items


def codex_session_path(event: AgentEvent, project: Path) -> Path | None:
    """Return the session file of an event; None for a path that is not one.

    Args:
        event: The event.
        project: The project; a session file in it is not read.
    """
    if event.agent != Agent.CODEX or not event.transcript or "\0" in event.transcript:
        return None
    path = Path(event.transcript)
    session = event.session.id.rpartition("/")[2]
    is_named = _NAME.fullmatch(path.name) and session in path.name and len(session) >= _MIN_ID
    if not is_named or not path.is_absolute():
        return None
    try:
        there = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    home = os.environ.get("CODEX_HOME")
    is_own = _FOLDER in there.parts or (home is not None and there.is_relative_to(home))
    if not is_own or there.name != path.name or is_inside(there, project.resolve()):
        return None
    return there


def _item(line: bytes) -> CompletedItem | None:
    """Return the command or change that a line reports as completed."""
    if b'"item_completed"' not in line:
        return None
    payload = mapping(object_or_none(line) or {}, "payload")  # the last may be being written
    item, completed = mapping(payload, "item"), integer(payload, "completed_at_ms")
    identifier = text(item, "id")
    if text(payload, "type") != "item_completed" or not identifier or completed is None:
        return None
    match text(item, "type"):
        case "CommandExecution":
            code, duration = integer(item, "exit_code"), _milliseconds(mapping(item, "duration"))
            return CompletedItem(identifier, completed, code, duration, ())
        case "FileChange" if text(item, "status") == "completed":
            edits = tuple(_edits(mapping(item, "changes")))
            return CompletedItem(identifier, completed, None, None, edits) if edits else None
    return None


def _milliseconds(duration: Members) -> int | None:
    seconds, rest = integer(duration, "secs"), integer(duration, "nanos")
    if seconds is None or rest is None or seconds < 0 or rest < 0:
        return None
    return seconds * 1000 + rest // 1_000_000 + 1


def _edits(changes: Members) -> Iterator[FileEdit]:
    for path in changes:
        if path_kind(path) != PathKind.ABSOLUTE:
            continue
        change = mapping(changes, path)
        content, diff = text(change, "content"), text(change, "unified_diff")
        match text(change, "type"):
            case "add" if content is not None:
                yield FileEdit(path, creates=True, after=content, may_overwrite=True)
            case "delete":
                yield FileEdit(path, deletes=True)
            case "update" if diff is not None:
                moved = text(change, "move_path")
                yield FileEdit(moved or path, hunks=read_unified_diff(diff))
