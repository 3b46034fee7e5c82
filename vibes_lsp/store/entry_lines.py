"""Context entries that stand on lines of their own: the manifest's JSONL form (RFC 9.3), its layout (R10), and the journal."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical import QuickDecoder, canonical, parse, parse_object
from vibes_lsp.model.hashing import context_hash

_HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
_DECODER: Final[QuickDecoder[dict[str, msgspec.Raw]]] = QuickDecoder(dict[str, msgspec.Raw])


def entries_by_line(data: bytes) -> tuple[dict[str, msgspec.Raw], int]:
    """Return the entries that stand on one line each, and how many other lines there are.

    A line may be `{"<hash>": {…}}`, the same without its braces (as a manifest is laid out, R10), or a bare entry.
    """
    entries: dict[str, msgspec.Raw] = {}
    strays = 0
    for line in data.splitlines():
        text = line.strip().strip(b",")
        if not text:
            continue
        found = _entries_in(text if text.startswith(b"{") else b"{" + text + b"}")
        strays += found is None
        entries.update(found or {})
    return entries, strays


def raw_members(text: bytes) -> dict[str, msgspec.Raw] | None:
    """Take an object apart; the values of one with a lone surrogate, which only the strict parser reads, in canonical form.

    None when it is no object, or one that R1 refuses.
    """
    members = _DECODER.one(text)
    if members is not None:
        return {name: raw.copy() for name, raw in members.items()}
    try:
        return {name: msgspec.Raw(canonical(value)) for name, value in parse_object(text).items()}
    except MalformedJson:
        return None


def _entries_in(text: bytes) -> dict[str, msgspec.Raw] | None:
    members = raw_members(text)
    if members is None:
        return None
    if members and all(map(_HASH.match, members)):
        return members if all(map(_is_strict, members.values())) else None
    if "entries" not in members and "type" in members:
        try:
            return {context_hash(parse_object(text)): msgspec.Raw(text)}
        except MalformedJson:
            return None
    return {} if set(members) == {"standard", "version"} else None


def _is_strict(raw: msgspec.Raw) -> bool:
    """Whether the value can be hashed (R1): msgspec does not look into what it skips."""
    try:
        parse(bytes(raw))
    except MalformedJson:
        return False
    return True
