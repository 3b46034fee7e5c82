"""Measure locating against a plain search: `python -m benchmarks.locating.speed`.

A thousand ranges in 20,000 lines. The search takes each occurrence of the context, the nearest
first, verified by the hash. All times are processor time.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Final

from benchmarks.locating.cases import Range, random_range
from benchmarks.locating.generated import EDITS, Draft
from benchmarks.locating.linemaps import DEAD
from benchmarks.measure import min_cpu_seconds
from vibes_lsp.anchors.create_anchors import CONTEXT_BYTES, create_anchors, range_hash
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.anchors.text import Text

LINES: Final = 20_000
RANGES: Final = 1_000
_SHIFT: Final = ("insert", "delete") * 10
_EDIT: Final = (*_SHIFT, *("edit",) * 50)  # four lines each: 1 % of all
SCENARIOS: Final[Mapping[str, Sequence[str]]] = {
    "shift": _SHIFT,
    "edit": _EDIT,
    "move": (*_EDIT, *("move",) * 5),
    "reformat": ("reformat",),
    "rename": ("rename", "rename"),
}


def main() -> None:
    """Measure and print."""
    rng = random.Random(7)
    lines = _standard_library()
    old = Text("".join(f"{line}\n" for line in lines))
    ranges = [random_range(rng, len(lines)) for _ in range(RANGES)]
    recorded = [AnchoredRange(start, end, create_anchors(old, start, end)) for start, end in ranges]
    print(
        f"locating {RANGES:,} ranges in {len(lines):,} lines "
        "(milliseconds; right starts of those that survive)"
    )
    print(f"  {'':<10}{'search':>9}{'anchors':>9}  search/anchors     right: search, anchors")
    for name, edits in SCENARIOS.items():
        draft = Draft(rng, list(enumerate(lines, 1)), lines)
        for edit in edits:
            EDITS[edit](draft)
        new = "".join(f"{line}\n" for _, line in draft.lines)
        subjects = _subjects(recorded, new)
        times = min_cpu_seconds(subjects, rounds=7)
        places = {
            number: place for place, (number, _) in enumerate(draft.lines, 1) if number != DEAD
        }
        rights = [_share_right(ranges, places, run()) for run in subjects.values()]
        shown = "".join(f"{seconds * 1000:9.0f}" for seconds in times.values())
        ratio = times["search"] / times["anchors"]
        print(
            f"  {name:<10}{shown}{ratio:10.1f}x            "
            + ", ".join(f"{right:.1%}" for right in rights)
        )


def _standard_library() -> list[str]:
    """Return 20,000 lines of real code that every machine has."""
    folder = Path(random.__file__).parent
    texts = (
        path.read_text("utf-8").splitlines()
        for path in sorted(folder.glob("*.py"))
        if path.stat().st_size > 20_000
    )
    return list(chain.from_iterable(texts))[:LINES]


def _subjects(
    recorded: Sequence[AnchoredRange], new: str
) -> dict[str, Callable[[], list[int | None]]]:
    """Return the subjects; each starts from a string, as a request does."""
    return {
        "search": lambda: search(recorded, Text(new)),
        "anchors": lambda: [found.start for found in locate(recorded, Text(new))],
    }


def search(recorded: Sequence[AnchoredRange], text: Text) -> list[int | None]:
    """Return where ranges start by a plain search: the nearest context with a matching hash.

    Else the nearest context, else None. As fast as such a search can be: contexts match at line
    ends only, so that blank ones are not found in every line.
    """
    lines = text.lines
    joined = "\n".join(("", *lines, ""))
    begins = list(accumulate((len(line) + 1 for line in lines), initial=0))
    return [_searched(each, lines, joined, begins) for each in recorded]


def _searched(
    each: AnchoredRange, lines: Sequence[str], joined: str, begins: Sequence[int]
) -> int | None:
    context = each.anchors.context or ""
    whole = len(context.encode()) < CONTEXT_BYTES - 4  # a longer one may be cut within a line
    wanted = f"\n{context}\n" if whole else f"\n{context}"
    places = []
    at = joined.find(wanted)
    while at >= 0:
        places.append(bisect_right(begins, at))
        at = joined.find(wanted, at + 1)
    places.sort(key=lambda line: abs(line - each.start))
    fitting = (
        line
        for line in places
        if range_hash(lines[line - 1 : line - 1 + each.length]) == each.anchors.hash
    )
    return next(fitting, places[0] if places else None)


def _share_right(
    ranges: Sequence[Range], places: Mapping[int, int], found: Sequence[int | None]
) -> float:
    survive = [
        (places[start], place)
        for (start, _), place in zip(ranges, found, strict=True)
        if start in places
    ]
    return sum(true == place for true, place in survive) / len(survive)


if __name__ == "__main__":
    main()
