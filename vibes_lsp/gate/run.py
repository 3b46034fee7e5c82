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
from vibes_lsp.gate.annotations import NOWHERE, AnnotationCollector, Progress
from vibes_lsp.gate.changed_files import FileContents
from vibes_lsp.gate.decide import NEEDS_APPROVAL, GateDecision, RuleMatcher, Threshold, decide
from vibes_lsp.gate.inputs import GateInputs
from vibes_lsp.gate.report import GateItem, GateReport
from vibes_lsp.gate.reviewers import Reviewers
from vibes_lsp.gate.tamper_checks import CheckedAnnotation, LostLineSearch, TamperChecks, covers
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.index.live_risk import ReviewFilter, Scorer, custom_signals
from vibes_lsp.index.placements import Placement, ShownLineage
from vibes_lsp.index.project_locator import ProjectLocator
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
class GateOptions:
    """What is asked of the gate.

    Attributes:
        now: The present instant.
        threshold: From where on an annotation is blocked.
        files: The files that are meant, relative to the project; None for all.
        stored: Whether the scores and factors that records carry count, and not the live ones.
        commits: Whether the commit of each annotation is wanted, which takes reading the history of the log.
        everything: Whether every record of the log counts, whatever became of it and whoever approved: the scope of RFC 10.4.5.
        progress: Told how far it is.
    """

    now: datetime
    threshold: Threshold = field(default_factory=Threshold)
    files: Collection[str] | None = None
    use_stored_scores: bool = False
    all_records: bool = False
    with_commits: bool = False
    progress: Progress = field(default=lambda *_: None)


def run_gate(locator: ProjectLocator, inputs: GateInputs, options: GateOptions) -> GateReport:
    """Return what the gate comes to.

    Args:
        locator: Of the project.
        inputs: What it goes by.
        asked: What is meant.

    Raises:
        HistoryUnavailable: A base was given, and git cannot answer.
    """
    with _texts(inputs) as texts:
        run = _Run(locator, inputs, options, texts)
        items = sorted(run.items(), key=lambda item: item.sort_key)
        if options.with_commits:
            locator.resolve_commits([item.placement.lineage for item in items])
        findings = [*inputs.findings(options.now), *run.findings()]
    bound = options.threshold.bound(inputs.config.policy.thresholds)
    return GateReport(
        options.threshold,
        bound,
        inputs.base,
        tuple(items),
        tuple(sorted(findings, key=lambda finding: finding.sort_key)),
    )


