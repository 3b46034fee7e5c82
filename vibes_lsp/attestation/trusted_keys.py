"""Whose keys are known: the file `trusted.json` beside the user's own key.

Trust is the user's decision (RFC 11.6): nothing is added here but by `vibes keys trust`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.attestation.key_files import write_key_file
from vibes_lsp.attestation.keys import MAX_KEY_FILE, PublicKey, parse_public_key
from vibes_lsp.errors import BadKey, MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.timestamps import format_timestamp, parse_timestamp
from vibes_lsp.store.files import read_file, write_error
from vibes_lsp.store.locks import FileLock

TRUSTED_KEYS_NAME: Final = "trusted.json"

MAX_KEY_ID: Final = 200
"""Longest identifier that a provider may give a key, in characters."""

_MAX_FILE: Final = 64 * MAX_KEY_FILE


class Role(StrEnum):
    """Whose key it is; it decides the trust tier."""

    USER = "user"
    TOOL_PROVIDER = "tool-provider"


class KeyStatus(StrEnum):
    """What the key's owner says of it (guide: well-known keys)."""

    ACTIVE = "active"
    RETIRED = "retired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A public key with whose it is.

    Attributes:
        key: The key.
        role: Whether a user's or a tool provider's.
        name: A person, or the provider, as the user of this machine calls them.
        key_id: The identifier that its signatures declare; a provider may choose any.
        valid_from: The start of its validity, if it has one.
        valid_until: The end of its validity, if it has one.
        status: Retired keys verify what was signed while they were valid; revoked ones nothing.
    """

    key: PublicKey
    role: Role
    name: str
    key_id: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    status: KeyStatus = KeyStatus.ACTIVE

    @property
    def declared_id(self) -> str:
        """The identifier to look for in envelopes."""
        return self.key_id or self.key.key_id

    def as_json(self) -> Members:
        """Return the object of the file; members are named as in a provider's key document."""
        times = {
            name: format_timestamp(moment)
            for name, moment in (
                ("valid_from", self.valid_from),
                ("valid_until", self.valid_until),
            )
            if moment is not None
        }
        return {
            "keyid": self.declared_id,
            "algorithm": "Ed25519",
            "public_key_pem": self.key.pem,
            "role": self.role.value,
            "name": self.name,
            "status": self.status.value,
            **times,
        }


def parse_trusted_key(value: JsonValue, place: str) -> TrustedKey:
    """Read one key of the file.

    Args:
        value: The object.
        place: What to call it in errors.

    Raises:
        BadKey: A member is missing or wrong.
    """
    if not isinstance(value, dict):
        raise BadKey(f"{place} is not an object")
    pem, algorithm = text(value, "public_key_pem"), text(value, "algorithm")
    if pem is None:
        raise BadKey(f"{place}.public_key_pem is missing or not a string")
    if algorithm != "Ed25519":
        raise BadKey(f"{place}.algorithm is {str(algorithm)[:40]!r}, expected 'Ed25519'")
    try:
        role = Role(text(value, "role") or "")
        status = KeyStatus(text(value, "status") or KeyStatus.ACTIVE.value)
    except ValueError as error:
        raise BadKey(f"{place}: {error}") from None
    return TrustedKey(
        key=parse_public_key(pem.encode("utf-8", "replace"), f"{place}.public_key_pem"),
        role=role,
        name=text(value, "name") or "",
        key_id=text(value, "keyid") or "",
        valid_from=parse_moment(value, "valid_from", place),
        valid_until=parse_moment(value, "valid_until", place),
        status=status,
    )


def parse_moment(members: Members, name: str, place: str) -> datetime | None:
    """Return a time that may be missing.

    Raises:
        BadKey: It is there and no time: a limit that cannot be read must not be ignored.
    """
    if members.get(name) is None:
        return None
    moment = parse_timestamp(text(members, name) or "")
    if moment is None:
        raise BadKey(f"{place}.{name} is no ISO 8601 time")
    return moment


def read_trusted_keys(folder: Path) -> tuple[TrustedKey, ...]:
    """Return the keys that the user trusts; none if there is no file.

    Args:
        folder: The folder of keys.

    Raises:
        BadKey: The file cannot be parsed.
        UnreadableFile: It cannot be read.
    """
    content = read_file(folder / TRUSTED_KEYS_NAME, limit=_MAX_FILE)
    if content is None:
        return ()
    try:
        keys = parse_object(content).get("keys")
    except MalformedJson as error:
        raise BadKey(f"{TRUSTED_KEYS_NAME}: {error.message}") from None
    if not isinstance(keys, list):
        raise BadKey(f"{TRUSTED_KEYS_NAME}: keys is missing or not a list")
    return tuple(
        parse_trusted_key(key, f"{TRUSTED_KEYS_NAME}: keys[{at}]") for at, key in enumerate(keys)
    )


def trust_keys(folder: Path, added: Iterable[TrustedKey]) -> None:
    """Add keys to those that the user trusts; the folder is created.

    Each replaces what was known of the same key and identifier. A revoked key stays revoked: a
    document of its provider, or a person who has an older one, would make its signatures good.

    Args:
        folder: The folder of keys.
        added: The keys.

    Raises:
        BadKey: One of them is revoked, or the file cannot be parsed.
        RefusedWrite: The folder is not writable.
        UnreadableFile: The file cannot be read.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from error
    with FileLock(folder / f"{TRUSTED_KEYS_NAME}.lock").acquire():
        keys = {(known.key, known.declared_id): known for known in read_trusted_keys(folder)}
        revoked = {known.key for known in keys.values() if known.status is KeyStatus.REVOKED}
        for key in added:
            if key.key in revoked and key.status is not KeyStatus.REVOKED:
                raise BadKey(
                    f"the key {key.declared_id} is known as revoked",
                    hint=f"get another one from its owner; {folder / TRUSTED_KEYS_NAME} lists it",
                )
            keys.pop((key.key, key.declared_id), None)
            keys[key.key, key.declared_id] = key
        content = {"keys": [key.as_json() for key in keys.values()]}
        write_key_file(folder / TRUSTED_KEYS_NAME, json.dumps(content, indent=2).encode() + b"\n")


def keys_for(known: Iterable[TrustedKey], key_id: str) -> list[TrustedKey]:
    """Return the keys that a signature may be by.

    Several keys may declare one identifier; a signature is good if one of them verifies it.
    """
    return [key for key in known if key_id in {key.declared_id, key.key.key_id}]
