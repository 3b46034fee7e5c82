"""Three-way merges of log, manifest and config after a git conflict (R13).

Pure functions over bytes; they reject versions that they cannot parse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from vibes_lsp.errors import MalformedJson, RefusedWrite
from vibes_lsp.model.canonical_json import (
    CONFLICT_MARKERS,
    canonical_json,
    parse_object,
    same_value,
)
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME
from vibes_lsp.store.manifest import Manifest, ManifestForm, conflicting_keys, parse_manifest
from vibes_lsp.store.manifest_format import add_entries, check_strict, format_manifest, to_one_line
from vibes_lsp.store.versions import CURRENT_VERSION, STANDARD


class _Missing:
    """The type of `MISSING`, the value of a missing member."""


MISSING: Final = _Missing()
Version: TypeAlias = "JsonValue | _Missing"


def merge_members(
    base: Members | None, ours: Members, theirs: Members, where: tuple[str, ...]
) -> Members:
    """Return an object with the changes of both sides, in our order, their new members last.

    Arrays of strings merge by added and removed items.

    Args:
        base: The common ancestor; None if there is none.
        ours: Our version.
        theirs: Their version.
        where: The name of the file, and the path of the object in it.

    Raises:
        RefusedWrite: Both sides changed a value in different ways.
    """
    merged: Members = {}
    for name in dict.fromkeys((*ours, *theirs)):
        value = _merge_value(
            (base or {}).get(name, MISSING),
            ours.get(name, MISSING),
            theirs.get(name, MISSING),
            (*where, name),
        )
        if not isinstance(value, _Missing):
            merged[name] = value
    return merged


def _merge_value(base: Version, ours: Version, theirs: Version, where: tuple[str, ...]) -> Version:
    if _same(ours, theirs) or _same(base, theirs):
        return ours
    if _same(base, ours):
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return merge_members(base if isinstance(base, dict) else None, ours, theirs, where)
    if (
        isinstance(ours, list)
        and isinstance(theirs, list)
        and all(isinstance(value, str) for value in (*ours, *theirs))
    ):
        before = base if isinstance(base, list) else []
        kept = [value for value in ours if value in theirs or value not in before]
        return kept + [value for value in theirs if value not in ours and value not in before]
    name, *member = where
    raise RefusedWrite(
        f"{name}: both sides changed {'.'.join(member)} differently",
        hint="the file is unchanged; set the member by hand",
    )


def _same(first: Version, second: Version) -> bool:
    if isinstance(first, _Missing) or isinstance(second, _Missing):
        return first is second
    return same_value(first, second)


_MARKER: Final = re.compile(
    rb"^(?:%s)(?: .*)?\r?(?:\n|\Z)"
    % b"|".join(re.escape(marker.encode()) for marker in CONFLICT_MARKERS),
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MergeSides:
    """The versions of one file; None where it does not exist.

    Attributes:
        base: The common ancestor.
        ours: Our version.
        theirs: Their version.
        current: The file in the work tree.
    """

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    current: bytes | None


def has_conflict_markers(content: bytes | None) -> bool:
    """Whether a text contains conflict markers."""
    return content is not None and _MARKER.search(content) is not None


def remove_conflict_markers(content: bytes) -> bytes:
    """Return a text without its conflict marker lines; the lines between them stay."""
    return _MARKER.sub(b"", content)


def merge_log(sides: MergeSides) -> bytes:
    """Return the log with the lines of all versions, ours first; no line is changed.

    Raises:
        RefusedWrite: The work tree has a line that is on no side and is not a record.
    """
    text = remove_conflict_markers(sides.ours or b"")
    seen = {line.strip() for line in _lines_without_markers(text)}
    known = seen | {
        line.strip() for side in (sides.base, sides.theirs) for line in _lines_without_markers(side)
    }
    for number, line in enumerate((sides.current or b"").split(b"\n"), start=1):
        if line.strip() and line.strip() not in known and not _MARKER.match(line):
            _require_record(line, number)
    added: dict[bytes, bytes] = {}
    for side in (sides.base, sides.theirs, sides.current):
        for line in _lines_without_markers(side):
            if line.strip() not in seen:
                added.setdefault(line.strip(), line + b"\n")
    joint = b"\n" if added and text and not text.endswith(b"\n") else b""
    return text + joint + b"".join(added.values())


def merge_manifest(sides: MergeSides) -> bytes:
    """Return the manifest with the entries of both sides.

    Raises:
        RefusedWrite: A version cannot be parsed, or both sides have different entries for one key.
    """
    base, ours, theirs = (
        _parse_version(sides.base, "base"),
        _parse_version(sides.ours, "ours"),
        _parse_version(sides.theirs, "theirs"),
    )
    if ManifestForm.ABSENT in (ours.form, theirs.form):
        return sides.ours or sides.theirs or b""
    changed: dict[str, bytes] = {}
    for key, raw in theirs.stored.items():
        mine = ours.stored.get(key)
        if mine is not None and bytes(mine) != bytes(raw):
            merged = _merge_entry(base, ours, theirs, key)
            if merged is not None:
                changed[key] = merged
    new = {
        key: to_one_line(bytes(raw)) for key, raw in theirs.stored.items() if key not in ours.stored
    }
    frame = merge_members(_frame_of(base), _frame_of(ours), _frame_of(theirs), (MANIFEST_NAME,))
    if not changed and canonical_json(frame) == canonical_json(_frame_of(ours)):
        return add_entries(ours, new) if new else (sides.ours or b"")
    kept = {key: changed.get(key) or to_one_line(bytes(raw)) for key, raw in ours.stored.items()}
    return format_manifest(
        {name: canonical_json(value) for name, value in frame.items()}, {**kept, **new}
    )


def merge_config(sides: MergeSides) -> bytes:
    """Return the config with the changes of both sides.

    Raises:
        RefusedWrite: A version cannot be parsed, or both sides changed a member in different ways.
    """
    if sides.ours is None or sides.theirs is None:
        return sides.ours or sides.theirs or b""
    base = None if sides.base is None else _parse_config(sides.base, "base")
    ours, theirs = _parse_config(sides.ours, "ours"), _parse_config(sides.theirs, "theirs")
    merged = merge_members(base, ours, theirs, (CONFIG_NAME,))
    for content, value in ((sides.ours, ours), (sides.theirs, theirs)):
        if canonical_json(merged) == canonical_json(value):
            return content
    return (
        json.dumps(merged, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    )


def merge_lines(sides: MergeSides) -> bytes:
    """Return our lines, then those that only they have."""
    ours = list(_lines_without_markers(sides.ours))
    return b"".join(
        line + b"\n"
        for line in (
            *ours,
            *(line for line in _lines_without_markers(sides.theirs) if line not in ours),
        )
    )


MERGE_FUNCTIONS: Final[Mapping[str, Callable[[MergeSides], bytes]]] = {
    LOG_NAME: merge_log,
    MANIFEST_NAME: merge_manifest,
    CONFIG_NAME: merge_config,
    ".gitignore": merge_lines,
    ".gitattributes": merge_lines,
}
"""The merge function of each file of a trail."""


def _lines_without_markers(content: bytes | None) -> Iterator[bytes]:
    for line in (content or b"").split(b"\n"):
        if line.strip() and not _MARKER.match(line):
            yield line


def _require_record(line: bytes, number: int) -> None:
    try:
        parse_object(line)
    except MalformedJson as error:
        raise RefusedWrite(
            f"{LOG_NAME} line {number} is not a record: {error.reason}",
            hint="the file is unchanged; repair or remove that line",
        ) from None


def _parse_version(content: bytes | None, side: str) -> Manifest:
    manifest = parse_manifest(content)
    problem = manifest.problem
    if problem is None:
        for key, line in conflicting_keys(manifest.data)[:1]:
            raise RefusedWrite(
                f"{MANIFEST_NAME} ({side}) has two different entries {key[:8]} (line {line})",
                hint="the file is unchanged; remove one of the two",
            )
        try:
            check_strict(manifest)
        except MalformedJson as error:
            problem = error
    if problem is not None:
        raise RefusedWrite(
            f"{MANIFEST_NAME} ({side}) cannot be parsed: {problem.message}",
            hint="the file is unchanged; restore a valid version from git",
        )
    return manifest


def _merge_entry(base: Manifest, ours: Manifest, theirs: Manifest, key: str) -> bytes | None:
    """Return the entry to use where the sides differ; None for ours.

    Entries that differ in `created_at` alone are equal (RFC 5.2).
    """
    versions = [
        {name: value for name, value in (manifest.entry(key) or {}).items() if name != "created_at"}
        for manifest in (base, ours, theirs)
    ]
    before, mine, others = map(canonical_json, versions)
    if others in (mine, before):
        return None
    if mine == before:
        return to_one_line(bytes(theirs.stored[key]))
    raise RefusedWrite(
        f"{MANIFEST_NAME}: both sides changed entry {key[:8]} differently",
        hint="the file is unchanged; `vibes check` on each side shows which one matches its hash",
    )


def _frame_of(manifest: Manifest) -> Members:
    if manifest.form is ManifestForm.ABSENT:
        return {}
    if manifest.form is ManifestForm.JSONL:
        return {"standard": STANDARD, "version": CURRENT_VERSION}
    return {name: value for name, value in parse_object(manifest.data).items() if name != "entries"}


def _parse_config(content: bytes, side: str) -> Members:
    try:
        return parse_object(content)
    except MalformedJson as error:
        raise RefusedWrite(
            f"{CONFIG_NAME} ({side}) cannot be parsed: {error.message}",
            hint="the file is unchanged; repair it",
        ) from None
