"""Check that no private key for attestations is in the project (RFC 11.3).

Keys of other kinds, such as those that tests of TLS need, are none of its business. Keys are found
by their text: no cryptography is needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store.files import is_inside, read_file

_NAME: Final = re.compile(r"vibescheck\.key|.*\.(?:key|pem|p8)|id_ed25519", re.IGNORECASE)
_PRIVATE: Final = re.compile(rb"-----BEGIN (?:ENCRYPTED |OPENSSH )?PRIVATE KEY-----\s+(\S{0,40})")
_ED25519: Final = b"MC4CAQAwBQYDK2VwBCIEI"
"""How every unencrypted PKCS8 structure of Ed25519 starts in base64 (RFC 8410)."""

_OWN_NAME: Final = "vibescheck.key"
_MAX_SIZE: Final = 64 << 10
_MAX_FILES: Final = 10_000


def check_private_keys(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each private key that the audit directory or git has.

    In the audit directory any private key is one for attestations. Elsewhere it is one if it has
    the name of the standard, or is an Ed25519 key that is not encrypted.
    """
    seen: set[Path] = set()
    for path in _files_below(context.directory.path):
        seen.add(path)
        if _private_key(path, context.directory.project) is not None:
            yield _finding(context, path)
    named = (name for name in context.tracked_files if _NAME.fullmatch(name.rpartition("/")[2]))
    for name in sorted(named):
        path = context.directory.project / name
        if path in seen:
            continue
        body = _private_key(path, context.directory.project)
        if body is not None and (path.name == _OWN_NAME or body.startswith(_ED25519)):
            yield _finding(context, path)


def _finding(context: CheckContext, path: Path) -> Finding:
    name = path.relative_to(context.directory.project).as_posix()
    return Finding(catalogue.PRIVATE_KEY, "the file is a private key", name)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield files of the audit directory whose name may be that of a key; `blobs` have others."""
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in {"blobs", "spool", "wal"}]
        for name in names:
            count += 1
            if count > _MAX_FILES:
                return
            if _NAME.fullmatch(name):
                yield Path(parent, name)


def _private_key(path: Path, project: Path) -> bytes | None:
    """Return the beginning of a private key's base64 text; None if the file is none."""
    if not is_inside(path, project):
        return None
    try:
        match = _PRIVATE.search(read_file(path, limit=_MAX_SIZE) or b"")
    except UnreadableFile:
        return None
    return None if match is None else match[1]
