"""Find the lines that an agent's edit wrote: only added and changed ones, and never a guess. Pure.

The methods in order: the payload's own diff; the text before and the replaced text; a unique match
of the new text in the file; the text before and after. An edit that none of them decides is
unresolved. Lines are compared as anchors see them (R14): a changed line end changes no line.

A unique match also has to be the only place where the tool could have replaced the old text. So a
file that does not have the edit yet, or has it no longer, does not give wrong lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

from vibes_lsp.agents.events import DiffHunk, FileEdit, lines_after, lines_before
from vibes_lsp.agents.line_ends import plain_edit, plain_text
from vibes_lsp.agents.patches import apply_chunks, find_chunk_placements, places_of
from vibes_lsp.anchors.align import align, came_from
from vibes_lsp.anchors.sliders import lone_runs
from vibes_lsp.anchors.text import BOM, Text
from vibes_lsp.model.vocabulary import Action

_EXACT_CELLS: Final = 250_000
"""Largest table of line pairs for an exact diff; larger blocks are aligned."""
_MAX_OCCURRENCES: Final = 50
"""Occurrences of the new text that are tried; each costs a copy of the file."""

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EditedRange:
    """Lines that an edit wrote, 1-based and inclusive, in the text after it.

    Attributes:
        start: First line.
        end: Last line.
        action: `create` when the lines were only added, else `modify`.
    """

    start: int
    end: int
    action: Action


@dataclass(frozen=True, slots=True)
class ResolvedEdit:
    """An edit whose lines are known.

    Attributes:
        after: The whole text after the edit.
        ranges: The lines that it wrote; none for an edit that only removed lines.
        method: How they were found.
        before: The whole text before, if known.
    """

    after: str
    ranges: tuple[EditedRange, ...]
    method: str
    before: str | None = None


def resolve_edits(edits: Sequence[FileEdit], saved: str | None) -> list[ResolvedEdit | None]:
    """Resolve the edits of one file, in order; None for those that are unresolved.

    The saved file may have later edits. So each edit is looked for in the text that is left when
    the later ones are undone.

    Args:
        edits: The edits.
        saved: The file as it is now; None if there is none.
    """
    resolved: list[ResolvedEdit | None] = [None] * len(edits)
    texts: list[str | None] = [None] * len(edits)
    current = saved
    for number in reversed(range(len(edits))):
        texts[number] = current
        edited = resolved[number] = resolve_edit(edits[number], current)
        before = edits[number].before if edited is None else edited.before
        if edits[number].creates:
            current = None
        elif before is not None:
            current = before
    for number, edit in enumerate(edits[1:], 1):
        earlier = resolved[number - 1]
        if resolved[number] is None and earlier is not None:
            resolved[number] = resolve_from_before(edit, earlier.after, texts[number])
    return resolved


def resolve_edit(edit: FileEdit, current: str | None) -> ResolvedEdit | None:
    """Return the lines of an edit; None when they are not certain.

    Args:
        edit: The edit.
        current: The file's text after it, which may have further changes; None if unknown.
    """
    if edit.changed_by_person or edit.deletes:
        return None
    edited = _resolve(plain_edit(edit), None if current is None else plain_text(current))
    if edited is None:
        return None
    return replace(
        edited,
        after=_with_line_ends(edited.after, current, edit.after),
        ranges=_ranges_as_in_git(edited),
    )


def _ranges_as_in_git(edited: ResolvedEdit) -> tuple[EditedRange, ...]:
    """Return the lines of an edit where git's diff has them.

    Lines that were added beside equal ones may as well stand some lines further up or down.
    """
    if edited.before is None or any(
        edited_range.action != Action.CREATE for edited_range in edited.ranges
    ):
        return edited.ranges
    lines = text_lines(edited.after)
    origins = came_from(text_lines(edited.before), lines)
    own = {
        line - 1
        for edited_range in edited.ranges
        for line in range(edited_range.start, edited_range.end + 1)
    }
    new = {number for number, origin in enumerate(origins) if origin < 0}
    if own == new or _without(lines, own) != _without(lines, new):
        return edited.ranges
    return tuple(EditedRange(start + 1, end, Action.CREATE) for start, end in lone_runs(origins))


def _without(lines: Sequence[str], numbers: AbstractSet[int]) -> list[str]:
    return [line for number, line in enumerate(lines) if number not in numbers]


def _with_line_ends(after: str, *texts: str | None) -> str:
    """Return a text with the line ends that the file or the payload has."""
    return next((text for text in texts if text is not None and plain_text(text) == after), after)


def _resolve(edit: FileEdit, current: str | None) -> ResolvedEdit | None:
    """Return the lines of an edit; all texts have LF alone."""
    if edit.creates and edit.after is not None:
        return ResolvedEdit(edit.after, _all_lines(edit.after), "new file", "")
    after, spans = _text_after(edit)
    edited = _by_own_diff(edit, after, current)
    if edited is not None:
        return edited
    if edit.before is not None and after is not None:
        ranges = changed_ranges(edit.before, after, spans)
        return ResolvedEdit(after, ranges, "original text", edit.before)
    if current is None:
        return None
    if edit.chunks:
        return _by_patch(edit, current)
    if edit.old is not None and edit.new is not None and not edit.replace_all:
        return _by_unique_match(edit.old, edit.new, current)
    return None


def why_unresolved(edit: FileEdit, current: str | None) -> str:
    """Return why the lines of an edit are not certain, for people.

    Args:
        edit: The edit.
        current: As for `resolve_edit`.
    """
    plain = plain_edit(edit)
    if edit.changed_by_person:
        return "a person changed what the agent proposed"
    if edit.before is None and (edit.replace_all or (edit.after is not None and edit.old is None)):
        return "the text before the edit is not known"
    if not (edit.hunks or edit.chunks or edit.after is not None or edit.new is not None):
        return "the event names no text"
    if current is None:
        return "there is no such text file"
    if plain.new is not None and plain.new not in plain_text(current):
        return "the file does not have the new text"
    return "the new text is not at one place that is certain"


def resolve_from_before(edit: FileEdit, before: str, after: str | None) -> ResolvedEdit | None:
    """Return the lines of an edit that makes one text of another; None when it does not.

    Args:
        edit: The edit.
        before: The text that may be the one before the edit.
        after: The text after it.
    """
    if after is None:
        return None
    saved, before, after = after, plain_text(before), plain_text(after)
    if edit.chunks:
        applied = apply_chunks(before, edit.chunks)
        if applied is None or applied[0] != after:
            return None
        return ResolvedEdit(saved, _ranges_of_hunks(applied[1]), "before and after", before)
    computed, spans = _text_after(replace(plain_edit(edit), before=before))
    if edit.old is None or computed is None or computed != after:
        return None
    return ResolvedEdit(saved, changed_ranges(before, after, spans), "before and after", before)


def changed_ranges(
    before: str, after: str, spans: Sequence[tuple[Span, Span]] | None = None
) -> tuple[EditedRange, ...]:
    """Return the lines of a text that another one does not have.

    Args:
        before: The text before.
        after: The text after.
        spans: Where characters were replaced: pairs of a span before and one after, in order; by
            default anywhere.
    """
    if spans is None:
        return _block_ranges(text_lines(before), text_lines(after), 0)
    ranges: list[EditedRange] = []
    offset = counted = 0
    for (start, end), (new_start, new_end) in _line_blocks(before, after, spans):
        offset += after.count("\n", counted, new_start)
        counted = new_start
        ranges += _block_ranges(
            text_lines(before[start:end]), text_lines(after[new_start:new_end]), offset
        )
    return tuple(ranges)


def _all_lines(content: str) -> tuple[EditedRange, ...]:
    lines = text_lines(content)
    return (EditedRange(1, len(lines), Action.CREATE),) if lines else ()


def _text_after(edit: FileEdit) -> tuple[str | None, list[tuple[Span, Span]] | None]:
    """Return the text after an edit and where characters were replaced, as far as known."""
    before, old, new = edit.before, edit.old, edit.new
    if before is None or old is None or new is None or old == "":
        return edit.after, None
    starts = list(occurrences(before, old))
    if not starts or (len(starts) > 1 and not edit.replace_all):
        return edit.after, None
    spans: list[tuple[Span, Span]] = []
    pieces: list[str] = []
    end = shift = 0
    for start in starts:
        pieces += before[end:start], new
        end = start + len(old)
        spans.append(((start, end), (start + shift, start + shift + len(new))))
        shift += len(new) - len(old)
    after = "".join([*pieces, before[end:]])
    if edit.after is not None and edit.after != after:
        return edit.after, None
    return after, spans


def occurrences(text: str, part: str) -> Iterator[int]:
    """Yield where a part occurs, without overlaps, as replacing finds it."""
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + len(part))


def _by_own_diff(edit: FileEdit, after: str | None, current: str | None) -> ResolvedEdit | None:
    """Return the lines that the payload's diff marks, if it fits the text."""
    if not edit.hunks:
        return None
    hunks: tuple[DiffHunk, ...] | None = edit.hunks
    text = current if after is None else after
    if text is None:
        return None
    if not _fits(edit.hunks, text):
        hunks = None if after is not None else _moved(edit.hunks, text)
    if hunks is None:
        return None
    before = edit.before if edit.before is not None else _undo(hunks, text)
    return ResolvedEdit(text, _ranges_of_hunks(hunks), "diff", before)


