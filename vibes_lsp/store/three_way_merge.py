"""Merge two versions of the trail's files (R13): pure functions over bytes that refuse what they cannot parse."""

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
    """Stands for a member that is not there."""


MISSING: Final = _Missing()
Version: TypeAlias = "JsonValue | _Missing"


class MergeConflict(ValueError):
    """Both sides changed one value, each in its own way.

    Args:
        where: The names of the members that lead to it.
    """

    def __init__(self, where: tuple[str, ...]) -> None:
        super().__init__(".".join(where))
        self.where = ".".join(where)


def merge_members(
    base: Members | None, ours: Members, theirs: Members, where: tuple[str, ...] = ()
) -> Members:
    """Return an object with what either side changed, in our order, their new members last.

    Args:
        base: The version that both come from; None where there was none.
        ours: One side.
        theirs: The other one.
        where: The names of the members that lead to it.

    Raises:
        Contradiction: Both changed one value differently. Lists of strings are merged by what was added and what was taken out.
    """
    merged: Members = {}
    for name in dict.fromkeys((*ours, *theirs)):
        value = _merge(
            (base or {}).get(name, MISSING),
            ours.get(name, MISSING),
            theirs.get(name, MISSING),
            (*where, name),
        )
        if not isinstance(value, _Missing):
            merged[name] = value
    return merged


def _merge(base: Version, ours: Version, theirs: Version, where: tuple[str, ...]) -> Version:
    if _same(ours, theirs) or _same(base, theirs):
        return ours
    if _same(base, ours):
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return merge_members(base if isinstance(base, dict) else None, ours, theirs, where)
    if (
        isinstance(ours, list)
        and isinstance(theirs, list)
        and all(isinstance(each, str) for each in (*ours, *theirs))
    ):
        before = base if isinstance(base, list) else []
        kept = [each for each in ours if each in theirs or each not in before]
        return kept + [each for each in theirs if each not in ours and each not in before]
    raise MergeConflict(where)


def _same(one: Version, other: Version) -> bool:
    if isinstance(one, _Missing) or isinstance(other, _Missing):
        return one is other
    return same_value(one, other)


