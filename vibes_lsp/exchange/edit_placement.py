"""Make an edit on a text, from what the agent says of the edit. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vibes_lsp.agents.edited_lines import text_lines
from vibes_lsp.agents.events import DiffHunk, FileEdit, lines_after, lines_before
from vibes_lsp.agents.patches import apply_chunks, places_of


def lines_with_edit(lines: Sequence[str], edit: FileEdit) -> tuple[list[str], bool] | None:
    """Return a text with an edit, and whether there is no other place for it.

    None for an edit that does not fit the text, or that does not say enough.
    """
    is_before = edit.before is not None or edit.creates
    after = None if edit.after is None else text_lines(edit.after)
    if not is_before and edit.hunks:
        placed = _with_hunks(lines, edit.hunks)
        if placed is not None:
            return placed
    if edit.old and edit.new is not None:
        replaced = _with_replacement(lines, edit.old, edit.new, everywhere=edit.replace_all)
        if replaced is not None and after in (None, replaced[0]):
            return replaced
    if is_before and after is not None:
        return after, True
    if edit.chunks:
        return _with_patch(lines, edit)
    if is_before and edit.hunks:
        return _with_hunks(lines, edit.hunks)
    return None


def _with_replacement(
    lines: Sequence[str], old: str, new: str, *, everywhere: bool
) -> tuple[list[str], bool] | None:
    """Return a text with a part replaced; None if it occurs more often, unless everywhere.

    A part that begins within a line might have begun another line.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    text = _text_of(lines)
    parts = text.split(old)[:-1]
    if not parts or (len(parts) > 1 and not everywhere):
        return None
    begun = [before.rpartition("\n")[2] for before in parts]
    if old[0] in " \t" and any(beginning.isspace() for beginning in begun):
        return None  # the line was indented otherwise
    return text_lines(text.replace(old, new)), not any(begun)


def _text_of(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _with_hunks(lines: Sequence[str], hunks: Sequence[DiffHunk]) -> tuple[list[str], bool] | None:
    """Return a text with a diff applied: where it says, else where its lines occur once."""
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
    spans = [(start, start + len(old)) for start, (old, _) in zip(starts, sides, strict=True)]
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        return None
    after: list[str] = []
    done = 0
    for (start, end), (_, new) in zip(spans, sides, strict=True):
        after += [*lines[done:start], *new]
        done = end
    return [*after, *lines[done:]], is_once


def _with_patch(lines: Sequence[str], edit: FileEdit) -> tuple[list[str], bool] | None:
    """Return a text with a patch without line numbers, placed as `apply_patch` does."""
    applied = apply_chunks(_text_of(lines), edit.chunks)
    if applied is None:
        return None
    is_once = all(len(places_of(lines, lines_before(chunk))) == 1 for chunk in edit.chunks)
    return text_lines(applied), is_once
