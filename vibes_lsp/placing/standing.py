"""Which lines of a text are a waiting edit's, and whether that is sure (R32).

A block is recognised while at least half of its distinctive lines still stand. Then each of its
lines that stands is the edit's. A complete block between its neighbours is recognised too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.line_hashes import distinctive_numbers, is_long
from vibes_lsp.anchors.reformatting import reformatted
from vibes_lsp.anchors.text import Text
from vibes_lsp.placing.edits import EditLine, LoggedLines, RecordedEdit, Snapshots
from vibes_lsp.placing.hash_placement import HashedText, consecutive, place_hashes
from vibes_lsp.placing.replay import ReplayedText, replay

_MIN_CLAIMED: Final = 2
"""Distinctive lines of a block that must stand for the others to be claimed."""
_NONE: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class CandidateEdits:
    """The waiting edits that lines of a file may be of.

    Attributes:
        own: Those of the file, in the order of receipt.
        moved: Those of other files that have lost them.
        foreign: Those of the file in other work trees; taken only where they are complete.
        snapshots: The texts right after them.
        logged: Their lines that the log has already.
        state: The last text of the file with its owners, if it is known; else it is computed.
    """

    own: Sequence[RecordedEdit]
    moved: Sequence[RecordedEdit] = ()
    foreign: Sequence[RecordedEdit] = ()
    snapshots: Snapshots = field(default=lambda _: None, compare=False)
    logged: LoggedLines = field(default_factory=dict)
    state: ReplayedText | None = None

    @property
    def writers(self) -> Sequence[RecordedEdit]:
        """Those of the file that wrote lines, in the order of receipt."""
        return [edit for edit in self.own if edit.writes_lines]

    def __bool__(self) -> bool:
        return bool(self.moved or self.foreign or self.writers)


class StandingLine(NamedTuple):
    """A line of a text that is a waiting edit's.

    Attributes:
        edit: The edit.
        number: Which of its lines it is.
        is_sure: Whether enough of the edit stands to recognise it.
    """

    edit: RecordedEdit
    number: int
    is_sure: bool


def has_left(edit: RecordedEdit, snapshot: Text | None, texts: Iterable[HashedText]) -> bool:
    """Whether no state of a file has a distinctive line of an edit: it may have moved to another.

    Args:
        edit: The edit.
        snapshot: The text right after it, by which a line counts that stood there once; what stood
            beside the edit, too, proves nothing.
        texts: The states of its file: staged, on disk.
    """
    if snapshot is None:
        wanted = set(edit.hashes)
        return not any(
            text.hashes[number] in wanted for text in texts for number in text.distinctive
        )
    places = distinctive_numbers(snapshot.lines)
    wanted = {edit.hashes[n - edit.first] for n in places if edit.first <= n < edit.end}
    # A line that a person copied within the file stands there twice.
    return bool(wanted) and all(wanted.isdisjoint(text.hashes) for text in texts)


def standing_lines(
    waiting: CandidateEdits,
    text: HashedText,
    candidates: AbstractSet[int],
    whole: HashedText | None = None,
) -> dict[int, StandingLine]:
    """Return which of the candidates are a waiting edit's that the log does not have yet.

    Args:
        waiting: The edits.
        text: The text as it is, staged or on screen.
        candidates: The numbers of the lines that are new: git does not say whose they are.
        whole: The text on disk if only a part of it is staged: it recognises an edit as well.
    """
    if not candidates or not waiting:
        return {}
    own = waiting.writers
    state = waiting.state if waiting.state is not None else replay(own, waiting.snapshots)
    owners = _carried(state, text)
    _search([*own, *waiting.moved], text, owners, candidates, only_whole=False)
    _search(waiting.foreign, text, owners, candidates, only_whole=True)
    recognised = _recognised(waiting, whole) if whole is not None else set[str]()
    edits = {edit.id: edit for edit in (*waiting.foreign, *waiting.moved, *own)}
    numbers: dict[str, dict[int, int]] = {}
    for place, owner in enumerate(owners):
        if owner is not None and owner.edit in edits:
            numbers.setdefault(owner.edit, {})[place] = owner.number
    distinctive = text.distinctive if state.lines is text.lines else state.distinctive
    standing: dict[int, StandingLine] = {}
    for name, lines in numbers.items():
        new = sorted(candidates & lines.keys())
        if not new:
            continue
        edit = edits[name]
        snapshot = waiting.snapshots(edit.content)
        known = _known(edit, lines, _reference(edit, state, distinctive, snapshot))
        is_sure = (
            name in recognised
            or _is_recognised(known, text)
            or _is_whole(edit, lines, text, snapshot)
        )
        unwritten = _unwritten(
            edit, (lines[place] for place in new), waiting.logged.get(name, _NONE)
        )
        for place in new if is_sure else _claimed(known, new):
            if lines[place] in unwritten:
                standing[place] = StandingLine(edit, lines[place], is_sure)
    return standing


def _recognised(waiting: CandidateEdits, text: HashedText) -> set[str]:
    """Return the ids of the edits that are recognised in a text."""
    standing = standing_lines(waiting, text, set(range(len(text.lines))))
    return {line.edit.id for line in standing.values() if line.is_sure}


def _carried(state: ReplayedText, text: HashedText) -> list[EditLine | None]:
    """Return whose each line is, from the last text that is known; formatted lines included."""
    origins = came_from(state.lines, text.lines)
    kept = set(origins)
    if any(owner and number not in kept for number, owner in enumerate(state.owners)):
        origins = reformatted(state.lines, text.lines, origins)
    return [state.owners[origin] if origin >= 0 else None for origin in origins]


def _search(
    edits: Sequence[RecordedEdit],
    text: HashedText,
    owners: list[EditLine | None],
    candidates: AbstractSet[int],
    *,
    only_whole: bool,
) -> None:
    """Find edits that no text on the way here has, latest first, among lines without an owner.

    So is found what was stashed or switched away in between.
    """
    standing = {owner.edit for owner in owners if owner is not None}
    edits = [edit for edit in reversed(edits) if edit.id not in standing]
    if not edits:
        return
    free = {number for number, owner in enumerate(owners) if owner is None}
    hashes = {text.hashes[number] for number in free}
    long = {text.hashes[number] for number in free & candidates if is_long(text.lines[number])}
    for edit in edits:
        wanted = set(edit.hashes)
        if not (wanted & long or wanted <= hashes):
            continue
        placed = place_hashes(edit.hashes, text, free)
        if placed.is_ambiguous or (only_whole and not placed.is_whole):
            continue
        for place, number in placed.lines.items():
            owners[place] = EditLine(edit.id, number)
        free -= placed.lines.keys()


def _reference(
    edit: RecordedEdit, state: ReplayedText, distinctive: AbstractSet[int], snapshot: Text | None
) -> AbstractSet[int] | None:
    """Return which lines of an edit were distinctive when last seen; None if that is not known."""
    last_seen = state.places.get(edit.id)
    if last_seen:
        return {number for place, number in last_seen.items() if place in distinctive}
    if snapshot is None:
        return None
    numbers = distinctive_numbers(snapshot.lines)
    return {place - edit.first for place in numbers if edit.first <= place < edit.end}


class _Known(NamedTuple):
    """What proves that a block stands.

    Attributes:
        lines: The lines of the text that are lines of the block, distinctive where it was written.
        total: How many of those the block has.
    """

    lines: Mapping[int, int]
    total: int


def _known(
    edit: RecordedEdit, lines: Mapping[int, int], reference: AbstractSet[int] | None
) -> _Known:
    if reference is None:
        return _Known(lines, len(edit.hashes))
    known = {place: number for place, number in lines.items() if number in reference}
    return _Known(known, len(reference))


def _is_recognised(known: _Known, text: HashedText) -> bool:
    """Whether at least half of the distinctive lines of a block stand, and are distinctive here."""
    standing = {number for place, number in known.lines.items() if place in text.distinctive}
    return bool(standing) and 2 * len(standing) >= known.total


def _claimed(known: _Known, places: Iterable[int]) -> Iterable[int]:
    """Return the lines of a block of which less stands, beside lines that prove something.

    One equal line is chance, so there must be two.
    """
    if len(set(known.lines.values())) < _MIN_CLAIMED:
        return ()
    groups = (group for group in consecutive(places) if not known.lines.keys().isdisjoint(group))
    return [place for group in groups for place in group]


def _is_whole(
    edit: RecordedEdit, lines: Mapping[int, int], text: HashedText, snapshot: Text | None
) -> bool:
    """Whether a block stands as it was written, between the lines that it was written between."""
    places = sorted(lines)
    first, end = places[0], places[-1] + 1
    if snapshot is None or tuple(text.hashes[first:end]) != edit.hashes:
        return False
    before, after = snapshot.lines[: edit.first], snapshot.lines[edit.end :]
    return list(text.lines[:first][-1:]) == before[-1:] and list(text.lines[end:][:1]) == after[:1]


def _unwritten(
    edit: RecordedEdit, numbers: Iterable[int], logged: Mapping[str, int]
) -> AbstractSet[int]:
    """Return those of some lines of an edit that the log does not have yet."""
    if not logged:
        return frozenset(numbers)
    left = Counter(edit.hashes)
    left.subtract(logged)
    unwritten: set[int] = set()
    for number in sorted(set(numbers)):
        left[edit.hashes[number]] -= 1
        if left[edit.hashes[number]] >= 0:
            unwritten.add(number)
    return unwritten
