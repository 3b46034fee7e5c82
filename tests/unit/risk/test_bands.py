"""Bands: the highest whose bound the unrounded score reaches (R21)."""

from __future__ import annotations

import pytest

from vibes_lsp.model.vocabulary import Band
from vibes_lsp.risk.scoring import band_of


@pytest.mark.parametrize(
    ("score", "band"),
    [
        (0, "low"),
        (0.2999, "low"),
        (0.3, "medium"),
        (0.59999, "medium"),
        (0.6, "high"),
        (0.7999999, "high"),
        (0.8, "critical"),
        (1, "critical"),
    ],
)
def test_the_bounds_of_the_rfc(score: float, band: str) -> None:
    assert band_of(score) == band


def test_a_project_may_set_some_of_them() -> None:
    assert band_of(0.5, {Band.CRITICAL: 0.5}) == Band.CRITICAL
    assert band_of(0.5, {Band.MEDIUM: 0.55}) == Band.LOW


def test_below_every_bound_is_low() -> None:
    assert band_of(0.1, {Band.LOW: 0.2}) == Band.LOW
