"""The input of a measurement: ranges of an old text, a new text, and the true line map."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from benchmarks.locating.linemaps import DEAD, UNKNOWN, has_text
from benchmarks.locating.truth import Truth
from vibes_lsp.anchors.text import Text

MOST_RANGES: Final = 40
_MOST_HUNKS: Final = 15
_LONGEST: Final = 60

Range = tuple[int, int]
"""First and last line, 1-based and inclusive."""


class Fate(StrEnum):
    """What truly became of the lines of a range."""

    WHOLE = "start and end survive"
    START = "only the start is sure to survive"
    REST = "the start died, other lines survive"
    DEAD = "all that said anything died"
    RESTORED = "all died, and the same text was written again at its place"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Written:
    """What one commit wrote of the old text of a case, which it made.

    Attributes:
        commit: The commit; it is no merge.
        moment: When it was made.
        ranges: The lines that it added.
        path: The file in it.
        head: The commit with the new text.
        now: The file in that one.
    """

    commit: str
    moment: str
    ranges: Sequence[Range]
    path: str
    head: str
    now: str


@dataclass(frozen=True, eq=False)
class Case:
    """One file between two moments.

    Attributes:
        source: The repository, or the kind of generated edit.
        path: The file.
        moments: What the two texts are, enough to look at them again.
        old: The text that the ranges are in.
        new: The text to locate them in.
        ranges: What to locate.
        truth: The map of lines from old to new.
        group: How far the two texts are apart, in words; empty where that says nothing.
        restored: Where the text of dead lines occurs again, in a direct comparison; not used for
            surviving lines.
        written: What a commit wrote of the old text; None if that is not known.
    """

    source: str
    path: str
    moments: tuple[str, str]
    old: Text
    new: Text
    ranges: Sequence[Range]
    truth: Truth
    group: str = ""
    restored: Sequence[int] = ()
    written: Written | None = None

    def true_start(self, asked: Range) -> int:
        """Return the true line of a range's start, `DEAD` or `UNKNOWN`."""
        return self.truth.line(asked[0], *asked)

    def true_end(self, asked: Range) -> int:
        """Return the true line of a range's end, `DEAD` or `UNKNOWN`."""
        return self.truth.line(asked[1], *asked)

    def fate(self, asked: Range) -> Fate:
        """Return what became of a range; blank lines and brackets alone do not keep it alive."""
        saying = [
            line
            for line in range(asked[0], asked[1] + 1)
            if has_text(self.old.lines[line - 1].encode("utf-8", "replace"))
        ]
        saying = saying or list(range(asked[0], asked[1] + 1))
        places = {self.truth.line(line, *asked) for line in saying}
        if max(places) <= 0:
            if UNKNOWN in places:
                return Fate.UNKNOWN
            return (
                Fate.RESTORED
                if self.restored and any(self.restored[line] for line in saying)
                else Fate.DEAD
            )
        first, last = self.true_start(asked), self.true_end(asked)
        if first == UNKNOWN:
            return Fate.UNKNOWN
        if first == DEAD:
            return Fate.REST
        return Fate.WHOLE if last >= first else Fate.START

    def expected_start(self, asked: Range) -> int:
        """Return the true start of a range by most of its surviving, else restored lines.

        `DEAD` without any.
        """
        start, end = asked
        if self.true_start(asked) > 0:
            return self.true_start(asked)
        for lines in (self.truth.lines, self.restored):
            votes = Counter(
                lines[line] - (line - start)
                for line in range(start, end + 1)
                if lines and lines[line] > 0
            )
            if votes:
                return votes.most_common(1)[0][0]
        return DEAD

    def stands_once(self, asked: Range) -> bool:
        """Whether all lines of a range survive, stand together unchanged, and nowhere else."""
        start, end = asked
        place = self.true_start(asked)
        if place <= 0 or any(
            self.truth.line(line, start, end) != place + line - start
            for line in range(start, end + 1)
        ):
            return False
        wanted, lines, length = self.old.lines[start - 1 : end], self.new.lines, end - start + 1
        if lines[place - 1 : place - 1 + length] != wanted:
            return False
        return not any(
            at != place and lines[at - 1 : at - 1 + length] == wanted
            for at in self._numbers.get(wanted[0], ())
        )

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number, line in enumerate(self.new.lines, 1):
            numbers.setdefault(line, []).append(number)
        return numbers


def choose_ranges(
    rng: random.Random, lines: Sequence[str], written: Sequence[Range]
) -> list[Range]:
    """Return the runs of lines that a commit wrote, and random ranges.

    Most random ranges are as long as a short function.
    """
    chosen = set(rng.sample(written, min(len(written), _MOST_HUNKS)))
    openings = [
        number
        for number, line in enumerate(lines, 1)
        if _opens(lines[number - 2] if number > 1 else "", line)
    ]
    wanted = min(MOST_RANGES, len(chosen) + max(4, len(lines) // 8))
    for _ in range(wanted):
        start = (
            rng.choice(openings) if openings and rng.random() < 0.5 else rng.randint(1, len(lines))
        )
        end = min(start + choose_length(rng) - 1, len(lines))
        if len(chosen) < wanted:
            chosen.add((start, end))
    return sorted(chosen)


def random_range(rng: random.Random, length: int) -> Range:
    """Return a range of a text of so many lines."""
    start = rng.randint(1, length)
    return start, min(start + choose_length(rng) - 1, length)


def choose_length(rng: random.Random) -> int:
    """Return how many lines a range has: up to 60, short ones more often."""
    return round(math.exp(rng.uniform(0, math.log(_LONGEST))))


def _opens(before: str, line: str) -> bool:
    """Whether a block may begin at a line."""
    return bool(line.strip()) and not before.strip()
