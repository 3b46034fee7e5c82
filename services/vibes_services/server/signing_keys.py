"""The provider's signing keys: create, rotate, publish, and sign with the one that is active.

The folder holds the published document and one private key file for each key in use. A retired
key stays published, but its private key is deleted: it can never sign again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from vibes_lsp.attestation.cosigning import parse_key_document
from vibes_lsp.attestation.envelope import encode_base64url
from vibes_lsp.attestation.key_files import load_private_key, write_key_file
from vibes_lsp.attestation.keys import PrivateKey, generate_private_key
from vibes_lsp.attestation.signing_time import time_message
from vibes_lsp.attestation.trusted_keys import KeyStatus, Role, TrustedKey
from vibes_lsp.errors import RefusedWrite, VibesError
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.store.files import flush_folder
from vibes_services.server.state_files import (
    ReloadedFile,
    lock_folder,
    read_state,
    write_state,
)

DOCUMENT_NAME: Final = "signing-keys.json"
VALIDITY: Final = timedelta(days=365)
"""How long a new key is valid; the guide wants a new one at least once a year."""

_PRIVATE: Final = 0o600


@dataclass(frozen=True, slots=True)
class Provider:
    """What the folder publishes.

    Attributes:
        name: The provider.
        tool: Its tool.
        keys: All keys, the newest first.
        document: The document, encoded.
    """

    name: str
    tool: str
    keys: tuple[TrustedKey, ...]
    document: bytes

    def active(self, now: datetime) -> TrustedKey:
        """Return the key that signs now.

        Raises:
            VibesError: None is active and within its validity.
        """
        for each in self.keys:
            start, end = each.valid_from, each.valid_until
            if each.status is KeyStatus.ACTIVE and (
                (start is None or start <= now) and (end is None or now < end)
            ):
                return each
        raise VibesError(
            "no signing key is valid now", hint="make one with `vibes cosign-server rotate`"
        )


class SigningKeys:
    """The keys of a folder, as a running server uses them: rotated without a restart.

    Args:
        folder: The server's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._provider = ReloadedFile(folder / DOCUMENT_NAME, _parse)
        self._private: tuple[str, PrivateKey] | None = None

    def provider(self) -> Provider:
        """Return what is published now.

        Raises:
            VibesError: The document is broken.
        """
        return self._provider.get()

    def sign(self, digest: bytes, now: datetime) -> Members:
        """Return the answer for a digest: its signature and that of the time (R25).

        Raises:
            VibesError: No key is active, or it cannot be read.
        """
        provider = self.provider()
        published = provider.active(now)
        if self._private is None or self._private[0] != published.declared_id:
            key = load_private_key(_key_file(self._folder, published.declared_id))
            if key.public != published.key:
                raise VibesError(f"{published.declared_id}.key is not the published key")
            self._private = published.declared_id, key
        key = self._private[1]
        signed_at = format_timestamp(now)
        return {
            "keyid": published.declared_id,
            "sig": encode_base64url(key.sign(digest)),
            "provider_name": provider.name,
            "tool_name": provider.tool,
            "signed_at": signed_at,
            "time_sig": encode_base64url(key.sign(time_message(digest, signed_at))),
        }


def create_keys(folder: Path, provider: str, tool: str, now: datetime) -> TrustedKey:
    """Make a provider's folder with its first key; return that.

    Raises:
        RefusedWrite: It holds keys already, or is not writable.
    """
    with lock_folder(folder, creates=True):
        if (folder / DOCUMENT_NAME).exists():
            raise RefusedWrite(
                f"{folder / DOCUMENT_NAME} exists",
                hint="use `vibes cosign-server rotate` for a new key",
            )
        key = _new_key(folder, now)
        write_state(folder / DOCUMENT_NAME, as_document(provider, tool, [key], now), private=False)
    return key


def rotate_keys(folder: Path, now: datetime) -> TrustedKey:
    """Make a new key and retire the others, which stay published; return the new one.

    The private keys of retired keys are deleted when the new document is on the disk.

    Raises:
        VibesError: There is no document, or it is broken.
        RefusedWrite: The folder is not writable.
    """
    with lock_folder(folder):
        members = read_state(folder / DOCUMENT_NAME)
        if members is None:
            raise VibesError(
                f"{folder} holds no signing keys", hint="make them with `vibes cosign-server init`"
            )
        known = _parse(members)
        key = _new_key(folder, now)
        retired = [_retired(each, now) for each in known.keys]
        document = as_document(known.name, known.tool, [key, *retired], now)
        write_state(folder / DOCUMENT_NAME, document, private=False)
        for each in retired:
            _key_file(folder, each.declared_id).unlink(missing_ok=True)
        return key


def _retired(key: TrustedKey, now: datetime) -> TrustedKey:
    if key.status is not KeyStatus.ACTIVE:
        return key
    until = now if key.valid_until is None else min(now, key.valid_until)
    return replace(key, status=KeyStatus.RETIRED, valid_until=until)


def _new_key(folder: Path, now: datetime) -> TrustedKey:
    private = generate_private_key()
    write_key_file(_key_file(folder, private.key_id), private.pem(), mode=_PRIVATE)
    flush_folder(folder)
    start = now.replace(microsecond=0)
    return TrustedKey(
        private.public,
        Role.TOOL_PROVIDER,
        "",
        valid_from=start,
        valid_until=start + VALIDITY,
    )


def _parse(members: Members) -> Provider:
    document = canonical_json(members)
    return Provider(
        text(members, "provider") or "",
        text(members, "tool_name") or "",
        parse_key_document(document),
        document,
    )


def _key_file(folder: Path, key_id: str) -> Path:
    if not key_id.isalnum():  # it comes from a file, and must not lead out of the folder
        raise VibesError(
            f"{DOCUMENT_NAME}: {key_id[:40]!r} is not a key id of 16 hexadecimal digits"
        )
    return folder / f"{key_id}.key"


def as_document(
    provider: str, tool: str, keys: Sequence[TrustedKey], updated_at: datetime
) -> Members:
    """Return the key document that a provider publishes (guide: well-known key endpoint)."""
    published = ("keyid", "algorithm", "public_key_pem", "valid_from", "valid_until", "status")
    return {
        "provider": provider,
        "tool_name": tool,
        "keys": [
            {name: value for name, value in each.as_json().items() if name in published}
            for each in keys
        ],
        "rotation_policy": "At least once a year. Retired keys stay listed for verification.",
        "updated_at": format_timestamp(updated_at),
    }
