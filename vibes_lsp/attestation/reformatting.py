"""Whether a file that differs from an attested one differs in its formatting only.

Formatters, editors and git's conversion of line ends change bytes but no value. The attested bytes
are not known, only their digest: a match with one of the usual formats proves that they were equal
as JSON. Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Final

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import canonical_json, parse_json, parse_object
from vibes_lsp.model.members import JsonValue
from vibes_lsp.store.manifest import equal_except_time

_INDENTS: Final = (2, 4, "\t", None)
_COMPACT: Final = (",", ":")
_SPACED: Final = (", ", ": ")
_INDENTED: Final = (",", ": ")


def canonical_digest(content: bytes) -> str | None:
    """Return the digest of a JSON file's canonical form; None if it is not valid."""
    try:
        return _digest(canonical_json(parse_json(content)))
    except MalformedJson:
        return None


def frame_digest(content: bytes) -> str | None:
    """Return the digest of a manifest without its entries; None if it is not a valid object.

    A union merge leaves entries twice that differ in their time only; that is valid.
    """
    try:
        members = parse_object(content, same=equal_except_time)
    except MalformedJson:
        return None
    return _digest(canonical_json({name: members[name] for name in members if name != "entries"}))


def is_reformatted(content: bytes, sha256: str, canonical_sha256: str | None) -> bool:
    """Whether a JSON file has the same value as an attested one.

    Args:
        content: The present file.
        sha256: The digest of the attested file.
        canonical_sha256: The digest of the attested file's canonical JSON, if it was signed too.
    """
    if canonical_sha256 is not None:
        return canonical_digest(content) == canonical_sha256
    try:
        value = parse_json(content)
    except MalformedJson:
        return False
    return _matches(_line_end_variants(content), sha256) or _matches(_formats(value), sha256)


def is_reformatted_log(content: bytes, sha256: str) -> bool:
    """Whether a log has the same records, in the same order, as an attested one."""
    if _matches(_line_end_variants(content), sha256):
        return True
    lines = [line for line in content.split(b"\n") if line.strip()]  # a lone \r ends no record
    try:
        values = [parse_json(line) for line in lines]
    except MalformedJson:
        return False
    for separators in (_COMPACT, _SPACED):
        for ascii_only in (False, True):
            texts = [_print(value, None, separators, ascii_only=ascii_only) for value in values]
            if _matches(_line_end_variants(b"\n".join(texts) + b"\n"), sha256):
                return True
    return False


def _line_end_variants(content: bytes) -> Iterator[bytes]:
    """Yield the file with other line ends, and with and without the last."""
    plain = content.replace(b"\r\n", b"\n").rstrip(b"\n")
    for text in (plain, plain + b"\n"):
        yield text
        yield text.replace(b"\n", b"\r\n")


def _formats(value: JsonValue) -> Iterator[bytes]:
    """Yield a value in the formats that common programs write."""
    for indent in _INDENTS:
        for separators in (_COMPACT, _SPACED) if indent is None else (_INDENTED,):
            for ascii_only in (False, True):
                text = _print(value, indent, separators, ascii_only=ascii_only)
                yield text
                yield text + b"\n"


def _print(
    value: JsonValue, indent: int | str | None, separators: tuple[str, str], *, ascii_only: bool
) -> bytes:
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
    return text.encode("utf-8", "backslashreplace")


def _matches(texts: Iterator[bytes], sha256: str) -> bool:
    return any(_digest(text) == sha256 for text in texts)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
