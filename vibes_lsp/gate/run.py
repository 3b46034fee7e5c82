"""Run the gate: over the work tree, over some files, or over what a branch adds to a base.

A pull request passes if `GateReport.passed` is true: no annotation is blocked, waits for a review
or was rejected, and no finding is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Final

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.gate import catalogue
from vibes_lsp.gate.annotation_decision import (
    NEEDS_APPROVAL,
    RuleMatcher,
    Threshold,
    decide,
)
from vibes_lsp.gate.annotations import NOT_FOUND, AnnotationCollector, Progress
from vibes_lsp.gate.changed_files import FileContents
from vibes_lsp.gate.inputs import GateInputs
from vibes_lsp.gate.report import GateItem, GateReport
from vibes_lsp.gate.reviewers import Reviewers
from vibes_lsp.gate.tamper_checks import CheckedAnnotation, TamperChecks, covers
from vibes_lsp.model.hashing import RISK_MEMBERS
from vibes_lsp.model.members import mapping, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.live_risk import Scorer, custom_signals
from vibes_lsp.placing.placements import Placement, ShownLineage
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.placements import PlacementReport, stored_score
from vibes_lsp.risk.review_status import ReviewStatus
from vibes_lsp.risk.signals import compute_factors

_MAX_VALUE: Final = 1e6
"""More than any factor has; JSON integers may be too large for a float."""


@dataclass(frozen=True)
class GateOptions:
    """The options of a gate run.

    Attributes:
        now: The current time.
        threshold: The lowest score that is blocked.
        files: The files to gate, relative to the project; None for all.
        use_stored_scores: Whether to use the scores and factors of the records, not live ones.
        all_records: Whether to gate every record of the log, superseded and approved ones too: the
            scope of RFC 10.4.5.
        with_commits: Whether to resolve the commit of each annotation, which reads the log's
            history.
        progress: Called as the work proceeds.
    """

    now: datetime
    threshold: Threshold = field(default_factory=Threshold)
    files: Collection[str] | None = None
    use_stored_scores: bool = False
    all_records: bool = False
    with_commits: bool = False
    progress: Progress = field(default=lambda *_: None)


def run_gate(locator: ProjectLocator, inputs: GateInputs, options: GateOptions) -> GateReport:
    """Decide every annotation in scope and collect all findings.

    Args:
        locator: The locator of the project.
        inputs: The policy, the trail and the changes.
        options: What to gate and how.

    Raises:
        HistoryUnavailable: There is a base, and git cannot answer.
    """
    run = _GateRun(locator, inputs, options)
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


class _GateRun:
    def __init__(
        self,
        locator: ProjectLocator,
        inputs: GateInputs,
        options: GateOptions,
    ) -> None:
        self._locator, self._inputs, self._options = locator, inputs, options
        self._policy = inputs.config.policy
        self._rules = RuleMatcher(self._policy)
        self._reviewers = Reviewers(locator, inputs.trail_diff)
        self._scorer = Scorer(
            locator.trail,
            replace(self._policy, enabled=False) if options.use_stored_scores else self._policy,
            None if options.all_records else self._reviewers.counts,
        )
        self._texts = FileContents(inputs.trail.directory.project, inputs.changed_files)
        self._collector = AnnotationCollector(locator, self._texts, self._files(), options.progress)
        self._tamper_checks = (
            None if inputs.trail_diff is None else TamperChecks(locator, inputs.trail_diff)
        )
        self._failing_if_found: set[str] = set()
        self._gated_ids: set[str] = set()
        self._report: tuple[Text, PlacementReport] | None = None
        self._findings: list[Finding] = []
        self._tracks = cache(inputs.config.tracking.tracks)
        self._old: dict[tuple[str, str], set[str]] = {}

    def _files(self) -> Collection[str] | None:
        files = self._options.files
        if self._inputs.trail_diff is None:
            return files
        changed = self._inputs.files_in_scope()
        return changed if files is None else changed.intersection(files)

    def items(self) -> Iterator[GateItem]:
        """Yield the decision about each annotation, file by file."""
        if self._options.all_records:
            for content, placement in self._collector.collect_recorded():
                yield self._item(
                    CheckedAnnotation(placement, placement), content, ReviewStatus.UNREVIEWED
                )
            return
        yield from self._without_contradicted(self._decided())

    def _decided(self) -> Iterable[tuple[GateItem, Text]]:
        """Return the decisions about annotations, each with the text it was found in.

        If a file has several versions, the strictest decision counts.
        """
        strictest: dict[tuple[str, str, str], tuple[GateItem, Text]] = {}
        for content, placement in self._collector.collect():
            checked = self._check_annotation(placement, content)
            self._add_findings(checked, content)
            if not self._is_gated(checked.placement):
                continue
            item = self._item(
                checked, content, self._scorer.review_status(checked.placement, content)
            )
            key = placement.lineage.first.id, placement.current.id, placement.path
            if key not in strictest or item.sort_key[:2] < strictest[key][0].sort_key[:2]:
                strictest[key] = item, content
            self._gated_ids.add(placement.lineage.first.id)
        return strictest.values()

    def _check_annotation(self, placement: Placement, content: Text) -> CheckedAnnotation:
        if self._tamper_checks is None:
            return CheckedAnnotation(placement, placement)
        return self._tamper_checks.check(placement, content)

    def _without_contradicted(self, decided: Iterable[tuple[GateItem, Text]]) -> Iterator[GateItem]:
        """Yield the items that git's history does not contradict (R15).

        A branch can backdate its commits, so with a base only its history counts, and only for
        files that are as the base has them.
        """
        for item, content in decided:
            if not (item.placement.located.is_contradicted and self._is_old(item, content)):
                yield item

    def _is_old(self, item: GateItem, content: Text) -> bool:
        """Whether the base's history contradicts a record too; true without a base."""
        base, placement = self._inputs.trail_diff, item.placement
        if base is None:
            return True
        if self._texts.in_base(placement.path).lines != content.lines:
            return False
        key = placement.path, content.content
        if key not in self._old:
            placements = self._locator.locate(placement.path, content, base.commit)
            self._old[key] = {
                old.lineage.first.id for old in placements if old.located.is_contradicted
            }
        return placement.lineage.first.id in self._old[key]

    def _is_gated(self, placement: Placement) -> bool:
        """Whether an annotation is tracked code that is neither deleted nor lost (R26, R27).

        A guessed location is gated too: hiding code must not help.
        """
        is_there = (
            placement.located.state != State.LOST and placement.lineage.action != Action.DELETE
        )
        return is_there and placement.is_current_edit and self._is_tracked(placement)

    def _is_tracked(self, placement: Placement) -> bool:
        """Whether an annotation's file is tracked by any of its names: renaming must not help."""
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
            self._tracks(name) and (is_new or files.was_in_base(name)) for name, is_new in names
        )

    def _item(self, checked: CheckedAnnotation, content: Text, status: ReviewStatus) -> GateItem:
        placement, policy = checked.placement, self._policy
        # R27: with an unknown algorithm there are only stored scores
        by_record = self._options.use_stored_scores or not policy.computes_scores
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
        approved, rejected = status == ReviewStatus.APPROVED, status == ReviewStatus.REJECTED
        return GateItem(
            placement,
            score,
            live,
            self._report_for(content),
            checked.shown.current.id,
            rules,
            decision,
            approved,
            rejected,
        )

    def _report_for(self, content: Text) -> PlacementReport:
        if self._report is None or self._report[0] is not content:
            objection = None if self._options.all_records else self._reviewers.objection
            report = PlacementReport(
                self._locator.trail,
                content,
                scorer=self._scorer,
                resolved_commits=self._locator.resolved_commits,
                objection=objection,
            )
            self._report = content, report
        return self._report[1]

    def _add_findings(self, checked: CheckedAnnotation, content: Text) -> None:
        """Add the findings about an annotation that are not part of its decision."""
        placement = checked.placement
        if not self._is_tracked(placement):
            return
        self._check_risk_coverage(placement)
        is_lost = (
            placement.located.state == State.LOST and placement.lineage.action != Action.DELETE
        )
        if checked.hidden_by is None and not checked.rewriting and not is_lost:
            return
        name = f"annotation {placement.lineage.first.id[:8]}"
        start = placement.located.start
        if checked.hidden_by is not None:
            lines = f"lines {start}-{placement.located.end}"
            self._findings.append(
                Finding(
                    catalogue.HIDDEN,
                    f"{name} is still on {lines}, but {checked.hidden_by}",
                    placement.path,
                    start,
                )
            )
        for record in checked.rewriting:
            what = f"record {record.id[:8]} changes how {name} was made"
            message = f"{what}; only its place and commit may change"
            self._findings.append(Finding(catalogue.REMADE, message, placement.path, start))
        if is_lost and placement.is_current_edit:
            self._note_lost(checked, content)
            diff = self._inputs.trail_diff
            is_new = diff is not None and diff.is_new(placement.lineage.first)
            override = Severity.WARNING if is_new else None
            self._findings.append(
                Finding(
                    catalogue.LOST,
                    f"the lines of {name} are not found",
                    placement.path,
                    None,
                    None,
                    override,
                )
            )

    def _check_risk_coverage(self, placement: Placement) -> None:
        """Find risk members that the policy uses and the id of an added record does not cover."""
        record, diff = placement.lineage.current, self._inputs.trail_diff
        if (
            diff is None
            or not diff.is_new(record)
            or not any(name in record.members for name in RISK_MEMBERS)
        ):
            return
        asked = [
            custom_signal
            for custom_signal in custom_signals(record)
            if custom_signal.signal in self._policy.weights
            or self._rules.uses_signal(custom_signal.signal)
        ]
        if (
            asked or self._options.use_stored_scores or not self._policy.computes_scores
        ) and not covers(record, *RISK_MEMBERS):
            identifier = f"the id of record {record.id[:8]}"
            message = f"{identifier} does not cover its risk members, which the policy uses"
            self._findings.append(
                Finding(catalogue.UNVOUCHED, message, placement.path, placement.located.start)
            )

    def _note_lost(self, checked: CheckedAnnotation, content: Text) -> None:
        """Note an annotation that would fail the gate if it were found in a submodule."""
        if self._inputs.changed_files is None or not self._inputs.changed_files.missing_submodules:
            return
        item = self._item(checked, content, ReviewStatus.UNREVIEWED)
        if item.decision in NEEDS_APPROVAL:
            self._failing_if_found.add(checked.placement.lineage.first.id)

    def _missing_submodules(self) -> Iterator[Finding]:
        """Yield missing submodules that may contain a lost annotation that would fail."""
        files = self._inputs.changed_files
        if files is None or not files.missing_submodules:
            return
        removed = [
            path
            for path in self._locator.trail.annotated_paths()
            if (change := files.committed.get(normal_path(path))) is not None and change.now is None
        ]
        for path in removed:
            for lineage in self._locator.trail.lineages_in(normal_path(path)):
                if (
                    lineage.superseded_by
                    or lineage.action == Action.DELETE
                    or lineage.first.id in self._gated_ids
                ):
                    continue
                placement = Placement(normal_path(path), ShownLineage(lineage), NOT_FOUND)
                if self._is_tracked(placement):
                    self._note_lost(CheckedAnnotation(placement, placement), Text(""))
        lost = sorted(self._failing_if_found - self._gated_ids)
        for name in files.missing_submodules if lost else ():
            message = (
                "the submodule is not checked out and may contain the lost annotation "
                f"{lost[0][:8]}, which would fail the gate"
            )
            yield Finding(catalogue.UNREAD, message, name)

    def findings(self) -> Iterable[Finding]:
        """Return the findings about annotations and files; call it after `items`."""
        self._findings += self._missing_submodules()
        for path in sorted(self._texts.differing):
            self._findings.append(
                Finding(catalogue.WORKTREE, "differs from HEAD; both versions are gated", path)
            )
        for path, reason in self._collector.unread.items():
            if not self._options.all_records and self._tracks(path):
                self._findings.append(Finding(catalogue.UNREAD, reason, path))
        for refused in self._reviewers.refused:
            placement = refused.placement
            by = f" by {refused.review.reviewer}" if refused.review.reviewer else ""
            annotation = f"annotation {placement.current.id[:8]}"
            message = f"the approval{by} of {annotation} does not count: {refused.reason}"
            self._findings.append(
                Finding(catalogue.APPROVAL, message, placement.path, placement.located.start)
            )
        return dict.fromkeys(self._findings)


def _stored_values(placement: Placement) -> dict[str, float]:
    """Return the normalised values of a record by signal (RFC 10.4.4)."""
    factors = placement.current.members.get("risk_factors")
    values: dict[str, float] = {}
    for factor in factors if isinstance(factors, list) else []:
        members = mapping({"factor": factor}, "factor")
        signal, value = text(members, "signal"), members.get("value")
        if signal is not None and isinstance(value, int | float) and not isinstance(value, bool):
            values.setdefault(signal, float(max(-_MAX_VALUE, min(value, _MAX_VALUE))))
    return values