def _fits(hunks: Sequence[DiffHunk], text: str) -> bool:
    lines = text_lines(text)
    return all(hunk.new_start >= 1 or not lines_after(hunk) for hunk in hunks) and all(
        lines[hunk.new_start - 1 : hunk.new_start - 1 + len(new)] == new
        for hunk in hunks
        if (new := lines_after(hunk))
    )


def _moved(hunks: Sequence[DiffHunk], text: str) -> tuple[DiffHunk, ...] | None:
    """Return the hunks where the text has them now, if there is one place for each."""
    lines = text_lines(text)
    moved: list[DiffHunk] = []
    for hunk in hunks:
        starts = places_of(lines, lines_after(hunk))
        if len(starts) != 1:
            return None
        moved.append(DiffHunk(starts[0] + 1, hunk.lines))
    in_order = all(
        earlier.new_start + len(lines_after(earlier)) <= later.new_start
        for earlier, later in pairwise(moved)
    )
    return tuple(moved) if in_order else None


def _undo(hunks: Sequence[DiffHunk], text: str) -> str:
    """Return the text without the changes of hunks that fit it."""
    lines = text.split("\n")
    for hunk in reversed(hunks):
        start = max(hunk.new_start - 1, 0)
        old = lines_before(hunk)
        lines[start : start + len(lines_after(hunk))] = old
    return "\n".join(lines)


