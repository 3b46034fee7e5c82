"""The placements of a file in a text; what was recorded since is added without locating the rest.

An annotation that was recorded in this very text has its recorded lines, and says nothing about
where others are (`anchors.locate`). So the others keep their places, and only lines change owner.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from msgspec.structs import replace

from vibes_lsp.anchors.locate import in_unchanged_file
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text, common_end, common_start
from vibes_lsp.index.file_history import FileHistory
from vibes_lsp.index.line_owners import is_whole_file_edit, owned_ranges
from vibes_lsp.index.locate_annotations import locate_alone
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.placements import Placement, ShownLineage
from vibes_lsp.trail.lineage import Lineage

_MAX_CHANGES: Final = 32
"""Placements that are looked through at each line until all are sorted again."""


class PlacementsByLine:
    """Finds the placements at a line without looking at all of them.

    Args:
        placements: All placements, in the order of answers.
    """

    def __init__(self, placements: Sequence[Placement]) -> None:
        self._sorted = _SortedPlacements(placements)
        self._removed: frozenset[int] = frozenset()
        self._added: tuple[Placement, ...] = ()

    def at(self, line: int) -> list[Placement]:
        """Return the placements whose range includes a line, 1-based, in the order of answers."""
        return self.between(line, line)

    def between(self, first: int, last: int) -> list[Placement]:
        """Return the placements with any of some lines, inclusive, in the order of answers."""
        found = self._sorted.between(first, last)
        if not self._removed and not self._added:
            return found
        found = [each for each in found if id(each) not in self._removed]
        found += [each for each in self._added if _has_line(each, first, last)]
        return sorted(found, key=_order)

    def replaced(
        self,
        removed: Iterable[Placement],
        added: Sequence[Placement],
        placements: Sequence[Placement],
    ) -> PlacementsByLine:
        """Return an index without some placements and with others.

        Args:
            removed: What is there no longer.
            added: What is new.
            placements: All placements then.
        """
        gone = {id(each) for each in removed}
        kept = [each for each in self._added if id(each) not in gone]
        found = PlacementsByLine(placements)
        if len(kept) + len(added) <= _MAX_CHANGES:
            found._sorted = self._sorted
            found._removed = self._removed | gone
            found._added = (*kept, *added)
        return found


class _SortedPlacements:
    """Placements sorted by their first line, once that is needed."""

    def __init__(self, placements: Sequence[Placement]) -> None:
        self._placements = placements

    def between(self, first: int, last: int) -> list[Placement]:
        starts, reach, ranges = self._ranges
        found = []
        number = bisect_right(starts, last) - 1
        while number >= 0 and reach[number] >= first:  # no earlier range reaches further
            if ranges[number][1] >= first:
                found.append(ranges[number][2])
            number -= 1
        return [self._placements[each] for each in sorted(found)]

    @cached_property
    def _ranges(self) -> tuple[list[int], list[int], list[tuple[int, int, int]]]:
        """Where ranges start, how far those up to each reach, and the ranges."""
        ranges = sorted(
            (each.located.start, each.located.end or 0, number)
            for number, each in enumerate(self._placements)
            if each.located.start is not None
        )
        reach = list(accumulate((end for _, end, _ in ranges), max))
        return [start for start, _, _ in ranges], reach, ranges


class PlacedFile:
    """The placements of a file, which follow its lineages as far as new records allow it.

    Args:
        path: The file, relative to the project.
        text: Its text.
        history: What git knows about its annotations.
        lineages: Its lineages; none is pending.
        placements: Where they are.

    Attributes:
        text: The text.
        placements: Where the annotations are, in the order of answers.
        by_line: Finds them by line.
    """

    def __init__(
        self,
        path: str,
        text: Text,
        history: FileHistory,
        lineages: Sequence[Lineage],
        placements: Sequence[Placement],
    ) -> None:
        self._path, self.text, self._history = path, text, history
        self._lineages = lineages
        self.placements = tuple(placements)
        self.by_line = PlacementsByLine(self.placements)

    def update(self, lineages: Sequence[Lineage]) -> list[Lineage] | None:
        """Follow the lineages of the file, and return those that are new.

        None, and nothing changes, if the file has to be placed again: a new record may concern the
        places of others, or how they are shown.
        """
        difference = _difference(self._lineages, lineages)
        if difference is None:
            return None
        superseded, added = self._superseded(difference[0]), self._added(difference[1])
        if superseded is None or added is None:
            return None
        self._lineages = lineages
        if superseded or added:
            self._replace(superseded, added)
            for each in difference[1]:
                self._by_start[each.start_key].append(each)
        return difference[1]

    def _superseded(self, lineages: Iterable[Lineage]) -> list[tuple[Placement, Placement]] | None:
        """Return the placements of lineages that are history now, each with what it becomes."""
        found: dict[int, tuple[Placement, Placement]] = {}
        for now in lineages:
            old = self._by_first.get(now.first.id)
            if old is None or old.shown.is_placeholder or self._is_whole_file_edit(old):
                return None
            shown = found[id(old)][1].shown if id(old) in found else old.shown
            lineage, *duplicates = (
                now if each.first.id == now.first.id else each
                for each in (shown.lineage, *shown.duplicates)
            )
            shown = ShownLineage(lineage, tuple(duplicates))
            replaced_by = old.replaced_by if shown.may_own_lines else None
            new = replace(old, shown=shown, owned_ranges=(), replaced_by=replaced_by)
            found[id(old)] = old, new
        return list(found.values())

    def _added(self, lineages: Sequence[Lineage]) -> list[Placement] | None:
        """Return the placements of new lineages, which own no lines yet."""
        if len({each.start_key for each in lineages}) < len(lineages):
            return None  # they may be equal
        placed = []
        for each in lineages:
            where = self._located(each)
            if where is None:
                return None
            new = Placement(self._path, ShownLineage(each), where)
            is_lost = where.state == State.LOST and new.may_own_lines
            if is_lost or self._is_whole_file_edit(new):
                return None
            placed.append(new)
        return placed

    def _located(self, lineage: Lineage) -> LocatedRange | None:
        """Return where a new annotation is; None if it may concern others, or they it."""
        first, history, recorded = lineage.first.id, self._history, lineage.recorded_range
        if (
            first in history.moved_in
            or first in history.original_texts
            or first in history.edit_times
            or any(
                each.summary_key == lineage.summary_key and each.fingerprint == lineage.fingerprint
                for each in self._by_start.get(lineage.start_key, ())
            )
        ):
            return None
        if recorded is not None and (
            recorded.anchors.file_hash not in self.text.file_hashes
            or recorded.anchors.hash in self._hashes_elsewhere
        ):
            return None
        where = locate_alone(ShownLineage(lineage), self._path, self.text)
        is_of_this_text = (
            recorded is None
            or where.method == Method.FILE_HASH
            or (lineage.action == Action.DELETE and in_unchanged_file([recorded], self.text)[0])
        )
        return where if is_of_this_text else None

    def _is_whole_file_edit(self, placement: Placement) -> bool:
        return is_whole_file_edit(placement, len(self.text.lines), self._history)

    def _replace(
        self, superseded: Sequence[tuple[Placement, Placement]], added: Sequence[Placement]
    ) -> None:
        """Replace placements, and assign the lines that these owned or that new ones are on."""
        now = {id(old): (old, new) for old, new in superseded}
        spans = [span for old, _ in superseded for span in old.owned_ranges]
        spans += [
            (each.located.start, each.located.end or 0)
            for each in added
            if each.located.start is not None
        ]
        fresh = list(added)
        if spans:
            first = max(1, min(start for start, _ in spans))
            last = min(len(self.text.lines), max(end for _, end in spans))
            here = [now.get(id(each), (each, each)) for each in self.by_line.between(first, last)]
            here += [(each, each) for each in added]
            here.sort(key=lambda pair: pair[1].lineage.rank)
            owned = owned_ranges(
                [new.shown for _, new in here], [new.located for _, new in here], first, last
            )
            fresh = []
            is_added = {id(each) for each in added}
            for number, (old, new) in enumerate(here):
                ranges = _with_ranges(new.owned_ranges, owned.get(number, ()), first, last)
                each = new if ranges == new.owned_ranges else replace(new, owned_ranges=ranges)
                if id(old) in is_added:
                    fresh.append(each)
                elif each is not old:
                    now[id(old)] = old, each
        items = list(self.placements)
        for old, _ in now.values():
            del items[_place_of(old, items)]
        arriving = [*(new for _, new in now.values()), *fresh]
        for each in arriving:
            insort(items, each, key=_order)
            for lineage in (each.lineage, *each.shown.duplicates):
                self._by_first[lineage.first.id] = each
        self.placements = tuple(items)
        self.by_line = self.by_line.replaced(
            (old for old, _ in now.values()), arriving, self.placements
        )

    @cached_property
    def _by_first(self) -> dict[str, Placement]:
        """The placement of each lineage, by the id of its first record."""
        return {
            lineage.first.id: each
            for each in self.placements
            for lineage in (each.lineage, *each.shown.duplicates)
        }

    @cached_property
    def _by_start(self) -> dict[str, list[Lineage]]:
        """The lineages by the member that most differ in."""
        found: dict[str, list[Lineage]] = defaultdict(list)
        for each in self._lineages:
            found[each.start_key].append(each)
        return found

    @cached_property
    def _hashes_elsewhere(self) -> set[str | None]:
        """The hashes of the ranges that were recorded in other texts; a copy may be one of them."""
        located = {id(each.lineage): each.located for each in self.placements}
        return {
            recorded.anchors.hash
            for each in self._lineages
            if (recorded := each.recorded_range) is not None
            and not _is_of_text(recorded, located.get(id(each)), self.text)
        }


def _difference(
    before: Sequence[Lineage], now: Sequence[Lineage]
) -> tuple[list[Lineage], list[Lineage]] | None:
    """Return which lineages became history, as they are now, and which are new.

    None if others changed, or are gone.
    """
    most = min(len(before), len(now))
    alike = common_start(before, now, most)
    ending = common_end(before, now, most - alike)
    number, stop = alike, len(before) - ending
    superseded, added = [], []
    for each in now[alike : len(now) - ending]:
        old = before[number] if number < stop else None
        if old is not None and old.first.id == each.first.id:
            if old != each:
                if not _is_superseded(old, each):
                    return None
                superseded.append(each)
            number += 1
        else:
            added.append(each)
    return None if number < stop else (superseded, added)


def _is_superseded(before: Lineage, now: Lineage) -> bool:
    """Whether all that changed is that others supersede it; in a cycle of edges one may not."""
    return (before.members, before.current) == (now.members, now.current) and set(
        before.superseded_by
    ) <= set(now.superseded_by)


def _with_ranges(
    before: Sequence[tuple[int, int]], within: Sequence[tuple[int, int]], first: int, last: int
) -> tuple[tuple[int, int], ...]:
    """Return ranges of lines with others from a first line to a last one; neighbours are joined."""
    spans = [
        *((start, min(end, first - 1)) for start, end in before if start < first),
        *within,
        *((max(start, last + 1), end) for start, end in before if end > last),
    ]
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and found[-1][1] + 1 == start:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return tuple(found)


def _place_of(placement: Placement, placements: Sequence[Placement]) -> int:
    """Return the index of a placement among others, in the order of answers."""
    at = bisect_left(placements, _order(placement), key=_order)
    while placements[at] is not placement:  # equal ranks are rare
        at += 1
    return at


def _order(placement: Placement) -> tuple[object, object]:
    return placement.sort_key, placement.lineage.rank


def _is_of_text(recorded: AnchoredRange, located: LocatedRange | None, text: Text) -> bool:
    """Whether a range was recorded in a text, as a place that was found shows."""
    return (
        located is not None
        and (located.method, located.state) == (Method.FILE_HASH, State.EXACT)
        and recorded.anchors.file_hash in text.file_hashes
    )


def _has_line(placement: Placement, first: int, last: int) -> bool:
    start, end = placement.located.start, placement.located.end
    return start is not None and end is not None and start <= last and end >= first
