"""The diffs in payloads: unified diffs, structured patches, `apply_patch`. Pure.

A chunk of an `apply_patch` patch has lines but no line numbers. `apply_patch` searches the lines
after each header, and then the chunk's old lines, from the end of the previous chunk on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from vibes_lsp.agents.events import DiffHunk, FileEdit, PatchChunk, lines_after, lines_before
from vibes_lsp.model.members import JsonValue, integer, texts

_HUNK: Final = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MAX_DIGITS: Final = 18
"""Digits of a number in the head of a hunk; Python converts no text of thousands of them."""
_FILE: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_MOVE: Final = "*** Move to: "
_END_OF_FILE: Final = "*** End of File"
_TAGS: Final = frozenset(" -+")
_MAX_PLACEMENTS: Final = 100
"""Combinations of places that are tried; a patch with more is unresolved."""


def read_unified_diff(diff: str) -> tuple[DiffHunk, ...]:
    """Return the hunks of a unified diff of one file; none when it is damaged."""
    hunks: list[DiffHunk] = []
    lines = diff.split("\n")
    number = 0
    while number < len(lines):
        header = _HUNK.match(lines[number])
        number += 1
        if header is None:
            continue
        if any(len(digits) > _MAX_DIGITS for digits in header.groups("")):
            return ()
        old_left, new_left = (int(header[group] or 1) for group in (1, 3))
        start = int(header[2])
        body: list[tuple[str, str]] = []
        while number < len(lines) and (old_left > 0 or new_left > 0):
            line = lines[number]
            number += 1
            if line.startswith("\\"):  # \ No newline at end of file
                continue
            tag, text = (line[0], line[1:]) if line else (" ", "")
            if tag not in _TAGS:
                return ()
            old_left -= tag != "+"
            new_left -= tag != "-"
            body.append((tag, text.removesuffix("\r")))
        if old_left or new_left:
            return ()
        hunks.append(DiffHunk(start, tuple(body)))
    return tuple(hunks)


def read_structured_patch(value: JsonValue) -> tuple[DiffHunk, ...]:
    """Return the hunks of a patch as JSON (`newStart`, `lines`); none when it is damaged."""
    if not isinstance(value, list):
        return ()
    hunks: list[DiffHunk] = []
    for hunk in value:
        start = integer(hunk, "newStart") if isinstance(hunk, dict) else None
        if not isinstance(hunk, dict) or start is None:
            return ()
        lines = [line for line in texts(hunk, "lines") if not line.startswith("\\")]
        if any(line[:1] not in _TAGS or not line for line in lines):
            return ()
        hunks.append(
            DiffHunk(start, tuple((line[0], line[1:].removesuffix("\r")) for line in lines))
        )
    return tuple(hunks)


def read_patch(patch: str) -> tuple[FileEdit, ...]:
    """Return the edits of an `apply_patch` patch; paths are as the patch has them."""
    lines = patch.replace("\r\n", "\n").split("\n")
    starts = [number for number, line in enumerate(lines) if _FILE.match(line)]
    return tuple(
        edit
        for start, end in pairwise((*starts, len(lines)))
        for edit in _read_file(lines[start], lines[start + 1 : end])
    )


def _read_file(head: str, body: Sequence[str]) -> Iterator[FileEdit]:
    header = _FILE.match(head)
    if header is None:
        return
    kind, path = header[1], header[2].strip()
    if kind == "Delete":
        yield FileEdit(path, deletes=True)
    elif kind == "Add":
        added = [line[1:] for line in body if line.startswith("+")]
        content = "".join(f"{line}\n" for line in added)
        yield FileEdit(path, creates=True, after=content, may_overwrite=True)
    else:
        moved = next((line.removeprefix(_MOVE) for line in body if line.startswith(_MOVE)), None)
        yield FileEdit((moved or path).strip(), chunks=tuple(_read_chunks(body)))


def _read_chunks(body: Sequence[str]) -> Iterator[PatchChunk]:  # noqa: C901  # one case per line
    headers: list[str] = []
    lines: list[tuple[str, str]] = []
    at_end = False
    for line in body:
        if line.startswith("*** End Patch"):
            break
        if line.startswith("@@"):
            if lines:
                yield PatchChunk(tuple(headers), tuple(lines), at_end)
                headers, lines, at_end = [], [], False
            header = line[2:].strip("\n")
            if header.strip():
                headers.append(header.removeprefix(" "))
        elif line.strip() == _END_OF_FILE:
            at_end = True
        elif line[:1] in _TAGS and line:
            lines.append((line[0], line[1:]))
        elif line == "":
            lines.append((" ", ""))
    while lines and lines[-1] == (" ", ""):  # the empty line behind the patch
        lines.pop()
    if lines:
        yield PatchChunk(tuple(headers), tuple(lines), at_end)


def apply_chunks(before: str, chunks: Sequence[PatchChunk]) -> str | None:
    """Return a text with a patch applied; None when the patch does not fit."""
    lines = before.split("\n")
    places: list[tuple[int, PatchChunk]] = []
    cursor = 0
    for chunk in chunks:
        for header in chunk.headers:
            at = _find(lines, [header], cursor)
            if at is None:
                return None
            cursor = at + 1
        old = lines_before(chunk)
        place = _find_chunk(lines, old, cursor, chunk) if old else _last_line(lines)
        if place is None:
            return None
        places.append((place, chunk))
        cursor = place + len(old)
    for place, chunk in reversed(places):
        lines[place : place + len(lines_before(chunk))] = lines_after(chunk)
    after = "\n".join(lines)
    return after if after.endswith("\n") or not after else f"{after}\n"


def texts_before(after: str, chunks: Sequence[PatchChunk]) -> list[str]:
    """Return the possible texts before a patch, of a text that has it applied.

    Of several, only those are returned of which the patch makes this text.
    """
    lines = after.split("\n")
    sides = [lines_after(chunk) for chunk in chunks]
    if not all(sides):
        return []
    texts = [
        without_hunks(
            [DiffHunk(place + 1, chunk.lines) for place, chunk in zip(places, chunks, strict=True)],
            after,
        )
        for places in _combinations(lines, sides)
    ]
    return (
        texts if len(texts) < 2 else [text for text in texts if apply_chunks(text, chunks) == after]
    )


def places_of(lines: Sequence[str], block: Sequence[str]) -> list[int]:
    """Return where a block of lines occurs, the first 101 places; an empty one occurs nowhere."""
    places: list[int] = []
    text, part = ("\n".join(["", *parts, ""]) for parts in (lines, block))
    number = counted = 0
    at = text.find(part) if block else -1
    while at >= 0 and len(places) <= _MAX_PLACEMENTS:
        number += text.count("\n", counted, at)
        counted = at
        places.append(number)
        at = text.find(part, at + 1)
    return places


def _combinations(lines: Sequence[str], blocks: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Return the places of all blocks, in order and without overlaps; none when they are many."""
    combinations: list[tuple[int, ...]] = [()]
    for block in reversed(blocks):
        starts = places_of(lines, block)
        combinations = [
            (start, *rest)
            for start in starts
            for rest in combinations
            if not rest or start + len(block) <= rest[0]
        ]
        if len(combinations) > _MAX_PLACEMENTS:
            return []
    return sorted(combinations)


def without_hunks(hunks: Sequence[DiffHunk], text: str) -> str:
    """Return a text without the changes of hunks that fit it, in order."""
    lines = text.split("\n")
    for hunk in reversed(hunks):
        start = max(hunk.new_start - 1, 0)
        lines[start : start + len(lines_after(hunk))] = lines_before(hunk)
    return "\n".join(lines)


def _find(lines: Sequence[str], block: Sequence[str], start: int) -> int | None:
    places = range(start, len(lines) - len(block) + 1)
    return next(
        (place for place in places if list(lines[place : place + len(block)]) == list(block)), None
    )


def _find_chunk(
    lines: Sequence[str], old: Sequence[str], cursor: int, chunk: PatchChunk
) -> int | None:
    if chunk.at_end:
        place = _last_line(lines) - len(old)
        if place >= cursor and list(lines[place : place + len(old)]) == list(old):
            return place
    return _find(lines, old, cursor)


def _last_line(lines: Sequence[str]) -> int:
    """Return the number of lines without the empty one behind the last newline."""
    return len(lines) - 1 if lines and lines[-1] == "" else len(lines)
