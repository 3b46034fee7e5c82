"""The numbers of a badge: verified AI lines, the level that their data meets, the trust tier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.attestation.badge import BadgeClaim, BadgeTier
from vibes_lsp.attestation.tiers import TrustTier
from vibes_lsp.model.hashing import ContextVariant, explain_context_hash
from vibes_lsp.model.members import Members
from vibes_lsp.model.record_schema import CONTEXT_MEMBERS
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.reports.blame import line_kind
from vibes_lsp.reports.coverage import OwnedFile
from vibes_lsp.trail.records import LogRecord
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail


@dataclass(frozen=True, slots=True)
class BadgeNumbers:
    """What the data shows.

    Attributes:
        lines: Lines of all tracked files.
        verified: Of these, verified AI lines.
        level: The assurance level that the data of every verified line meets; None if some line
            meets none, or there is no such line.
        tier: The trust tier of the trail, as `vibes verify` finds it.
        unsigned: How many annotations and edges were added since the trail was signed.
    """

    lines: int
    verified: int
    level: AssuranceLevel | None
    tier: TrustTier
    unsigned: int

    @property
    def claim(self) -> BadgeClaim:
        """What a badge may say."""
        tier = BadgeTier.of(self.tier, self.unsigned)
        return BadgeClaim.of(self.lines, self.verified, self.level, tier)

    def as_json(self) -> Members:
        """Return the shape of `vibes badge --json`."""
        return {
            "message": self.claim.message,
            "lines": self.lines,
            "verifiedLines": self.verified,
            "share": round(self.verified / self.lines, 4) if self.lines else 0.0,
            "assuranceLevel": self.level.value if self.level else None,
            "tier": self.tier.value,
            "unsigned": self.unsigned,
        }


def count_unsigned(trail: Trail, signed: int) -> int:
    """Return how many records after the signed ones can change the share.

    These are annotations and edges: an edge alone can make an annotation history, or a review.

    Args:
        trail: The trail.
        signed: The length of the beginning of the log that is signed, in bytes.
    """
    added = trail.kinds_from(signed)
    return sum(count for kind, count in added.items() if kind not in _WITHOUT_LINES)


_WITHOUT_LINES: Final = {LogLineKind.BLANK, LogLineKind.SESSION, LogLineKind.DELEGATION}


def measure(
    files: Iterable[OwnedFile], trail: Trail, tier: TrustTier, unsigned: int
) -> BadgeNumbers:
    """Count the verified AI lines of files, and find the level that their data meets.

    Args:
        files: The tracked files.
        trail: The trail.
        tier: Its tier.
        unsigned: See `BadgeNumbers`.
    """
    lines = verified = 0
    levels: dict[str, int] = {}
    for file in files:
        lines += file.lines
        for line, placement in file.owners.items():
            if line_kind(placement, line) is not LineKind.AI:
                continue
            verified += 1
            record = placement.current
            if record.id not in levels:
                levels[record.id] = _levels_met(record, trail)
    met = min(levels.values(), default=0)
    level = list(AssuranceLevel)[met - 1] if met else None
    return BadgeNumbers(lines, verified, level, tier, unsigned)


_REQUIRED: Final = ("environment_hash", "prompt_hash", "reasoning_hash")
"""The member whose entry each assurance level adds (RFC 3), the lowest first."""


def _levels_met(record: LogRecord, trail: Trail) -> int:
    """Return how many levels a record meets: those that it declares and has valid entries for."""
    declared = record.text("assurance_level")
    most = list(AssuranceLevel).index(AssuranceLevel(declared)) + 1 if declared in _LEVELS else 0
    for number, member in enumerate(_REQUIRED[:most]):
        key = record.text(member)
        entry = trail.manifest.entry(key) if key else None
        if key is None or entry is None or entry.get("type") != CONTEXT_MEMBERS[member]:
            return number
        if explain_context_hash(key, entry) == (ContextVariant.MISMATCH,):
            return number
    return most


_LEVELS: Final = frozenset(level.value for level in AssuranceLevel)
