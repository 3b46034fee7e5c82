"""Measure on git histories how accurate the locator is.

Run `python -m benchmarks.locating PATH... [--pairs N] [--files N] [--seed S] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.locating.cases import Case
from benchmarks.locating.generated import generated
from benchmarks.locating.history import History
from benchmarks.locating.in_git import Checkout
from benchmarks.locating.replay import Replay, Witnesses
from benchmarks.locating.report import Report, described
from benchmarks.locating.scoring import Outcome, score

_TEXTS = 100


def main() -> None:
    """Locate, score and print."""
    options = _options()
    real, made = Report("all"), Report("generated: all")
    texts = []
    for path in options.repositories:
        begun = time.perf_counter()
        with History(path, options.commits) as history, Checkout(path) as checkout:
            replay = Replay(history, files=options.files, seed=options.seed)
            _add(real, replay.cases(options.pairs), checkout)
            texts += replay.texts(_TEXTS)
        _print_witnesses(
            replay.witnesses,
            f"{history.name}, {len(history):,} commits, {time.perf_counter() - begun:.0f} s",
        )
    _add(made, generated(random.Random(options.seed), texts, options.generated))
    for report in (real, made):
        print()
        print("\n".join(report.markdown()))
        _print_sample(report, options.sample, options.seed)
    if options.json is not None:
        told = {"histories": real.json(), "generated": made.json()}
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.locating",
        description="How right the locator is on real git histories.",
    )
    parser.add_argument(
        "repositories", nargs="+", type=Path, metavar="PATH", help="git repositories, bare or not"
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=60,
        help="pairs of commits for each repository (default %(default)s)",
    )
    parser.add_argument(
        "--files", type=int, default=8, help="files at most for each pair (default %(default)s)"
    )
    parser.add_argument(
        "--commits", type=int, default=5000, help="newest commits at most (default %(default)s)"
    )
    parser.add_argument(
        "--generated",
        type=int,
        default=260,
        metavar="N",
        help="cases made by random edits (default %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="another seed asks for other files and ranges"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all counts and all misses there"
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=0,
        metavar="N",
        help="show so many claims that missed, with their lines",
    )
    return parser.parse_args()


def _add(report: Report, cases: Iterable[Case], checkout: Checkout | None = None) -> None:
    for case in cases:
        for mode, run in score(case, checkout):
            report.add(case.source, mode, run, case.group)


def _print_witnesses(witnesses: Witnesses, name: str) -> None:
    print(
        f"{name}: {witnesses.lines:,} lines followed; "
        f"diff algorithms disagree or moves are too small for "
        f"{_share(witnesses.unsettled, witnesses)}, "
        f"blame --reverse disagrees for {_share(witnesses.blame_differs, witnesses)}; "
        f"in moved blocks {_share(witnesses.moved, witnesses)}; "
        f"in doubt but for their neighbours {_share(witnesses.doubtful, witnesses)}",
        flush=True,
    )


def _share(lines: int, witnesses: Witnesses) -> str:
    return f"{lines:,} ({lines / max(witnesses.lines, 1):.2%})"


def _print_sample(report: Report, size: int, seed: int) -> None:
    rng = random.Random(seed)
    for outcome in rng.sample(report.missed, min(size, len(report.missed))):
        print(f"\n{described(outcome)}")
        _print_lines(outcome)


def _print_lines(outcome: Outcome) -> None:
    """Show a range, the place that was said and the true one."""
    case, located, (start, end) = outcome.case, outcome.located, outcome.asked
    shown = min(end - start + 1, 8)
    places = (
        ("old ", case.old.lines, start),
        ("said", case.new.lines, located.start),
        ("true", case.new.lines, case.true_start(outcome.asked)),
    )
    for name, lines, place in places:
        if place is not None and place > 0:
            for number, line in enumerate(lines[place - 1 : place - 1 + shown], place):
                sys.stdout.write(
                    f"  {name} {number:5} {line[:120]}\n".encode("utf-8", "replace").decode()
                )


if __name__ == "__main__":
    main()
