"""Results of histories: one JSON object a line, and the table that is made of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.git_life.judge import ERRORS
from tests.git_life.life import Case, Life

_COLUMNS: Final = ("wrong", "distinctive", "ordinary", "copies", "human", "edited")
_PLACES: Final = ("checkout", "clone", "waiting", "during", "shallow", "sparse", "partial")


def result(case: Case, subject: str, life: Life, seconds: float) -> dict[str, Any]:
    """Return what is kept of a history that was played."""
    happened = life.history.happened
    return {
        "kind": case.kind,
        "seed": case.seed,
        "subject": subject,
        "counts": dict(sorted(life.verdicts.counts.items())),
        "problems": life.verdicts.problems,
        "unknown": happened.unknown,
        "refused": happened.refused,
        "left": happened.left,
        "seconds": round(seconds, 2),
    }


def failure(case: Case, subject: str, error: BaseException) -> dict[str, Any]:
    """Return what is kept of a history that could not be played to its end."""
    return {
        "kind": case.kind,
        "seed": case.seed,
        "subject": subject,
        "counts": {},
        "failed": f"{type(error).__name__}: {error}"[:1000],
    }


def read(file: Path) -> Iterator[Mapping[str, Any]]:
    """Read the results of a file; a cut last line is left out."""
    if not file.exists():
        return
    for row in file.read_text("utf-8").splitlines():
        try:
            yield json.loads(row)
        except ValueError:
            continue


def errors(counts: Mapping[str, int], place: str | None = None) -> list[int]:
    """Return the number of errors of each class, in a place or in all."""
    places = _PLACES if place is None else (place,)
    return [sum(counts.get(f"{name}.{error}", 0) for name in places) for error in ERRORS]


def share(part: int, whole: int) -> str:
    """Return a percentage, or `-` of nothing."""
    return f"{100 * part / whole:.1f}" if whole else "-"


def table(results: Iterable[Mapping[str, Any]]) -> str:
    """Return a table in Markdown, by kind, and the sums."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for outcome in results:
        kinds.setdefault(outcome["kind"], []).append(outcome)
    rows = [_row(kind, kinds[kind]) for kind in kinds]
    for name, is_real in (("**generated code**", False), ("**real code**", True)):
        chosen = [
            outcomes for kind, outcomes in kinds.items() if is_real == kind.startswith("real_")
        ]
        if chosen:
            rows.append(_row(name, [outcome for outcomes in chosen for outcome in outcomes]))
    head = (
        "kind",
        "n",
        "failed",
        "/".join(_COLUMNS),
        "verified % of blamed: checkout / clone",
        "of all AI lines",
        "waiting",
        "AI / person lines",
        "log: lines / sum / missing / twice / records repeated",
        "gate: AI lines / seen in clone / in checkout only / of persons",
        "claimed, edited of persons; exchanged by git",
        "refused / left / unknown",
    )
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    counts = _sum(outcome for outcomes in kinds.values() for outcome in outcomes)
    typed, wrong = counts["real.typed"], counts["real.typed_verified"]
    return "\n".join([*lines, "", f"Real code: {wrong} of {typed} lines of persons verified."])


def _sum(results: Iterable[Mapping[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for outcome in results:
        counts.update(outcome["counts"])
    return counts


def _row(name: str, results: Sequence[Mapping[str, Any]]) -> list[str]:
    counts = _sum(results)
    log = [counts[f"log.{what}"] for what in ("lines", "sum", "missing", "twice", "repeated")]
    wrong_claims = [
        sum(counts[f"{place}.person_{kind}"] for place in _PLACES) for kind in ("claimed", "edited")
    ]
    exchanged = sum(counts[f"{place}.exchanged"] for place in _PLACES)
    incidents = [
        sum(len(outcome.get(what, ())) for outcome in results) for what in ("refused", "left")
    ]
    return [
        name,
        str(len(results)),
        str(sum("failed" in outcome for outcome in results)),
        "/".join(map(str, errors(counts))),
        " / ".join(
            share(counts[f"{place}.blamed_verified"], counts[f"{place}.blamed"])
            for place in ("checkout", "clone")
        ),
        " / ".join(
            share(counts[f"{place}.verified"], counts[f"{place}.ai"])
            for place in ("checkout", "clone")
        ),
        share(counts["waiting.verified"], counts["waiting.ai"]),
        f"{counts['checkout.ai']} / {counts['checkout.person']}",
        " / ".join(map(str, log)),
        " / ".join(str(counts[f"gate.{what}"]) for what in ("ai", "ai_seen", "unseen", "person")),
        f"{', '.join(map(str, wrong_claims))}; {exchanged}",
        " / ".join(map(str, (*incidents, sum(outcome.get("unknown", 0) for outcome in results)))),
    ]


def command(case: Case, subject: str) -> str:
    """Return the command that plays a history again."""
    return f"python -m tests.git_life --kind {case.kind} --seeds {case.seed} --subject {subject}"
