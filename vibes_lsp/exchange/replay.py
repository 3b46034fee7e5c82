"""Replay the edits of a file over its text, to find which edit wrote which lines. Pure.

Agents say what they replaced, not what else happened to the file. So the text between two edits
may have changed unnoticed: a person edited it, a formatter ran, another branch was checked out.
Where a text is not what the edits make of the earlier one, only lines that are certainly the same
keep their writer, see `OwnedText.changed_to`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from vibes_lsp.agents.edited_lines import text_lines
from vibes_lsp.agents.events import DiffHunk, FileEdit, PatchChunk
from vibes_lsp.anchors.align import align, ascending
from vibes_lsp.anchors.line_hashes import (
    MIN_DISTINCTIVE,
    count_distinctive,
    is_distinctive,
)
from vibes_lsp.exchange.edit_placement import lines_with_edit
from vibes_lsp.model.vocabulary import Action

_LAYOUT: Final = re.compile(r"[\s,;]+")
"""What a formatter adds and removes; it also changes the kind of quotes."""
_CONTEXT: Final = 100
"""Unchanged lines around an edit that are compared with its own."""
_MIN_ANCHORS: Final = 2
"""Unique lines, or the begin or end, that a changed text must share with the earlier one."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote a line.

    Attributes:
        edit: The edit, by its number.
        action: `create` where it only added lines, else `modify`.
    """

    edit: int
    action: Action


Owner: TypeAlias = Writer | None


@dataclass(frozen=True, slots=True)
class OwnedText:
    """The lines of a text with their writers.

    Attributes:
        lines: The lines.
        owners: The writer of each; None for lines that are not known to be an edit's.
    """

    lines: Sequence[str] = ()
    owners: Sequence[Owner] = ()

    def changed_to(self, lines: Sequence[str]) -> OwnedText:
        """Return a later text with the writers of the lines that are certainly the same.

        These are lines that both texts have once, in the same order, and the lines between two of
        them if only their layout changed. One such line alone in a changed place proves nothing.
        """
        if self.lines == lines:
            return OwnedText(lines, self.owners)
        owners: list[Owner] = [None] * len(lines)
        old, new = [_key(line) for line in self.lines], [_key(line) for line in lines]
        for first, last, start, end in _common_stretches(old, new):
            _carry(old[first:last], self.owners[first:last], new[start:end], owners, start)
        return OwnedText(lines, owners)

    def edited_to(self, lines: Sequence[str], edit: int) -> OwnedText:
        """Return the text that an edit made of this one."""
        old, owners = self.lines, self.owners
        begin = max(0, _shared(old, lines) - _CONTEXT)
        rest = min(len(old), len(lines)) - begin
        end = max(0, min(rest, _shared(old[::-1], lines[::-1])) - _CONTEXT)
        last, last_after = len(old) - end, len(lines) - end
        changed = _owners_after(old[begin:last], owners[begin:last], lines[begin:last_after], edit)
        return OwnedText(lines, [*owners[:begin], *changed, *owners[last:]])


@dataclass(frozen=True, slots=True)
class Attribution:
    """The writers of the lines of a version.

    Attributes:
        owners: For each line the edit that wrote it, as far as that is certain.
        is_exact: Whether the edits make this version of the one before it.
        lost: The edits whose lines later ones replaced.
        empty: The edits that only removed lines.
        unplaced: The edits that do not fit the text.
        repeated: The edits that may have written the same lines: some made this version, it was
            undone, and the others made it again.
    """

    owners: Sequence[Owner]
    is_exact: bool
    lost: frozenset[int]
    empty: frozenset[int]
    unplaced: frozenset[int]
    repeated: frozenset[int] = frozenset()

    @property
    def claimed(self) -> int:
        """The number of lines with a writer."""
        return sum(owner is not None for owner in self.owners)


def attribute_lines(
    bases: Sequence[Sequence[str]],
    version: Sequence[str],
    edits: Sequence[FileEdit],
    likely: Collection[int] = (),
) -> Attribution:
    """Find which edits wrote lines of a version that its predecessors do not have.

    Args:
        bases: The versions that it follows, the first one first; none for a new file.
        version: The version.
        edits: The edits that may be in it, in the order of time.
        likely: How many of these edits it may have; by default all. If the edits make the version
            exactly, that number counts instead.
    """
    replay = _Replay(bases[0] if bases else (), version, edits, likely)
    count, chosen = replay.best()
    owners = [
        None if owner is None or replay.is_doubtful(owner, line) else owner
        for line, owner in zip(version, chosen.owners, strict=True)
    ]
    for base in bases:
        _drop_older(base, version, owners)
    if not replay.is_exact:
        _trim_blank_lines(version, owners)
    present = {owner.edit for owner in replay.texts[count].owners if owner is not None}
    return Attribution(
        owners,
        replay.is_exact,
        frozenset(range(count)) - present - set(replay.unplaced) - replay.empty,
        frozenset(replay.empty),
        frozenset(number for number in replay.unplaced if number < count),
        replay.repeated(owners),
    )


class _Replay:
    """The texts that edits make of a text, one after the other.

    Attributes:
        texts: The text after some edits, by their number: where it is the version, else where it
            may be.
        is_exact: Whether one is the version.
        unplaced: The lines that edits may have written which do not fit the text before them.
        empty: The edits that only removed lines.
    """

    def __init__(
        self,
        base: Sequence[str],
        version: Sequence[str],
        edits: Sequence[FileEdit],
        likely: Collection[int],
    ) -> None:
        self.unplaced: dict[int, frozenset[str]] = {}
        self.empty: set[int] = set()
        self._version = version
        self._most = max(likely, default=len(edits))
        self._unsure: set[int] = set()
        exact: dict[int, OwnedText] = {}
        probable: dict[int, OwnedText] = {}
        state = OwnedText(base, [None] * len(base))
        for number, edit in enumerate(edits):
            state = self._apply(state, edit, number)
            if state.lines == version:
                exact[number + 1] = state
            if number + 1 in likely or number + 1 == len(edits):
                probable[number + 1] = state
        if not exact.keys() & probable.keys() and count_distinctive(version) < MIN_DISTINCTIVE:
            exact = {}  # later edits were undone, or a person typed a few common lines
        self.is_exact = bool(exact)
        self.texts = exact or probable
        self._ambiguous = frozenset[str]().union(*self.unplaced.values())

    def _apply(self, state: OwnedText, edit: FileEdit, number: int) -> OwnedText:
        applied = _with_edit(state, edit, number)
        if applied is None:
            state, self.unplaced[number] = _skip(state, edit)
            return state
        if not applied[1]:
            self._unsure.add(number)
        if not any(owner is not None and owner.edit == number for owner in applied[0].owners):
            self.empty.add(number)
        return applied[0]

    def best(self) -> tuple[int, OwnedText]:
        """Return the number of edits that the version has, and its lines with their writers."""
        if self.is_exact:
            before = [count for count in self.texts if count <= self._most]
            count = before[-1] if before else min(self.texts)
            return count, self.texts[count]
        carried = {count: text.changed_to(self._version) for count, text in self.texts.items()}
        count = max(carried, key=lambda candidate: (_claims(carried[candidate]), -candidate))
        return count, carried[count]

    def repeated(self, owners: Sequence[Owner]) -> frozenset[int]:
        """Return the edits that wrote these lines at different times when this was the version."""
        if not self.is_exact:
            return frozenset()
        repeated: set[int] = set()
        for line, owner in enumerate(owners):
            if owner is not None:
                writers = (_edit(text.owners[line]) for text in self.texts.values())
                edits = {edit for edit in writers if edit is not None}
                repeated |= edits if len(edits) > 1 else set()
        return frozenset(repeated)

    def is_doubtful(self, owner: Writer, line: str) -> bool:
        """Return whether an edit may not have written a line that the replay gives it."""
        is_unsure = not self.is_exact and owner.edit in self._unsure
        return is_unsure or line.strip() in self._ambiguous


def _with_edit(state: OwnedText, edit: FileEdit, number: int) -> tuple[OwnedText, bool] | None:
    """Return the text after an edit, and whether there was one place only for it.

    Returns:
        None for an edit that does not fit the text, or that does not say enough.
    """
    if edit.changed_by_person:
        return None
    if edit.deletes:
        return OwnedText(), True
    if edit.before is not None:
        state = state.changed_to(text_lines(edit.before))
    elif edit.creates:
        state = OwnedText()
    edited = lines_with_edit(state.lines, edit)
    return None if edited is None else (state.edited_to(edited[0], number), edited[1])


def _claims(text: OwnedText) -> int:
    return sum(owner is not None for owner in text.owners)


def _skip(state: OwnedText, edit: FileEdit) -> tuple[OwnedText, frozenset[str]]:
    """Return the text after an edit whose lines are unknown, and the lines it may have written."""
    if edit.after is not None and not edit.changed_by_person:
        after = state.changed_to(text_lines(edit.after))
        known = zip(after.lines, after.owners, strict=True)
        return after, frozenset(line.strip() for line, owner in known if owner is None)
    parts: list[DiffHunk | PatchChunk] = [*edit.hunks, *edit.chunks]
    added = [line for part in parts for tag, line in part.lines if tag == "+"]
    return state, frozenset(line.strip() for line in (*added, *text_lines(edit.new or "")))


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines two texts have in common at their beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def _owners_after(
    old: Sequence[str], owners: Sequence[Owner], new: Sequence[str], edit: int
) -> list[Owner]:
    """Return the writers of a text that an edit made: lines that it had before keep theirs.

    A line that could be either, such as one of two equal lines next to each other, has none.
    """
    later = _pairs(align(old, new))
    turned = _pairs(align(old[::-1], new[::-1]))
    earlier = [(len(old) - 1 - line, len(new) - 1 - place) for line, place in reversed(turned)]
    sizes = len(old), len(new)
    owners_after = _written(later, owners, sizes, edit)
    for place, earlier_owner in enumerate(_written(earlier, owners, sizes, edit)):
        if _edit(owners_after[place]) != _edit(earlier_owner):
            owners_after[place] = None
    for place in _movable_lines(later, new):
        owners_after[place] = None
    return owners_after


def _pairs(places: Sequence[int]) -> list[tuple[int, int]]:
    return [(line, place) for line, place in enumerate(places) if place >= 0]


def _movable_lines(pairs: Sequence[tuple[int, int]], new: Sequence[str]) -> Iterator[int]:
    """Yield the lines around new ones that may be new in place of equal ones."""
    for (_, before), (_, after) in pairwise([(-1, -1), *pairs, (-1, len(new))]):
        start, end = before + 1, after
        while 0 < start < end and new[start - 1] == new[end - 1]:
            yield from (start - 1, end - 1)
            start, end = start - 1, end - 1
        start, end = before + 1, after
        while start < end < len(new) and new[start] == new[end]:
            yield from (start, end)
            start, end = start + 1, end + 1


def _written(
    pairs: Sequence[tuple[int, int]], owners: Sequence[Owner], sizes: tuple[int, int], edit: int
) -> list[Owner]:
    """Return the writers of the lines of a text, given those that were kept."""
    written: list[Owner] = []
    line = 0
    for next_line, place in (*pairs, sizes):
        action = Action.MODIFY if next_line > line else Action.CREATE
        written += [Writer(edit, action)] * (place - len(written))
        if place < sizes[1]:
            written.append(owners[next_line])
        line = next_line + 1
    return written


def _key(line: str) -> str:
    """Return a line without its layout."""
    return _LAYOUT.sub("", line).replace("'", '"')


def _common_stretches(
    old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the stretches of two texts that differ in layout only: starts and ends of both."""
    ours, theirs = _once(old), _once(new)
    pairs = ascending((line, theirs[key]) for key, line in ours.items() if key in theirs)
    run: list[tuple[int, int]] = []
    for here, there in pairwise([(-1, -1), *pairs, (len(old), len(new))]):
        if not run:
            run = [here]
        if _joined(old, here[0] + 1, there[0]) == _joined(new, here[1] + 1, there[1]):
            run.append(there)
            if there[0] < len(old):
                continue
        if len(run) >= _MIN_ANCHORS:
            yield max(run[0][0], 0), run[-1][0] + 1, max(run[0][1], 0), run[-1][1] + 1
        run = [there]