_MARKER: Final = re.compile(
    rb"^(?:%s)(?: .*)?\r?(?:\n|\Z)"
    % b"|".join(re.escape(each.encode()) for each in CONFLICT_MARKERS),
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MergeSides:
    """The versions of one file; None where it is not there.

    Attributes:
        base: What both sides come from.
        ours: One side.
        theirs: The other one.
        standing: What is on disk now.
    """

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    current: bytes | None


def has_conflict_markers(data: bytes | None) -> bool:
    """Whether git, or a person, left conflict markers in a text."""
    return data is not None and _MARKER.search(data) is not None


def remove_conflict_markers(data: bytes) -> bytes:
    """Return a text without the lines that are conflict markers; what stands between them stays."""
    return _MARKER.sub(b"", data)


def merge_log(sides: MergeSides) -> bytes:
    """Return the log with every record that either side has, ours first; no line is changed.

    Raises:
        RefusedWrite: What is on disk has a line that neither side has, and that is no record.
    """
    text = remove_conflict_markers(sides.ours or b"")
    seen = {line.strip() for line in _lines(text)}
    known = seen | {line.strip() for side in (sides.base, sides.theirs) for line in _lines(side)}
    for number, line in enumerate((sides.current or b"").split(b"\n"), start=1):
        if line.strip() and line.strip() not in known and not _MARKER.match(line):
            _refuse_no_record(line, number)
    added: dict[bytes, bytes] = {}
    for side in (sides.base, sides.theirs, sides.current):
        for line in _lines(side):
            if line.strip() not in seen:
                added.setdefault(line.strip(), line + b"\n")
    joint = b"\n" if added and text and not text.endswith(b"\n") else b""
    return text + joint + b"".join(added.values())


def merge_manifest(sides: MergeSides) -> bytes:
    """Return the manifest with every entry that either side has, value for value.

    Raises:
        RefusedWrite: A side cannot be parsed, or both say different things about one name.
    """
    base, ours, theirs = (
        _manifest(sides.base, "the common one"),
        _manifest(sides.ours, "ours"),
        _manifest(sides.theirs, "theirs"),
    )
    if ManifestForm.ABSENT in (ours.form, theirs.form):
        return sides.ours or sides.theirs or b""
    changed: dict[str, bytes] = {}
    for key, raw in theirs.stored.items():
        mine = ours.stored.get(key)
        if mine is not None and bytes(mine) != bytes(raw):
            one = _entry(base, ours, theirs, key)
            if one is not None:
                changed[key] = one
    new = {
        key: to_one_line(bytes(raw)) for key, raw in theirs.stored.items() if key not in ours.stored
    }
    frame = _merged(_frame(base), _frame(ours), _frame(theirs), MANIFEST_NAME)
    if not changed and canonical_json(frame) == canonical_json(_frame(ours)):
        return add_entries(ours, new) if new else (sides.ours or b"")
    kept = {key: changed.get(key) or to_one_line(bytes(raw)) for key, raw in ours.stored.items()}
    return format_manifest(
        {name: canonical_json(value) for name, value in frame.items()}, {**kept, **new}
    )


def merge_config(sides: MergeSides) -> bytes:
    """Return the policy with what either side changed.

    Raises:
        RefusedWrite: A side cannot be parsed, or both changed one member differently.
    """
    if sides.ours is None or sides.theirs is None:
        return sides.ours or sides.theirs or b""
    base = None if sides.base is None else _object(sides.base, "the common one")
    ours, theirs = _object(sides.ours, "ours"), _object(sides.theirs, "theirs")
    merged = _merged(base, ours, theirs, CONFIG_NAME)
    for data, value in ((sides.ours, ours), (sides.theirs, theirs)):
        if canonical_json(merged) == canonical_json(value):
            return data
    return (
        json.dumps(merged, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    )


def merge_lines(sides: MergeSides) -> bytes:
    """Return our lines, and those that only they have."""
    ours = list(_lines(sides.ours))
    return b"".join(
        line + b"\n"
        for line in (*ours, *(line for line in _lines(sides.theirs) if line not in ours))
    )


MERGE_FUNCTIONS: Final[Mapping[str, Callable[[MergeSides], bytes]]] = {
    LOG_NAME: merge_log,
    MANIFEST_NAME: merge_manifest,
    CONFIG_NAME: merge_config,
    ".gitignore": merge_lines,
    ".gitattributes": merge_lines,
}
"""How each file of a trail is merged."""


def _lines(data: bytes | None) -> Iterator[bytes]:
    for line in (data or b"").split(b"\n"):
        if line.strip() and not _MARKER.match(line):
            yield line


def _refuse_no_record(line: bytes, number: int) -> None:
    try:
        parse_object(line)
    except MalformedJson as error:
        raise RefusedWrite(
            f"{LOG_NAME} line {number} is no record: {error.reason}",
            hint="the file is left as it is; repair or remove that line by hand",
        ) from None


def _manifest(data: bytes | None, whose: str) -> Manifest:
    manifest = parse_manifest(data)
    if manifest.form is ManifestForm.BROKEN:
        why = manifest.problem.message if manifest.problem else "no manifest"
        raise RefusedWrite(
            f"{MANIFEST_NAME} ({whose}) cannot be parsed: {why}",
            hint="the file is left as it is; take a good version of it from git",
        )
    twice = conflicting_keys(manifest.data)
    if not twice:
        _refuse_loose(manifest, whose)
    else:
        key, line = twice[0]
        raise RefusedWrite(
            f"{MANIFEST_NAME} ({whose}) says different things about entry {key[:16]} (line {line})",
            hint="the file is left as it is; take one of the two out by hand",
        )
    return manifest


def _refuse_loose(manifest: Manifest, whose: str) -> None:
    try:
        check_strict(manifest)
    except MalformedJson as error:
        raise RefusedWrite(
            f"{MANIFEST_NAME} ({whose}) cannot be parsed: {error.message}",
            hint="the file is left as it is; take a good version of it from git",
        ) from None


def _entry(base: Manifest, ours: Manifest, theirs: Manifest, key: str) -> bytes | None:
    """Return an entry that the sides have differently; None when ours stays: entries that differ in their time alone are one (RFC 5.2)."""
    versions = [
        {name: value for name, value in (each.entry(key) or {}).items() if name != "created_at"}
        for each in (base, ours, theirs)
    ]
    before, mine, others = map(canonical_json, versions)
    if others in (mine, before):
        return None
    if mine == before:
        return to_one_line(bytes(theirs.stored[key]))
    raise RefusedWrite(
        f"{MANIFEST_NAME}: both sides have an entry {key[:16]}, and it is not the same",
        hint="the file is left as it is; `vibes check` on either side says which of them fits its hash",
    )


def _frame(manifest: Manifest) -> Members:
    if manifest.form is ManifestForm.ABSENT:
        return {}
    if manifest.form is ManifestForm.JSONL:
        return {"standard": STANDARD, "version": CURRENT_VERSION}
    return {name: value for name, value in parse_object(manifest.data).items() if name != "entries"}


def _object(data: bytes, whose: str) -> Members:
    try:
        return parse_object(data)
    except MalformedJson as error:
        raise RefusedWrite(
            f"{CONFIG_NAME} ({whose}) cannot be parsed: {error.message}",
            hint="the file is left as it is; repair it by hand",
        ) from None


def _merged(base: Members | None, ours: Members, theirs: Members, name: str) -> Members:
    try:
        return merge_members(base, ours, theirs)
    except MergeConflict as error:
        raise RefusedWrite(
            f"{name}: both sides changed {error.where}, each in its own way",
            hint="the file is left as it is; decide by hand",
        ) from None
