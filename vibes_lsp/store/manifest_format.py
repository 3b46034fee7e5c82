"""The text of a manifest that grows (R10): one entry per line, comma first, new ones last, whatever was there kept as it was.

So laid out, two branches that both added entries merge by git's built-in union into valid JSON. Pure functions over bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from vibes_lsp.errors import MalformedJson, RefusedWrite, VibesError
from vibes_lsp.model.canonical_json import (
    canonical_json,
    parse_json,
    parse_object,
    parse_raw_members,
)
from vibes_lsp.model.members import Members
from vibes_lsp.store.manifest import Manifest, ManifestForm, conflicting_keys, equal_except_time
from vibes_lsp.store.versions import CURRENT_VERSION, STANDARD

_TAIL: Final = b"}}\n"
_OPENING: Final = b'"entries":{\n'
_ENTRY: Final = re.compile(rb',?"((?:[^"\\\n]|\\.)*+)":')
_BREAKS: Final = re.compile(rb"(?<!\s)[ \t\f\v]*+[\r\n]\s*+")
"""White space with a line break in it is always between tokens: JSON has no line breaks within strings."""


def add_entries(manifest: Manifest, entries: Mapping[str, bytes]) -> bytes:
    """Return the text of a manifest with further entries; equal duplicates that a merge left in it are one.

    Args:
        manifest: What was read.
        entries: JSON on one line each, by keys that the manifest does not have.

    Raises:
        RefusedWrite: It is broken, or says different things about one key, so that rewriting it would lose one of them.
    """
    if manifest.form is ManifestForm.BROKEN:
        raise _refusal(manifest.problem)
    laid_out = _is_laid_out(manifest.data)
    if not laid_out:
        _refuse_contradictions(manifest)
    try:
        check_strict(manifest)
    except MalformedJson as error:
        raise _refusal(error) from None
    if manifest.form is ManifestForm.ABSENT:
        lines, text = 0, new_manifest({})
    elif laid_out:
        text = _without_duplicates(manifest.data, len(manifest.stored))
        lines = len(manifest.stored)
    else:
        text, lines = _laid_out(manifest), len(manifest.stored)
    comma = b"," if lines else b""
    added = (b'"%s":%s\n' % (key.encode(), entry) for key, entry in entries.items())
    return text.removesuffix(_TAIL) + (comma + b",".join(added) if entries else b"") + _TAIL


def _refusal(problem: VibesError | None) -> RefusedWrite:
    where = f": {problem.message}" if problem else ""
    return RefusedWrite(
        f"manifest.json cannot be parsed{where}",
        hint="it is left as it is and new entries wait in the journal; repair it by hand, or take the last good one from git",
    )


def check_strict(manifest: Manifest) -> None:
    """Read all of a manifest with the strict parser: whoever rewrites it vouches for every byte (R10).

    Equal entries under one key pass, also with different times: a union merge leaves such.

    Raises:
        MalformedJson: A part of it is not JSON that can be hashed (R1).
    """
    if manifest.form is ManifestForm.JSONL:
        for raw in manifest.stored.values():
            parse_json(bytes(raw))
    elif manifest.form is ManifestForm.OBJECT and not (
        _is_laid_out(manifest.data) and _are_strict_lines(manifest.data)
    ):
        parse_object(manifest.data, same=equal_except_time)


def _are_strict_lines(data: bytes) -> bool:
    """Whether each line of a manifest that is laid out as ours is strict JSON by itself, which is quick to tell."""
    head, *lines = data.removesuffix(_TAIL).splitlines()
    try:
        parse_json(head + b"}}")
        for line in lines:
            parse_json(b"{" + line.removeprefix(b",") + b"}")
    except MalformedJson:
        return False
    return True


def has_duplicates(manifest: Manifest) -> bool:
    """Whether a merge left lines with keys that stand there before, in a manifest that is laid out as ours."""
    return (
        manifest.form is ManifestForm.OBJECT
        and _is_laid_out(manifest.data)
        and _line_count(manifest.data) > len(manifest.stored)
    )


def _line_count(data: bytes) -> int:
    return data.count(b"\n") - 2


def _is_laid_out(data: bytes) -> bool:
    head = data.find(b"\n") + 1
    if (
        not data.startswith(b"{")
        or not data[:head].endswith(_OPENING)
        or not data.endswith(b"\n" + _TAIL)
    ):
        return False
    return all(map(_ENTRY.match, data[head:].removesuffix(b"\n" + _TAIL).split(b"\n")))


def _without_duplicates(data: bytes, keys: int) -> bytes:
    if _line_count(data) <= keys:
        return data
    contradictory = {key.encode() for key, _ in conflicting_keys(data)}
    head = data.find(b"\n") + 1
    return (
        data[:head]
        + b"".join(_first_of_each(data[head:].removesuffix(_TAIL), contradictory))
        + _TAIL
    )


def _first_of_each(lines: bytes, contradictory: set[bytes]) -> Iterator[bytes]:
    seen: set[bytes] = set()
    for line in lines.splitlines(keepends=True):
        match = _ENTRY.match(line)
        key = match[1] if match else b""
        if key not in seen or key in contradictory or not _is_hash(key):
            yield line
        seen.add(key)


def _is_hash(key: bytes) -> bool:
    return re.fullmatch(rb"[0-9a-f]{64}", key) is not None


def _laid_out(manifest: Manifest) -> bytes:
    """Lay out what another tool wrote: frame and entries value for value, and token for token, in their order."""
    frame = (
        parse_raw_members(
            new_manifest({}) if manifest.form is ManifestForm.JSONL else manifest.data
        )
        or {}
    )
    members = {name: bytes(raw) for name, raw in frame.items() if name != "entries"}
    return format_manifest(members, {key: bytes(raw) for key, raw in manifest.stored.items()})


def format_manifest(members: Mapping[str, bytes], entries: Mapping[str, bytes]) -> bytes:
    """Return the text of a manifest (R10): its other members on the first line, then one entry per line, comma first.

    Args:
        members: JSON by name, without the entries.
        entries: JSON by key.
    """
    text = (
        b"{"
        + b"".join(b"%s:%s," % (_name(name), to_one_line(raw)) for name, raw in members.items())
        + _OPENING
    )
    return (
        text
        + b",".join(b"%s:%s\n" % (_name(key), to_one_line(raw)) for key, raw in entries.items())
        + _TAIL
    )


def _refuse_contradictions(manifest: Manifest) -> None:
    twice = [f"entry {key[:16]} (line {line})" for key, line in conflicting_keys(manifest.data)]
    if twice:
        raise RefusedWrite(
            f"manifest.json says different things about one name: {twice[0]}",
            hint="it is left as it is and new entries wait in the journal; take one of the two out by hand",
        )


def _name(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode("utf-8", "backslashreplace")


def to_one_line(raw: bytes) -> bytes:
    """Return the bytes of a JSON value without line breaks, token for token."""
    return _BREAKS.sub(b"", raw.strip())


def new_manifest(entries: dict[str, Members]) -> bytes:
    """Lay a manifest out as R10 wants: one entry per line, comma first, so that a union merge of two stays valid JSON."""
    head = f'{{"standard":"{STANDARD}","version":"{CURRENT_VERSION}","entries":{{\n'.encode()
    lines = (
        b'"' + key.encode() + b'":' + canonical_json(entry) + b"\n"
        for key, entry in entries.items()
    )
    return head + b",".join(lines) + b"}}\n"
