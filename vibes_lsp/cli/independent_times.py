"""Who says that an attestation existed before a time, beside its signers: a block, a registry.

The package vibes-lsp-services asks and checks; without it a proof is shown as not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from vibes_lsp.attestation.envelope import Envelope
from vibes_lsp.attestation.signature_checks import IndependentTime, SignatureVerdict
from vibes_lsp.attestation.timestamp_proofs import TimestampCheck, TimestampProof, proof_path
from vibes_lsp.cli.plugins import load_time_source
from vibes_lsp.errors import VibesError


@dataclass(frozen=True, slots=True)
class TimeSources:
    """What the user trusts to say when an attestation existed, beside cosigners.

    Attributes:
        headers: Block headers for the timestamp beside it.
        registry: A registry that may have received it.
    """

    headers: tuple[str, ...] = ()
    registry: str | None = None

    def times(self, envelope: Envelope, proof: TimestampProof | None) -> Iterator[IndependentTime]:
        """Yield the times at which an envelope existed.

        Args:
            envelope: The envelope.
            proof: The timestamp beside it.

        Raises:
            VibesError: The registry cannot be asked.
        """
        for check in proof.checks if proof is not None else ():
            if check.time is not None and check.verdict is SignatureVerdict.GOOD:
                yield IndependentTime(check.time, f"Bitcoin block {check.height}")
        if self.registry is not None:
            received_at: Callable[[str, str], datetime | None] = load_time_source(
                "registry", "`vibes verify --registry`"
            )
            moment = received_at(self.registry, envelope.attestation_id)
            if moment is not None:
                yield IndependentTime(moment, f"the registry {self.registry}")


def find_proof(path: Path, headers: Sequence[str] = ()) -> TimestampProof | None:
    """Return the proof beside an attestation; None if there is none.

    Args:
        path: The attestation.
        headers: Block headers that the user trusts. With them, what prevents the check is an error.

    Raises:
        VibesError: With headers: a package is missing, one is malformed, or there is no proof.
    """
    target = proof_path(path)
    if not headers and not target.exists():
        return None
    try:
        check_timestamp: Callable[[Path, Sequence[str]], list[TimestampCheck]] = load_time_source(
            "timestamp", "the check of a timestamp"
        )
        return TimestampProof(target, tuple(check_timestamp(path, headers)))
    except (VibesError, ModuleNotFoundError) as error:
        if headers:
            raise
        if isinstance(error, ModuleNotFoundError):
            return TimestampProof(target, (), f"to check it the package {error.name} is needed")
        return TimestampProof(target, (), error.message)
