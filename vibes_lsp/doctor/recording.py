"""Diagnose how events are recorded: what waits, locks and permissions."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.doctor.steps import Group, Health, Step
from vibes_lsp.errors import UnreadableFile, VibesError
from vibes_lsp.git.repository import is_tracked
from vibes_lsp.ingest.hook import MAX_WAITING, is_folding
from vibes_lsp.maintenance.late_edits import late_edits
from vibes_lsp.maintenance.waiting_into_log import read_logged
from vibes_lsp.model.ages import describe_age
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import is_inside, temporary_files
from vibes_lsp.store.locks import FileLock
from vibes_lsp.store.waiting import place_of_waiting, records_in_journal
from vibes_lsp.trail.committed_waiting import read_uncommitted_waiting

FIX: Final = "run `vibes doctor --fix`"
_TEMPORARY: Final = re.compile(r"(?:[0-9a-f]{16}|\d{20}-\d+-[0-9a-f]{8}(?:-large)?)\.tmp")
"""The names that this program gives to temporary files."""
_MAX_AGE: Final = 60.0
"""Seconds that an event may wait while a process records in the background."""
_ABANDONED: Final = 3600.0
"""Seconds after which the program that wrote a temporary file has ended."""
_MAX_NAMED: Final = 3


def recording_steps(directory: AuditDir, now: datetime) -> Iterator[Step]:
    """Yield what waits to be recorded, and what may prevent it."""
    yield _waiting(directory, now)
    yield from _waiting_records(directory)
    yield _locks(directory)
    yield from _temporary(directory, now)
    yield _permissions(directory)


def _step(about: str, health: Health, message: str, hint: str = "") -> Step:
    return Step(Group.RECORDING, about, health, message, hint)


def _waiting(directory: AuditDir, now: datetime) -> Step:
    about, folder = "waiting events", directory.waiting_events
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix == ".json")
    except OSError:
        names = []
    folding = (
        "a process in the background records them"
        if is_folding(str(directory.spool))
        else "no process records in the background"
    )
    if not names:
        return _step(about, Health.OK, "none")
    if is_tracked(folder):
        return _step(
            about,
            Health.PROBLEM,
            "git tracks files of the spool, and events in them are not recorded",
            f"run `git rm -r --cached {directory.path.name}/{directory.spool.name}`",
        )
    oldest = _received(names[0], now)
    seconds = (now - oldest).total_seconds()
    events = pluralize(len(names), "event", "events")
    message = f"{events}, the oldest received {describe_age(oldest, now)}"
    if len(names) >= MAX_WAITING:
        return _step(about, Health.PROBLEM, f"{message}; further ones are dropped", FIX)
    if seconds > _MAX_AGE:
        return _step(about, Health.PROBLEM, f"{message}; {folding}", f"{FIX}, which records them")
    return _step(about, Health.OK, f"{message}; {folding}")


def _waiting_records(directory: AuditDir) -> Iterator[Step]:
    """Yield how many annotations wait for a commit, and which need attention."""
    waiting = read_uncommitted_waiting(directory)
    about = "waiting records"
    for message in waiting.unreadable:
        yield _step(about, Health.PROBLEM, message, "what waits there is not shown")
    for message in waiting.broken:
        yield _step(about, Health.PROBLEM, message, "it enters no commit: repair or remove it")
    try:
        logged = read_logged(directory, waiting)
        late = late_edits(directory)
    except UnreadableFile:  # which has a step of its own
        return
    count = sum(
        record.members.is_annotation and record.id not in logged.hunks for record in waiting.records
    )
    if not count and place_of_waiting(directory) is None:
        return
    summary = pluralize(count, "annotation waits", "annotations wait")
    if late:
        yield _step(
            about,
            Health.NOTE,
            f"{summary}; {len(late)} of them in commits that no hook saw",
            "the next commit has them, or run `vibes flush --commit`",
        )
    elif count and place_of_waiting(directory) is None:
        yield _step(about, Health.NOTE, f"{summary}, and no hook writes them", "run `vibes flush`")
    else:
        yield _step(about, Health.OK, f"{summary if count else 'no annotation waits'} for a commit")
    if records_in_journal(directory).is_file():
        yield _step(
            about,
            Health.NOTE,
            f"git's folder could not be written: some wait in {directory.journal.name}/",
            "`git clean -fdx` deletes them; commit, or run `vibes flush`",
        )


def _received(name: str, now: datetime) -> datetime:
    """Return when an event was received, as its file name says."""
    digits = name[:20]
    seconds = int(digits) / 1e9 if digits.isdecimal() else now.timestamp()
    return datetime.fromtimestamp(min(seconds, now.timestamp()), UTC)


def _locks(directory: AuditDir) -> Step:
    held_locks: list[str] = []
    for folder in (directory.journal, directory.spool):
        for path in sorted(folder.glob("*.lock")):
            holder = None if path.is_symlink() else _holder(path)
            if holder is not None:
                held_locks.append(f"{path.relative_to(directory.path).as_posix()} by {holder}")
    if not held_locks:
        return _step("locks", Health.OK, "none is held; locks of ended programs do not remain")
    return _step(
        "locks",
        Health.NOTE,
        f"held: {', '.join(held_locks)}",
        "programs wait for it; if it does not end, end that program",
    )


def _holder(path: Path) -> str | None:
    if path.name == "folding.lock":  # held as long as its process runs
        return None
    try:
        return FileLock(path).holder()
    except (OSError, VibesError):
        return None


def _temporary(directory: AuditDir, now: datetime) -> Iterator[Step]:
    abandoned = abandoned_files(directory, now)
    if abandoned:
        number = pluralize(len(abandoned), "temporary file", "temporary files")
        yield _step("temporary files", Health.NOTE, f"{number} of ended programs", FIX)


def abandoned_files(directory: AuditDir, now: datetime) -> list[Path]:
    """Return the temporary files in a trail whose programs have ended."""
    folders = (directory.path, *private_folders(directory), directory.blobs, directory.journal)
    abandoned: list[Path] = []
    own = (folder for folder in folders if is_inside(folder, directory.path))
    for path in (path for folder in own for path in temporary_files(folder)):
        if not _TEMPORARY.fullmatch(path.name):
            continue
        try:
            if now.timestamp() - path.lstat().st_mtime > _ABANDONED:
                abandoned.append(path)
        except OSError:
            continue
    return abandoned


def private_folders(directory: AuditDir) -> tuple[Path, ...]:
    """Return the folders with texts of prompts or files that are not masked, or local only."""
    return (directory.waiting_events, directory.agent_events, directory.kept_texts)


@dataclass(frozen=True, slots=True)
class WrongMode:
    """A file or folder that more users can read or write than should.

    Attributes:
        path: It.
        mode: The mode that it should have.
        message: What is wrong.
    """

    path: Path
    mode: int
    message: str


def wrong_modes(directory: AuditDir) -> list[WrongMode]:
    """Return files and folders whose permissions are too wide; none on Windows."""
    if os.name == "nt":
        return []
    too_wide: list[WrongMode] = []
    shared = (directory.path, directory.log, directory.manifest, directory.config)
    for path in (*shared, directory.journal, directory.spool, *private_folders(directory)):
        try:
            status = path.lstat()
        except OSError:
            continue
        if stat.S_ISLNK(status.st_mode) or not is_inside(path, directory.project):
            continue
        mode = stat.S_IMODE(status.st_mode)
        name = path.relative_to(directory.project).as_posix()
        if path in private_folders(directory) and mode & 0o077:
            too_wide.append(WrongMode(path, 0o700, f"other users can open {name}"))
        elif mode & 0o002:
            too_wide.append(WrongMode(path, mode & ~0o002, f"every user can change {name}"))
    return too_wide


def _permissions(directory: AuditDir) -> Step:
    about = "permissions"
    needed = (directory.path, directory.log, directory.manifest, directory.spool)
    closed = [path for path in needed if path.exists() and not os.access(path, os.W_OK)]
    if closed:
        names = ", ".join(path.relative_to(directory.project).as_posix() for path in closed)
        owner = _other_owner(closed[0])
        return _step(
            about,
            Health.PROBLEM,
            f"not writable: {names}{owner}",
            "nothing can be recorded; change the permissions or the owner",
        )
    wrong = wrong_modes(directory)
    if wrong:
        more = f" and {len(wrong) - _MAX_NAMED} more" if len(wrong) > _MAX_NAMED else ""
        message = "; ".join(wrong_mode.message for wrong_mode in wrong[:_MAX_NAMED])
        return _step(about, Health.PROBLEM, message + more, FIX)
    return _step(about, Health.OK, "the trail is writable, and only you can read what waits")


def _other_owner(path: Path) -> str:
    """Return words about the owner of a file, if that is another user."""
    if os.name == "nt":
        return ""
    owner = path.stat().st_uid
    return "" if owner == os.getuid() else f" (owned by user {owner})"
