"""Digest the canonical form of a JSON file; of a manifest, some entries at a time.

A manifest of 154 MB takes 1.2 GB as objects. Its entries are found without being decoded, and
parsed, printed and digested in the order of their keys, a megabyte at once. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import FastDecoder, canonical_json, parse_json, parse_object
from vibes_lsp.store.manifest import equal_except_time

_ENTRIES: Final = "entries"
_OPENING: Final = b'{"entries":{'
_CLOSING: Final = b"}}"
_AT_ONCE: Final = 1 << 20
"""Bytes of entries that are parsed at once."""
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SPACE: Final = b" \t\r\n"
_match_open: Final = re.compile(rb"[ \t\r\n]*\{[ \t\r\n]*").match
_match_colon: Final = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*").match
_match_comma: Final = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*").match
_match_close: Final = re.compile(rb"[ \t\r\n]*\}[ \t\r\n]*").match
_may_be_escaped: Final = re.compile(r'["\\]').search

_Match: TypeAlias = Callable[[bytes, int], re.Match[bytes] | None]
_Texts: TypeAlias = Mapping[str, msgspec.Raw]
_MEMBERS: Final[FastDecoder[dict[str, msgspec.Raw]]] = FastDecoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class JsonDigests:
    """Digests of a JSON file as a value.

    Attributes:
        canonical: That of its canonical form; None if it is not valid.
        frame: That of a manifest without its entries; None if it is not a valid object. A union
            merge leaves entries twice that differ in their time only; that is valid.
    """

    canonical: str | None
    frame: str | None


def json_digests(content: bytes) -> JsonDigests:
    """Return the digests of a JSON file."""
    members = _members(content.removeprefix(_BYTE_ORDER_MARK))
    if members is None:
        return _digests_of_value(content)
    frame, entries = members
    canonical = hashlib.sha256()
    try:
        printed = {name: _print_members(b"{", b"}", {name: frame[name]}) for name in frame}
        printed[_ENTRIES] = b""
        for number, name in enumerate(sorted(printed)):
            canonical.update(b"," if number else b"{")
            for part in _print_entries(entries) if name == _ENTRIES else (printed[name],):
                canonical.update(part)
    except MalformedJson:  # which of both digests it has is found as for other values
        return _digests_of_value(content)
    canonical.update(b"}")
    del printed[_ENTRIES]
    without_entries = b"{%s}" % b",".join(printed[name] for name in sorted(printed))
    return JsonDigests(canonical.hexdigest(), _digest(without_entries))


def canonical_digest(content: bytes) -> str | None:
    """Return the digest of a JSON file's canonical form; None if it is not valid."""
    return json_digests(content).canonical


def frame_digest(content: bytes) -> str | None:
    """Return the digest of a manifest without its entries; None if it is not a valid object."""
    return json_digests(content).frame


def _digests_of_value(content: bytes) -> JsonDigests:
    """Return the digests of any JSON, which is parsed whole."""
    try:
        value = parse_json(content)
    except MalformedJson:
        canonical = None
    else:
        canonical = _digest(canonical_json(value))
    try:
        members = parse_object(content, same=equal_except_time)
    except MalformedJson:
        frame = None
    else:
        others = {name: value for name, value in members.items() if name != _ENTRIES}
        frame = _digest(canonical_json(others))
    return JsonDigests(canonical, frame)


def _members(content: bytes) -> tuple[_Texts, _Texts] | None:
    """Return the texts of a manifest's members but its entries, and those of its entries.

    None for any other value, and where a name is repeated or may have escapes. To find that, the
    members are found in the text again: nothing else may be in it.
    """
    members = _MEMBERS.decode(content)
    if members is None or _ENTRIES not in members:
        return None
    entries = _MEMBERS.decode(memoryview(members[_ENTRIES]))
    if entries is None or _end_of_object(content, 0, members, entries) != len(content):
        return None
    return {name: text for name, text in members.items() if name != _ENTRIES}, entries


def _end_of_object(
    content: bytes, start: int, members: _Texts, entries: _Texts | None = None
) -> int | None:
    """Return where an object with just these members, in this order, ends with the space after it.

    Args:
        content: A text that has the object.
        start: Where it begins.
        members: The texts of its members.
        entries: Those of the members of its member `entries`.
    """
    at = _end_of(_match_open, content, start)
    for number, (name, text) in enumerate(members.items()):
        if at is not None and number:
            at = _end_of(_match_comma, content, at)
        quoted = _quoted(name)
        if at is None or _may_be_escaped(name) or not content.startswith(quoted, at):
            return None
        at = _end_of(_match_colon, content, at + len(quoted))
        if at is None:
            return None
        if entries is not None and name == _ENTRIES:
            at = _end_of_object(content, at, entries)
            continue
        value = bytes(text).strip(_SPACE)
        if not content.startswith(value, at):
            return None
        at += len(value)
    return None if at is None else _end_of(_match_close, content, at)


def _end_of(match: _Match, content: bytes, start: int) -> int | None:
    matched = match(content, start)
    return None if matched is None else matched.end()


def _print_entries(entries: _Texts) -> Iterator[bytes]:
    """Yield the member `entries` in canonical form, some entries at a time."""
    yield _OPENING[1:]
    batch: dict[str, msgspec.Raw] = {}
    size, separator = 0, b""
    for name in sorted(entries):
        batch[name] = entries[name]
        size += len(memoryview(entries[name]))
        if size >= _AT_ONCE:
            yield separator + _print_members(_OPENING, _CLOSING, batch)
            batch, size, separator = {}, 0, b","
    if batch:
        yield separator + _print_members(_OPENING, _CLOSING, batch)
    yield b"}"


def _print_members(opening: bytes, closing: bytes, members: _Texts) -> bytes:
    """Return members in canonical form, parsed as deep in a value as they are.

    Raises:
        MalformedJson: As `parse_json`.
    """
    texts = (_quoted(name) + b":" + bytes(text) for name, text in members.items())
    printed = canonical_json(parse_json(opening + b",".join(texts) + closing))
    return printed[len(opening) : -len(closing)]


def _quoted(name: str) -> bytes:
    return b'"%s"' % name.encode("utf-8", "surrogatepass")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
