"""Find the lines that an agent's edit wrote: only added and changed ones, and never a guess. Pure.

The text before and after decide. Where the payload does not have both, its own diff, its patch or
its new text is looked for in the file: at one place only, it gives the text before. An edit that
none of them decides is unresolved. Lines are compared as anchors see them (R14): a changed line end
changes no line.

A unique match also has to be the only place where the tool could have replaced the old text. So a
file that does not have the edit yet, or has it no longer, does not give wrong lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from vibes_lsp.agents.events import DiffHunk, FileEdit, lines_after
from vibes_lsp.agents.line_ends import plain_edit, plain_text
from vibes_lsp.agents.patches import apply_chunks, places_of, texts_before, without_hunks
from vibes_lsp.anchors.align import align
from vibes_lsp.anchors.sliders import lone_runs, settle_blocks
from vibes_lsp.anchors.text import BOM, Text
from vibes_lsp.model.vocabulary import Action

_MAX_OCCURRENCES: Final = 50
"""Occurrences of the new text that are tried; each costs a copy of the file."""


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
    current = saved
    for number in reversed(range(len(edits))):
        edited = resolved[number] = resolve_edit(edits[number], current)
        before = edits[number].before if edited is None else edited.before
        if edits[number].creates:
            current = None
        elif before is not None:
            current = before
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
    return replace(edited, after=_with_line_ends(edited.after, current, edit.after))


def _with_line_ends(after: str, *texts: str | None) -> str:
    """Return a text with the line ends that the file or the payload has."""
    return next((text for text in texts if text is not None and plain_text(text) == after), after)


def _resolve(edit: FileEdit, current: str | None) -> ResolvedEdit | None:
    """Return the lines of an edit; all texts have LF alone."""
    if edit.creates and edit.after is not None:
        return ResolvedEdit(edit.after, _all_lines(edit.after), "new file", "")
    after = _text_after(edit)
    if edit.before is not None and after is not None:
        ranges = changed_ranges(edit.before, after)
        return ResolvedEdit(after, ranges, "original text", edit.before)
    edited = _by_own_diff(edit.hunks, after, current) if edit.hunks else None
    if edited is not None:
        return edited
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


def changed_ranges(before: str, after: str) -> tuple[EditedRange, ...]:
    """Return the lines of a text that another one does not have, where git's diff has them."""
    old, new = text_lines(before), text_lines(after)
    places, origins = align(old, new), [-1] * len(new)
    settle_blocks(old, places, len(new))
    for line, place in enumerate(places):
        if place >= 0:
            origins[place] = line
    settle_blocks(new, origins, len(old))
    ends = [*origins, len(old)]
    ranges = []
    for start, end in lone_runs(origins):
        is_added = ends[end] == (ends[start - 1] + 1 if start else 0)
        ranges.append(EditedRange(start + 1, end, Action.CREATE if is_added else Action.MODIFY))
    return tuple(ranges)


def _all_lines(content: str) -> tuple[EditedRange, ...]:
    lines = text_lines(content)
    return (EditedRange(1, len(lines), Action.CREATE),) if lines else ()


def _text_after(edit: FileEdit) -> str | None:
    """Return the text after an edit, as far as known."""
    before, old, new = edit.before, edit.old, edit.new
    if before is None or not old or new is None or edit.after is not None:
        return edit.after
    count = before.count(old)
    if not count or (count > 1 and not edit.replace_all):
        return None
    return before.replace(old, new)


def _by_own_diff(
    hunks: Sequence[DiffHunk], after: str | None, current: str | None
) -> ResolvedEdit | None:
    """Return the lines that the payload's diff marks, if it fits the text."""
    text = current if after is None else after
    if text is None:
        return None
    fitting = hunks if _fits(hunks, text) else None if after is not None else _moved(hunks, text)
    if fitting is None:
        return None
    before = without_hunks(fitting, text)
    return ResolvedEdit(text, changed_ranges(before, text), "diff", before)


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


def _by_patch(edit: FileEdit, current: str) -> ResolvedEdit | None:
    if edit.may_be_unsaved and apply_chunks(current, edit.chunks) is not None:
        return None
    edited = {
        ranges: ResolvedEdit(current, ranges, "unique match", before)
        for before in texts_before(current, edit.chunks)
        for ranges in [changed_ranges(before, current)]
    }
    return next(iter(edited.values())) if len(edited) == 1 else None


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
    former_texts = [current[:start] + old + current[start + len(new) :] for start in starts]
    if old:
        former_texts = [before for before in former_texts if _is_once(old, before)]
    if len(former_texts) != 1:
        return None
    ranges = changed_ranges(former_texts[0], current)
    return ResolvedEdit(current, ranges, "unique match", former_texts[0])


def _is_once(part: str, text: str) -> bool:
    first = text.find(part)
    return first >= 0 and text.find(part, first + 1) < 0


def text_lines(content: str) -> list[str]:
    """Return the lines of a text as they are compared: without line ends and byte order mark."""
    return Text(content.removeprefix(BOM)).lines
