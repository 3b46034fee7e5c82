"""Bearer tokens: create, revoke and check them; only their SHA-256 digests are stored."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from vibes_lsp.errors import RefusedWrite, UnknownId, VibesError
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import JsonValue, Members, mapping, text, texts
from vibes_lsp.model.timestamps import format_timestamp
from vibes_services.server.state_files import lock_folder, read_state, write_state

Scope: TypeAlias = Literal["cosign", "register"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

FILE_NAME: Final = "tokens.json"
MAX_TOKEN: Final = 256
"""Longest token that is hashed, in characters; ours have 43."""
_NO_DIGEST: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """A person or tool with a token.

    Attributes:
        name: The name that the operator gave.
        digest: SHA-256 of the token, in hexadecimal.
        scopes: What the token allows.
        created: When it was created, as ISO 8601.
    """

    name: str
    digest: str
    scopes: tuple[str, ...]
    created: str


def find_holder(holders: Sequence[TokenHolder], token: str) -> TokenHolder | None:
    """Return whose token this is; takes the same time for every token, known or not."""
    if len(token) > MAX_TOKEN:
        return None
    digest = sha256(token.encode("utf-8", "surrogatepass"))
    found: TokenHolder | None = None
    for holder in holders:
        if hmac.compare_digest(holder.digest, digest):
            found = holder
    return found


def parse_holders(members: Members) -> tuple[TokenHolder, ...]:
    """Return the holders in a token file.

    Raises:
        VibesError: An entry is incomplete. No token may count then: a revocation could be lost.
    """
    holders = []
    for name, value in mapping(members, "tokens").items():
        entry: Members = value if isinstance(value, dict) else {}
        digest = text(entry, "sha256") or ""
        scopes = texts(entry, "scopes")
        if len(digest) != len(_NO_DIGEST) or not set(digest) <= set("0123456789abcdef"):
            raise VibesError(f"{FILE_NAME}: {name!r} has no SHA-256 digest of 64 characters")
        if not scopes or not set(scopes) <= set(SCOPES):
            raise VibesError(f"{FILE_NAME}: {name!r} has no scopes: expected {', '.join(SCOPES)}")
        holders.append(TokenHolder(name, digest, scopes, text(entry, "created") or ""))
    return tuple(holders)


def create_token(folder: Path, name: str, scopes: Sequence[Scope], now: datetime) -> str:
    """Create a token, store its digest and return it; it cannot be read again.

    Raises:
        RefusedWrite: The name has a token already, or the folder is not writable.
    """
    token = secrets.token_urlsafe(32)
    allowed: list[JsonValue] = list(scopes)
    with lock_folder(folder, creates=True):
        tokens = _read(folder)
        if name in tokens:
            raise RefusedWrite(
                f"{name!r} has a token already",
                hint=f"revoke it first: vibes cosign-server token {folder} {name} --revoke",
            )
        tokens[name] = {
            "sha256": sha256(token.encode()),
            "scopes": allowed,
            "created": format_timestamp(now),
        }
        _write(folder, tokens)
    return token


def revoke_token(folder: Path, name: str) -> None:
    """Remove a token; a running server refuses it from its next request on.

    Raises:
        UnknownId: No token has this name.
    """
    with lock_folder(folder):
        tokens = _read(folder)
        if tokens.pop(name, None) is None:
            raise UnknownId(f"{name!r} has no token", hint=f"see {folder / FILE_NAME}")
        _write(folder, tokens)


def _read(folder: Path) -> Members:
    found = read_state(folder / FILE_NAME) or {}
    parse_holders(found)
    return mapping(found, "tokens")


def _write(folder: Path, tokens: Members) -> None:
    write_state(folder / FILE_NAME, {"tokens": tokens})
