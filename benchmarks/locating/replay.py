"""Cases from real histories: a file at two commits, with the truth composed of those between."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import ne
from typing import Final

from benchmarks.locating.cases import Case, Range, Written, choose_ranges
from benchmarks.locating.history import ALGORITHMS, History
from benchmarks.locating.linemaps import DEAD
from benchmarks.locating.repository import Version
from benchmarks.locating.truth import Truth, agreed, composed
from vibes_lsp.anchors.text import Text

DISTANCES: Final = (1, 5, 25, 100, 400, None)
"""Commits between the two moments; None goes to the newest one."""
_LARGEST: Final = 1_000_000


@dataclass
class Witnesses:
    """How far the sources of the truth agree, in lines.

    Attributes:
        lines: All lines that were followed.
        unsettled: Where git's diff algorithms disagree, or the pieces moved are too small.
        blame_differs: Where `git blame --reverse` contradicts both algorithms.
        doubtful: Where git's diff is not unique; the lines beside decide.
        moved: Surviving lines of moved blocks, which blame without move detection takes for dead.
    """

    lines: int = 0
    unsettled: int = 0
    blame_differs: int = 0
    doubtful: int = 0
    moved: int = 0


class Replay:
    """The cases of a history: the same for the same seed.

    Attributes:
        witnesses: How far the witnesses agreed on the cases given so far.
    """

    def __init__(self, history: History, *, files: int, seed: int) -> None:
        self.witnesses: Final = Witnesses()
        self._history = history
        self._files = files
        self._rng = random.Random(f"{history.name} {seed}")
        self._used: Counter[str] = Counter()

    def cases(self, pairs: int) -> Iterator[Case]:
        """Give the cases of so many pairs of commits."""
        for start, end in _moments(self._rng, len(self._history), pairs):
            for versions in self._chosen_files(start, end):
                case = self.case(versions, (start, end))
                if case is not None:
                    yield case

    def texts(self, count: int) -> list[tuple[str, Sequence[str]]]:
        """Return the paths and lines of some files as they are now."""
        newest = self._history.files(len(self._history) - 1)
        chosen = self._rng.sample(newest, min(count, len(newest)))
        contents = ((version.path, self._history.content(version.blob)) for version in chosen)
        return [
            (path, Text.from_bytes(content).lines)
            for path, content in contents
            if _is_readable(content)
        ]

    def _chosen_files(self, start: int, end: int) -> Iterator[list[Version]]:
        """Yield the versions of files changed between two commits, least used files first."""
        listed = self._history.files(start)
        self._rng.shuffle(listed)
        found = 0
        for version in sorted(listed, key=lambda version: self._used[version.path]):
            versions = self._history.follow(version, start, end)
            if (
                found < self._files
                and versions is not None
                and versions[0].blob != versions[-1].blob
            ):
                self._used[version.path] += 1
                found += 1
                yield versions

    def case(self, versions: Sequence[Version], moments: tuple[int, int]) -> Case | None:
        """Return the case of a file between two commits, by number; None if it is not text."""
        history, first, last = self._history, versions[0], versions[-1]
        contents = history.content(first.blob), history.content(last.blob)
        if not all(map(_is_readable, contents)):
            return None
        old, new = map(Text.from_bytes, contents)
        length = len(old.lines)
        commit, written = history.last_written(first, moments[0])
        return Case(
            source=history.name,
            path=first.path if first.path == last.path else f"{first.path} -> {last.path}",
            moments=(history.commit(moments[0])[:12], history.commit(moments[1])[:12]),
            old=old,
            new=new,
            ranges=choose_ranges(self._rng, old.lines, written),
            truth=self._truth(versions, moments, length),
            group=f"{moments[1] - moments[0]:,} commits"
            if moments[1] - moments[0] in DISTANCES
            else "to the newest",
            restored=history.direct(first.blob, last.blob).follow(range(length + 1)),
            written=self._written(commit, written, (first, last), history.commit(moments[1])),
        )

    def _written(
        self,
        commit: str,
        ranges: Sequence[Range],
        versions: tuple[Version, Version],
        head: str,
    ) -> Written | None:
        moment = self._history.moment(commit) if commit and ranges else None
        if moment is None:
            return None
        return Written(commit, moment, ranges, versions[0].path, head, versions[1].path)

    def _truth(self, versions: Sequence[Version], moments: tuple[int, int], length: int) -> Truth:
        """Return what both diff algorithms and blame say together."""
        history, witnesses = self._history, self.witnesses
        one, other = (
            composed(history.changes(versions, algorithm), length) for algorithm in ALGORITHMS
        )
        blamed = history.blamed(versions[0], *moments, length)
        for number, line in enumerate(one):
            if line == other[number] != blamed[number]:
                if (
                    blamed[number] == DEAD
                ):  # blame without move detection takes moved blocks for dead
                    witnesses.moved += line > 0
                    blamed[number] = line
                else:
                    witnesses.blame_differs += 1
        truth = agreed([one, other, blamed], history.doubts(versions, length))
        witnesses.lines += length
        witnesses.unsettled += sum(map(ne, one, other))
        witnesses.doubtful += len(truth.doubts)
        return truth


def _is_readable(content: bytes) -> bool:
    return 0 < len(content) <= _LARGEST and b"\0" not in content


def _moments(rng: random.Random, commits: int, pairs: int) -> Iterator[tuple[int, int]]:
    """Give pairs of commits, all distances alike, spread over the whole history."""
    each = max(1, pairs // len(DISTANCES))
    for distance in DISTANCES:
        room = commits - (distance or 1)
        for slot in range(each if room > 0 else 0):
            start = rng.randrange(
                room * slot // each, max(room * (slot + 1) // each, room * slot // each + 1)
            )
            yield start, commits - 1 if distance is None else start + distance