def _ranges_of_hunks(hunks: Sequence[DiffHunk]) -> tuple[EditedRange, ...]:
    return tuple(edited for hunk in hunks for edited in _ranges_of_hunk(hunk))


def _ranges_of_hunk(hunk: DiffHunk) -> Sequence[EditedRange]:
    """Return the lines that a hunk marks as added, without those that it also removes.

    A diff that tells line ends apart may replace more lines than were changed.
    """
    ranges: list[EditedRange] = []
    number = hunk.new_start - 1  # lines of the text that are before the run
    removed: list[str] = []
    added: list[str] = []
    for tag, line in (*hunk.lines, (" ", "")):
        if tag == "-":
            removed.append(line)
        elif tag == "+":
            added.append(line)
        else:
            ranges += _block_ranges(removed, added, number)
            number += len(added) + 1
            removed, added = [], []
    fewest = _block_ranges(lines_before(hunk), lines_after(hunk), hunk.new_start - 1)
    return fewest if _line_count(fewest) < _line_count(ranges) else ranges


def _line_count(ranges: Sequence[EditedRange]) -> int:
    return sum(edited.end - edited.start + 1 for edited in ranges)


def _by_patch(edit: FileEdit, current: str) -> ResolvedEdit | None:
    if edit.may_be_unsaved and apply_chunks(current, edit.chunks) is not None:
        return None
    placements: dict[tuple[EditedRange, ...], ResolvedEdit] = {}
    for hunks, before in find_chunk_placements(current, edit.chunks):
        ranges = _ranges_of_hunks(hunks)
        placements[ranges] = ResolvedEdit(current, ranges, "unique match", before)
    return next(iter(placements.values())) if len(placements) == 1 else None


