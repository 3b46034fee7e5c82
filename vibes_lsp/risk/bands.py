"""Severity bands of a risk score (RFC 10.4.3, R21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from vibes_lsp.model.defaults import DEFAULT_THRESHOLDS
from vibes_lsp.model.vocabulary import Band

_FROM_ABOVE: Final = tuple(reversed(Band))


def band_of(score: float, thresholds: Mapping[Band, float] = DEFAULT_THRESHOLDS) -> Band:
    """Return the highest band whose bound the score reaches; the score must not be rounded before (R21)."""
    for band in _FROM_ABOVE:
        bound = thresholds.get(band)
        if (DEFAULT_THRESHOLDS[band] if bound is None else bound) <= score:
            return band
    return Band.LOW


def figure(score: float, thresholds: Mapping[Band, float] = DEFAULT_THRESHOLDS) -> str:
    """Return a score for people: two decimals, or as many as it takes to stay within its band."""
    band = band_of(score, thresholds)
    return next((text for digits in (2, 4, 6) if band_of(float(text := f"{score:.{digits}f}"), thresholds) == band), repr(score))
