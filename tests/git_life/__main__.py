"""Plays generated histories, and reports what a tool says of their lines.

    python -m tests.git_life --histories 1000 --seeds 1-12 --results life.jsonl --subject SUBJECT

A file of results is continued: what it has is not played again. SUBJECT is `nothing`, `product`,
`product-hook`, `product-editor`, or MODULE:CLASS.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from tests.git_life import results
from tests.git_life.kinds import KINDS
from tests.git_life.life import Case, MakeSubject, lived

_SUBJECTS: Final = {
    "nothing": "tests.git_life.nothing:Nothing",
    "product": "tests.git_life.product:CommandLine",
    "product-editor": "tests.git_life.editor:Editor",
    "product-hook": "tests.git_life.product:AgentHook",
}


def make_subject(name: str) -> MakeSubject:
    """Return what makes a subject."""
    module, _, attribute = _SUBJECTS.get(name, name).partition(":")
    subject: MakeSubject = getattr(import_module(module), attribute)
    return subject


def seeds(text: str) -> range:
    """Return the seeds of `3` or `1-12`."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def cases(chosen: range, kinds: list[str], count: int) -> Iterator[Case]:
    """Yield histories: all kinds with the first seed, then with the next one."""
    for number in range(count):
        seed, kind = divmod(number, len(kinds))
        if seed >= len(chosen):
            return
        yield Case(kinds[kind], chosen[seed])


def play(case: Case, subject: str, *, asks: bool) -> dict[str, object]:
    """Play a history, and return its result."""
    start = time.monotonic()
    try:
        with lived(case, make_subject(subject), asks=asks) as life:
            return results.result(case, subject, life, time.monotonic() - start)
    except Exception as error:  # noqa: BLE001  # one history must not end the run
        return results.failure(case, subject, error)


def show(case: Case, subject: str, outcome: dict[str, object]) -> None:
    """Print the problems of a history, with the command that repeats it."""
    lines = [*outcome.get("problems", ()), *outcome.get("left", ()), *outcome.get("refused", ())]  # type: ignore[misc]
    if "failed" in outcome:
        lines.append(outcome["failed"])
    if lines:
        print(results.command(case, subject))  # noqa: T201
        for line in lines:
            print("   ", line)  # noqa: T201
        sys.stdout.flush()


def main() -> None:
    """Play, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--histories", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=seeds, default=range(1, 2))
    parser.add_argument("--kind", dest="kinds", action="append", choices=sorted(KINDS))
    parser.add_argument("--subject", default="nothing")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--final", action="store_true", help="ask at the end only")
    options = parser.parse_args()
    known = list(results.read(options.results)) if options.results else []
    played = {
        (outcome["kind"], outcome["seed"])
        for outcome in known
        if outcome["subject"] == options.subject
    }
    for case in cases(options.seeds, options.kinds or list(KINDS), options.histories):
        if (case.kind, case.seed) in played:
            continue
        outcome = play(case, options.subject, asks=not options.final)
        known.append(outcome)
        show(case, options.subject, outcome)
        if options.results:
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(outcome) + "\n")
    print(results.table(outcome for outcome in known if outcome["subject"] == options.subject))  # noqa: T201


if __name__ == "__main__":
    main()
