"""Trust tiers, and where a trail's attestation is; needs no cryptography."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.store.audit_dir import AuditDir

ATTESTATION_NAMES: Final = ("attestation.json", "attestation.intoto.jsonl")
"""The names of an envelope in an audit directory; the first is the one we write."""


class TrustTier(StrEnum):
    """Who vouches for a trail (guide: cosigning).

    Attributes:
        TOOL_CORROBORATED: A user's signature is good, and a tool provider's.
        SELF_ATTESTED: Only users' signatures are good.
        TOOL_ONLY: Only tool providers' signatures are good.
        NONE: No signature is good.
    """

    TOOL_CORROBORATED = "tool-corroborated"
    SELF_ATTESTED = "self-attested"
    TOOL_ONLY = "tool-only"
    NONE = "none"


ASCENDING: Final = tuple(reversed(TrustTier))
"""The tiers, the weakest first."""


def attestation_path(directory: AuditDir) -> Path | None:
    """Return the envelope of a trail; None if it has none."""
    candidates = (directory.path / name for name in ATTESTATION_NAMES)
    return next((path for path in candidates if path.exists()), None)
