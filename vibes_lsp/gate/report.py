"""The result of a gate run, as JSON and as findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from vibes_lsp.checks.finding import Check, Finding, Severity, pluralize
from vibes_lsp.gate import catalogue
from vibes_lsp.gate.annotation_decision import NEEDS_APPROVAL, GateDecision, Threshold
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placements import (
    PlacementReport,
    describe_review,
    main_reasons,
    model_name,
)
from vibes_lsp.risk.policy import Rule
from vibes_lsp.risk.scoring import Score

_RANK: Final = {decision: rank for rank, decision in enumerate(reversed(GateDecision), 1)}


class GateItem(msgspec.Struct, frozen=True, dict=True):
    """An annotation and the gate's decision about it.

    Attributes:
        placement: Where it is.
        score: The score that decided; None if there is none.
        live: The live score; None if there is none or stored scores are used.
        report: Converts the placement to JSON on demand.
        identifier: The id of its current record.
        rules: The review rules that match.
        decision: The decision before reviews.
        released: Whether a person's valid approval overrides the decision (R6).
        rejected: Whether a person rejected it.
    """

    placement: Placement
    score: float | None
    live: Score | None
    report: PlacementReport
    identifier: str
    rules: tuple[Rule, ...]
    decision: GateDecision
    released: bool = False
    rejected: bool = False

    @cached_property
    def facts(self) -> Members:
        """The placement as JSON."""
        return self._described()

    def _described(self) -> Members:
        described = self.report.scored(self.placement, self.live)
        described["annotationId"] = self.identifier
        return described

    @property
    def score_text(self) -> str | None:
        """Score and band for display; None if there is no score."""
        return self.report.describe_risk(self.facts)

    @property
    def fails(self) -> bool:
        """Whether it fails the gate."""
        return self.rejected or (self.decision in NEEDS_APPROVAL and not self.released)

    @property
    def verdict(self) -> str:
        """The decision after reviews, in a few words."""
        if self.rejected:
            return "rejected"
        word = self.decision.value.replace("_", " ")
        return f"{word}, approved" if self.released and self.decision != GateDecision.PASS else word

    @property
    def sort_key(self) -> tuple[int, float, str, int]:
        """Failing items first, then by decision, score and location."""
        return (
            0 if self.fails else _RANK[self.decision],
            -(self.score or 0.0),
            self.path,
            self.placement.located.start or 0,
        )

    @property
    def path(self) -> str:
        """The file, relative to the project."""
        return self.placement.path

    @property
    def location(self) -> str:
        """File and lines, such as `a.py:4-7`."""
        start, end = self.placement.located.start, self.placement.located.end
        return self.path if start is None else f"{self.path}:{start}-{end}"

    @property
    def reasons(self) -> tuple[str, ...]:
        """The conditions of the rules that led to the decision, else of all matching rules."""
        strongest = [
            rule.condition for rule in self.rules if rule.action.value == self.decision.value
        ]
        return tuple(strongest or [rule.condition for rule in self.rules])

    def as_json(self) -> Members:
        """Return the placement with `rules`, `decision` and `released`."""
        rules: list[JsonValue] = [
            {"condition": rule.condition, "action": rule.action.value} for rule in self.rules
        ]
        return {
            **self._described(),
            "rules": rules,
            "decision": self.decision.value,
            "released": self.released,
        }

    def finding(self) -> Finding | None:
        """Return the item as a finding; None if it passes or was approved."""
        check = self._check()
        if check is None:
            return None
        why = [f"rule {reason[:200]}" for reason in self.reasons]
        why = why or main_reasons(self.facts, with_review=False)
        message = ", ".join(
            [
                f"{self.verdict}: lines by {model_name(self.facts)}",
                f"risk {self.score_text}" if self.score_text else "no score",
                *why,
                describe_review(self.facts),
                f"annotation {self.identifier[:8]}",
            ]
        )
        located = self.placement.located
        return Finding(check, message, self.path, located.start, end_line=located.end)

    def _check(self) -> Check | None:
        if self.rejected:
            return catalogue.REJECTED
        if self.released:
            return None
        checks = {
            GateDecision.BLOCK: catalogue.BLOCKED,
            GateDecision.REQUIRE_REVIEW: catalogue.REVIEW_REQUIRED,
            GateDecision.FLAG: catalogue.FLAGGED,
        }
        return checks.get(self.decision)


@dataclass(frozen=True, slots=True)
class GateReport:
    """The result of a gate run.

    Attributes:
        threshold: The threshold as given.
        bound: The lowest score that is blocked.
        base: The revision of the policy, a whole hash; None for the work tree.
        items: The annotations in `sort_key` order.
        findings: All other findings, the most severe first.
    """

    threshold: Threshold
    bound: float
    base: str | None
    items: tuple[GateItem, ...]
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no item fails and no finding is an error."""
        return not any(item.fails for item in self.items) and not any(
            finding.severity == Severity.ERROR for finding in self.findings
        )

    @property
    def listed(self) -> Iterator[GateItem]:
        """The items to display: all that do not simply pass."""
        return (item for item in self.items if item.rejected or item.decision != GateDecision.PASS)

    def count(self, decision: GateDecision) -> int:
        """Return the number of items with a decision that no review changed."""
        return sum(
            item.decision == decision and not item.released and not item.rejected
            for item in self.items
        )

    @property
    def rejected(self) -> int:
        """The number of rejected items."""
        return sum(item.rejected for item in self.items)

    @property
    def released(self) -> int:
        """The number of listed items that a person approved."""
        return sum(item.released for item in self.listed)

    def as_json(self) -> Mapping[str, JsonValue | Iterator[Members]]:
        """Return `{result, threshold, base?, items, findings}`; items are generated on demand."""
        threshold = self.threshold.value
        base: Members = {} if self.base is None else {"base": self.base}
        return {
            "result": "PASS" if self.passed else "FAIL",
            "threshold": threshold.value if isinstance(threshold, Band) else threshold,
            **base,
            "items": (item.as_json() for item in self.items),
            "findings": [finding.as_json() for finding in self.findings],
        }

    def all_findings(self) -> list[Finding]:
        """Return all findings, including those of items that do not pass."""
        of_items = (finding for item in self.items if (finding := item.finding()) is not None)
        return sorted([*self.findings, *of_items], key=lambda finding: finding.sort_key)


def summary_line(report: GateReport) -> str:
    """Return the number of annotations by outcome in one line."""
    counts = (
        (report.count(GateDecision.BLOCK), "blocked"),
        (report.count(GateDecision.REQUIRE_REVIEW), "to be reviewed"),
        (report.rejected, "rejected"),
        (report.released, "approved"),
        (report.count(GateDecision.FLAG), "flagged"),
    )
    parts = [f"{number:,} {word}" for number, word in counts if number]
    return f"{pluralize(len(report.items), 'annotation', 'annotations')}" + (
        f": {', '.join(parts)}" if parts else ""
    )
