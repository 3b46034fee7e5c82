"""The text of a manifest (R10): one entry per line, comma first, new entries last.

In this format two branches that both added entries merge into valid JSON with git's union driver.
Pure functions over bytes; existing content is preserved.
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

_CLOSING: Final = b"}}\n"
_OPENING: Final = b'"entries":{\n'
_ENTRY: Final = re.compile(rb',?"((?>(?:[^"\\\n]|\\.)*))":')
_LINE_BREAKS: Final = re.compile(rb"(?<!\s)[ \t\f\v]*+[\r\n]\s*+")
"""White space with a line break is always between tokens: JSON strings contain none."""


def add_entries(manifest: Manifest, entries: Mapping[str, bytes]) -> bytes:
    """Return the text of a manifest with new entries; equal duplicates from a merge stay.

    Args:
        manifest: The manifest.
        entries: New entries by key, each JSON on one line.

    Raises:
        RefusedWrite: The manifest is invalid, or has different entries for one key, of which a
            rewrite would lose one.
    """
    if manifest.form is ManifestForm.BROKEN:
        raise _parse_error(manifest.problem)
    formatted = _is_formatted(manifest.data)
    if not formatted:
        _refuse_conflicts(manifest)
    try:
        check_strict(manifest)
    except MalformedJson as error:
        raise _parse_error(error) from None
    if manifest.form is ManifestForm.ABSENT:
        lines, text = 0, new_manifest({})
    elif formatted:
        text, lines = manifest.data, len(manifest.stored)
    else:
        text, lines = _reformat(manifest), len(manifest.stored)
    comma = b"," if lines else b""
    added = (b'"%s":%s\n' % (key.encode(), entry) for key, entry in entries.items())
    return text.removesuffix(_CLOSING) + (comma + b",".join(added) if entries else b"") + _CLOSING


def _parse_error(problem: VibesError | None) -> RefusedWrite:
    where = f": {problem.message}" if problem else ""
    return RefusedWrite(
        f"manifest.json cannot be parsed{where}",
        hint="it is unchanged and new entries stay in the journal;"
        " repair it, or restore the last valid version from git",
    )


def check_strict(manifest: Manifest) -> None:
    """Check all of a manifest with the strict parser, as needed before rewriting it (R10).

    Duplicates that differ in `created_at` alone are valid: a union merge leaves them.

    Raises:
        MalformedJson: A part of it is not valid (R1).
    """
    if manifest.form is ManifestForm.JSONL:
        for raw in manifest.stored.values():
            parse_json(bytes(raw))
    elif manifest.form is ManifestForm.OBJECT and not (
        _is_formatted(manifest.data) and _are_valid_lines(manifest.data)
    ):
        parse_object(manifest.data, same=equal_except_time)


def _are_valid_lines(content: bytes) -> bool:
    """Whether each line of a formatted manifest is valid JSON by itself, which is fast to check."""
    try:
        parse_json(content[: content.find(b"\n")] + b"}}")
        for start, end in _entry_lines(content):
            parse_json(b"{" + content[start:end].removeprefix(b",") + b"}")
    except MalformedJson:
        return False
    return True


def _is_formatted(content: bytes) -> bool:
    head = content.find(b"\n") + 1
    if (
        not content.startswith(b"{")
        or not content[:head].endswith(_OPENING)
        or not content.endswith(b"\n" + _CLOSING)
        or head > len(content) - len(_CLOSING) - 1
    ):
        return False
    return all(_ENTRY.match(content, start) for start, _ in _entry_lines(content))


def _entry_lines(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line between the first and the last; copies nothing."""
    start, last = content.find(b"\n") + 1, len(content) - len(_CLOSING)
    while start < last:
        end = content.find(b"\n", start, last)
        yield start, end
        start = end + 1


def _reformat(manifest: Manifest) -> bytes:
    """Format the manifest of another tool; values, tokens and order stay the same."""
    frame = (
        parse_raw_members(
            new_manifest({}) if manifest.form is ManifestForm.JSONL else manifest.data
        )
        or {}
    )
    members = {name: bytes(raw) for name, raw in frame.items() if name != "entries"}
    return format_manifest(members, {key: bytes(raw) for key, raw in manifest.stored.items()})


def format_manifest(members: Mapping[str, bytes], entries: Mapping[str, bytes]) -> bytes:
    """Return the text of a manifest: other members on the first line, then one entry per line.

    Args:
        members: JSON by name, without the entries.
        entries: JSON by key.
    """
    text = (
        b"{"
        + b"".join(
            b"%s:%s," % (_json_name(name), to_one_line(raw)) for name, raw in members.items()
        )
        + _OPENING
    )
    return (
        text
        + b",".join(
            b"%s:%s\n" % (_json_name(key), to_one_line(raw)) for key, raw in entries.items()
        )
        + _CLOSING
    )


def _refuse_conflicts(manifest: Manifest) -> None:
    twice = [f"entry {key[:8]} (line {line})" for key, line in conflicting_keys(manifest.data)]
    if twice:
        raise RefusedWrite(
            f"manifest.json has two different entries with one key: {twice[0]}",
            hint="it is unchanged and new entries stay in the journal; remove one of the two",
        )


def _json_name(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode("utf-8", "backslashreplace")


def to_one_line(raw: bytes) -> bytes:
    """Return a JSON value without line breaks; its tokens stay the same."""
    return _LINE_BREAKS.sub(b"", raw.strip())


def new_manifest(entries: dict[str, Members]) -> bytes:
    """Return the text of a new manifest with these entries (R10)."""
    head = f'{{"standard":"{STANDARD}","version":"{CURRENT_VERSION}","entries":{{\n'.encode()
    lines = (
        b'"' + key.encode() + b'":' + canonical_json(entry) + b"\n"
        for key, entry in entries.items()
    )
    return head + b",".join(lines) + b"}}\n"
