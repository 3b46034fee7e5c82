"""Undoing, on trial, what may have been done to a range: where its digest comes out again, the edit is known to the line.

Nothing but the digest is needed, and what other records tell of the old text, so this works where there is no history: lines put in,
lines taken out or changed of which another record knows what they were, a change of indentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from vibes_lsp.anchors.line_map import is_distinctive
from vibes_lsp.anchors.location import AnchoredRange, LineKind
from vibes_lsp.anchors.offset import Pin, known_within
from vibes_lsp.anchors.text import Text, encode

if TYPE_CHECKING:
    from hashlib import _Hash

_MAX_INSERTED: Final = 12
_MAX_INSERTED_AGAIN: Final = 3
_MAX_BYTES: Final = 1 << 21
"""Bytes that are digested for one range."""

_Way = list[int]
"""For each of some lines of the old text the line that it is now, 0 when it is gone."""


Stretch = tuple[int, int, int, int]
"""Where some lines begin, as they were recorded and now, and where they end, these not being part of them."""


@dataclass(frozen=True, slots=True)
class RevertedEdit:
    """An edit of a range that is known to the line.

    Attributes:
        end: The last line of the range now.
        kinds: Whose each line is, from the first to the last.
        pairs: Its lines as they were recorded, each with the line that it is now.
        is_proof: Whether lines that stand there now prove it, rather than only what records say of them.
    """

    end: int
    kinds: tuple[LineKind, ...]
    pairs: tuple[Pin, ...]
    is_proof: bool


class EditSearch:
    """Tries what may have become of a range.

    Args:
        each: The range.
        text: The text of now.
        known: Lines of the text that the range was recorded in, by their number, as far as any record tells.
        most: How many digests to try.
    """

    def __init__(
        self, each: AnchoredRange, text: Text, known: Mapping[int, str], most: int
    ) -> None:
        self._each, self._lines, self._left = each, text.lines, most
        self._known = {line: known[line] for line in known_within(known, each.start, each.end)}
        self._bytes_left = _MAX_BYTES
        self._indented: tuple[str, str] | None = None
        self._runs: dict[tuple[int, int, int], tuple[Sequence[str], str]] = {}

    def undo(self, pins: Sequence[Pin], ends: Iterable[int]) -> RevertedEdit | None:
        """Return the edit that made of the range what stands there now; None when it is none of those that can be undone.

        Args:
            pins: Lines of the range that are still there, the first one among them, as they were recorded and now; both ascend.
            ends: Where its last line may be, as far as the neighbours tell.
        """
        try:
            digest = bytes.fromhex(self._each.anchors.hash or "")
        except ValueError:
            return None
        self._indented = self._indentation(pins)
        (last, place), end = pins[-1], self._each.end
        is_straight = last - pins[0][0] == place - pins[0][1]
        most = _MAX_INSERTED if is_straight else _MAX_INSERTED_AGAIN
        gone = min(_MAX_INSERTED, sum(line > last for line in self._known))
        growths = [
            *(there - place - end + last for there in ends),
            0,
            *range(-1, -gone - 1, -1),
            *range(1, most + 1),
        ]
        stops = [(end + 1, place + end - last + 1 + growth) for growth in dict.fromkeys(growths)]
        stops = [stop for stop in stops if place < stop[1] <= len(self._lines) + 1]
        way = self._search(sha256(), _turns(pins), stops, digest)
        return None if way is None else self._told(way)

    def _search(
        self, begun: _Hash, pins: Sequence[Pin], stops: Sequence[Pin], digest: bytes
    ) -> _Way | None:
        """Return the first way through the pins to one of the stops, after the last line of the range, that gives the digest."""
        is_last = len(pins) == 1
        for stop in stops if is_last else pins[1:2]:
            stretch = (*pins[0], *stop)
            for kept, spelled in self._ways(stretch, is_last=is_last):
                self._left -= 1
                self._bytes_left -= len(spelled)
                if self._left < 0 or self._bytes_left < 0:
                    return None
                trial = begun.copy()
                trial.update(encode(spelled))
                rest = (
                    ([] if trial.digest() == digest else None)
                    if is_last
                    else self._search(trial, pins[1:], stops, digest)
                )
                if rest is not None:
                    return _way(stretch, kept) + rest
        return None

    def _ways(self, stretch: Stretch, *, is_last: bool) -> Iterator[tuple[int, str]]:
        """Give what a stretch may have been if one run of lines was put into it or taken out of it, with the lines kept before the run."""
        line, now, until, stop = stretch
        old, growth = until - line, stop - now - until + line
        if growth < 0:
            for kept in range(1, old + growth + 1):
                if all(
                    number in self._known for number in range(line + kept, line + kept - growth)
                ):
                    spelled = _joined(self._spelled(line, _way(stretch, kept)))
                    yield kept, spelled[:-1] if is_last else spelled
            return
        before, head = self._run(line, now, old)
        after, tail = self._run(line, stop - old, old)
        tail = tail[:-1] if is_last else tail
        if growth == 0:
            yield old, tail
            return
        begin = rest = 0
        for kept, (one, other) in enumerate(zip(before, after, strict=True), 1):
            begin, rest = begin + len(one) + 1, rest + len(other) + 1
            if kept < old or not is_last:  # what was put in behind the end is no part of the range
                yield kept, head[:begin] + tail[rest:]

    def _run(self, first: int, now: int, count: int) -> tuple[Sequence[str], str]:
        """Return how so many lines were spelled that stand together now, each for itself and as they are digested: the same are tried often."""
        known = self._runs.get((first, now, count))
        if known is None:
            lines = self._spelled(first, range(now, now + count))
            known = self._runs[first, now, count] = lines, _joined(lines)
        return known

    def _spelled(self, first: int, way: Sequence[int]) -> list[str]:
        """Return how lines were spelled, as far as is known; else as they are now, but for a change of indentation."""
        lines = [self._lines[now - 1] if now else "" for now in way]
        if self._indented is not None:
            was, now = self._indented
            width = len(now)
            lines = [
                was + line[width:] if line.startswith(now) and line.strip() else line
                for line in lines
            ]
        for number, known in self._known.items():
            if 0 <= number - first < len(lines):
                lines[number - first] = known
        return lines

    def _indentation(self, pins: Iterable[Pin]) -> tuple[str, str] | None:
        """Return how a line was indented and how it is now; None when that is the same, or not known."""
        for line, now in pins:
            then, there = self._known.get(line, ""), self._lines[now - 1]
            if then.strip() and then.strip() == there.strip():
                both = _indentation(then), _indentation(there)
                return None if both[0] == both[1] else both
        return None

    def _told(self, way: _Way) -> RevertedEdit:
        first, end, lines = way[0], max(way), self._lines
        pairs = tuple((line, now) for line, now in enumerate(way, self._each.start) if now)
        spelled = dict(enumerate(self._spelled(self._each.start, way), self._each.start))
        kinds = [LineKind.HUMAN] * (end - first + 1)
        for line, now in pairs:
            kinds[now - first] = LineKind.AI if spelled[line] == lines[now - 1] else LineKind.EDITED
        telling = [(line, now) for line, now in pairs if is_distinctive(lines[now - 1])]
        same = (spelled[line].strip() == lines[now - 1].strip() for line, now in pairs)
        is_proof = any(line not in self._known for line, _ in telling) or (
            bool(telling) and all(same)
        )
        return RevertedEdit(end, tuple(kinds), pairs, is_proof)


def _joined(lines: Sequence[str]) -> str:
    """Return lines as they are digested; the last of all has no newline behind it."""
    return "\n".join((*lines, ""))


def _turns(pins: Sequence[Pin]) -> list[Pin]:
    """Return the first pin, and those on either side of each change of drift."""
    turns = [pins[0]]
    for one, other in pairwise(pins):
        if other[0] - one[0] != other[1] - one[1]:
            turns += (one, other) if one != turns[-1] else (other,)
    return turns


def _way(stretch: Stretch, kept: int) -> _Way:
    """Return where the lines of a stretch are now, so many of them kept before those that were put in or taken out."""
    line, now, until, stop = stretch
    rest = max(0, min(until - line - kept, stop - now - kept))
    return [*range(now, now + kept), *[0] * (until - line - kept - rest), *range(stop - rest, stop)]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
