"""Find the lines of a text that an edit replaces, from what the agent says of the edit. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from vibes_lsp.agents.edited_lines import occurrences, text_lines
from vibes_lsp.agents.events import DiffHunk, FileEdit, lines_after, lines_before
from vibes_lsp.agents.patches import apply_chunks, places_of
from vibes_lsp.anchors.text import Text

Block: TypeAlias = tuple[int, int, Sequence[str]]
"""First line and end of a replaced stretch, 0-based, and the lines that replace it."""


def find_blocks(lines: Sequence[str], edit: FileEdit) -> tuple[list[Block], bool] | None:
    """Return the stretches of a text that an edit replaces, and whether there is no other place."""
    is_before = edit.before is not None or edit.creates
    after = None if edit.after is None else text_lines(edit.after)
    if not is_before and edit.hunks:
        placement = _place_hunks(lines, edit.hunks)
        if placement is not None:
            return placement
    if edit.old and edit.new is not None:
        replaced = _replace(lines, edit.old, edit.new, everywhere=edit.replace_all)
        if replaced is not None and (after is None or _apply(lines, replaced[0]) == after):
            return replaced
    if is_before and after is not None:
        return [(0, len(lines), after)], True
    if edit.chunks:
        return _place_chunks(lines, edit)
    if is_before and edit.hunks:
        return _place_hunks(lines, edit.hunks)
    return None


def _apply(lines: Sequence[str], blocks: Sequence[Block]) -> list[str]:
    applied: list[str] = []
    done = 0
    for start, end, new in blocks:
        applied += [*lines[done:start], *new]
        done = end
    return [*applied, *lines[done:]]


def _replace(
    lines: Sequence[str], old: str, new: str, *, everywhere: bool
) -> tuple[list[Block], bool] | None:
    """Return the lines that replacing a text changes; None unless it occurs once or everywhere.

    A text that begins within a line might have begun another line.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    text = "".join(f"{line}\n" for line in lines)
    starts = deque(occurrences(text, old))
    if not starts or (len(starts) > 1 and not everywhere):
        return None
    if old[0] in " \t" and any(_is_in_indentation(text, start) for start in starts):
        return None  # the line was indented otherwise
    blocks: list[Block] = []
    is_whole = all(start == 0 or text[start - 1] == "\n" for start in starts)
    position = number = 0
    while starts:
        first = text.rfind("\n", 0, starts[0]) + 1
        number += text.count("\n", position, first)
        pieces, end = [text[first : starts[0]]], starts.popleft() + len(old)
        pieces.append(new)
        while (stop := _line_end(text, end)) and starts and starts[0] < stop:
            pieces += text[end : starts[0]], new
            end = starts.popleft() + len(old)
        pieces.append(text[end:stop])
        count = text.count("\n", first, stop)
        blocks.append((number, number + count, Text("".join(pieces)).lines))
        position, number = stop, number + count
    return blocks, is_whole


def _is_in_indentation(text: str, position: int) -> bool:
    before = text[text.rfind("\n", 0, position) + 1 : position]
    return before != "" and before.isspace()


def _line_end(text: str, position: int) -> int:
    """Return the end of the line that a replaced text ends in; a whole line ends itself."""
    if position == 0 or text[position - 1] == "\n":
        return position
    newline = text.find("\n", position)
    return len(text) if newline < 0 else newline + 1


def _place_hunks(
    lines: Sequence[str], hunks: Sequence[DiffHunk]
) -> tuple[list[Block], bool] | None:
    """Return the lines that a diff replaces: where it says, else where they occur once."""
    sides = [(lines_before(hunk), lines_after(hunk)) for hunk in hunks]
    starts: list[int] = []
    shift = 0
    for hunk, (old, new) in zip(hunks, sides, strict=True):
        start = hunk.new_start - 1 - shift + (not new)
        if start < 0 or list(lines[start : start + len(old)]) != old:
            break
        starts.append(start)
        shift += len(new) - len(old)
    places = [places_of(lines, old) for old, _ in sides]
    is_once = all(len(side_starts) == 1 for side_starts in places)
    if len(starts) < len(hunks):
        if not is_once:
            return None
        starts = [side_starts[0] for side_starts in places]
        ends = [start + len(old) for start, (old, _) in zip(starts, sides, strict=True)]
        if any(end > start for end, start in zip(ends, starts[1:], strict=False)):
            return None
    blocks = [
        block for start, hunk in zip(starts, hunks, strict=True) for block in _changes(start, hunk)
    ]
    return blocks, is_once


def _changes(start: int, hunk: DiffHunk) -> Iterator[Block]:
    """Yield the stretches that a hunk changes, given its first line in the text before."""
    removed = 0
    added: list[str] = []
    for tag, line in (*hunk.lines, (" ", "")):
        if tag == "-":
            removed += 1
        elif tag == "+":
            added.append(line)
        else:
            if removed or added:
                yield start, start + removed, added
            start += removed + 1
            removed, added = 0, []


def _place_chunks(lines: Sequence[str], edit: FileEdit) -> tuple[list[Block], bool] | None:
    """Return the lines that a patch without line numbers replaces, found as `apply_patch` does."""
    applied = apply_chunks("".join(f"{line}\n" for line in lines), edit.chunks)
    if applied is None:
        return None
    blocks: list[Block] = []
    is_once = True
    shift = 0
    for hunk in applied[1]:
        old, new = lines_before(hunk), lines_after(hunk)
        blocks += _changes(hunk.new_start - 1 - shift, hunk)
        is_once = is_once and len(places_of(lines, old)) == 1
        shift += len(new) - len(old)
    return blocks, is_once
