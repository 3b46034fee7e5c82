"""Read and store reasoning in its three forms (RFC 6.7, R8): inline, compressed or in a blob."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.errors import (
    BrokenBlob,
    EscapingBlob,
    MissingBlob,
    RefusedWrite,
    UnreadableFile,
)
from vibes_lsp.model.canonical_json import (
    canonical_json,
    object_or_none,
    with_portable_numbers,
)
from vibes_lsp.model.hashing import context_hash, sha256
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import is_inside, read_file
from vibes_lsp.store.waiting import waiting_blobs

if TYPE_CHECKING:
    from vibes_lsp.model.config import Config

MAX_TEXT: Final = 16 << 20
"""Largest reasoning text, in bytes, that is decompressed or stored."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_DIGEST_NAME: Final = re.compile(r"([0-9a-f]{16,64})\.")


def inline_entry(entry: Members, directory: AuditDir) -> Members:
    """Return a reasoning entry in its inline form.

    Raises:
        BrokenBlob: It has no text, or the text cannot be decoded within the limits.
        MissingBlob: Its blob does not exist.
        EscapingBlob: Its blob is outside the audit directory.
    """
    if text(entry, "reasoning_text") is not None:
        return entry
    packed = text(entry, "reasoning_text_compressed")
    if packed is not None:
        try:
            compressed = base64.b64decode(packed, validate=True)
        except (binascii.Error, ValueError):
            raise BrokenBlob("reasoning_text_compressed is not base64") from None
        body = _decode(
            _decompress(compressed, "reasoning_text_compressed"), "reasoning_text_compressed"
        )
        kept = {
            name: value
            for name, value in entry.items()
            if name not in ("reasoning_text_compressed", "compressed")
        }
        return {**kept, "reasoning_text": body}
    path = text(entry, "blob_path")
    if path is None:
        raise BrokenBlob("the entry has neither text, compressed text nor a blob")
    return _from_blob(entry, path, read_blob(path, directory))


def reasoning_text(entry: Members, directory: AuditDir) -> str:
    """Return the text of a reasoning entry.

    Raises:
        BrokenBlob: As `inline_entry`, its two subclasses included.
    """
    body = text(inline_entry(entry, directory), "reasoning_text")
    if body is None:
        raise BrokenBlob("the blob has no reasoning_text")
    return body


def blob_file(path: str, directory: AuditDir) -> Path:
    """Return the file that a `blob_path` names.

    Raises:
        EscapingBlob: It is outside the audit directory, directly or through a link.
    """
    target = directory.path / path.replace("\\", "/")
    if "\0" in path or not is_inside(target, directory.path):
        raise EscapingBlob(f"blob_path {path[:120]!r} leaves the audit directory")
    return target


def read_blob(path: str, directory: AuditDir) -> bytes:
    """Return a blob's content, decompressed if it is gzip.

    Raises:
        MissingBlob: It does not exist.
        EscapingBlob: It is outside the audit directory.
        BrokenBlob: It cannot be read or decompressed within the limits.
    """
    target = blob_file(path, directory)
    try:
        content = read_file(target, limit=MAX_TEXT)
    except UnreadableFile as error:
        raise BrokenBlob(f"blob {path}: {error.message}") from None
    if content is None:
        content = _waiting_blob(target, directory)
    if content is None:
        raise MissingBlob(f"blob {path} does not exist")
    return unpacked(content, path)


def unpacked(content: bytes, path: str) -> bytes:
    """Return the content of a blob, decompressed if it is gzip.

    Args:
        content: The bytes of the file.
        path: Its name, for errors.

    Raises:
        BrokenBlob: It cannot be decompressed within the limits.
    """
    return _decompress(content, path) if content.startswith(_GZIP_MAGIC) else content


def _waiting_blob(target: Path, directory: AuditDir) -> bytes | None:
    """Return a blob that waits with its entry for a commit; None if there is none."""
    if target.parent != directory.blobs:
        return None
    for folder in waiting_blobs(directory):
        with suppress(UnreadableFile):
            content = read_file(folder / target.name, limit=MAX_TEXT)
            if content is not None:
                return content
    return None