def _by_unique_match(old: str, new: str, current: str) -> ResolvedEdit | None:
    """Return the lines of a replacement that the text shows at one place only.

    Agents replace a text only if it occurs once; a place where it would not have is ruled out.
    """
    if not new:
        return ResolvedEdit(current, (), "nothing added")
    starts: list[int] = []
    start = current.find(new)
    while start >= 0:
        starts.append(start)
        if len(starts) > _MAX_OCCURRENCES:
            return None
        start = current.find(new, start + 1)
    if old and new.endswith("\n") and not old.endswith("\n") and not current.endswith(new):
        return None  # did the old text end the file, or only a part of a line?
    candidates = [_replaced_at(start, old, new, current) for start in starts]
    if old:
        candidates = [
            candidate for candidate in candidates if _is_once(old, candidate.before or "")
        ]
    return candidates[0] if len(candidates) == 1 else None


def _is_once(part: str, text: str) -> bool:
    first = text.find(part)
    return first >= 0 and text.find(part, first + 1) < 0


def _replaced_at(start: int, old: str, new: str, current: str) -> ResolvedEdit:
    before = current[:start] + old + current[start + len(new) :]
    span = ((start, start + len(old)), (start, start + len(new)))
    return ResolvedEdit(current, changed_ranges(before, current, [span]), "unique match", before)


def _line_blocks(
    before: str, after: str, spans: Sequence[tuple[Span, Span]]
) -> list[tuple[Span, Span]]:
    """Return the spans extended to whole lines, those on common lines together."""
    blocks: list[tuple[Span, Span]] = []
    for (start, end), (new_start, new_end) in spans:
        first = before.rfind("\n", 0, start) + 1
        begin, new_begin = first, new_start - (start - first)
        rest = 0
        if not (_starts_line(before, end) and _starts_line(after, new_end)):
            newline = before.find("\n", end)
            rest = (len(before) if newline < 0 else newline + 1) - end
        block = ((begin, end + rest), (new_begin, new_end + rest))
        if blocks and begin < blocks[-1][0][1]:
            (begin, _), (new_begin, _) = blocks.pop()
            block = ((begin, block[0][1]), (new_begin, block[1][1]))
        blocks.append(block)
    return blocks


def _starts_line(text: str, position: int) -> bool:
    return position == 0 or text[position - 1] == "\n"


def _block_ranges(old: Sequence[str], new: Sequence[str], offset: int) -> tuple[EditedRange, ...]:
    """Return the lines of a block that are added or changed.

    Args:
        old: The block's lines before.
        new: Its lines after.
        offset: The number of lines before it in the text after.
    """
    pairs = [*common_lines(old, new), (len(old), len(new))]
    ranges: list[EditedRange] = []
    line = place = 0
    for next_line, next_place in pairs:
        if next_place > place:
            action = Action.MODIFY if next_line > line else Action.CREATE
            ranges.append(EditedRange(offset + place + 1, offset + next_place, action))
        line, place = next_line + 1, next_place + 1
    return tuple(ranges)


def common_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of equal lines of a longest common subsequence, ascending."""
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    most = min(len(old), len(new)) - first
    while last < most and old[-1 - last] == new[-1 - last]:
        last += 1
    ours, theirs = old[first : len(old) - last], new[first : len(new) - last]
    middle = (
        _longest_common(ours, theirs)
        if len(ours) * len(theirs) <= _EXACT_CELLS
        else [(line, place) for line, place in enumerate(align(ours, theirs)) if place >= 0]
    )
    return [
        *((number, number) for number in range(first)),
        *((first + line, first + place) for line, place in middle),
        *((len(old) - number, len(new) - number) for number in range(last, 0, -1)),
    ]


def _longest_common(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for line in reversed(range(len(old))):
        row, below = lengths[line], lengths[line + 1]
        for place in reversed(range(len(new))):
            row[place] = (
                below[place + 1] + 1
                if old[line] == new[place]
                else max(below[place], row[place + 1])
            )
    pairs: list[tuple[int, int]] = []
    line = place = 0
    while line < len(old) and place < len(new):
        if old[line] == new[place]:
            pairs.append((line, place))
            line, place = line + 1, place + 1
        elif lengths[line + 1][place] >= lengths[line][place + 1]:
            line += 1
        else:
            place += 1
    return pairs


def text_lines(content: str) -> list[str]:
    """Return the lines of a text as they are compared: without line ends and byte order mark."""
    return Text(content.removeprefix(BOM)).lines
