"""Record the agents' events that wait in the spool: in order, and each once.

What waits is untrusted like the content of a commit. A payload becomes an event or nothing, and an
event can become only a session of that agent with its prompts, commands, reads and annotations:
never a review, and never a part of another tool's session. Files that git tracks are ignored.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from vibes_lsp.agents.codex import CodexSessionFiles
from vibes_lsp.agents.current_session import awaits_session_file, find_reasoning
from vibes_lsp.agents.edited_lines import ResolvedEdit, resolve_edits, why_unresolved
from vibes_lsp.agents.events import AgentEvent, FileEdit, FilesEdited
from vibes_lsp.agents.line_ends import in_encoding_of
from vibes_lsp.anchors.encodings import UnknownEncoding
from vibes_lsp.errors import (
    RefusedWrite,
    UnreadableFile,
    UnsupportedVersion,
    VibesError,
)
from vibes_lsp.git.project_files import read_source
from vibes_lsp.ingest.command_files import (
    CommandFile,
    CommandFiles,
    SeenSession,
    remove_old_marks,
    session_key,
)
from vibes_lsp.ingest.event_log import (
    REPEATED,
    LoggedEvent,
    log_events,
    outcome_of,
)
from vibes_lsp.ingest.hook import end_folding, has_waiting_events
from vibes_lsp.ingest.record_events import EditedFile, EventRecorder
from vibes_lsp.ingest.spool import (
    WaitingEvent,
    owned_path,
    read_batch,
    without_overwrites,
    without_repeats,
)
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.patience import LOCK, READER, SAVING, Wait
from vibes_lsp.recording.recorder import Recorder, utc_now
from vibes_lsp.recording.spool import RETENTION_SECONDS
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import make_ignored_folder, temporary_files
from vibes_lsp.store.locks import FileLock

_logger = logging.getLogger(__name__)

_LOCK: Final = "events.lock"
_PAUSE: Final = 0.05
"""Seconds between two looks."""
_MILLISECOND: Final = 1_000_000
_SETTLED: Final = 1_000 * _MILLISECOND
"""Nanoseconds after which a changed file is no longer being written: programs empty it first."""
_ABANDONED_SECONDS: Final = 3600


def fold_events(
    directory: AuditDir,
    *,
    patience: Wait | None = None,
    now: Callable[[], datetime] = utc_now,
    with_homes: bool = True,
) -> int | None:
    """Record the events that wait.

    Args:
        directory: The trail.
        patience: The wait for another program that does the same; by default it is left to that
            one.
        now: The clock.
        with_homes: Whether the trails of visiting sessions are folded first.

    Returns:
        How many were processed; None if another program does the same.

    Raises:
        VibesError: The trail cannot be read or written; what is not recorded goes on waiting.
    """
    if not has_waiting_events(str(directory.waiting_events)):
        return 0
    make_ignored_folder(directory.spool)
    lock = FileLock(directory.spool / _LOCK, patience=patience or LOCK)
    handle = lock.try_acquire() if patience is None else lock.acquire()
    if handle is None:
        return None
    with handle:
        return _fold(directory, now, with_homes=with_homes)


def fold_for_reader(directory: AuditDir) -> None:
    """Record the events that wait before a trail is shown, if that is possible now."""
    try:
        fold_events(directory, patience=READER)
    except (OSError, VibesError) as error:  # a reader needs no permission to write
        _logger.info("events are not recorded: %s", error)


def wait_until_folded(directory: AuditDir) -> None:
    """Record the events that wait; then no process is left that records in the background.

    Raises:
        VibesError: The trail cannot be read or written; what is not recorded goes on waiting.
    """
    while fold_events(directory) is None:
        time.sleep(_PAUSE)
    end_folding(str(directory.spool))


def _fold(directory: AuditDir, now: Callable[[], datetime], *, with_homes: bool) -> int:
    done: set[Path] = set()
    clock = _Clock(now)
    recorder = Recorder(directory, now=clock.now)
    events = EventRecorder(recorder)
    log: list[LoggedEvent] = []
    command_files = CommandFiles(directory)
    session_files = CodexSessionFiles(directory.project)
    try:
        while batch := read_batch(directory, now(), done):
            complete = _with_session_files(batch, session_files, command_files.sessions)
            edited = _resolve_when_saved(directory, complete, now)
            if with_homes:
                _fold_homes(complete)
            complete = _when_written(directory, complete, now)
            new_events: list[tuple[AgentEvent, int]] = []
            for number, waiting in enumerate(complete):
                clock.moment = waiting.moment
                recorded, outcome = _attempt(
                    waiting.agent,
                    partial(_record, events, waiting, edited.get(number, ())),
                )
                if waiting.event is not None and outcome != REPEATED:
                    new_events.append((waiting.event, waiting.received))
                received, name = format_timestamp(waiting.moment), waiting.event_name
                log.append(LoggedEvent(received, waiting.agent, name, recorded, outcome))
            reported = {file.path for files in edited.values() for file in files}
            for changed in command_files.changed(new_events, reported):
                clock.moment = datetime.fromtimestamp(changed.moment / 1e9, UTC)
                received, agent = format_timestamp(clock.moment), changed.event.agent.value
                recorded, outcome = _attempt(agent, partial(_record_command_file, events, changed))
                log.append(LoggedEvent(received, agent, "files compared", recorded, outcome))
            for waiting in batch:
                if waiting.path is not None:
                    with suppress(OSError):
                        waiting.path.unlink(missing_ok=True)
                    done.add(waiting.path)
    finally:
        _remove_abandoned(directory, now())
        log_events(directory, log)
        clock.moment = None
        recorder.finish(wait=False)
    return len(done)


def _fold_homes(batch: Sequence[WaitingEvent]) -> None:
    """Record what waits in the trails of visiting sessions: their prompts were sent first."""
    visits = [waiting.event.visit for waiting in batch if waiting.event is not None]
    homes = dict.fromkeys(
        visit.home for visit in visits if visit is not None and visit.keeps_prompt and visit.home
    )
    for home in homes:
        with suppress(OSError, VibesError):
            fold_events(AuditDir(home), patience=READER, with_homes=False)


def _remove_abandoned(directory: AuditDir, present: datetime) -> None:
    """Remove the temporary files of hooks that were killed, and old marks of saved files."""
    remove_old_marks(directory, present.timestamp() - RETENTION_SECONDS)
    for path in temporary_files(directory.waiting_events):
        with suppress(OSError):
            if present.timestamp() - path.stat().st_mtime > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)


class _Clock:
    """The time for records: when an event was received, not when it is recorded."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.moment: datetime | None = None

    def now(self) -> datetime:
        present = self._now()
        return present if self.moment is None else min(self.moment, present)


