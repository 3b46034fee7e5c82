"""The OpenTimestamps proof beside an attestation (RFC 11.5): where it lies, and what checking gave.

The package vibes-lsp-services checks proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.attestation.signature_checks import SignatureVerdict
from vibes_lsp.model.members import Members
from vibes_lsp.model.timestamps import format_timestamp

_SUFFIX: Final = ".ots"


@dataclass(frozen=True, slots=True)
class TimestampCheck:
    """The result for one attestation of a proof.

    Attributes:
        verdict: Good if a given block header confirms it.
        reason: Why, as a sentence without a full stop.
        height: The block's height, for an attestation by Bitcoin.
        merkle_root: What the block's header must have, as block explorers print it.
        block_hash: The confirming header's hash, as block explorers print it.
        time: The time in that header.
        calendar: Who will attest, for a pending attestation.
    """

    verdict: SignatureVerdict
    reason: str
    height: int | None = None
    merkle_root: str | None = None
    block_hash: str | None = None
    time: datetime | None = None
    calendar: str | None = None

    def as_json(self) -> Members:
        """Return the object of `vibes timestamp verify --json`."""
        return {
            "verdict": self.verdict.value,
            "reason": self.reason,
            "height": self.height,
            "merkleRoot": self.merkle_root,
            "blockHash": self.block_hash,
            "time": format_timestamp(self.time) if self.time else None,
            "calendar": self.calendar,
        }


@dataclass(frozen=True, slots=True)
class TimestampProof:
    """The proof beside an attestation.

    Attributes:
        path: Its file.
        checks: The result for each attestation in it.
        problem: Why there is none; empty if there are results.
    """

    path: Path
    checks: tuple[TimestampCheck, ...]
    problem: str = ""

    def as_json(self) -> Members:
        """Return the object of `vibes verify --json`."""
        return {
            "file": self.path.name,
            "attestations": [check.as_json() for check in self.checks],
            "problem": self.problem or None,
        }


def proof_path(path: Path) -> Path:
    """Return where the proof of a file lies (RFC 11.5)."""
    return path.with_name(path.name + _SUFFIX)
