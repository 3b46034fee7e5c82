"""The PRISM score: a weighted average of signals (RFC 10.4.2), and its band (RFC 10.4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Final

import msgspec

from vibes_lsp.model.defaults import DEFAULT_THRESHOLDS
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.rules import Quantity
from vibes_lsp.risk.signals import Factor, Measurements, compute_factors

_FROM_ABOVE: Final = tuple(reversed(Band))


def band_of(score: float, thresholds: Mapping[Band, float] = DEFAULT_THRESHOLDS) -> Band:
    """Return the highest band whose threshold an unrounded score reaches (R21)."""
    for band in _FROM_ABOVE:
        bound = thresholds.get(band)
        if (DEFAULT_THRESHOLDS[band] if bound is None else bound) <= score:
            return band
    return Band.LOW


def format_score(score: float, thresholds: Mapping[Band, float] = DEFAULT_THRESHOLDS) -> str:
    """Return a score for display: two decimals, or as many as needed to keep its band."""
    band = band_of(score, thresholds)
    return next(
        (
            text
            for digits in (2, 4, 6)
            if band_of(float(text := f"{score:.{digits}f}"), thresholds) == band
        ),
        repr(score),
    )


_DIGITS: Final = 12
"""Digits kept: rounding errors beyond them must not decide a band (ten times 0.6 is 0.6)."""


class Score(msgspec.Struct, frozen=True):
    """How risky an annotation is.

    Attributes:
        value: From 0 to 1, not rounded for display (R21).
        band: Its band.
        factors: The factors it is computed from.
    """

    value: float
    band: Band
    factors: tuple[Factor, ...]


def compute_score(measured: Measurements, policy: Policy) -> Score | None:
    """Compute the score of an annotation; None if no signal with a weight is available."""
    factors = compute_factors(measured, policy)
    value = weighted_average([(factor.weight, factor.value) for factor in factors])
    return None if value is None else Score(value, band_of(value, policy.thresholds), factors)


def weighted_average(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the sum of weight times value over the sum of weights (RFC 10.4.2).

    Unavailable signals are not among the pairs, so their weight is shared in proportion.

    Args:
        pairs: Weight, at least 0, and value, from 0 to 1, of each available signal.

    Returns:
        None if all weights are 0.
    """
    heaviest = max((weight for weight, _ in pairs), default=0.0)
    if heaviest <= 0:
        return None
    shares = [(weight / heaviest, value) for weight, value in pairs]  # whose sum cannot overflow
    average = fsum(share * value for share, value in shares) / fsum(share for share, _ in shares)
    return min(1.0, max(0.0, round(average, _DIGITS)))


def rule_variables(factors: Sequence[Factor]) -> Mapping[str, Quantity]:
    """Return the variables of rules (R20): the quantity as `NAME`, the value as `NAME.value`."""
    variables: dict[str, Quantity] = {}
    for factor in factors:
        variables[factor.signal] = factor.quantity
        variables[f"{factor.signal}.value"] = factor.value
    return variables