def _attempt(agent: str, record: Callable[[], tuple[bool, str]]) -> tuple[bool, str]:
    """Record something of an agent; what cannot be recorded is dropped.

    Returns:
        Whether anything was recorded, and what, or why nothing was.

    Raises:
        VibesError: The trail cannot be read or written.
    """
    try:
        return record()
    except (RefusedWrite, UnreadableFile, UnsupportedVersion):
        raise
    except VibesError as error:
        _logger.info("an event of %s is not recorded: %s", agent, error.code)
        return False, f"not accepted: {error.code}"
    except Exception as error:  # noqa: BLE001  # it must not block the events behind it
        _logger.info("an event of %s is not recorded: %s", agent, type(error).__name__)
        return False, f"internal error: {type(error).__name__}"


def _record(
    events: EventRecorder, waiting: WaitingEvent, edited: Sequence[EditedFile]
) -> tuple[bool, str]:
    event = waiting.event
    if event is None:
        return False, waiting.reason
    if not events.record(event, edited, fallback_identity=waiting.name):
        return False, REPEATED
    return outcome_of(event, edited)


def _record_command_file(events: EventRecorder, file: CommandFile) -> tuple[bool, str]:
    events.record_command_file(file)
    return True, f"{file.path}: changed while a command ran"


def _with_session_files(
    batch: Sequence[WaitingEvent], files: CodexSessionFiles, sessions: Mapping[str, SeenSession]
) -> list[WaitingEvent]:
    """Return a batch with what only the agents' session files say of it."""
    last = {key: seen.last for key, seen in sessions.items()}
    reported = [waiting.event.call_id for waiting in batch if waiting.event is not None]
    complete: list[WaitingEvent] = []
    for waiting in batch:
        if waiting.event is None:
            complete.append(waiting)
            continue
        key = session_key(waiting.event)
        since = last.get(key)
        edits = files.unreported_edits(
            waiting.event,
            since=None if since is None else since // _MILLISECOND,
            until=waiting.received // _MILLISECOND,
            reported=reported,
        )
        for completed, edit in edits:
            name = f"{waiting.name} {edit.call_id}"
            moment = completed * _MILLISECOND
            known = without_overwrites(edit, datetime.fromtimestamp(completed / 1e3, UTC))
            complete.append(
                replace(waiting, name=name, path=None, received=moment, event=known, reason="")
            )
        complete.append(replace(waiting, event=files.complete(waiting.event)))
        last[key] = waiting.received
    return without_repeats(complete)


