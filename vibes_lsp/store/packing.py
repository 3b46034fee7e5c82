"""The form in which members are stored: numbers as every language prints them (R1), reasoning by its size (RFC 6.7, R8)."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Final

from vibes_lsp.errors import MalformedJson, RefusedWrite
from vibes_lsp.model.canonical import canonical, parse
from vibes_lsp.model.config import Config
from vibes_lsp.model.hashing import context_hash
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.store.reasoning import MAX_TEXT

_EXACT: Final = 1 << 53
"""Integers up to this size are the same in every language."""
_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""Of a gzip file that says neither when nor on which system it was made (R8): best compression, time 0, system 255."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An entry as it is stored.

    Attributes:
        key: Its hash.
        entry: Its members.
        blob: Name and content of its external file; None when it has none.
    """

    key: str
    entry: Members
    blob: tuple[str, bytes] | None = None


def pack(members: Members, config: Config) -> Packed:
    """Return an entry, given in its inline form, as the project's thresholds want it stored.

    The thresholds are of the reasoning text in UTF-8; an entry of exactly that many bytes is not above them.

    Raises:
        RefusedWrite: The text is longer than a reader would unpack, or a number is not finite.
    """
    inline = portable(members)
    body = text(inline, "reasoning_text") if inline.get("type") == ContextType.REASONING else None
    size = 0 if body is None else len(body.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT:
        raise RefusedWrite(
            f"a reasoning text of {size:,} bytes is longer than the {MAX_TEXT:,} that are read",
            hint="shorten it",
        )
    if (
        body is None
        or size
        <= min(config.compress_reasoning_threshold_bytes, config.external_blob_threshold_bytes)
        or not _is_text(body)
    ):
        return Packed(context_hash(inline), inline)
    kept = {name: value for name, value in inline.items() if name != "reasoning_text"}
    if size <= config.external_blob_threshold_bytes:
        packed = base64.b64encode(gzipped(body.encode())).decode()
        entry: Members = {**kept, "reasoning_text_compressed": packed, "compressed": True}
        return Packed(context_hash(entry), entry)
    name = f"{context_hash(inline)}.json.gz"
    entry = {**kept, "external": True, "blob_path": f"blobs/{name}"}
    return Packed(context_hash(entry), entry, (name, gzipped(canonical(inline))))


def portable(members: Members) -> Members:
    """Return the members with integral numbers as integers, so that JavaScript and Python print them alike (R1).

    Raises:
        RefusedWrite: A number is not finite, a value is none that JSON has, or the strict parser would not read it.
    """
    renewed: Members = {name: _portable(value) for name, value in members.items()}
    try:
        parse(canonical({"entries": {"": renewed}}))  # as deep as it stands in a manifest
    except MalformedJson as error:
        raise RefusedWrite(
            f"this cannot be written as JSON that is read again: {error.reason}"
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise RefusedWrite(f"this cannot be written as JSON: {error}") from None
    return renewed


def gzipped(data: bytes) -> bytes:
    """Return gzip data that depends on nothing but the content and the compressor (R8)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    tail = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return _GZIP_HEAD + packer.compress(data) + packer.flush() + tail


def _portable(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer() and abs(value) <= _EXACT:
            return int(value)
        case dict():
            return {name: _portable(child) for name, child in value.items()}
        case list():
            return [_portable(child) for child in value]
        case _:
            return value


def _is_text(body: str) -> bool:
    """Whether it can be written as UTF-8; a lone surrogate can only be escaped, inline."""
    try:
        body.encode()
    except UnicodeEncodeError:
        return False
    return True
