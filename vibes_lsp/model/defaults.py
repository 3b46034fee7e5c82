"""The RFC's defaults for what a project does not configure (RFC 8.1, 10.4.2, 10.4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from vibes_lsp.model.vocabulary import Band, Signal

COMPRESS_THRESHOLD: Final = 10_240
"""Bytes of reasoning text above which it is compressed (RFC 6.7)."""
BLOB_THRESHOLD: Final = 102_400
"""Bytes above which an entry goes to an external blob (RFC 6.7)."""

DEFAULT_WEIGHTS: Final[Mapping[str, float]] = {
    Signal.TEMPERATURE: 0.15,
    Signal.ACTION_TYPE: 0.15,
    Signal.SCOPE_LINES: 0.15,
    Signal.SCOPE_FILES: 0.10,
    Signal.ASSURANCE_GAP: 0.10,
    Signal.HUMAN_REVIEW_PRESENT: 0.15,
    Signal.PROMPT_TOKEN_COUNT: 0.10,
    Signal.MODEL_CAPABILITY_TIER: 0.10,
}
DEFAULT_THRESHOLDS: Final[Mapping[Band, float]] = {
    Band.LOW: 0.0,
    Band.MEDIUM: 0.30,
    Band.HIGH: 0.60,
    Band.CRITICAL: 0.80,
}
BASELINES: Final[Mapping[str, float]] = {Signal.SCOPE_FILES: 20, Signal.PROMPT_TOKEN_COUNT: 2_000}
"""The quantity that counts as 1.0, for signals without an upper bound (RFC 10.4.1)."""