def _when_written(
    directory: AuditDir, batch: Sequence[WaitingEvent], now: Callable[[], datetime]
) -> list[WaitingEvent]:
    """Return a batch with its reasoning, after agents have written their session files."""
    events, project = [waiting.event for waiting in batch], directory.project
    keeps_reasoning = load_config(directory).config.assurance_level == AssuranceLevel.HIGH
    thoughts: list[str | None] = []
    looks = _looks()
    for look in range(looks + 1):
        thoughts = find_reasoning(events, project) if keeps_reasoning else [""] * len(batch)
        if look == looks or not any(
            (text is None or awaits_session_file(waiting.event)) and _is_new(waiting, now())
            for waiting, text in zip(batch, thoughts, strict=True)
        ):
            break
        time.sleep(_PAUSE)
    return [
        replace(waiting, event=waiting.event and replace(waiting.event, reasoning=text or None))
        for waiting, text in zip(batch, thoughts, strict=True)
    ]


def _resolve_when_saved(
    directory: AuditDir, batch: Sequence[WaitingEvent], now: Callable[[], datetime]
) -> dict[int, list[EditedFile]]:
    """Find the lines of all edits of a batch, after agents that report too early have saved."""
    looked = time.time_ns()
    edited = _resolve(directory, batch)
    for _ in range(_looks()):
        if not _may_be_saved_soon(directory.project, batch, edited, now(), looked):
            break
        time.sleep(_PAUSE)
        looked = time.time_ns()
        edited = _resolve(directory, batch)
    return edited


def _may_be_saved_soon(
    project: Path,
    batch: Sequence[WaitingEvent],
    edited: Mapping[int, Sequence[EditedFile]],
    present: datetime,
    looked: int,
) -> bool:
    """Return whether an event reports an edit that its file did not have, but may have soon.

    Args:
        project: The project.
        batch: The events.
        edited: What was found in the files.
        present: The present.
        looked: When the files were read, in nanoseconds.
    """
    return any(
        file.resolved is None
        and (
            (file.edit.may_be_unsaved and _is_new(batch[number], present))
            or _was_being_written(project / file.path, batch[number].received, looked)
        )
        for number, files in edited.items()
        for file in files
    )


def _was_being_written(file: Path, received: int, looked: int) -> bool:
    """Return whether a file changed after an event, and shortly before it was read or later."""
    try:
        changed = file.lstat().st_mtime_ns
    except OSError:
        return False
    return changed > max(received, looked - _SETTLED)


def _is_new(waiting: WaitingEvent, present: datetime) -> bool:
    """Return whether the agent of an event may not have saved yet what it reports."""
    return (present - waiting.moment).total_seconds() < SAVING.limit


def _looks() -> int:
    """Return how often files are read again: a clock that was set back ends no wait."""
    return int(SAVING.limit / _PAUSE)


def _resolve(directory: AuditDir, batch: Sequence[WaitingEvent]) -> dict[int, list[EditedFile]]:
    """Find the lines of all edits of a batch, those of one file together.

    Returns:
        The edited files by the number of the event.
    """
    by_file: dict[str, list[tuple[int, FileEdit]]] = {}
    for number, waiting in enumerate(batch):
        if waiting.event is not None and isinstance(waiting.event.action, FilesEdited):
            for edit in waiting.event.action.edits:
                relative = owned_path(directory, edit.path)
                if relative is not None:
                    by_file.setdefault(relative, []).append((number, edit))
    edited: dict[int, list[EditedFile]] = {}
    for relative, edits in by_file.items():
        lines = _resolve_file(directory, relative, [edit for _, edit in edits])
        for (number, edit), (resolved, reason) in zip(edits, lines, strict=True):
            edited.setdefault(number, []).append(EditedFile(relative, edit, resolved, reason))
    return dict(sorted(edited.items()))


def _resolve_file(
    directory: AuditDir, relative: str, edits: Sequence[FileEdit]
) -> list[tuple[ResolvedEdit | None, str]]:
    """Return the lines of the edits of a file, and why they are not certain."""
    try:
        saved = read_source(directory.project, relative).content
    except UnreadableFile:
        saved = None
    try:
        edits = [in_encoding_of(edit, saved) for edit in edits]
        lines = resolve_edits(edits, saved)
        return [
            (resolved, "" if resolved is not None else why_unresolved(edit, saved))
            for edit, resolved in zip(edits, lines, strict=True)
        ]
    except UnknownEncoding:
        return [(None, "the encoding of the file is not known")] * len(edits)
    except Exception as error:  # noqa: BLE001  # it must not block the events behind it
        _logger.info("an agent's edits are unresolved: %s", type(error).__name__)
        return [(None, "internal error")] * len(edits)
