"""What the pre-commit hook added to a commit, and taking it back if that was given up (R4).

A commit may fail after our hook: another hook refuses it, or its message stays empty. Then the
records are still staged, and `git switch` refuses. The hook leaves a mark of what it added, and the
next of our programs takes exactly that back while HEAD is what the hook saw, the commit's process
has ended and no other one holds the index.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import VibesError
from vibes_lsp.git.process import run_git, without_filters
from vibes_lsp.git.repository import open_repository
from vibes_lsp.git.staging import staged_entries
from vibes_lsp.model.canonical_json import FastDecoder
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file, replace_file, write_temporary
from vibes_lsp.store.git_folders import read_head
from vibes_lsp.store.locks import FileLock, append_lock, fold_lock
from vibes_lsp.store.waiting import WaitingPlace, waiting_place

_MAX_MARK: Final = 64 << 20
_GENERATIONS: Final = 4
"""Processes between ours and git: shells that run hooks."""


class FileInIndex(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that the hook staged, as `MODE HASH`; empty where the index has none."""

    before: str
    after: str


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a hook added.

    Attributes:
        head: The commit that HEAD was; None before the first one.
        process: The process that makes the commit; None if unknown.
        records: The ids of the records that entered the log.
        entries: The keys of the entries that entered the manifest.
        blobs: The names of the external entries that were written.
        manifest: The manifest before; None if it did not change.
        staged: The staged files, from the top of the work tree.
    """

    head: str | None = None
    process: int | None = None
    records: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    manifest: bytes | None = None
    staged: dict[str, FileInIndex] = {}  # msgspec copies it


_MARK: Final = FastDecoder(Mark)


def write_mark(place: WaitingPlace, mark: Mark) -> None:
    """Note what a hook adds; before it does, and again with what is staged.

    Raises:
        RefusedWrite: Git's folder cannot be written.
    """
    folder = place.staged.parent
    replace_file(write_temporary(folder, msgspec.json.encode(mark), durable=False), place.staged)


def take_back(directory: AuditDir, *, by_hook: bool = False) -> bool:
    """Take back what the hook added to a commit that was given up; return whether it did.

    Without a mark this looks at one file.

    Args:
        directory: The trail.
        by_hook: Whether another commit is being made, so that the one of the mark has ended.
    """
    place = waiting_place(directory)
    if place is None or not os.path.lexists(place.staged):
        return False
    with suppress(VibesError, OSError):
        if by_hook:
            return _take_back(directory, place, by_hook=True)
        lock = hook_lock(place).try_acquire()
        if lock is not None:  # else a hook is running
            with lock:
                return _take_back(directory, place, by_hook=False)
    return False


def _take_back(directory: AuditDir, place: WaitingPlace, *, by_hook: bool) -> bool:
    mark = _MARK.decode(read_file(place.staged, limit=_MAX_MARK) or b"")
    if mark is None or mark.head != _head(place.root):
        place.staged.unlink(missing_ok=True)
        return False
    if not by_hook and (_is_running(mark.process) or (place.git / "index.lock").exists()):
        return False
    _unstage(place, mark)
    _restore_files(directory, mark)
    place.staged.unlink(missing_ok=True)
    return True


def _head(root: Path) -> str | None:
    """Return the commit of HEAD; None before the first one."""
    head = read_head(root)
    if head is None:  # or only git can tell, as where refs are in a database
        repository = open_repository(root)
        if repository is not None:
            with closing(repository):
                return repository.head()
    return head


def hook_lock(place: WaitingPlace) -> FileLock:
    """Return the lock that a hook holds while it runs."""
    return FileLock(place.staged.with_name(f"{place.trail}.lock"))


def committing_process() -> int | None:
    """Return the process of the git command that runs this program as its hook; None if unknown."""
    if os.name == "nt":
        return None
    pid = os.getppid()
    for _ in range(_GENERATIONS):
        name, parent = _process(pid)
        if name == "git":
            return pid
        if not parent:
            return None
        pid = parent
    return None


def _process(pid: int) -> tuple[str, int | None]:
    """Return the name of a process and its parent."""
    with suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        name, _, rest = status.partition("(")[2].rpartition(")")
        return name, int(rest.split()[1])
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        arguments = ["ps", "-o", "ppid=,comm=", "-p", str(pid)]
        listed = subprocess.run(arguments, capture_output=True, text=True, timeout=5, check=False)
        parent, _, command = listed.stdout.strip().partition(" ")
        return Path(command.strip()).name, int(parent)
    return "", None


def _is_running(pid: int | None) -> bool:
    if pid is None or os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _unstage(place: WaitingPlace, mark: Mark) -> None:
    """Give the index the entries that it had, where it still has those of the hook."""
    if not mark.staged:
        return
    now = staged_entries(place.root, list(mark.staged))
    lines = [
        f"{file.before or _no_entry(file.after)}\t{name}"
        for name, file in mark.staged.items()
        if now.get(name, "") == file.after != file.before
    ]
    if lines:
        text = "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape")
        run_git(
            place.root,
            "update-index",
            "-z",
            "--index-info",
            stdin=text,
            environment=without_filters(place.root),
        )


def _no_entry(entry: str) -> str:
    """Return the line that removes a file from an index, with a hash as long as an entry's."""
    return f"0 {'0' * len(entry.rpartition(' ')[2])}"


def _restore_files(directory: AuditDir, mark: Mark) -> None:
    """Remove from the files on disk what the hook added; anything else in them stays."""
    # few commits are given up, and each waits for what is imported
    from vibes_lsp.store.appending import repair_partial_line  # noqa: PLC0415
    from vibes_lsp.store.manifest import parse_manifest  # noqa: PLC0415

    added = {f'"annotation_id":"{identifier}"'.encode() for identifier in mark.records}
    if added:
        with append_lock(directory).acquire() as lock:
            repair_partial_line((directory.log,), lock)
            lines = BytesIO(read_file(directory.log) or b"").readlines()
            kept = [line for line in lines if not _has_id(line, added)]
            if len(kept) < len(lines):
                _replace(directory, directory.log, b"".join(kept))
    if mark.manifest is not None:
        with fold_lock(directory).acquire():
            before = parse_manifest(mark.manifest).stored
            now = parse_manifest(read_file(directory.manifest)).stored
            log = read_file(directory.log) or b""
            if any(key.encode() in log for key in set(mark.entries) - set(before)):
                return  # another program has written records since that name them
            if set(now) <= set(before) | set(mark.entries):
                _replace(directory, directory.manifest, mark.manifest)
    for name in mark.blobs:  # which the author of the repository may have written
        if name == Path(name).name and name not in {"", ".."}:
            (directory.blobs / name).unlink(missing_ok=True)


def _has_id(line: bytes, added: set[bytes]) -> bool:
    at = line.find(b'"annotation_id":"')
    return at >= 0 and line[at : line.find(b'"', at + 17) + 1] in added


def _replace(directory: AuditDir, path: Path, content: bytes) -> None:
    directory.journal.mkdir(exist_ok=True)
    replace_file(write_temporary(directory.journal, content, like=path), path)
