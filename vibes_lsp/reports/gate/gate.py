"""Runs the gate: over the work tree, over a change, over some files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from typing_extensions import override

from vibes_lsp.anchors.located import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Counting, Scorer
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import mapping, text
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.reports.gate import catalogue
from vibes_lsp.reports.gate.believing import Believed, Doubter
from vibes_lsp.reports.gate.deciding import Decision, Rulebook, Threshold, decide
from vibes_lsp.reports.gate.grounds import Grounds
from vibes_lsp.reports.gate.looking import Looking, Step
from vibes_lsp.reports.gate.report import GateReport, Item
from vibes_lsp.reports.gate.reviewers import Reviewers
from vibes_lsp.reports.placements import PlacementReport, stored_score
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.signals import assess
from vibes_lsp.risk.standing import Standing


@dataclass(frozen=True)
class Asked:
    """What is asked of the gate.

    Attributes:
        now: The present instant.
        threshold: From where on an annotation is blocked.
        files: The files that are meant, relative to the project; None for all.
        stored: Whether the scores and factors that records carry count, and not the live ones.
        commits: Whether the commit of each annotation is wanted, which takes reading the history of the log.
        everything: Whether every record of the log counts, whatever became of it and whoever approved: the scope of RFC 10.4.5.
        step: Told how far it is.
    """

    now: datetime
    threshold: Threshold = field(default_factory=Threshold)
    files: Collection[str] | None = None
    stored: bool = False
    everything: bool = False
    commits: bool = False
    step: Step = field(default=lambda *_: None)


def gate(places: Places, grounds: Grounds, asked: Asked) -> GateReport:
    """Return what the gate comes to.

    Args:
        places: Of the project.
        grounds: What it goes by.
        asked: What is meant.

    Raises:
        HistoryUnavailable: A base was given, and git cannot answer.
    """
    run = _Run(places, grounds, asked)
    items = sorted(run.items(), key=lambda item: item.order)
    if asked.commits:
        places.derive([item.placement.lineage for item in items])
    findings = [*grounds.findings(asked.now), *run.findings()]
    bound = asked.threshold.bound(grounds.config.policy.thresholds)
    return GateReport(asked.threshold, bound, grounds.base, tuple(items), tuple(sorted(findings, key=lambda finding: finding.order)))


class _Run:
    def __init__(self, places: Places, grounds: Grounds, asked: Asked) -> None:
        self._places, self._grounds, self._asked = places, grounds, asked
        self._policy = grounds.config.policy
        self._rules = Rulebook(self._policy)
        self._reviewers = Reviewers(places, grounds.since)
        self._scorer = _Scorer(places.trail, self._policy, None if asked.everything else self._reviewers.counts, stored=asked.stored)
        self._looking = Looking(places, self._only(), asked.step)
        self._doubter = None if grounds.since is None else Doubter(places, grounds.since)
        self._report: tuple[Text, PlacementReport] | None = None
        self._found: list[Finding] = []
        self._tracked: dict[str, bool] = {}

    def _only(self) -> Collection[str] | None:
        files = self._asked.files
        if self._grounds.since is None:
            return files
        changed = self._grounds.changed()
        return changed if files is None else changed.intersection(files)

    def items(self) -> Iterator[Item]:
        """Give what was decided of each annotation, file by file."""
        if self._asked.everything:
            for content, placement in self._looking.recorded():
                yield self._item(Believed(placement, placement), content, Standing.UNREVIEWED)
            return
        suspects: dict[str, tuple[Text, list[Item]]] = {}
        for content, placement in self._looking.placed():
            believed = Believed(placement, placement) if self._doubter is None else self._doubter.look(placement, content)
            self._note(believed)
            if not self._is_gated(believed.placement):
                continue
            item = self._item(believed, content, self._scorer.standing(believed.placement, content))
            if item.decision == Decision.PASS and not item.rejected:
                yield item
            else:
                suspects.setdefault(placement.path, (content, []))[1].append(item)
        yield from self._uncontradicted(suspects)

    def _uncontradicted(self, suspects: dict[str, tuple[Text, list[Item]]]) -> Iterator[Item]:
        """Give the items of some files that git's history does not contradict (R15).

        A text alone places most annotations. History is asked about those that do not pass. A change
        can backdate its commits: with a base only files that stand as the base has them count.
        """
        places = self._places
        asked = [path for path, (content, _) in suspects.items() if places.has_git and self._is_of_base(path, content)]
        places.derive([item.placement.lineage for path in asked for item in suspects[path][1]])
        for path, (content, items) in suspects.items():
            placements = [item.placement for item in items]
            disproved = places.contradicted(path, content, placements) if path in asked else frozenset()
            yield from (item for item in items if item.placement.lineage.first.id not in disproved)

    def _is_of_base(self, path: str, content: Text) -> bool:
        """Whether a file stands as the base has it; without a base, whatever stands there counts."""
        since = self._grounds.since
        if since is None:
            return True
        data = since.repository.read_below(since.commit, self._places.trail.directory.project, path)
        return data is not None and Text.from_bytes(data).lines == content.lines

    def _is_gated(self, placement: Placement) -> bool:
        """Whether an annotation is an item, tracked, and not of removed or lost lines (R26, R27).

        What only may be here is gated: it must not pay to make code hard to find.
        """
        is_there = placement.located.state != State.LOST and placement.lineage.action != Action.DELETE
        return is_there and placement.is_item and self._tracks(placement.path)

    def _tracks(self, path: str) -> bool:
        if path not in self._tracked:
            self._tracked[path] = self._grounds.config.tracking.tracks(path)
        return self._tracked[path]

    def _item(self, believed: Believed, content: Text, standing: Standing) -> Item:
        placement, policy = believed.placement, self._policy
        by_record = self._asked.stored or not policy.scores  # R27: of an unknown algorithm there is nothing else
        live = None if by_record else self._scorer.score(placement, content)
        score = stored_score(placement) if by_record else live.value if live is not None else None
        factors = () if not policy.rules else live.factors if live else assess(self._scorer.measured(placement, content), policy)
        rules = self._rules.matching(factors, _stored_values(placement) if by_record else None)
        decision = decide(score, policy, self._asked.threshold, rules)
        approved, rejected = standing == Standing.APPROVED, standing == Standing.REJECTED
        return Item(placement, score, live, self._reporting(content), believed.shown.current.id, rules, decision, approved, rejected)

    def _reporting(self, content: Text) -> PlacementReport:
        if self._report is None or self._report[0] is not content:
            self._report = content, PlacementReport(self._places.trail, content, scorer=self._scorer, derived=self._places.derived)
        return self._report[1]

    def _note(self, believed: Believed) -> None:
        """Keep what there is to say of an annotation beside the decision."""
        placement = believed.placement
        if not self._tracks(placement.path):
            return
        is_lost = placement.located.state == State.LOST and placement.lineage.action != Action.DELETE
        if believed.hiding is None and not believed.retold and not is_lost:  # as most
            return
        name = f"annotation {placement.lineage.first.id[:16]}"
        start = placement.located.start
        if believed.hiding is not None:
            lines = f"lines {start}-{placement.located.end}"
            self._found.append(Finding(catalogue.HIDDEN, f"{believed.hiding}, and {name} still stands on {lines}", placement.path, start))
        for record in believed.retold:
            message = f"record {record.id[:16]} retells how {name} was made"
            self._found.append(Finding(catalogue.REMADE, message, placement.path, start))
        if is_lost and placement.is_item:
            since = self._grounds.since
            is_new = since is not None and since.is_new(placement.lineage.first)
            override = Severity.WARNING if is_new else None
            self._found.append(Finding(catalogue.LOST, f"{name} is not found", placement.path, None, None, override))

    def findings(self) -> Iterable[Finding]:
        """Return what was found on the way."""
        for path, reason in self._looking.unread.items():
            if not self._asked.everything and self._tracks(path):
                self._found.append(Finding(catalogue.UNREAD, reason, path))
        for refused in self._reviewers.refused.values():
            placement = refused.placement
            by = f" by {refused.review.by}" if refused.review.by else ""
            message = f"the approval{by} of annotation {placement.current.id[:16]} does not count: {refused.reason}"
            self._found.append(Finding(catalogue.APPROVAL, message, placement.path, placement.located.start))
        return self._found


class _Scorer(Scorer):
    """A scorer that remembers where the last annotation stands, which is asked more than once; with `stored` it leaves scoring to the records."""

    def __init__(self, trail: Trail, policy: Policy, counts: Counting | None, *, stored: bool) -> None:
        super().__init__(trail, replace(policy, enabled=False) if stored else policy, counts)
        self._last: tuple[Placement, Standing] | None = None

    @override
    def standing(self, placement: Placement, content: Text) -> Standing:
        if self._last is None or self._last[0] is not placement:
            self._last = placement, super().standing(placement, content)
        return self._last[1]


def _stored_values(placement: Placement) -> dict[str, float]:
    """Return the normalised values that a record carries, by signal (RFC 10.4.4)."""
    factors = placement.current.members.get("risk_factors")
    found: dict[str, float] = {}
    for factor in factors if isinstance(factors, list) else []:
        members = mapping({"factor": factor}, "factor")
        signal, value = text(members, "signal"), members.get("value")
        if signal is not None and isinstance(value, int | float) and not isinstance(value, bool):
            found.setdefault(signal, float(value))
    return found