def blob_name_matches(path: str, content: bytes, entry: Members) -> bool:
    """Whether the digest in a blob's file name matches the inline entry or the text (R8).

    A name without digest matches.

    Raises:
        BrokenBlob: The digest does not match the content, which is not text either.
    """
    match = _DIGEST_NAME.match(Path(path).name)
    if match is None or sha256(content).startswith(match[1]):
        return True
    inline = _from_blob(entry, path, content)
    body = text(inline, "reasoning_text") or ""
    return any(
        digest.startswith(match[1])
        for digest in (context_hash(inline), sha256(body.encode("utf-8", "surrogatepass")))
    )


def _from_blob(entry: Members, path: str, content: bytes) -> Members:
    """Return the inline entry in a blob; some tools store the bare text (R8)."""
    if content.lstrip()[:1] == b"{":
        stored = object_or_none(content) or {}
        if "reasoning_text" in stored:
            return stored
    kept = {name: value for name, value in entry.items() if name not in ("external", "blob_path")}
    return {**kept, "reasoning_text": _decode(content, path)}


def _decompress(compressed: bytes, where: str) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = unpacker.decompress(compressed, MAX_TEXT)
    except zlib.error:
        raise BrokenBlob(f"{where}: not gzip data") from None
    if unpacker.unconsumed_tail:
        raise BrokenBlob(f"{where}: unpacks to more than {MAX_TEXT:,} bytes")
    if not unpacker.eof:
        raise BrokenBlob(f"{where}: truncated gzip data")
    return content


def _decode(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenBlob(f"{where}: not UTF-8 at byte {error.start}") from None


_GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""A gzip header without time and system (R8): best compression, time 0, system 255."""


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """An entry in its stored form.

    Attributes:
        key: Its hash.
        entry: Its members.
        blob: Name and content of its blob; None if it has none.
    """

    key: str
    entry: Members
    blob: tuple[str, bytes] | None = None


def pack_entry(members: Members, config: Config) -> PackedEntry:
    """Return an inline entry in its stored form, which depends on the config's thresholds.

    The thresholds apply to the reasoning text in UTF-8; a text of exactly that size stays below.

    Raises:
        RefusedWrite: The text is too long, or the entry is not valid JSON.
    """
    inline = with_portable_numbers(members)
    body = text(inline, "reasoning_text") if inline.get("type") == ContextType.REASONING else None
    size = 0 if body is None else len(body.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT:
        raise _too_long(size)
    if (
        body is None
        or size
        <= min(config.compress_reasoning_threshold_bytes, config.external_blob_threshold_bytes)
        or not _is_encodable(body)
    ):
        return PackedEntry(context_hash(inline), inline)
    kept = {name: value for name, value in inline.items() if name != "reasoning_text"}
    if size <= config.external_blob_threshold_bytes:
        packed = base64.b64encode(gzip_bytes(body.encode())).decode()
        entry: Members = {**kept, "reasoning_text_compressed": packed, "compressed": True}
        return PackedEntry(context_hash(entry), entry)
    name = f"{context_hash(inline)}.json.gz"
    entry = {**kept, "external": True, "blob_path": f"blobs/{name}"}
    content = canonical_json(inline)
    if len(content) > MAX_TEXT:  # its quotes and line ends are escaped; no reader unpacks more
        raise _too_long(len(content))
    return PackedEntry(context_hash(entry), entry, (name, gzip_bytes(content)))


def _too_long(size: int) -> RefusedWrite:
    return RefusedWrite(
        f"reasoning text is too long: {size:,} bytes, expected at most {MAX_TEXT:,}",
        hint="shorten it",
    )


def gzip_bytes(content: bytes) -> bytes:
    """Return gzip data that depends only on the content and the compressor (R8)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    tail = zlib.crc32(content).to_bytes(4, "little") + (len(content) & 0xFFFFFFFF).to_bytes(
        4, "little"
    )
    return _GZIP_HEADER + packer.compress(content) + packer.flush() + tail


def _is_encodable(body: str) -> bool:
    """Whether the text can be encoded as UTF-8; lone surrogates can only be escaped, inline."""
    try:
        body.encode()
    except UnicodeEncodeError:
        return False
    return True
