"""Measure opening a file against blame: `python -m benchmarks.locating.opening PATH...`.

For each git repository it takes the three largest source files of the newest commit, and locates
all ranges of a file, recorded in up to ten versions, against `git blame --porcelain`. All times
are processor time, git's included, except for the one git process that reads contents throughout.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks.locating.cases import random_range
from benchmarks.locating.repository import Repository
from benchmarks.measure import min_cpu_seconds
from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, OriginalText
from vibes_lsp.anchors.text import Text

RANGES: Final = 200
FILES: Final = 3
VERSIONS: Final = 10
LARGE: Final = 3_900
"""Lines from which on a file counts as large: the least of those that the aims were set by."""

Ratios: TypeAlias = tuple[float, float]
"""How many times as long blame takes as placing by anchors, and as placing with history."""


def main(repositories: Sequence[Path]) -> None:
    """Measure and print."""
    print(
        f"opening a file, {RANGES} ranges of up to {VERSIONS} versions, "
        "against git blame --porcelain (milliseconds)"
    )
    print(f"  {'lines':>7}{'blame':>9}{'anchors':>9}{'history':>9}  blame/anchors  blame/history")
    ratios: list[tuple[int, Ratios]] = []
    for path in repositories:
        with Repository(path) as repository:
            largest = sorted(
                repository.sources("HEAD"), key=lambda version: version.size, reverse=True
            )
            ratios += [_print_file(repository, version.path) for version in largest[:FILES]]
    _print_ratios("all", [each for _, each in ratios])
    _print_ratios(
        f"of {LARGE:,} lines and more", [each for lines, each in ratios if lines >= LARGE]
    )


def _print_file(repository: Repository, path: str) -> tuple[int, Ratios]:
    blobs = repository.blobs(path, VERSIONS)
    times = min_cpu_seconds(_subjects(random.Random(3), repository, path, blobs), rounds=7)
    lines = len(Text.from_bytes(repository.content(blobs[-1])).lines)
    ratios = times["blame"] / times["anchors"], times["blame"] / times["history"]
    shown = "".join(f"{seconds * 1000:9.1f}" for seconds in times.values())
    print(
        f"  {lines:7,}{shown}{ratios[0]:14.1f}x{ratios[1]:14.1f}x  {repository.name} {path}",
        flush=True,
    )
    return lines, ratios


def _subjects(
    rng: random.Random, repository: Repository, path: str, blobs: Sequence[str]
) -> dict[str, Callable[[], object]]:
    """Return the subjects: blame, locating by anchors, and locating with all versions from git."""
    recorded: list[AnchoredRange] = []
    made_in: list[int] = []
    texts = [Text.from_bytes(repository.content(blob)) for blob in blobs]
    for _ in range(RANGES):
        number = rng.randrange(len(texts))
        start, end = random_range(rng, len(texts[number].lines))
        recorded.append(AnchoredRange(start, end, create_anchors(texts[number], start, end)))
        made_in.append(number)

    def with_history() -> object:
        read = [Text.from_bytes(repository.content(blob)) for blob in blobs]
        later = [tuple(read[number + 1 : -1]) for number in range(len(read))]
        originals = [
            OriginalText(read[number], each.start, each.end, later[number])
            for each, number in zip(recorded, made_in, strict=True)
        ]
        return locate(recorded, read[-1], originals)

    newest = texts[-1].content
    return {
        "blame": lambda: repository.run("blame", "--porcelain", "HEAD", "--", path),
        "anchors": lambda: locate(recorded, Text(newest)),
        "history": with_history,
    }


def _print_ratios(which: str, ratios: Sequence[Ratios]) -> None:
    for name, column in zip(("anchors", "history"), zip(*ratios, strict=True), strict=False):
        told = f"median {statistics.median(column):.1f}x, least {min(column):.1f}x  (aims: 10x, 3x)"
        print(f"  blame/{name}, {which} ({len(column)} files): {told}")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