class _Run:
    def __init__(
        self,
        locator: ProjectLocator,
        inputs: GateInputs,
        options: GateOptions,
        texts: FileContents | None,
    ) -> None:
        self._locator, self._inputs, self._options = locator, inputs, options
        self._policy = inputs.config.policy
        self._rules = RuleMatcher(self._policy)
        self._reviewers = Reviewers(locator, inputs.trail_diff)
        self._scorer = _Scorer(
            locator.trail,
            self._policy,
            None if options.all_records else self._reviewers.counts,
            stored=options.use_stored_scores,
        )
        self._texts = texts
        self._collector = AnnotationCollector(locator, self._only(), options.progress, texts)
        self._tamper_checks = (
            None if inputs.trail_diff is None else TamperChecks(locator, inputs.trail_diff)
        )
        self._lost_lines = (
            None if inputs.trail_diff is None else LostLineSearch(locator, inputs.trail_diff)
        )
        self._would_stop: set[str] = set()
        self._seen: set[str] = set()
        self._report: tuple[Text, PlacementReport] | None = None
        self._found: list[Finding] = []
        self._tracked: dict[str, bool] = {}
        self._is_base_commit: dict[str, bool] = {}

    def _only(self) -> Collection[str] | None:
        files = self._options.files
        if self._inputs.trail_diff is None:
            return files
        changed = self._inputs.files_in_scope()
        return changed if files is None else changed.intersection(files)

    def items(self) -> Iterator[GateItem]:
        """Give what was decided of each annotation, file by file."""
        if self._options.all_records:
            for content, placement in self._collector.collect_recorded():
                yield self._item(
                    CheckedAnnotation(placement, placement), content, ReviewStatus.UNREVIEWED
                )
            return
        yield from self._without_contradicted(self._placed())

    def _placed(self) -> Iterable[tuple[GateItem, Text]]:
        """Return what was decided of the annotations of files, each with the text it was judged in.

        Of several texts of one file the one counts that stops.
        """
        found: dict[tuple[str, str, str], tuple[GateItem, Text]] = {}
        for content, placement in self._collector.collect():
            checked = self._check_tampering(placement, content)
            self._add_findings(checked, content)
            if not self._is_gated(checked.placement):
                continue
            item = self._item(
                checked, content, self._scorer.review_status(checked.placement, content)
            )
            key = placement.lineage.first.id, placement.current.id, placement.path
            if key not in found or item.sort_key[:2] < found[key][0].sort_key[:2]:
                found[key] = item, content
            self._seen.add(placement.lineage.first.id)
        return found.values()

    def _check_tampering(self, placement: Placement, content: Text) -> CheckedAnnotation:
        if self._tamper_checks is None or self._lost_lines is None:
            return CheckedAnnotation(placement, placement)
        checked = self._tamper_checks.check(placement, content)
        if checked.placement.located.state != State.LOST or checked.placement.is_history:
            return checked
        record = checked.placement.lineage.current
        where = self._lost_lines.find(checked.placement, record, content)
        return msgspec.structs.replace(checked, placement=where)

    def _without_contradicted(self, judged: Iterable[tuple[GateItem, Text]]) -> Iterator[GateItem]:
        """Give the items that git's history does not contradict (R15).

        A text alone places most annotations. History is asked about those that do not pass. A change
        can backdate its commits: with a base only files that stand as the base has them count, and
        only commits that the base has.
        """
        suspects: dict[tuple[str, str], tuple[Text, list[GateItem]]] = {}
        for item, content in judged:
            placement = item.placement
            if item.decision == GateDecision.PASS and not item.rejected and placement.is_claim:
                yield item
            else:
                key = placement.path, content.content
                suspects.setdefault(key, (content, []))[1].append(item)
        locator = self._locator
        asked = {
            key
            for key in suspects
            if locator.has_git and self._is_as_in_base(key[0], suspects[key][0])
        }
        locator.resolve_commits(
            [item.placement.lineage for key in asked for item in suspects[key][1]]
        )
        for key, (content, items) in suspects.items():
            placements = [item.placement for item in items]
            found = locator.contradicted(key[0], content, placements) if key in asked else {}
            disproved = {
                identifier for identifier, commit in found.items() if self._may_contradict(commit)
            }
            yield from (item for item in items if item.placement.lineage.first.id not in disproved)

    def _may_contradict(self, older: OlderCommit | None) -> bool:
        """Whether a commit may contradict a record; with a base, only one that the base has."""
        base = self._inputs.trail_diff
        if base is None or older is None:
            return base is None
        if (
            older.commit not in self._is_base_commit
        ):  # git is started for each commit, not for each item
            is_of_base = base.repository.is_ancestor(older.commit, of=base.commit)
            self._is_base_commit[older.commit] = is_of_base
        return self._is_base_commit[older.commit]

    def _is_as_in_base(self, path: str, content: Text) -> bool:
        """Whether a file stands as the base has it; without a base, whatever stands there counts."""
        if self._inputs.trail_diff is None or self._texts is None:
            return self._inputs.trail_diff is None
        return self._texts.in_base(path).lines == content.lines

    def _is_gated(self, placement: Placement) -> bool:
        """Whether an annotation is an item, tracked, and not of removed or lost lines (R26, R27).

        What only may be here is gated: it must not pay to make code hard to find.
        """
        is_there = (
            placement.located.state != State.LOST and placement.lineage.action != Action.DELETE
        )
        return is_there and placement.is_current_edit and self._is_tracked(placement)

    def _is_tracked(self, placement: Placement) -> bool:
        """Whether an annotation is of a tracked file: no name that a change gives a file takes it out."""
        if self._tracks(placement.path):
            return True
        diff, files = self._inputs.trail_diff, self._inputs.changed_files
        if diff is None or files is None:
            return False
        names = {
            (normal_path(member.text("file_path") or ""), diff.is_new(member))
            for member in placement.lineage.members
        }
        return any(
            self._tracks(name) and (is_new or name in files.before) for name, is_new in names
        )

    def _tracks(self, path: str) -> bool:
        if path not in self._tracked:
            self._tracked[path] = self._inputs.config.tracking.tracks(path)
        return self._tracked[path]

    def _item(self, checked: CheckedAnnotation, content: Text, standing: ReviewStatus) -> GateItem:
        placement, policy = checked.placement, self._policy
        by_record = (
            self._options.use_stored_scores or not policy.computes_scores
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
        decision = decide(score, policy, self._options.threshold, rules)
        approved, rejected = standing == ReviewStatus.APPROVED, standing == ReviewStatus.REJECTED
        return GateItem(
            placement,
            score,
            live,
            self._reporting(content),
            checked.shown.current.id,
            rules,
            decision,
            approved,
            rejected,
        )

    def _reporting(self, content: Text) -> PlacementReport:
        if self._report is None or self._report[0] is not content:
            objection = None if self._options.all_records else self._reviewers.objection
            report = PlacementReport(
                self._locator.trail,
                content,
                scorer=self._scorer,
                derived=self._locator.resolved_commits,
                objection=objection,
            )
            self._report = content, report
        return self._report[1]

    def _add_findings(self, checked: CheckedAnnotation, content: Text) -> None:
        """Keep what there is to say of an annotation beside the decision."""
        placement = checked.placement
        if not self._is_tracked(placement):
            return
        self._check_risk_is_signed(placement)
        is_lost = (
            placement.located.state == State.LOST and placement.lineage.action != Action.DELETE
        )
        if checked.hidden_by is None and not checked.rewriting and not is_lost:  # as most
            return
        name = f"annotation {placement.lineage.first.id[:16]}"
        start = placement.located.start
        if checked.hidden_by is not None:
            lines = f"lines {start}-{placement.located.end}"
            self._found.append(
                Finding(
                    catalogue.HIDDEN,
                    f"{checked.hidden_by}, and {name} still stands on {lines}",
                    placement.path,
                    start,
                )
            )
        for record in checked.rewriting:
            message = f"record {record.id[:16]} retells how {name} was made"
            self._found.append(Finding(catalogue.REMADE, message, placement.path, start))
        if is_lost and placement.is_current_edit:
            self._count_lost(checked, content)
            diff = self._inputs.trail_diff
            is_new = diff is not None and diff.is_new(placement.lineage.first)
            override = Severity.WARNING if is_new else None
            self._found.append(
                Finding(
                    catalogue.LOST, f"{name} is not found", placement.path, None, None, override
                )
            )

    def _check_risk_is_signed(self, placement: Placement) -> None:
        """Find risk that the policy goes by and that a new record's id does not cover."""
        record, diff = placement.lineage.current, self._inputs.trail_diff
        if (
            diff is None
            or not diff.is_new(record)
            or not any(name in record.members for name in RISK_MEMBERS)
        ):
            return
        asked = [
            each
            for each in custom_signals(record)
            if each.signal in self._policy.weights or self._rules.uses_signal(each.signal)
        ]
        if (
            asked or self._options.use_stored_scores or not self._policy.computes_scores
        ) and not covers(record, *RISK_MEMBERS):
            message = (
                f"the id of record {record.id[:16]} does not cover its risk, by which it is judged"
            )
            self._found.append(
                Finding(catalogue.UNVOUCHED, message, placement.path, placement.located.start)
            )

    def _count_lost(self, checked: CheckedAnnotation, content: Text) -> None:
        """Remember what would have stopped, had it been found."""
        if self._inputs.changed_files is None or not self._inputs.changed_files.missing_submodules:
            return
        item = self._item(checked, content, ReviewStatus.UNREVIEWED)
        if item.decision in NEEDS_APPROVAL:
            self._would_stop.add(checked.placement.lineage.first.id)

    def _missing_submodules(self) -> Iterator[Finding]:
        """Give the submodules in which there may be what is not found, and would have stopped."""
        files = self._inputs.changed_files
        if files is None or not files.missing_submodules:
            return
        removed = [
            path
            for path in self._locator.trail.annotated_paths()
            if normal_path(path) in files.before.keys() - files.now.keys()
        ]
        for path in removed:
            for lineage in self._locator.trail.lineages_in(normal_path(path)):
                if (
                    lineage.superseded_by
                    or lineage.action == Action.DELETE
                    or lineage.first.id in self._seen
                ):
                    continue
                placement = Placement(normal_path(path), ShownLineage(lineage), NOWHERE)
                if self._is_tracked(placement):
                    self._count_lost(CheckedAnnotation(placement, placement), Text(""))
        lost = sorted(self._would_stop - self._seen)
        for name in files.missing_submodules if lost else ():
            message = f"its files are not here, and annotation {lost[0][:16]}, which is not found and would stop, may be in them"
            yield Finding(catalogue.UNREAD, message, name)

    def findings(self) -> Iterable[Finding]:
        """Return what was found on the way."""
        self._found += self._missing_submodules()
        for path in sorted(self._texts.differing if self._texts is not None else ()):
            self._found.append(
                Finding(
                    catalogue.WORKTREE, "on disk it is not as HEAD has it; both are judged", path
                )
            )
        for path, reason in self._collector.unread.items():
            if not self._options.all_records and self._tracks(path):
                self._found.append(Finding(catalogue.UNREAD, reason, path))
        for refused in self._reviewers.refused.values():
            placement = refused.placement
            by = f" by {refused.review.reviewer}" if refused.review.reviewer else ""
            message = f"the approval{by} of annotation {placement.current.id[:16]} does not count: {refused.reason}"
            self._found.append(
                Finding(catalogue.APPROVAL, message, placement.path, placement.located.start)
            )
        return dict.fromkeys(self._found)


@contextmanager
def _texts(inputs: GateInputs) -> Iterator[FileContents | None]:
    """Give what reads the files of a change; None where only the work tree counts."""
    diff, files, project = inputs.trail_diff, inputs.changed_files, inputs.trail.directory.project
    if diff is None or files is None:
        yield None
        return
    with GitObjects(diff.repository.root) as blobs:
        yield FileContents(
            project, blobs, files.head, files.base, diff.repository.prefix_of(project)
        )


class _Scorer(Scorer):
    """A scorer that remembers where the last annotation stands, which is asked more than once; with `stored` it leaves scoring to the records."""

    def __init__(
        self, trail: Trail, policy: Policy, counts: ReviewFilter | None, *, stored: bool
    ) -> None:
        super().__init__(trail, replace(policy, enabled=False) if stored else policy, counts)
        self._last: tuple[Placement, ReviewStatus] | None = None

    @override
    def review_status(self, placement: Placement, content: Text) -> ReviewStatus:
        if self._last is None or self._last[0] is not placement:
            self._last = placement, super().review_status(placement, content)
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
