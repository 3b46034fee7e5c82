"""Read the diffs in payloads: unified diffs, structured patches, `apply_patch`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from vibes_lsp.agents.events import DiffHunk, FileEdit, PatchChunk
from vibes_lsp.model.members import JsonValue, integer, texts

_HUNK: Final = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_MOVE: Final = "*** Move to: "
_END_OF_FILE: Final = "*** End of File"
_TAGS: Final = frozenset(" -+")


def read_unified_diff(diff: str) -> tuple[DiffHunk, ...]:
    """Return the hunks of a unified diff of one file; none when it is damaged."""
    hunks: list[DiffHunk] = []
    lines = diff.split("\n")
    number = 0
    while number < len(lines):
        found = _HUNK.match(lines[number])
        number += 1
        if found is None:
            continue
        old_left, new_left = (int(found[group] or 1) for group in (1, 3))
        start = int(found[2])
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
    for each in value:
        start = integer(each, "newStart") if isinstance(each, dict) else None
        if not isinstance(each, dict) or start is None:
            return ()
        lines = [line for line in texts(each, "lines") if not line.startswith("\\")]
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
    found = _FILE.match(head)
    if found is None:
        return
    kind, path = found[1], found[2].strip()
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
