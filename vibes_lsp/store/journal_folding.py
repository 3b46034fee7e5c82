"""Folding the journal into the manifest (RFC 9.3, R10), by whoever gets the lock, for all whose entries wait (group commit).

Lock, read, merge, write a temporary file, flush, rename; then the journal goes, unless it grew meanwhile. A program that dies
in between leaves the journal, whose entries are found in the manifest next time. Locks and temporary files lie in the journal's
folder, which is hidden from git, so that no commit takes one along.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import Final

import msgspec

from vibes_lsp.errors import RefusedWrite, UnreadableFile, UnsupportedVersion
from vibes_lsp.store.appending import repair_partial_line
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import (
    MAX_FILE,
    FileState,
    file_signature,
    flush_folder,
    make_ignored_folder,
    read_file,
    replace_file,
    temporary_files,
    write_error,
    write_temporary,
)
from vibes_lsp.store.journal import Journal, entries_file, journal_files, read_journal
from vibes_lsp.store.locks import LOCK_TIMEOUT, LockHandle, append_lock, fold_lock
from vibes_lsp.store.manifest import ManifestCache, ManifestForm, parse_manifest
from vibes_lsp.store.manifest_format import add_entries, has_duplicates
from vibes_lsp.store.versions import unsupported_versions

_ROUNDS: Final = 8
"""How often the journal is folded while others go on writing; what comes then waits for the next call."""


def fold_journal(
    directory: AuditDir,
    *,
    wait: bool = True,
    timeout: float = LOCK_TIMEOUT,
    manifest_cache: ManifestCache | None = None,
) -> int:
    """Fold all that waits, and clear away what dead programs left; return how many entries the manifest gained.

    Nothing is written, not even a lock file, when nothing waits.

    Args:
        directory: The trail.
        wait: Whether to wait while another program folds. Without that, it folds ours as well, and we return at once.
        timeout: Seconds to wait for a lock.
        last: Told of the new manifest, so that nobody in this program need read it.

    Raises:
        RefusedWrite: The manifest cannot be parsed, locked or written; it is as it was, and the journal still holds the entries.
        UnsupportedVersion: Manifest or config are of a version that is not ours to change (R11).
    """
    gained = 0
    for number in range(_ROUNDS):
        if not _anything_waits(directory, others=number == 0):
            break
        lock = fold_lock(directory, timeout)
        held = lock.acquire() if wait and number == 0 else lock.try_acquire()
        if held is None:
            break
        with held:
            gained += _fold_once(directory, held, timeout, manifest_cache or ManifestCache())
    return gained


def _anything_waits(directory: AuditDir, *, others: bool) -> bool:
    """Whether there is anything of ours in the journal, left behind, or, if `others`, anything of another tool."""
    if (
        entries_file(directory).exists()
        or temporary_files(directory.journal)
        or append_lock(directory).has_unfinished_write()
    ):
        return True
    return others and bool(journal_files(directory))


def _fold_once(
    directory: AuditDir, folding: LockHandle, timeout: float, manifest_cache: ManifestCache
) -> int:
    journal = read_journal(directory)
    gained = _merge(directory, journal, folding, manifest_cache) if journal.entries else 0
    with append_lock(directory, timeout).acquire() as held:
        _clear(directory, journal if gained is not None else Journal(), held)
    return gained or 0


def _merge(
    directory: AuditDir, journal: Journal, folding: LockHandle, manifest_cache: ManifestCache
) -> int | None:
    """Bring the journal's entries into the manifest; return how many were new to it, None when it changed meanwhile."""
    path = directory.manifest
    if path.is_symlink():
        raise RefusedWrite(
            f"{path} is a link",
            hint="put the file itself there; a manifest is replaced whole, and the link would go",
        )
    try:
        before = file_signature(path)
        manifest = manifest_cache.get(before) or parse_manifest(read_file(path))
    except UnreadableFile as error:
        raise RefusedWrite(error.message, hint="new entries wait in the journal") from error
    unsupported = unsupported_versions(load_config(directory), manifest)
    if unsupported:
        raise UnsupportedVersion(
            unsupported[0],
            hint="nothing was changed; upgrade, or correct the version if it is a mistake",
        )
    new = {key: bytes(raw) for key, raw in journal.entries.items() if key not in manifest.stored}
    if not new and not has_duplicates(manifest):
        return 0
    text = add_entries(manifest, new)
    if len(text) > MAX_FILE:
        raise RefusedWrite(
            f"manifest.json would have {len(text):,} bytes, more than the {MAX_FILE:,} that are read"
        )
    make_ignored_folder(directory.journal)
    temporary = write_temporary(directory.journal, text, like=path)
    if file_signature(path) != before:
        temporary.unlink(missing_ok=True)
        return None  # git or another tool wrote it; the next round begins with what it is now
    written = file_signature(temporary)
    replace_file(temporary, path)
    if manifest.form is ManifestForm.OBJECT and written is not None:
        stored = {**manifest.stored, **{key: msgspec.Raw(entry) for key, entry in new.items()}}
        state = FileState.of(text, [written])
        manifest_cache.put(
            dataclasses.replace(
                manifest,
                data=text,
                stored=stored,
                journal=Journal(),
                signatures=((path.name, written),),
                file_state=state,
            )
        )
    folding.record_size(len(text))
    flush_folder(directory.path)
    return len(new)


def _clear(directory: AuditDir, folded: Journal, held: LockHandle) -> None:
    """Remove what is folded and what was left behind; under both locks no temporary file is in use."""
    repair_partial_line((directory.log, entries_file(directory)), held)
    try:
        for path in temporary_files(directory.journal):
            path.unlink(missing_ok=True)
        own = entries_file(directory)
        found = file_signature(own)
        if found is None or found.size != folded.entries_file_size:
            return
        if any(name == own.name for name, _ in folded.problems):
            own.replace(
                own.with_name(f"broken-{found.inode}-{found.size}.jsonl")
            )  # for someone to look at: its entries are folded
        else:
            with suppress(
                PermissionError
            ):  # Windows, while a reader has it open: what it holds is folded, and it goes next time
                own.unlink()
    except (OSError, UnreadableFile) as error:
        raise (
            write_error(directory.journal, error)
            if isinstance(error, OSError)
            else RefusedWrite(error.message)
        ) from error
    flush_folder(directory.journal)
