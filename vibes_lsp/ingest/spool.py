"""The agents' events that wait in the spool, read in the order of their receipt.

What waits is untrusted like the content of a commit: a payload becomes an event or nothing, with
the reason. Files that git tracks or others may write are left out.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.events import AgentEvent, FileEdit, FilesEdited, Visit
from vibes_lsp.agents.sender import agent_of, parse_payload
from vibes_lsp.errors import (
    AuditDirNotFound,
    MalformedJson,
    UnreadableFile,
)
from vibes_lsp.git.repository import tracked_names, was_committed
from vibes_lsp.ingest.event_log import (
    NO_AGENT,
    NOTHING_TO_RECORD,
    REPEATED,
    event_name,
)
from vibes_lsp.ingest.hook import LARGE, MAX_PAYLOAD, NAMED
from vibes_lsp.model.members import Members
from vibes_lsp.recording.across_projects import OFF_REASON, AcrossProjects, recorded_across
from vibes_lsp.recording.paths import is_bookkeeping, project_path
from vibes_lsp.recording.spool import RETENTION_SECONDS
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir
from vibes_lsp.store.files import read_file

_logger = logging.getLogger(__name__)

_NAME: Final = re.compile(rf"(\d{{20}})-\d+-[0-9a-f]+(?:{NAMED})?(?:{LARGE})?\.json")
_MAX_BATCH: Final = 1_000
_MAX_BATCH_BYTES: Final = 64 << 20
"""How many events, and bytes, are read before they are recorded."""
_CLOCK_STEP: Final = 10_000_000_000
"""A name that is later by more nanoseconds is from before the clock was set back."""
_ELSEWHERE: Final = "its folder belongs to another trail, or does not exist"
_RETENTION: Final = timedelta(seconds=RETENTION_SECONDS)
"""Older events are dropped: whether they were recorded is not remembered any longer."""


@dataclass(frozen=True, slots=True)
class WaitingEvent:
    """An event in the spool.

    Attributes:
        name: The name of its file, without the ending.
        path: Its file; None for one that only a session file reports.
        received: When it was received, in nanoseconds.
        event: What happened; None for nothing to record.
        reason: Why there is nothing to record.
        agent: The agent that sent it, or `NO_AGENT`.
        event_name: The agent's own names of event and tool.
    """

    name: str
    path: Path | None
    received: int
    event: AgentEvent | None
    reason: str
    agent: str
    event_name: str

    @property
    def moment(self) -> datetime:
        """When it was received."""
        return datetime.fromtimestamp(self.received / 1e9, UTC)


def read_batch(
    directory: AuditDir, present: datetime, done: Collection[Path]
) -> list[WaitingEvent]:
    """Return the first waiting events that are not done, in the order of their receipt."""
    start = time.time_ns()  # a listing may miss files that are older than the newest it has
    listed = sorted(_waiting_files(directory))
    newer = range(start, start + _CLOCK_STEP)
    paths = [file for file in listed if file not in done and int(file.name[:20]) not in newer]
    tracked = tracked_names(directory.waiting_events) if paths else ()
    batch: list[WaitingEvent] = []
    size = 0
    for path in paths:
        if len(batch) == _MAX_BATCH:
            break
        try:
            status = path.lstat()
        except OSError:
            continue
        if path.name in tracked or not _is_private(status):
            continue
        size += status.st_size
        if batch and size > _MAX_BATCH_BYTES:
            break
        batch.append(_read_waiting(directory, path, present))
    return without_repeats(batch)


def _waiting_files(directory: AuditDir) -> Iterator[Path]:
    """Yield the files of waiting events, in no order."""
    folder = directory.waiting_events
    try:
        if folder.is_symlink():
            return
        yield from (path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    except OSError:  # there is no such folder yet
        return


def _is_private(status: os.stat_result) -> bool:
    """Return whether only its owner can use a file, as those of a hook.

    Files from git and from archives are not: they may remain here when git tracks them no longer.
    """
    return os.name == "nt" or not status.st_mode & 0o077


def without_repeats(batch: Sequence[WaitingEvent]) -> list[WaitingEvent]:
    """Return a batch in which each event that was reported several times is there once."""
    known: set[tuple[str, str, str]] = set()
    kept: list[WaitingEvent] = []
    for waiting in batch:
        event = waiting.event
        key = None if event is None else (event.agent.value, event.session.id, event.identity)
        is_repeated = key is not None and key[2] != "" and key in known
        kept.append(replace(waiting, event=None, reason=REPEATED) if is_repeated else waiting)
        if key is not None:
            known.add(key)
    return kept


def _read_waiting(directory: AuditDir, path: Path, present: datetime) -> WaitingEvent:
    received = min(int(path.name[:20]), round(present.timestamp() * 1e9))
    moment = datetime.fromtimestamp(received / 1e9, UTC)
    event: AgentEvent | None = None
    reason, agent_name, own_name = "", NO_AGENT, ""
    try:
        raw_payload = read_file(path, limit=MAX_PAYLOAD) or b""
        if path.stem.endswith(LARGE):
            reason = f"the payload has more than {MAX_PAYLOAD >> 20} MiB"
        elif present - moment > _RETENTION:
            reason = f"it waited for more than {_RETENTION.days} days"
        else:
            payload = parse_payload(raw_payload)
            agent = agent_of(payload)
            own_name = event_name(payload)
            if agent is None:
                reason = "no agent that is known sends such a payload"
            else:
                agent_name = agent.value
                event, reason = _event_of(directory, payload, is_named=NAMED in path.stem)
            event = None if event is None else without_overwrites(event, moment)
    except MalformedJson:
        reason = "the payload is no JSON object"
    except UnreadableFile as error:
        reason = error.message
    except Exception as error:  # noqa: BLE001  # it must not block the events behind it
        _logger.info("an agent's event is not read: %s", type(error).__name__)
        reason = f"internal error: {type(error).__name__}"
    return WaitingEvent(path.stem, path, received, event, reason, agent_name, own_name)


def without_overwrites(event: AgentEvent, moment: datetime) -> AgentEvent:
    """Return an event that does not call files new which git had before it.

    The lines of such an edit are not known: some may have been there. A file that was overwritten,
    but never committed before, is taken for new: only git can tell.

    Args:
        event: The event.
        moment: When it happened.
    """
    action = event.action
    if not isinstance(action, FilesEdited):
        return event
    edits = tuple(
        _overwriting(edit)
        if edit.may_overwrite and was_committed(Path(edit.path), moment)
        else edit
        for edit in action.edits
    )
    return replace(event, action=FilesEdited(edits))


def _overwriting(edit: FileEdit) -> FileEdit:
    written = edit.new if edit.after is None else edit.after
    return replace(edit, creates=False, after=written, old=None, new=None, hunks=())


def _event_of(
    directory: AuditDir, payload: Members, *, is_named: bool
) -> tuple[AgentEvent | None, str]:
    """Return what a payload of an agent reports, and why that is nothing to record.

    Args:
        directory: The trail.
        payload: The payload.
        is_named: Whether the trail is only that of a file which the payload names, so that an event
            without a folder belongs to another.
    """
    event = read_event(payload)
    if event is None:
        return None, NOTHING_TO_RECORD
    is_elsewhere = not owns_folder(directory, Path(event.folder)) if event.folder else is_named
    return _visiting(directory, event) if is_elsewhere else (event, "")


def _visiting(directory: AuditDir, event: AgentEvent) -> tuple[AgentEvent | None, str]:
    """Return the edits of a trail's files by an agent whose folder it does not own."""
    if not isinstance(event.action, FilesEdited):
        return None, _ELSEWHERE
    edits = tuple(edit for edit in event.action.edits if owned_path(directory, edit.path))
    if not edits:
        return None, _ELSEWHERE
    try:
        home = find_audit_dir(Path(event.folder)) if event.folder else None
    except (AuditDirNotFound, OSError, RuntimeError, ValueError):
        home = None
    across = recorded_across(directory, home)
    if across is AcrossProjects.OFF:
        return None, OFF_REASON
    keeps_prompt = across is AcrossProjects.PROMPTS
    visit = Visit(None if home is None else home.path, keeps_prompt)
    return replace(event, action=FilesEdited(edits), visit=visit), ""


def owned_path(directory: AuditDir, path: str) -> str | None:
    """Return an edited file relative to the project; None if this trail does not own it."""
    relative = project_path(directory.project, path)
    if relative is None or is_bookkeeping(directory.project, relative):
        return None
    return relative if owns_folder(directory, (directory.project / relative).parent) else None


def owns_folder(directory: AuditDir, folder: Path) -> bool:
    """Return whether a trail is the nearest one to a folder."""
    try:
        return find_audit_dir(folder).path.resolve() == directory.path.resolve()
    except (AuditDirNotFound, OSError, RuntimeError, ValueError):
        return False
