"""What the files of a project were like after the last event: the baseline of a comparison.

It is in the user's cache folder, which no commit can write: a copy of git's index for clean files,
and the text of the others. A baseline that is missing or damaged is none: then nothing is claimed.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp import __version__
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.history.stored_files import StoredFiles
from vibes_lsp.history.work_tree import IndexCopy, copy_index, has_content
from vibes_lsp.index.project_files import read_content
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.user_cache import MAX_CACHED, read_cached, write_cached

_logger = logging.getLogger(__name__)

MAX_CHANGED: Final = 200
"""Most changed files that are compared: more of them are a checkout or an installation."""
_MAX_FILE: Final = 1 << 20
_MAX_TEXTS: Final = MAX_CACHED // 2
"""Largest file, and bytes of all files, whose text is kept."""
TICK: Final = 10_000_000
"""Nanoseconds by which the time of a file may be behind the clock: systems count it in ticks."""
_SAVED: Final = "saved"
"""A folder of the spool: one empty file for each file that an editor saved."""
_IGNORE_FILE: Final = ".gitignore"


class SeenFile(msgspec.Struct, array_like=True, frozen=True):
    """A file that was not as the index had it.

    Attributes:
        changed: Its modification and status change time in nanoseconds, and its size; empty where
            the file must be compared again.
        content: Its bytes; None where they are not known.
        exists: Whether it existed.
        since: Since when its content is known, in nanoseconds.
    """

    changed: tuple[int, ...]
    content: bytes | None
    exists: bool
    since: int = 0


class SeenSession(msgspec.Struct, array_like=True, frozen=True):
    """A session of an agent, with its subagents.

    Attributes:
        last: When its last event was received, in nanoseconds.
        is_quiet: Whether that event ended its turn.
        turn: When it was asked last, in nanoseconds.
    """

    last: int
    is_quiet: bool
    turn: int


class Baseline(msgspec.Struct, array_like=True):
    """The files of a project, as they were.

    Attributes:
        version: The version of this package.
        taken: When, in nanoseconds.
        index_digest: The hash of the copied index.
        index_written: The modification time of the index in nanoseconds.
        files: Files that were not as the index had them.
        sessions: The agents' sessions.
        unclaimed: How many changes were left to no one, by the reason.
        disturbed: When a file changed last, while a session was active, and no command ran.
        suspects: Such files, with the time, whose own event may still come.
    """

    version: str
    taken: int
    index_digest: bytes
    index_written: int
    files: dict[str, SeenFile]
    sessions: dict[str, SeenSession]
    unclaimed: dict[str, int]
    disturbed: int
    suspects: dict[str, int]


@dataclass(frozen=True, slots=True)
class WorkTreeChange:
    """A file that is not as the baseline has it.

    Attributes:
        path: The file, relative to the project.
        before: Its text in the baseline; None where it is not known.
        after: Its text now; None where it is gone or no text.
        is_new: Whether it did not exist.
        modified: Its modification time, in nanoseconds.
        changed: Its status change time: no program can set it.
        was_saved: Whether an editor has saved it since.
        is_known_to_git: Whether the text is in git's objects: it may come from a checkout.
    """

    path: str
    before: str | None
    after: str | None
    is_new: bool
    modified: int
    changed: int
    was_saved: bool
    is_known_to_git: bool


@dataclass(frozen=True, slots=True)
class WorkTreeDiff:
    """How the work tree differs from the baseline.

    Attributes:
        changes: The changed files; those that are gone have no text.
        index: The index now.
        differing: The files that differ from that of the baseline.
        is_too_much: Whether so much changed that no file was compared.
    """

    changes: Mapping[str, WorkTreeChange]
    index: IndexCopy
    differing: frozenset[str]
    is_too_much: bool = False


def load_baseline(directory: AuditDir) -> tuple[Baseline, IndexCopy] | None:
    """Return the baseline of a project with its index; None if there is none."""
    stored, index = read_cached(_name(directory, "tree")), read_cached(_name(directory, "index"))
    if stored is None or index is None:
        return None
    try:
        baseline = msgspec.msgpack.decode(stored, type=Baseline)
    except (msgspec.DecodeError, ValueError):
        return None
    if baseline.version != __version__ or baseline.index_digest != _digest(index):
        return None
    return baseline, IndexCopy(index, baseline.index_written)


def compare(directory: AuditDir, baseline: Baseline, index: IndexCopy) -> WorkTreeDiff | None:
    """Return what changed since a baseline; None if the index is too large.

    Raises:
        HistoryUnavailable: Git fails.
    """
    project = directory.project
    repository = _repository(project)
    current = copy_index(repository, MAX_CACHED)
    if current is None:
        return None
    from_index = index.differing(project)
    differing = {name for name in from_index | baseline.files.keys() if _is_text(name)}
    if len(differing - baseline.files.keys()) > MAX_CHANGED:
        return WorkTreeDiff({}, current, from_index, is_too_much=True)
    stamps = {name: _stamp(project / name) for name in differing}
    changed = sorted(
        name
        for name in differing
        if name not in baseline.files or baseline.files[name].changed != stamps[name]
    )
    clean = [name for name in changed if name not in baseline.files]
    blobs = index.blobs(project, clean)
    is_ignoring_changed = any(name.rpartition("/")[2] == _IGNORE_FILE for name in changed)
    with GitObjects(repository.root, limit=_MAX_FILE) as objects:
        found: dict[str, WorkTreeChange] = {}
        for name in changed:
            seen = baseline.files.get(name)
            is_new = not seen.exists if seen is not None else name not in blobs
            if seen is not None:
                before = seen.content if seen.exists else b""
            elif is_new:
                before = None if is_ignoring_changed else b""
            else:
                before = objects.contents(blobs[name])
            since = baseline.taken if seen is None else seen.since
            change = _change(directory, name, before, objects, is_new=is_new, since=since)
            if change is not None:
                found[name] = change
    return WorkTreeDiff(found, current, from_index)


def _repository(project: Path) -> Repository:
    """Return a project's repository.

    Raises:
        HistoryUnavailable: The project is in no work tree, or git fails.
    """
    repository = open_repository(project)
    if repository is None:
        raise HistoryUnavailable(f"{project} is in no git repository")
    return repository


def take_baseline(
    directory: AuditDir,
    previous: Baseline | None,
    comparison: WorkTreeDiff | None,
    *,
    now: int,
    until: int,
    sessions: Mapping[str, SeenSession],
    unclaimed: Mapping[str, int],
    disturbed: int,
    suspects: Mapping[str, int],
) -> None:
    """Keep what the files are like now as the next baseline, but no text that git does not store.

    Args:
        directory: The trail.
        previous: The last baseline.
        comparison: What changed since then.
        now: The time, in nanoseconds.
        until: When the last event was received: what changed later waits for the next one.
        sessions: The agents' sessions.
        unclaimed: How many changes were left to no one so far.
        disturbed: See `Baseline`.
        suspects: See `Baseline`.

    Raises:
        HistoryUnavailable: Git fails.
    """
    index = (
        copy_index(_repository(directory.project), MAX_CACHED)
        if comparison is None
        else comparison.index
    )
    if index is None:
        return
    if comparison is None or previous is None or previous.index_digest != _digest(index.data):
        differing = index.differing(directory.project)
    else:
        differing = comparison.differing
    if len(differing) > 10 * MAX_CHANGED:
        return
    changes = {} if comparison is None else comparison.changes
    stored, files = StoredFiles(directory.project), dict[str, SeenFile]()
    filtered = stored.filters(filter(_is_text, differing | changes.keys()))
    room = _MAX_TEXTS
    for name in sorted(filter(_is_text, differing | changes.keys())):
        change = changes.get(name)
        seen = None if previous is None else previous.files.get(name)
        if change is not None and max(change.changed, change.modified) > until:
            content = None if change.before is None else _encode(change.before)
            since = seen.since if seen is not None else previous.taken if previous else now
            files[name] = SeenFile((), content, not change.is_new, since)
        elif name not in differing:
            continue
        elif change is None and seen is not None and seen.changed:
            files[name] = seen
        else:
            files[name] = _see(directory, name, since=now)
            if comparison is not None and not _was_compared(files[name], change, until):
                files[name] = SeenFile((), None, exists=True, since=now)
        content = files[name].content
        room -= len(content or b"")
        is_hidden = (
            name in filtered
            and content is not None
            and stored.hiding_filter(name, Text.from_bytes(content)) is not None
        )
        if room < 0 or is_hidden:
            files[name] = SeenFile(files[name].changed, None, files[name].exists, now)
    baseline = Baseline(
        __version__,
        now,
        _digest(index.data),
        index.written,
        files,
        dict(sessions),
        dict(unclaimed),
        disturbed,
        dict(suspects),
    )
    write_cached(_name(directory, "index"), index.data)
    write_cached(_name(directory, "tree"), msgspec.msgpack.encode(baseline))


def _was_compared(seen: SeenFile, change: WorkTreeChange | None, until: int) -> bool:
    """Return whether a file is as it was when it was compared."""
    if change is None:
        return max(seen.changed[:2], default=0) <= until
    return seen.changed[:2] == (change.modified, change.changed) or change.after is None


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


def _change(
    directory: AuditDir,
    name: str,
    before: bytes | None,
    objects: GitObjects,
    *,
    is_new: bool,
    since: int,
) -> WorkTreeChange | None:
    """Return how a file changed; None if its content did not."""
    seen = _see(directory, name)
    if seen.content is not None and seen.content == before and seen.exists:
        return None
    modified, changed, _ = seen.changed or (0, 0, 0)
    try:
        saved = (directory.spool / _SAVED / _mark(name)).lstat().st_mtime_ns
    except OSError:
        saved = 0
    return WorkTreeChange(
        name,
        _text(before),
        _text(seen.content) if seen.exists else None,
        is_new,
        modified,
        changed,
        saved >= since - TICK,
        seen.content is not None and has_content(objects, seen.content),
    )


def _see(directory: AuditDir, name: str, *, since: int = 0) -> SeenFile:
    """Return a file as it is now; without its content if it changes at the same time."""
    before = _stamp(directory.project / name)
    if not before:
        return SeenFile((), None, os.path.lexists(directory.project / name), since)
    try:
        content: bytes | None = read_content(directory.project, name, limit=_MAX_FILE)
    except UnreadableFile:
        content = None
    if _stamp(directory.project / name) != before:
        return SeenFile((), None, exists=True, since=since)
    return SeenFile(before, content, exists=True, since=since)


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes with a regular file; empty if there is none."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return ()
    if not stat.S_ISREG(found.st_mode):
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _text(content: bytes | None) -> str | None:
    if content is None or b"\0" in content:
        return None
    return content.decode("utf-8", "surrogateescape")


def _encode(content: str) -> bytes:
    return content.encode("utf-8", "surrogateescape")


def _is_text(name: str) -> bool:
    """Return whether a path can be stored: it has no bytes that are not UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mark(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _name(directory: AuditDir, kind: str) -> str:
    key = hashlib.sha256(os.fsencode(directory.path.resolve())).hexdigest()[:32]
    return f"work-{kind}-{key}"
