"""The reference algorithm (RFC 10.4.2): a weighted average over the available signals, and its band (RFC 10.4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import fsum
from operator import mul
from typing import Final

import msgspec

from vibes_lsp.model.defaults import DEFAULT_THRESHOLDS
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.rules import Quantity
from vibes_lsp.risk.signals import Factor, Measurements, compute_factors

_FROM_ABOVE: Final = tuple(reversed(Band))


def band_of(score: float, thresholds: Mapping[Band, float] = DEFAULT_THRESHOLDS) -> Band:
    """Return the highest band whose bound the score reaches; the score must not be rounded before (R21)."""
    for band in _FROM_ABOVE:
        bound = thresholds.get(band)
        if (DEFAULT_THRESHOLDS[band] if bound is None else bound) <= score:
            return band
    return Band.LOW


def format_score(score: float, thresholds: Mapping[Band, float] = DEFAULT_THRESHOLDS) -> str:
    """Return a score for people: two decimals, or as many as it takes to stay within its band."""
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
"""Further digits are noise of the arithmetic, which must not decide a band: ten times 0.6 is 0.6."""


class Score(msgspec.Struct, frozen=True):
    """How risky an annotation is.

    Attributes:
        value: From 0 to 1, not rounded for people (R21).
        band: Its severity.
        factors: What it is made of.
    """

    value: float
    band: Band
    factors: tuple[Factor, ...]


def compute_score(measured: Measurements, policy: Policy) -> Score | None:
    """Return the score of an annotation; None where no signal that weighs anything is available."""
    factors = compute_factors(measured, policy)
    value = weighted_average([(factor.weight, factor.value) for factor in factors])
    return None if value is None else Score(value, band_of(value, policy.thresholds), factors)


def weighted_average(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the sum of weight times value, divided by the sum of weights (RFC 10.4.2); None where nothing weighs anything.

    What is not available is not among the pairs, so that its weight goes to the others in proportion.

    Args:
        pairs: Weight, from 0 up, and value, from 0 to 1, of each available signal.
    """
    shares, whole = _shares(tuple([weight for weight, _ in pairs]))
    if not whole:
        return None
    return min(
        1.0, max(0.0, round(fsum(map(mul, shares, [value for _, value in pairs])) / whole, _DIGITS))
    )


@lru_cache(maxsize=256)  # the same for all annotations of which the same is known
def _shares(weights: tuple[float, ...]) -> tuple[Sequence[float], float]:
    """Return weights as shares of the heaviest, whose sum does not overflow, and that sum; 0 where nothing weighs anything."""
    heaviest = max(weights, default=0.0)
    if heaviest <= 0:
        return (), 0.0
    shares = [weight / heaviest for weight in weights]
    return shares, fsum(shares)


def rule_variables(factors: Sequence[Factor]) -> Mapping[str, Quantity]:
    """Return what the names in rules stand for (R20): the measured quantity by `NAME`, the normalised value by `NAME.value`."""
    found: dict[str, Quantity] = {}
    for factor in factors:
        found[factor.signal] = factor.quantity
        found[f"{factor.signal}.value"] = factor.value
    return found
