"""Locating ranges by their anchors alone (RFC 7.3.1, R15, R16): file hash, then anchor hash, then context.

A hash counts before a text, the nearest place before the first, and ranges keep their order: those that can be in one place
only tell where the others are to be expected. History and similarity come before and after this; see `Located.method`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from vibes_lsp.anchors.making import CONTEXT_BYTES, CONTEXT_LINES, Anchors, range_hash, range_hashes
from vibes_lsp.anchors.order import Drift
from vibes_lsp.anchors.text import Text, encode, readable

_MAX_PLACES: Final = 64
"""Places looked at for one range: the nearest to where it is expected."""


class State(StrEnum):
    """What became of a range (R15)."""

    EXACT = "exact"
    MOVED = "moved"
    EDITED = "edited"
    LOST = "lost"
    UNVERIFIED = "unverified"


class Method(StrEnum):
    """How a range was located (R15)."""

    FILE_HASH = "file-hash"
    ANCHOR_HASH = "anchor-hash"
    HISTORY = "history"
    CONTEXT = "context"
    NORMALISED = "normalised"
    FUZZY = "fuzzy"
    NAME = "name"
    LOG = "log"
    RECORDED = "recorded"
    ANCHOR_BEFORE_EDIT = "anchor-before-edit"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A range as a record has it, 1-based and inclusive."""

    start: int
    end: int
    anchors: Anchors

    @property
    def length(self) -> int:
        """Number of lines."""
        return self.end - self.start + 1


@dataclass(frozen=True, slots=True)
class Located:
    """Where a range is now.

    Attributes:
        start: First line, 1-based; None when lost.
        end: Last line, inclusive; None when lost.
        state: What became of it.
        method: How it was located.
        confidence: How much to trust the place, 0 to 1.
        ambiguous: Whether another place would fit as well, or too little text fits to be sure of this one.
        intact: How many of its lines are as the AI wrote them; None when that is not known.
    """

    start: int | None
    end: int | None
    state: State
    method: Method
    confidence: float
    ambiguous: bool = False
    intact: int | None = None

    @property
    def sure(self) -> bool:
        """Whether this is a claim that must not be wrong (R15)."""
        return self.state in (State.EXACT, State.MOVED) and not self.ambiguous


def locate(ranges: Sequence[Recorded], text: Text) -> list[Located]:
    """Return where each range is in the text, in the order asked."""
    index = _Index(text, (each.anchors.context for each in ranges))
    candidates = [_candidates(each, index, text.lines) for each in ranges]
    claims = _Claims(zip(ranges, candidates, strict=True))
    return [_choose(each, found, claims, text) for each, found in zip(ranges, candidates, strict=True)]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Lines where a range may begin: its context stands at `places`, all of it at `hits`; `more` were not looked at."""

    places: Sequence[int]
    hits: Sequence[int]
    more: bool
    distinctive: bool

    @property
    def only(self) -> int | None:
        """The one place where the range can be; None when it can be in several or in none."""
        return self.hits[0] if len(self.hits) == 1 and not self.more else None


class _Claims:
    """What the ranges say about one another: where each is to be expected, and which cannot all be right."""

    def __init__(self, found: Iterable[tuple[Recorded, _Candidates]]) -> None:
        only = [(each, candidates, candidates.only) for each, candidates in found]
        starts: dict[tuple[str | None, int], set[int]] = defaultdict(set)
        for each, _, place in only:
            if place is not None:
                starts[each.anchors.hash, place].add(each.start)
        self._starts = {claim: rivals for claim, rivals in starts.items() if len(rivals) > 1}
        self._drift = Drift(
            (each.start, place)
            for each, candidates, place in only
            if place is not None and candidates.distinctive and (each.anchors.hash, place) not in self._starts
        )

    def expected(self, each: Recorded) -> int:
        """Return the line where a range is to be expected."""
        return self._drift.expected(each.start)

    def is_contested(self, each: Recorded, place: int) -> bool:
        """Whether a copy of the range, recorded elsewhere, has as good a claim to the place: one of the two is gone."""
        rivals = self._starts.get((each.anchors.hash, place), set()) - {each.start}
        own = abs(self._drift.expected(each.start) - place)
        return any(abs(self._drift.expected(start) - place) <= own for start in rivals)


class _Index:
    """Where the beginnings of contexts stand in a text."""

    def __init__(self, text: Text, contexts: Iterable[str | None]) -> None:
        self._lines = text.readable_lines
        wanted = {piece for context in contexts if context is not None for piece in _pieces(context)}
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._places: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines, 1):
            if line in wanted:
                self._numbers[line].append(number)

    def places(self, context: str) -> list[int]:
        """Return the lines at which a context begins, in order."""
        if context not in self._places:
            self._places[context] = self._find(context)
        return self._places[context]

    def _find(self, context: str) -> list[int]:
        pieces = _pieces(context)
        cut = len(encode(context)) > CONTEXT_BYTES - 4
        whole = pieces[:-1] if cut else pieces
        if not whole:
            return [number for number, line in enumerate(self._lines, 1) if line.startswith(pieces[0])]
        rarest = min(range(len(whole)), key=lambda offset: len(self._numbers.get(whole[offset], ())))
        starts = (number - rarest for number in self._numbers.get(whole[rarest], ()))
        return [start for start in starts if start >= 1 and self._fits(start, pieces, cut=cut)]

    def _fits(self, start: int, pieces: Sequence[str], *, cut: bool) -> bool:
        found = self._lines[start - 1 : start - 1 + len(pieces)]
        if len(found) < len(pieces):
            return False
        last = found[-1].startswith(pieces[-1]) if cut else found[-1] == pieces[-1]
        return last and found[:-1] == list(pieces[:-1])


def _pieces(context: str) -> list[str]:
    """Return the lines of a context, however a tool ended them."""
    lines = readable(context).replace("\r\n", "\n").removesuffix("\n").split("\n")[:CONTEXT_LINES]
    return [line.removesuffix("\r") for line in lines]


def _candidates(each: Recorded, index: _Index, lines: Sequence[str]) -> _Candidates:
    places = [] if each.anchors.context is None else index.places(each.anchors.context)
    near = _nearest(places, each.start)
    hits = _hits(each, near, lines) if each.anchors.hash is not None else []
    if not hits and _matches(lines[each.start - 1 : each.end], each):
        hits = _copies(each, lines)
    distinctive = bool(hits) and _is_distinctive(lines[hits[0] - 1 : hits[0] - 1 + each.length])
    return _Candidates(near, hits, len(places) > len(near), distinctive)


def _hits(each: Recorded, starts: Sequence[int], lines: Sequence[str]) -> list[int]:
    """Return where the hash matches; other tools' variants of it are tried only when our own is nowhere."""
    whole = [(start, lines[start - 1 : start - 1 + each.length]) for start in starts if start - 1 + each.length <= len(lines)]
    hits = [start for start, found in whole if range_hash(found) == each.anchors.hash]
    return hits or [start for start, found in whole if _matches(found, each)]


