"""The results of the locator for cases, compared with the truth."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.locating.cases import Case, Fate, Range
from benchmarks.locating.in_git import Checkout
from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange
from vibes_lsp.anchors.text import Text


class Mode(StrEnum):
    """What is placed: all ranges by anchors alone, or what a commit wrote as in a checkout."""

    ANCHORS = "anchors only"
    IN_GIT = "in git"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A range, what happened to it, and the result of the locator."""

    case: Case
    mode: Mode
    asked: Range
    fate: Fate
    located: LocatedRange

    @property
    def placed(self) -> bool:
        """Whether a place is claimed."""
        return self.located.start is not None

    @property
    def start_survives(self) -> bool:
        """Whether there is a true start to find."""
        return self.fate in (Fate.WHOLE, Fate.START)

    @property
    def start_right(self) -> bool:
        """Whether the claimed start is the true one."""
        return self.start_survives and self.located.start == self.case.true_start(self.asked)

    @property
    def both_right(self) -> bool:
        """Whether start and end are the true ones."""
        return self.start_right and self.located.end == self.case.true_end(self.asked)

    @property
    def wrong_but_sure(self) -> bool:
        """Whether a sure claim is wrong: elsewhere than the true lines, or dead (R15)."""
        if not self.located.sure or self.fate is Fate.UNKNOWN:
            return False
        if self.fate is Fate.WHOLE:
            return not self.both_right
        return self.fate is Fate.DEAD or self.located.start != self.case.expected_start(self.asked)


@dataclass(frozen=True, slots=True)
class Run:
    """The outcomes of one case in one mode, and the seconds that the locator took."""

    outcomes: list[Outcome]
    seconds: float


def score(case: Case, checkout: Checkout | None = None) -> Iterator[tuple[Mode, Run]]:
    """Locate the ranges of a case in every mode that it allows."""
    recorded = [
        AnchoredRange(start, end, create_anchors(case.old, start, end))
        for start, end in case.ranges
    ]
    new = Text(case.new.content)  # nothing is cached in it
    begun = time.perf_counter()
    located = locate(recorded, new)
    yield Mode.ANCHORS, _run(case, Mode.ANCHORS, case.ranges, located, begun)
    if checkout is not None and case.written is not None:
        begun = time.perf_counter()
        located = checkout.locate(case, case.written)
        yield Mode.IN_GIT, _run(case, Mode.IN_GIT, case.written.ranges, located, begun)


def _run(
    case: Case, mode: Mode, ranges: Sequence[Range], located: Sequence[LocatedRange], begun: float
) -> Run:
    seconds = time.perf_counter() - begun
    return Run(
        [
            Outcome(case, mode, asked, case.fate(asked), found)
            for asked, found in zip(ranges, located, strict=True)
        ],
        seconds,
    )
