"""The outcomes as counts, as Markdown tables and as JSON."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from benchmarks.locating.cases import Fate
from benchmarks.locating.scoring import Mode, Outcome, Run
from vibes_lsp.anchors.location import State

_HEADINGS: Final = (
    "source", "mode", "files", "ranges", "start right", "start and end right", "wrong", "lost",
    "ambiguous", "sure", "wrong but sure: surviving", "dead",
    "restored", "unchanged called sure", "ms per file",
)  # fmt: skip


@dataclass
class Tally:
    """Counts of one source in one mode.

    Attributes:
        ranges: All ranges.
        unknown: Those of unknown truth; they do not count below.
        starts: Those whose start survives.
        starts_right, starts_wrong, starts_lost, starts_ambiguous: The results for these; ambiguous
            ones are also right or wrong.
        both: Those whose start and end survive in order.
        both_right: Of these, both right.
        dead, dead_placed: Those of which nothing survives, and how many have a place all the same.
        restored, restored_sure: Those whose text was deleted and written again at the same place,
            and how many are called sure.
        sure: Sure claims of known truth.
        wrong_sure, wrong_sure_dead: Those that are wrong, on surviving and on dead lines.
        once, once_sure: Those whose lines occur unchanged at one place, and how many are sure.
        milliseconds: Time of each file.
        methods: By method, state and sureness: ranges with a surviving start, and right starts.
    """

    ranges: int = 0
    unknown: int = 0
    starts: int = 0
    starts_right: int = 0
    starts_wrong: int = 0
    starts_lost: int = 0
    starts_ambiguous: int = 0
    both: int = 0
    both_right: int = 0
    dead: int = 0
    dead_placed: int = 0
    restored: int = 0
    restored_sure: int = 0
    sure: int = 0
    wrong_sure: int = 0
    wrong_sure_dead: int = 0
    once: int = 0
    once_sure: int = 0
    milliseconds: list[float] = field(default_factory=list)
    methods: Counter[tuple[str, str, bool, str]] = field(default_factory=Counter)

    def add(self, run: Run) -> None:
        """Count a run."""
        self.milliseconds.append(run.seconds * 1000)
        for outcome in run.outcomes:
            self._count(outcome)

    def _count(self, outcome: Outcome) -> None:
        located, fate = outcome.located, outcome.fate
        self.ranges += 1
        if fate is Fate.UNKNOWN:
            self.unknown += 1
            return
        self.sure += located.sure
        if outcome.start_survives:
            self.starts += 1
            self.starts_right += outcome.start_right
            self.starts_lost += not outcome.placed
            self.starts_wrong += outcome.placed and not outcome.start_right
            self.starts_ambiguous += located.ambiguous
        if fate is Fate.WHOLE:
            self.both += 1
            self.both_right += outcome.both_right
        if outcome.case.stands_once(outcome.asked):
            self.once += 1
            self.once_sure += located.sure
        self._count_dead(outcome)
        self.methods[located.method.value, located.state.value, located.sure, verdict(outcome)] += 1

    def _count_dead(self, outcome: Outcome) -> None:
        sure, fate = outcome.located.sure, outcome.fate
        if fate is Fate.DEAD:
            self.dead += 1
            self.dead_placed += outcome.placed
            self.wrong_sure_dead += outcome.wrong_but_sure
        else:
            self.wrong_sure += outcome.wrong_but_sure
        if fate is Fate.RESTORED:
            self.restored += 1
            self.restored_sure += sure


def verdict(outcome: Outcome) -> str:
    """Return in a word what a claim is worth."""
    if outcome.fate in (Fate.DEAD, Fate.RESTORED):
        return outcome.fate.name.lower()
    if outcome.fate is Fate.UNKNOWN:
        return "unknown"
    if outcome.fate is Fate.REST:
        return "start dead"
    if outcome.located.state is State.LOST:
        return "lost"
    if not outcome.start_right:
        return "wrong"
    return "end wrong" if outcome.fate is Fate.WHOLE and not outcome.both_right else "right"


class Report:
    """Collects runs and reports them.

    Attributes:
        total: The name of the sum of all sources.
        wrong_but_sure: The sure claims that are wrong.
        missed: The claims about surviving lines that are not fully right.
    """

    def __init__(self, total: str = "all") -> None:
        self.total: Final = total
        self._tallies: dict[tuple[str, Mode], Tally] = {}
        self.wrong_but_sure: list[Outcome] = []
        self.missed: list[Outcome] = []

    def add(self, source: str, mode: Mode, run: Run, group: str = "") -> None:
        """Add a run of a case that belongs to a source, and perhaps to a group of all sources."""
        for name in filter(None, (source, group, self.total)):
            self._tallies.setdefault((name, mode), Tally()).add(run)
        self.wrong_but_sure += [outcome for outcome in run.outcomes if outcome.wrong_but_sure]
        self.missed += [
            outcome
            for outcome in run.outcomes
            if verdict(outcome) in ("wrong", "lost", "end wrong")
        ]

    def markdown(self) -> Iterator[str]:
        """Give the lines of the tables, and of the list of claims that are wrong but sure."""
        modes = list(Mode)
        ordered = sorted(
            self._tallies.items(),
            key=lambda item: (item[0][0] == self.total, item[0][0], modes.index(item[0][1])),
        )
        yield from _table(
            _HEADINGS, (_row(source, mode, tally) for (source, mode), tally in ordered)
        )
        for mode in Mode:
            tally = self._tallies.get((self.total, mode))
            if tally is not None:
                yield ""
                yield f"By method and state, {mode.value}:"
                yield ""
                yield from _method_table(tally)
        yield ""
        yield f"Wrong but sure: {len(self.wrong_but_sure)}"
        for outcome in self.wrong_but_sure:
            yield f"- {described(outcome)}"

    def json(self) -> dict[str, object]:
        """Return all of it for machines."""
        return {
            "tallies": [
                {
                    "source": source,
                    "mode": mode.value,
                    **{
                        name: value
                        for name, value in asdict(tally).items()
                        if name not in ("methods", "milliseconds")
                    },
                    "msPerFile": {
                        "median": statistics.median(tally.milliseconds),
                        "max": max(tally.milliseconds),
                    },
                    "methods": [
                        {"method": m, "state": s, "sure": sure, "verdict": v, "n": n}
                        for (m, s, sure, v), n in sorted(tally.methods.items())
                    ],
                }
                for (source, mode), tally in self._tallies.items()
            ],
            "wrongButSure": [_listed(outcome) for outcome in self.wrong_but_sure],
            "missed": [_listed(outcome) for outcome in self.missed],
        }


def described(outcome: Outcome) -> str:
    """Return a claim and the truth in one line."""
    case, located, (start, end) = outcome.case, outcome.located, outcome.asked
    flags = ", ".join(
        word for word, said in (("ambiguous", located.ambiguous), ("sure", located.sure)) if said
    )
    return (
        f"{outcome.mode.value}: {case.source} {case.path} "
        f"{case.moments[0]}..{case.moments[1]} {start}-{end}: "
        f"said {_span(located.start, located.end)} ({located.state.value}, "
        f"{located.method.value}, {located.confidence:.2f}{', ' if flags else ''}{flags}), "
        f"true {_span(case.true_start(outcome.asked), case.true_end(outcome.asked))} "
        f"({outcome.fate.value})"
    )


def _listed(outcome: Outcome) -> Mapping[str, object]:
    case, located, (start, end) = outcome.case, outcome.located, outcome.asked
    return {
        "mode": outcome.mode.value, "source": case.source, "path": case.path,
        "from": case.moments[0], "to": case.moments[1],
        "asked": [start, end], "said": [located.start, located.end],
        "true": [case.true_start(outcome.asked), case.true_end(outcome.asked)],
        "state": located.state.value, "method": located.method.value,
        "confidence": located.confidence,
        "ambiguous": located.ambiguous, "sure": located.sure,
        "fate": outcome.fate.name.lower(), "verdict": verdict(outcome),
    }  # fmt: skip


def _row(source: str, mode: Mode, tally: Tally) -> Sequence[str]:
    return (
        source,
        mode.value,
        f"{len(tally.milliseconds):,}",
        f"{tally.ranges - tally.unknown:,}",
        _share(tally.starts_right, tally.starts),
        _share(tally.both_right, tally.both),
        _share(tally.starts_wrong, tally.starts),
        _share(tally.starts_lost, tally.starts),
        _share(tally.starts_ambiguous, tally.starts),
        f"{tally.sure:,}",
        f"{tally.wrong_sure}",
        f"{tally.wrong_sure_dead} of {tally.dead:,}",
        f"{tally.restored_sure} of {tally.restored:,}",
        _share(tally.once_sure, tally.once),
        f"{statistics.median(tally.milliseconds):.1f}",
    )


def _method_table(tally: Tally) -> Iterator[str]:
    verdicts = ("right", "end wrong", "wrong", "lost", "start dead", "restored", "dead")
    kinds = sorted({kind[:3] for kind in tally.methods})
    rows = (
        (
            method,
            state,
            "yes" if sure else "no",
            *(f"{tally.methods[method, state, sure, name]:,}" for name in verdicts),
        )
        for method, state, sure in kinds
    )
    yield from _table(("method", "state", "sure", *verdicts), rows)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"


def _span(start: int | None, end: int | None) -> str:
    names = {None: "nowhere", 0: "dead", -1: "unknown"}
    first, last = (names.get(line, str(line)) for line in (start, end))
    return first if first == last else f"{first}-{last}"
