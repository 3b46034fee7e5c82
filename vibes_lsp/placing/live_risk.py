"""The live risk score of an annotation: from its trail, placement and reviews (R21)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias

from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, text
from vibes_lsp.model.vocabulary import Action, Band, ContextType, is_custom_signal
from vibes_lsp.placing.placements import Placement
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.review_status import ReviewStatus
from vibes_lsp.risk.scoring import Score, compute_score
from vibes_lsp.risk.signals import CustomSignal, Measurements, PromptLength, estimated_length
from vibes_lsp.trail.records import LogRecord, recorded_lines
from vibes_lsp.trail.reviews import Review, review_status_of
from vibes_lsp.trail.trail import Trail

MAX_CUSTOM_SIGNALS: Final = 20
"""Custom signals that count in one record."""
_MAX_TEMPERATURE: Final = 1e6
"""More than any model accepts; JSON integers may be too large for a float."""
_MAX_TOKENS: Final = 1 << 53

ReviewFilter: TypeAlias = Callable[[Placement, Review], bool]
"""Returns whether a review of an annotation counts."""


class Scorer:
    """Scores the annotations of one trail. It caches, so make a new one when the trail changes.

    Args:
        trail: The trail, refreshed.
        policy: How risk is scored.
        review_filter: Which reviews count; by default all.
    """

    def __init__(
        self, trail: Trail, policy: Policy, review_filter: ReviewFilter | None = None
    ) -> None:
        self._trail = trail
        self._policy = policy
        self._review_filter = review_filter
        self._environment = cache(self._read_environment)
        self._prompt = cache(self._read_prompt)
        self._files = cache(trail.files_of_session)

    @property
    def thresholds(self) -> Mapping[Band, float]:
        """Lower bounds of the bands."""
        return self._policy.thresholds

    def score(self, placement: Placement, content: Text) -> Score | None:
        """Return the live score; None if PRISM is off or the algorithm is unknown (R27).

        Args:
            placement: The annotation.
            content: The text that it is placed in.
        """
        return (
            compute_score(self.measured(placement, content), self._policy)
            if self._policy.computes_scores
            else None
        )

    def measured(self, placement: Placement, content: Text) -> Measurements:
        """Return what the risk signals of an annotation measure."""
        record, lineage = placement.current, placement.lineage
        temperature, model = self._environment(record.text("environment_hash"))
        lines, total = _line_counts(placement, content)
        session = record.text("session_id")
        return Measurements(
            temperature=temperature,
            action=lineage.action or None,
            lines=lines,
            total_lines=total,
            files=len(self._files(session)) if session else None,
            level=record.text("assurance_level") or self._policy.level,
            review_status=self.review_status(placement, content),
            prompt=self._prompt(record.text("prompt_hash")),
            model=model,
            custom=custom_signals(record),
        )

    def review_status(self, placement: Placement, content: Text) -> ReviewStatus:
        """Return the review status of an annotation, by the reviews that count (R6)."""
        reviews = self._trail.reviews_of(placement.lineage)
        if not reviews:
            return ReviewStatus.UNREVIEWED
        counted = [
            review
            for review in reviews
            if self._review_filter is None or self._review_filter(placement, review)
        ]
        return review_status_of(
            counted,
            annotated_lines(placement, content),
            is_removed=placement.lineage.action == Action.DELETE,
        )

    def _read_environment(self, key: str | None) -> tuple[float | None, str | None]:
        """Return the temperature and the model of an environment."""
        entry = self._entry(key, ContextType.ENVIRONMENT)
        return temperature_of(mapping(entry, "model_parameters")), text(entry, "model_name")

    def _read_prompt(self, key: str | None) -> PromptLength | None:
        return prompt_length(self._entry(key, ContextType.PROMPT))

    def _entry(self, key: str | None, kind: ContextType) -> Members:
        entry = None if key is None else self._trail.manifest.entry(key)
        return entry if entry is not None and entry.get("type") == kind else {}


def annotated_lines(placement: Placement, content: Text) -> Sequence[str] | None:
    """Return the current lines of an annotation; None if it is not located."""
    start, end = placement.located.start, placement.located.end
    return None if start is None or end is None else content.lines[start - 1 : end]


def temperature_of(parameters: Mapping[str, JsonValue]) -> float | None:
    """Return the temperature of a model's parameters; None if it is not a valid number."""
    temperature = parameters.get("temperature")
    return (
        float(temperature)
        if isinstance(temperature, int | float)
        and not isinstance(temperature, bool)
        and 0 <= temperature < _MAX_TEMPERATURE
        else None
    )


def prompt_length(entry: Mapping[str, JsonValue]) -> PromptLength | None:
    """Return the length of the prompt of an entry: the recorded count, else an estimate (R22)."""
    counted = integer(entry, "prompt_token_count")
    if counted is not None and 0 <= counted < _MAX_TOKENS:
        return PromptLength(counted)
    prompt = text(entry, "prompt_text")
    return None if prompt is None else estimated_length(prompt)


def custom_signals(record: LogRecord) -> tuple[CustomSignal, ...]:
    """Return the recorded signals that are not in the standard, each once (RFC 10.4.1)."""
    factors = record.members.get("risk_factors")
    signals: dict[str, CustomSignal] = {}
    for factor in factors if isinstance(factors, list) else []:
        members = factor if isinstance(factor, dict) else {}
        name, value = text(members, "signal") or "", members.get("value")
        if (
            is_custom_signal(name)
            and isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 <= value <= 1
        ):
            signals.setdefault(name, CustomSignal(name, float(value), text(members, "reason")))
        if len(signals) == MAX_CUSTOM_SIGNALS:
            break
    return tuple(signals.values())


def _line_counts(placement: Placement, content: Text) -> tuple[int | None, int | None]:
    """Return the numbers of lines of an annotation and its file, both counting removed lines."""
    if placement.shown.is_placeholder:
        return None, None
    start, end, total = placement.located.start, placement.located.end, len(content.lines)
    is_removed = placement.lineage.action == Action.DELETE
    if start is not None and end is not None and not is_removed:
        return max(0, min(end, total) - start + 1), total
    recorded = recorded_lines(placement.current)
    if recorded is None:
        return None, None
    written = recorded[1] - recorded[0] + 1
    return written, total + written if is_removed else None
