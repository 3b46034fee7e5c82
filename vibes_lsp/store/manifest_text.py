"""The text of a manifest that grows (R10): one entry per line, comma first, new ones last, whatever was there kept as it was.

So laid out, two branches that both added entries merge by git's built-in union into valid JSON. Pure functions over bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from vibes_lsp.errors import MalformedJson, RefusedWrite, VibesError
from vibes_lsp.model.canonical import parse, parse_object
from vibes_lsp.store.entry_lines import raw_members
from vibes_lsp.store.initialise import manifest_bytes
from vibes_lsp.store.manifest import Manifest, ManifestForm, contradictory_keys, same_but_for_time

_TAIL: Final = b"}}\n"
_OPENING: Final = b'"entries":{\n'
_ENTRY: Final = re.compile(rb',?"((?:[^"\\\n]|\\.)*+)":')
_BREAKS: Final = re.compile(rb"(?<!\s)[ \t\f\v]*+[\r\n]\s*+")
"""White space with a line break in it is always between tokens: JSON has no line breaks within strings."""


def extended(manifest: Manifest, entries: Mapping[str, bytes]) -> bytes:
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
        check_strictly(manifest)
    except MalformedJson as error:
        raise _refusal(error) from None
    if manifest.form is ManifestForm.ABSENT:
        lines, text = 0, manifest_bytes({})
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


def check_strictly(manifest: Manifest) -> None:
    """Read all of a manifest with the strict parser: whoever rewrites it vouches for every byte (R10).

    Equal entries under one key pass, also with different times: a union merge leaves such.

    Raises:
        MalformedJson: A part of it is not JSON that can be hashed (R1).
    """
    if manifest.form is ManifestForm.JSONL:
        for raw in manifest.stored.values():
            parse(bytes(raw))
    elif manifest.form is ManifestForm.OBJECT and not (
        _is_laid_out(manifest.data) and _are_strict_lines(manifest.data)
    ):
        parse_object(manifest.data, same=same_but_for_time)


def _are_strict_lines(data: bytes) -> bool:
    """Whether each line of a manifest that is laid out as ours is strict JSON by itself, which is quick to tell."""
    head, *lines = data.removesuffix(_TAIL).splitlines()
    try:
        parse(head + b"}}")
        for line in lines:
            parse(b"{" + line.removeprefix(b",") + b"}")
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
    contradictory = {key.encode() for key, _ in contradictory_keys(data)}
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
        raw_members(manifest_bytes({}) if manifest.form is ManifestForm.JSONL else manifest.data)
        or {}
    )
    members = {name: bytes(raw) for name, raw in frame.items() if name != "entries"}
    return lay_out(members, {key: bytes(raw) for key, raw in manifest.stored.items()})


def lay_out(members: Mapping[str, bytes], entries: Mapping[str, bytes]) -> bytes:
    """Return the text of a manifest (R10): its other members on the first line, then one entry per line, comma first.

    Args:
        members: JSON by name, without the entries.
        entries: JSON by key.
    """
    text = (
        b"{"
        + b"".join(b"%s:%s," % (_name(name), one_line(raw)) for name, raw in members.items())
        + _OPENING
    )
    return (
        text
        + b",".join(b"%s:%s\n" % (_name(key), one_line(raw)) for key, raw in entries.items())
        + _TAIL
    )


def _refuse_contradictions(manifest: Manifest) -> None:
    twice = [f"entry {key[:16]} (line {line})" for key, line in contradictory_keys(manifest.data)]
    if twice:
        raise RefusedWrite(
            f"manifest.json says different things about one name: {twice[0]}",
            hint="it is left as it is and new entries wait in the journal; take one of the two out by hand",
        )


def _name(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode("utf-8", "backslashreplace")


def one_line(raw: bytes) -> bytes:
    """Return the bytes of a JSON value without line breaks, token for token."""
    return _BREAKS.sub(b"", raw.strip())
