"""The attestation file that a command names, by default that of the nearest audit trail."""

from __future__ import annotations

from pathlib import Path

from vibes_lsp.attestation.tiers import attestation_path
from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.store.audit_dir import find_audit_dir
from vibes_lsp.store.files import create_file, read_file


def attestation_file(file: Path | None) -> Path:
    """Return the path of the named attestation, else of the trail's.

    Raises:
        AuditDirNotFound: None is named, and there is no audit trail.
        UnreadableFile: The trail has none.
    """
    if file is not None:
        return file
    directory = find_audit_dir(Path.cwd())
    path = attestation_path(directory)
    if path is None:
        raise UnreadableFile(
            f"{directory.path} has no attestation", hint="make one with `vibes attest`"
        )
    return path


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a file.

    Raises:
        UnreadableFile: It does not exist, is too large, or cannot be read.
    """
    data = read_file(path, limit=limit)
    if data is None:
        raise UnreadableFile(f"{path} does not exist")
    return data


def create_new_file(path: Path, data: bytes) -> None:
    """Write a file that does not exist yet.

    Raises:
        RefusedWrite: It exists, or its folder is not writable.
    """
    if not create_file(path, data):
        raise RefusedWrite(f"{path} exists", hint="name another file, or remove it first")