def _once(keys: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the keys that occur once; short ones may recur anywhere."""
    numbers: dict[str, int] = {}
    repeated: set[str] = set()
    for number, key in enumerate(keys):
        if key in numbers:
            repeated.add(key)
        numbers[key] = number
    return {
        key: number
        for key, number in numbers.items()
        if key not in repeated and is_distinctive(key)
    }


def _joined(keys: Sequence[str], start: int, end: int) -> str:
    return "".join(keys[start:end])


def _carry(
    old: Sequence[str],
    owners: Sequence[Owner],
    new: Sequence[str],
    new_owners: list[Owner],
    start: int,
) -> None:
    """Set the writers of a stretch that differs in layout only, by its characters.

    Args:
        old: The keys of the lines before.
        owners: Their writers.
        new: The keys of the lines after.
        new_owners: The writers of all lines after, which are set.
        start: The first of these.
    """
    characters: list[Owner] = []
    blank: dict[int, list[Owner]] = {}
    for key, owner in zip(old, owners, strict=True):
        if key:
            characters += [owner] * len(key)
        else:
            blank.setdefault(len(characters), []).append(owner)
    later: dict[int, list[int]] = {}
    position = 0
    for number, key in enumerate(new, start):
        if key:
            new_owners[number] = _only(characters[position : position + len(key)])
            position += len(key)
        else:
            later.setdefault(position, []).append(number)
    for position, numbers in later.items():
        if len(blank.get(position, ())) == len(numbers):
            for number, owner in zip(numbers, blank[position], strict=True):
                new_owners[number] = owner


def _only(owners: Sequence[Owner]) -> Owner:
    """Return the writer of a line whose characters have these writers; None if one is unknown."""
    first = owners[0]
    if first is None or any(owner is None or owner.edit != first.edit for owner in owners):
        return None
    is_mixed = any(owner is not None and owner.action != first.action for owner in owners)
    return Writer(first.edit, Action.MODIFY) if is_mixed else first


def _drop_older(base: Sequence[str], version: Sequence[str], owners: list[Owner]) -> None:
    """Take the writers of lines away that an earlier version has as well."""
    for place in align(base, version):
        if place >= 0:
            owners[place] = None


def _trim_blank_lines(version: Sequence[str], owners: list[Owner]) -> None:
    """Take the writers of blank lines away that begin or end what an edit wrote."""
    for start, end in list(_runs(owners)):
        written = [at for at in range(start, end) if version[at].strip()]
        for at in range(start, end):
            if not written or not written[0] <= at <= written[-1]:
                owners[at] = None


def _runs(owners: Sequence[Owner]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of lines that one edit wrote."""
    start = 0
    for place in range(1, len(owners) + 1):
        ended = place == len(owners) or _edit(owners[place]) != _edit(owners[start])
        if ended:
            if owners[start] is not None:
                yield start, place
            start = place


def _edit(owner: Owner) -> int | None:
    return None if owner is None else owner.edit