def _matches(lines: Sequence[str], each: Recorded) -> bool:
    return each.anchors.hash is not None and len(lines) == each.length and each.anchors.hash in range_hashes(lines)


def _copies(each: Recorded, lines: Sequence[str]) -> list[int]:
    """Return the recorded place, where the hash matches though no context says so, and another one with the same text if there is."""
    wanted = lines[each.start - 1 : each.end]
    others = (
        start
        for start, line in enumerate(lines, 1)
        if line == wanted[0] and start != each.start and lines[start - 1 : start - 1 + each.length] == wanted
    )
    return [each.start, *islice(others, 1)]


def _nearest(places: Sequence[int], expected: int) -> Sequence[int]:
    """Return the places nearest to where one is expected, in order."""
    if len(places) <= _MAX_PLACES:
        return places
    low = bisect_left(places, expected) - _MAX_PLACES // 2
    low = max(0, min(low, len(places) - _MAX_PLACES))
    return places[low : low + _MAX_PLACES]


def _choose(each: Recorded, found: _Candidates, claims: _Claims, text: Text) -> Located:
    anchors, lines = each.anchors, text.lines
    recorded = lines[each.start - 1 : each.end]
    if anchors.file_hash in text.file_hashes and each.end <= len(lines) and (anchors.hash is None or _matches(recorded, each)):
        return Located(each.start, each.end, State.EXACT, Method.FILE_HASH, 1.0, intact=each.length)
    if found.hits:
        return _verified(each, found, claims)
    if found.places:
        return _edited(each, found, claims.expected(each), lines)
    if anchors != Anchors():
        return Located(None, None, State.LOST, Method.CONTEXT, 0.0)
    if each.start > len(lines):
        return Located(None, None, State.LOST, Method.RECORDED, 0.0)
    return Located(each.start, min(each.end, len(lines)), State.UNVERIFIED, Method.RECORDED, 0.3)


def _verified(each: Recorded, found: _Candidates, claims: _Claims) -> Located:
    expected = claims.expected(each)
    place = min(found.hits, key=lambda start: (abs(start - expected), start))
    end = place + each.length - 1
    by_chance = place != expected and not found.distinctive
    ambiguous = found.only is None or by_chance or claims.is_contested(each, place)
    state = State.EXACT if place == each.start else State.MOVED
    return Located(place, end, state, Method.ANCHOR_HASH, 0.5 if ambiguous else 0.99, ambiguous, each.length)


def _edited(each: Recorded, found: _Candidates, expected: int, lines: Sequence[str]) -> Located:
    """The beginning is there, the whole is not; without the old text the end is only supposed."""
    place = min(found.places, key=lambda start: (abs(start - expected), start))
    end = min(place + each.length - 1, len(lines))
    by_chance = place != expected and not _is_distinctive(lines[place - 1 : min(end, place - 1 + CONTEXT_LINES)])
    ambiguous = len(found.places) > 1 or by_chance
    if each.anchors.hash is None:
        return Located(place, end, State.UNVERIFIED, Method.CONTEXT, 0.4 if ambiguous else 0.6, ambiguous)
    return Located(place, end, State.EDITED, Method.CONTEXT, 0.4 if ambiguous else 0.7, ambiguous)


def _is_distinctive(lines: Sequence[str]) -> bool:
    """Whether a range has three different lines that are unlikely to be found by chance."""
    return len({line.strip() for line in lines if len(line.strip()) >= 4}) >= CONTEXT_LINES
