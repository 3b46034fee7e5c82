"""Does a stored risk score follow from its factors, and are their signals known (RFC 10.4.1, 10.4.2, 10.4.4)?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding
from vibes_lsp.checks.subject import Subject
from vibes_lsp.index.records import LogRecord
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.vocabulary import Signal, is_custom_signal
from vibes_lsp.risk.policy import WEIGHTED_AVERAGE
from vibes_lsp.risk.scoring import weighted_average

_TOLERANCE: Final = 0.005001
"""Tools round scores and values to two decimals."""


def check_risk(subject: Subject, record: LogRecord) -> Iterator[Finding]:
    """Findings about the risk members of one record; what is wrong with their form is said elsewhere."""
    factors = record.members.get("risk_factors")
    if not record.is_annotation or not isinstance(factors, list):
        return
    listed = [factor for factor in factors if isinstance(factor, dict)]
    yield from _signals(subject, record, listed)
    score = _number(record.members.get("risk_score"))
    if score is None or subject.config.policy.algorithm != WEIGHTED_AVERAGE:
        return
    pairs = [
        (weight, value)
        for factor in listed
        if (weight := _number(factor.get("weight"))) is not None and (value := _number(factor.get("value"))) is not None
    ]
    average = (
        weighted_average(pairs) if len(pairs) == len(factors) and all(weight >= 0 and 0 <= value <= 1 for weight, value in pairs) else None
    )
    if average is not None and abs(average - score) > _TOLERANCE:
        message = f"risk_score is {score:.4g}; its factors give {average:.4f}"
        yield subject.in_log(catalogue.RISK_SCORE, message, record.line, "risk_score")


def _signals(subject: Subject, record: LogRecord, factors: list[Members]) -> Iterator[Finding]:
    seen: set[str] = set()
    for number, factor in enumerate(factors):
        signal = text(factor, "signal")
        if not signal:
            continue
        field = f"risk_factors.{number}.signal"
        if signal in seen:
            yield subject.in_log(catalogue.RISK_SIGNAL, f"{signal[:60]!r} is there twice", record.line, field)
        elif signal not in set(Signal) and not is_custom_signal(signal):
            yield subject.in_log(
                catalogue.RISK_SIGNAL, f"{signal[:60]!r} has no namespace and is no signal of the standard", record.line, field
            )
        seen.add(signal)


def _number(value: JsonValue) -> float | None:
    """Return a number that can be computed with; an integer may be longer than a float can be."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


_LARGEST: Final = 1e300
