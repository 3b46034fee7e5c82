"""Runs the gate: over the work tree, over a change, over some files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec
from typing_extensions import override

from vibes_lsp.anchors.located import Since as OlderCommit
from vibes_lsp.anchors.located import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.gate import catalogue
from vibes_lsp.gate.collect import NOWHERE, AnnotationCollector, Step
from vibes_lsp.gate.context import GateContext
from vibes_lsp.gate.decide import STOPPING, GateDecision, Rulebook, Threshold, decide
from vibes_lsp.gate.recovery import Recovery, covers
from vibes_lsp.gate.report import GateReport, Item
from vibes_lsp.gate.reviewers import Reviewers
from vibes_lsp.gate.tamper_checks import CheckedAnnotation, TamperChecks
from vibes_lsp.gate.texts import Texts
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.index.placements import Placement, ShownLineage
from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Counting, Scorer, custom_signals
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.hashing import RISK_MEMBERS
from vibes_lsp.model.members import mapping, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.reports.placements import PlacementReport, stored_score
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.review_status import ReviewStatus
from vibes_lsp.risk.signals import compute_factors


@dataclass(frozen=True)
class GateRequest:
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


def gate(places: Places, grounds: GateContext, asked: GateRequest) -> GateReport:
    """Return what the gate comes to.

    Args:
        places: Of the project.
        grounds: What it goes by.
        asked: What is meant.

    Raises:
        HistoryUnavailable: A base was given, and git cannot answer.
    """
    with _texts(grounds) as texts:
        run = _Run(places, grounds, asked, texts)
        items = sorted(run.items(), key=lambda item: item.order)
        if asked.commits:
            places.derive([item.placement.lineage for item in items])
        findings = [*grounds.findings(asked.now), *run.findings()]
    bound = asked.threshold.bound(grounds.config.policy.thresholds)
    return GateReport(
        asked.threshold,
        bound,
        grounds.base,
        tuple(items),
        tuple(sorted(findings, key=lambda finding: finding.order)),
    )


class _Run:
    def __init__(
        self, places: Places, grounds: GateContext, asked: GateRequest, texts: Texts | None
    ) -> None:
        self._places, self._grounds, self._asked = places, grounds, asked
        self._policy = grounds.config.policy
        self._rules = Rulebook(self._policy)
        self._reviewers = Reviewers(places, grounds.since)
        self._scorer = _Scorer(
            places.trail,
            self._policy,
            None if asked.everything else self._reviewers.counts,
            stored=asked.stored,
        )
        self._texts = texts
        self._looking = AnnotationCollector(places, self._only(), asked.step, texts)
        self._doubter = None if grounds.since is None else TamperChecks(places, grounds.since)
        self._recovery = None if grounds.since is None else Recovery(places, grounds.since)
        self._would_stop: set[str] = set()
        self._seen: set[str] = set()
        self._report: tuple[Text, PlacementReport] | None = None
        self._found: list[Finding] = []
        self._tracked: dict[str, bool] = {}
        self._of_base: dict[str, bool] = {}

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
                yield self._item(
                    CheckedAnnotation(placement, placement), content, ReviewStatus.UNREVIEWED
                )
            return
        yield from self._uncontradicted(self._placed())

    def _placed(self) -> Iterable[tuple[Item, Text]]:
        """Return what was decided of the annotations of files, each with the text it was judged in.

        Of several texts of one file the one counts that stops.
        """
        found: dict[tuple[str, str, str], tuple[Item, Text]] = {}
        for content, placement in self._looking.placed():
            believed = self._believed(placement, content)
            self._note(believed, content)
            if not self._is_gated(believed.placement):
                continue
            item = self._item(believed, content, self._scorer.standing(believed.placement, content))
            key = placement.lineage.first.id, placement.current.id, placement.path
            if key not in found or item.order[:2] < found[key][0].order[:2]:
                found[key] = item, content
            self._seen.add(placement.lineage.first.id)
        return found.values()

    def _believed(self, placement: Placement, content: Text) -> CheckedAnnotation:
        if self._doubter is None or self._recovery is None:
            return CheckedAnnotation(placement, placement)
        believed = self._doubter.look(placement, content)
        if believed.placement.located.state != State.LOST or believed.placement.is_history:
            return believed
        record = believed.placement.lineage.current
        where = self._recovery.look(believed.placement, record, content)
        return msgspec.structs.replace(believed, placement=where)

    def _uncontradicted(self, judged: Iterable[tuple[Item, Text]]) -> Iterator[Item]:
        """Give the items that git's history does not contradict (R15).

        A text alone places most annotations. History is asked about those that do not pass. A change
        can backdate its commits: with a base only files that stand as the base has them count, and
        only commits that the base has.
        """
        suspects: dict[tuple[str, str], tuple[Text, list[Item]]] = {}
        for item, content in judged:
            placement = item.placement
            if item.decision == GateDecision.PASS and not item.rejected and placement.is_item:
                yield item
            else:
                key = placement.path, content.content
                suspects.setdefault(key, (content, []))[1].append(item)
        places = self._places
        asked = {
            key for key in suspects if places.has_git and self._is_of_base(key[0], suspects[key][0])
        }
        places.derive([item.placement.lineage for key in asked for item in suspects[key][1]])
        for key, (content, items) in suspects.items():
            placements = [item.placement for item in items]
            found = places.contradicted(key[0], content, placements) if key in asked else {}
            disproved = {
                identifier for identifier, commit in found.items() if self._may_speak(commit)
            }
            yield from (item for item in items if item.placement.lineage.first.id not in disproved)

    def _may_speak(self, older: OlderCommit | None) -> bool:
        """Whether a commit may contradict a record; with a base, only one that the base has."""
        base = self._grounds.since
        if base is None or older is None:
            return base is None
        if older.commit not in self._of_base:  # git is started for each commit, not for each item
            is_of_base = base.repository.is_ancestor(older.commit, of=base.commit)
            self._of_base[older.commit] = is_of_base
        return self._of_base[older.commit]

    def _is_of_base(self, path: str, content: Text) -> bool:
        """Whether a file stands as the base has it; without a base, whatever stands there counts."""
        if self._grounds.since is None or self._texts is None:
            return self._grounds.since is None
        return self._texts.in_base(path).lines == content.lines

    def _is_gated(self, placement: Placement) -> bool:
        """Whether an annotation is an item, tracked, and not of removed or lost lines (R26, R27).

        What only may be here is gated: it must not pay to make code hard to find.
        """
        is_there = (
            placement.located.state != State.LOST and placement.lineage.action != Action.DELETE
        )
        return is_there and placement.is_code and self._is_tracked(placement)

    def _is_tracked(self, placement: Placement) -> bool:
        """Whether an annotation is of a tracked file: no name that a change gives a file takes it out."""
        if self._tracks(placement.path):
            return True
        since, files = self._grounds.since, self._grounds.files
        if since is None or files is None:
            return False
        names = {
            (normal_path(member.text("file_path") or ""), since.is_new(member))
            for member in placement.lineage.members
        }
        return any(
            self._tracks(name) and (is_new or name in files.before) for name, is_new in names
        )

    def _tracks(self, path: str) -> bool:
        if path not in self._tracked:
            self._tracked[path] = self._grounds.config.tracking.tracks(path)
        return self._tracked[path]

    def _item(self, believed: CheckedAnnotation, content: Text, standing: ReviewStatus) -> Item:
        placement, policy = believed.placement, self._policy
        by_record = (
            self._asked.stored or not policy.scores
        )  # R27: of an unknown algorithm there is nothing else
        live = None if by_record else self._scorer.score(placement, content)
        score = stored_score(placement) if by_record else live.value if live is not None else None
        factors = (
            ()
            if not policy.rules
            else live.factors
            if live
            else compute_factors(self._scorer.measured(placement, content), policy)
        )
        rules = self._rules.matching(factors, _stored_values(placement) if by_record else None)
        decision = decide(score, policy, self._asked.threshold, rules)
        approved, rejected = standing == ReviewStatus.APPROVED, standing == ReviewStatus.REJECTED
        return Item(
            placement,
            score,
            live,
            self._reporting(content),
            believed.shown.current.id,
            rules,
            decision,
            approved,
            rejected,
        )

    def _reporting(self, content: Text) -> PlacementReport:
        if self._report is None or self._report[0] is not content:
            objection = None if self._asked.everything else self._reviewers.objection
            report = PlacementReport(
                self._places.trail,
                content,
                scorer=self._scorer,
                derived=self._places.derived,
                objection=objection,
            )
            self._report = content, report
        return self._report[1]

    def _note(self, believed: CheckedAnnotation, content: Text) -> None:
        """Keep what there is to say of an annotation beside the decision."""
        placement = believed.placement
        if not self._is_tracked(placement):
            return
        self._vouch(placement)
        is_lost = (
            placement.located.state == State.LOST and placement.lineage.action != Action.DELETE
        )
        if believed.hiding is None and not believed.retold and not is_lost:  # as most
            return
        name = f"annotation {placement.lineage.first.id[:16]}"
        start = placement.located.start
        if believed.hiding is not None:
            lines = f"lines {start}-{placement.located.end}"
            self._found.append(
                Finding(
                    catalogue.HIDDEN,
                    f"{believed.hiding}, and {name} still stands on {lines}",
                    placement.path,
                    start,
                )
            )
        for record in believed.retold:
            message = f"record {record.id[:16]} retells how {name} was made"
            self._found.append(Finding(catalogue.REMADE, message, placement.path, start))
        if is_lost and placement.is_code:
            self._lose(believed, content)
            since = self._grounds.since
            is_new = since is not None and since.is_new(placement.lineage.first)
            override = Severity.WARNING if is_new else None
            self._found.append(
                Finding(
                    catalogue.LOST, f"{name} is not found", placement.path, None, None, override
                )
            )

    def _vouch(self, placement: Placement) -> None:
        """Find risk that the policy goes by and that a new record's id does not cover."""
        record, since = placement.lineage.current, self._grounds.since
        if (
            since is None
            or not since.is_new(record)
            or not any(name in record.members for name in RISK_MEMBERS)
        ):
            return
        asked = [
            each
            for each in custom_signals(record)
            if each.signal in self._policy.weights or self._rules.names(each.signal)
        ]
        if (asked or self._asked.stored or not self._policy.scores) and not covers(
            record, *RISK_MEMBERS
        ):
            message = (
                f"the id of record {record.id[:16]} does not cover its risk, by which it is judged"
            )
            self._found.append(
                Finding(catalogue.UNVOUCHED, message, placement.path, placement.located.start)
            )

    def _lose(self, believed: CheckedAnnotation, content: Text) -> None:
        """Remember what would have stopped, had it been found."""
        if self._grounds.files is None or not self._grounds.files.opaque:
            return
        item = self._item(believed, content, ReviewStatus.UNREVIEWED)
        if item.decision in STOPPING:
            self._would_stop.add(believed.placement.lineage.first.id)

    def _opaque(self) -> Iterator[Finding]:
        """Give the submodules in which there may be what is not found, and would have stopped."""
        files = self._grounds.files
        if files is None or not files.opaque:
            return
        removed = [
            path
            for path in self._places.trail.paths()
            if normal_path(path) in files.before.keys() - files.now.keys()
        ]
        for path in removed:
            for lineage in self._places.trail.lineages_in(normal_path(path)):
                if (
                    lineage.superseded_by
                    or lineage.action == Action.DELETE
                    or lineage.first.id in self._seen
                ):
                    continue
                placement = Placement(normal_path(path), ShownLineage(lineage), NOWHERE)
                if self._is_tracked(placement):
                    self._lose(CheckedAnnotation(placement, placement), Text(""))
        lost = sorted(self._would_stop - self._seen)
        for name in files.opaque if lost else ():
            message = f"its files are not here, and annotation {lost[0][:16]}, which is not found and would stop, may be in them"
            yield Finding(catalogue.UNREAD, message, name)

    def findings(self) -> Iterable[Finding]:
        """Return what was found on the way."""
        self._found += self._opaque()
        for path in sorted(self._texts.differing if self._texts is not None else ()):
            self._found.append(
                Finding(
                    catalogue.WORKTREE, "on disk it is not as HEAD has it; both are judged", path
                )
            )
        for path, reason in self._looking.unread.items():
            if not self._asked.everything and self._tracks(path):
                self._found.append(Finding(catalogue.UNREAD, reason, path))
        for refused in self._reviewers.refused.values():
            placement = refused.placement
            by = f" by {refused.review.by}" if refused.review.by else ""
            message = f"the approval{by} of annotation {placement.current.id[:16]} does not count: {refused.reason}"
            self._found.append(
                Finding(catalogue.APPROVAL, message, placement.path, placement.located.start)
            )
        return dict.fromkeys(self._found)


@contextmanager
def _texts(grounds: GateContext) -> Iterator[Texts | None]:
    """Give what reads the files of a change; None where only the work tree counts."""
    since, files, project = grounds.since, grounds.files, grounds.trail.directory.project
    if since is None or files is None:
        yield None
        return
    with GitObjects(since.repository.root) as blobs:
        yield Texts(project, blobs, files.head, files.base, since.repository.prefix_of(project))


class _Scorer(Scorer):
    """A scorer that remembers where the last annotation stands, which is asked more than once; with `stored` it leaves scoring to the records."""

    def __init__(
        self, trail: Trail, policy: Policy, counts: Counting | None, *, stored: bool
    ) -> None:
        super().__init__(trail, replace(policy, enabled=False) if stored else policy, counts)
        self._last: tuple[Placement, ReviewStatus] | None = None

    @override
    def standing(self, placement: Placement, content: Text) -> ReviewStatus:
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
