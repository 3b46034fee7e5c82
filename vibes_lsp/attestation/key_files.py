"""The folder of keys (RFC 11.3): `vibescheck.key` and `vibescheck.pub`, with their modes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.attestation.keys import (
    MAX_KEY_FILE,
    PrivateKey,
    PublicKey,
    parse_private_key,
    parse_public_key,
)
from vibes_lsp.errors import BadKey, RefusedWrite
from vibes_lsp.store.files import (
    read_file,
    replace_file,
    temporary_files,
    write_error,
    write_temporary,
)

PRIVATE_KEY_NAME: Final = "vibescheck.key"
PUBLIC_KEY_NAME: Final = "vibescheck.pub"

_SECRET: Final = 0o600
_PUBLIC: Final = 0o644
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def default_key_folder() -> Path:
    """Return the folder of keys in the user's home (RFC 11.3)."""
    return Path.home() / ".vibescheck" / "keys"


def refuse_existing_key(folder: Path, *, replace: bool) -> None:
    """Check that no key is lost: signatures of a lost key can never be made again.

    Raises:
        RefusedWrite: There is a private key, and it may not be replaced.
    """
    private = folder / PRIVATE_KEY_NAME
    if private.exists() and not replace:
        raise RefusedWrite(f"{private} exists", hint="use it, or replace it for good: --replace")


def save_key_pair(
    folder: Path, key: PrivateKey, *, passphrase: str | None = None, replace: bool = False
) -> None:
    """Write both files of a key, with the modes of RFC 11.3; the folder is created.

    Args:
        folder: The folder of keys.
        key: The private key.
        passphrase: Encrypts the private key, if it is not empty.
        replace: Whether an existing key is replaced.

    Raises:
        RefusedWrite: There is a key, or the folder is not writable.
    """
    refuse_existing_key(folder, replace=replace)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from error
    for left in temporary_files(folder):  # by a program that was killed
        with suppress(OSError):
            left.unlink()
    # The public key is first: without a private one, the next attempt is not refused.
    _write_all(
        (folder / PUBLIC_KEY_NAME, key.public.pem.encode(), _PUBLIC),
        (folder / PRIVATE_KEY_NAME, key.pem(passphrase), _SECRET),
    )


def write_key_file(path: Path, content: bytes, *, mode: int = _PUBLIC) -> None:
    """Write a file of keys whole, with its mode from the start.

    Raises:
        RefusedWrite: The folder is not writable, or the file is a link.
    """
    _write_all((path, content, mode))


def _write_all(*files: tuple[Path, bytes, int]) -> None:
    """Write files with their modes; none changes unless the content of all is on the disk."""
    staged: list[tuple[Path, Path]] = []
    try:
        for path, content, mode in files:
            if path.is_symlink():
                raise RefusedWrite(f"{path} is a symbolic link", hint="remove it: expected a file")
            before = os.umask(0o777 & ~mode)
            try:
                temporary = write_temporary(path.parent, content)
            finally:
                os.umask(before)
            staged.append((temporary, path))
            try:
                temporary.chmod(mode)
            except OSError as error:
                raise write_error(path, error) from error
        for temporary, path in staged:
            replace_file(temporary, path)
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def load_private_key(path: Path, passphrase: Callable[[], str | None] = lambda: None) -> PrivateKey:
    """Read a private key that only its owner can read.

    Args:
        path: PKCS8 as PEM, or OpenSSH.
        passphrase: Called only if the key is encrypted.

    Raises:
        BadKey: There is none, others can read it, or it cannot be used.
        UnreadableFile: It cannot be read.
    """
    content = read_file(path, limit=MAX_KEY_FILE)
    if content is None:
        raise BadKey(f"there is no private key {path}", hint="make one with `vibes keys generate`")
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS:
        raise BadKey(
            f"{path} can be read by others: its mode is {mode:04o}, expected {_SECRET:04o}",
            hint=f"chmod 600 {path}",
        )
    return parse_private_key(content, str(path), passphrase)


def load_public_key(path: Path) -> PublicKey:
    """Read a public key.

    Args:
        path: SPKI as PEM or DER, or OpenSSH.

    Raises:
        BadKey: There is none, or it cannot be used.
        UnreadableFile: It cannot be read.
    """
    content = read_file(path, limit=MAX_KEY_FILE)
    if content is None:
        raise BadKey(f"there is no public key {path}")
    return parse_public_key(content, str(path))
