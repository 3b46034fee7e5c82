"""Fold the journal into the manifest (RFC 9.3, R10).

The program that gets the lock folds the entries of all programs (group commit): read, merge, write
a temporary file, flush, rename; then remove the journal unless it grew meanwhile. If the program
dies in between, the journal stays and the next fold finds its entries in the manifest. Locks and
temporary files are in the journal's folder, which git ignores.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.store.appending import repair_partial_line
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import (
    MAX_FILE,
    flush_folder,
    make_ignored_folder,
    read_file,
    regular_file_stamp,
    replace_file,
    temporary_files,
    write_error,
    write_temporary,
)
from vibes_lsp.store.journal import Journal, entries_file, journal_files, read_journal
from vibes_lsp.store.locks import LockHandle, append_lock, fold_lock
from vibes_lsp.store.manifest import parse_manifest
from vibes_lsp.store.manifest_format import add_entries
from vibes_lsp.store.versions import refuse_unsupported

_MAX_ROUNDS: Final = 8
"""Folds per call while other programs keep writing; the rest stays for the next call."""


def fold_journal(directory: AuditDir, *, wait: bool = True) -> int:
    """Fold the journal, remove what dead programs left, and return the number of new entries.

    With an empty journal nothing is written, not even a lock file.

    Args:
        directory: The trail.
        wait: Whether to wait while another program folds; otherwise return at once, since it
            folds these entries as well.

    Raises:
        RefusedWrite: The manifest cannot be parsed, locked or written; it is unchanged and the
            journal keeps the entries.
        UnsupportedVersion: Manifest or config have an unsupported version (R11).
    """
    added = 0
    for number in range(_MAX_ROUNDS):
        if not _has_work(directory, others=number == 0):
            break
        lock_file = fold_lock(directory)
        lock = lock_file.acquire() if wait and number == 0 else lock_file.try_acquire()
        if lock is None:
            break
        with lock:
            added += _fold_once(directory)
    return added


def add_to_manifest(directory: AuditDir, entries: Mapping[str, msgspec.Raw]) -> int:
    """Write entries that waited into the manifest, and return how many are new.

    Raises:
        RefusedWrite: The manifest cannot be parsed, locked or written; it is unchanged.
        UnsupportedVersion: As for `fold_journal`.
    """
    with fold_lock(directory).acquire():
        for _ in range(_MAX_ROUNDS):
            added = _merge_into_manifest(directory, entries)
            if added is not None:
                return added
    raise RefusedWrite(
        f"cannot write {directory.manifest}: another program keeps replacing it",
        hint="try again when that program has finished",
    )


def _has_work(directory: AuditDir, *, others: bool) -> bool:
    """Whether there are entries, remains of dead programs or, if `others`, files of other tools."""
    if (
        entries_file(directory).exists()
        or temporary_files(directory.journal)
        or append_lock(directory).has_unfinished_write()
    ):
        return True
    return others and bool(journal_files(directory))


def _fold_once(directory: AuditDir) -> int:
    journal = read_journal(directory)
    entries = journal.entries
    added = _merge_into_manifest(directory, entries) if entries else 0
    with append_lock(directory).acquire() as append:
        _clean_up(directory, journal if added is not None else Journal(), append)
    return added or 0


def _merge_into_manifest(directory: AuditDir, entries: Mapping[str, msgspec.Raw]) -> int | None:
    """Merge entries into the manifest; return the number of new ones, None on a race.

    The caller holds the lock for folding.
    """
    path = directory.manifest
    if path.is_symlink():
        raise RefusedWrite(
            f"{path} is a symbolic link",
            hint="put the file itself there: folding replaces the manifest, not its target",
        )
    try:
        before = regular_file_stamp(path)
        manifest = parse_manifest(read_file(path))
    except UnreadableFile as error:
        raise RefusedWrite(error.message, hint="new entries stay in the journal") from error
    refuse_unsupported(load_config(directory), manifest)
    new = {key: bytes(raw) for key, raw in entries.items() if key not in manifest.stored}
    if not new:
        return 0
    text = add_entries(manifest, new)
    if len(text) > MAX_FILE:
        raise RefusedWrite(
            f"manifest.json would be too large: {len(text):,} bytes, expected at most {MAX_FILE:,}"
        )
    make_ignored_folder(directory.journal)
    temporary = write_temporary(directory.journal, text, like=path)
    if regular_file_stamp(path) != before:
        temporary.unlink(missing_ok=True)
        return None  # git or another tool replaced it; the next round reads it again
    replace_file(temporary, path)
    flush_folder(directory.path)
    return len(new)


def _clean_up(directory: AuditDir, folded: Journal, lock: LockHandle) -> None:
    """Remove the folded journal and temporary files, which are unused under both locks."""
    repair_partial_line((directory.log, entries_file(directory)), lock)
    try:
        for path in temporary_files(directory.journal):
            path.unlink(missing_ok=True)
        own = entries_file(directory)
        stamp = regular_file_stamp(own)
        read = folded.files.get(own)
        if stamp is None or read is None or stamp.size != read.size:
            return
        if any(name == own.name for name, _ in folded.problems):
            # Its entries are folded; the invalid lines stay for a person to look at.
            own.replace(own.with_name(f"broken-{stamp.inode}-{stamp.size}.jsonl"))
        else:
            # On Windows a reader may have it open; the next fold removes it.
            with suppress(PermissionError):
                own.unlink()
    except (OSError, UnreadableFile) as error:
        raise (
            write_error(directory.journal, error)
            if isinstance(error, OSError)
            else RefusedWrite(error.message)
        ) from error
    flush_folder(directory.journal)
