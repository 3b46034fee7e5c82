"""`Verification`: whose word an attestation is, and what it still covers of a trail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.attestation.attested_files import (
    AttestedFile,
    FileStatus,
    check_files,
)
from vibes_lsp.attestation.envelope import MAX_ENVELOPE, Envelope, parse_envelope
from vibes_lsp.attestation.signature_checks import (
    IndependentTime,
    SignatureCheck,
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
    trust_tier,
)
from vibes_lsp.attestation.signing_time import SigningDelay
from vibes_lsp.attestation.statement import SUBJECT_NAMES, Statement, parse_statement
from vibes_lsp.attestation.tiers import TrustTier
from vibes_lsp.attestation.trusted_keys import TrustedKey
from vibes_lsp.attestation.versions_in_git import VersionsInGit
from vibes_lsp.errors import BadEnvelope, UnreadableFile
from vibes_lsp.model.members import Members
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.store.audit_dir import LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import read_file

NOT_PROVEN: Final = (
    "Not proven: that the records are true, that the code is right, or that a signer is honest."
)
"""What no attestation proves (RFC 11.6)."""


_ALWAYS_PUBLISHED: Final = frozenset(
    name for name, file in SUBJECT_NAMES.items() if file != MANIFEST_NAME
)


class VerificationResult(StrEnum):
    """The result as a whole."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying one envelope.

    Attributes:
        envelope: The envelope.
        statement: What it says.
        signatures: The result for each signature.
        files: What it covers of each file.
        problems: What else is wrong, each a sentence without a full stop.
    """

    envelope: Envelope
    statement: Statement
    signatures: tuple[SignatureCheck, ...]
    files: tuple[AttestedFile, ...]
    problems: tuple[str, ...] = ()

    @property
    def tier(self) -> TrustTier:
        """Who vouches for what is covered; no one if anything is wrong.

        A manifest may stay private (RFC 13.1), but without log and config nothing is vouched for.
        """
        if self.result is VerificationResult.FAIL or not all(
            file.is_covered for file in self.files if file.name in _ALWAYS_PUBLISHED
        ):
            return TrustTier.NONE
        return trust_tier(self.signatures)

    @property
    def result(self) -> VerificationResult:
        """FAIL if anything is wrong, else UNKNOWN if anything could not be checked, else PASS."""
        unchecked = any(check.verdict is SignatureVerdict.UNCHECKED for check in self.signatures)
        if (
            self.problems
            or any(check.verdict is SignatureVerdict.BAD for check in self.signatures)
            or any(
                not file.is_covered and file.status is not FileStatus.UNCHECKED
                for file in self.files
            )
        ):
            return VerificationResult.FAIL
        if unchecked or any(file.status is FileStatus.UNCHECKED for file in self.files):
            return VerificationResult.UNKNOWN
        return VerificationResult.PASS

    @property
    def log(self) -> AttestedFile | None:
        """What it covers of the log; None if it does not name the log."""
        names = {name for name, file in SUBJECT_NAMES.items() if file == LOG_NAME}
        return next((attested for attested in self.files if attested.name in names), None)

    def signing_delay(self, check: SignatureCheck) -> SigningDelay | None:
        """Return how long after the data a cosignature was made; None if its time is unknown."""
        if check.signed_at is None:
            return None
        statement = self.statement
        return SigningDelay(check.signed_at, statement.attested_at, statement.newest_record)

    def as_json(self) -> Members:
        """Return the shape of `vibes verify --json`."""
        at = self.statement.attested_at
        return {
            "result": self.result.value,
            "tier": self.tier.value,
            "attestationId": self.envelope.attestation_id,
            "project": self.statement.project,
            "assuranceLevel": self.statement.assurance_level,
            "validation": self.statement.validation_result,
            "attestedAt": format_timestamp(at) if at is not None else None,
            "commit": self.statement.commit,
            "signatures": [self._signature_as_json(check) for check in self.signatures],
            "files": [file.as_json() for file in self.files],
            "problems": list(self.problems),
            "notProven": NOT_PROVEN,
        }

    def _signature_as_json(self, check: SignatureCheck) -> Members:
        delay = self.signing_delay(check)
        return {**check.as_json(), "signingDelay": delay.as_json() if delay else None}


def read_envelope(path: Path) -> Envelope:
    """Read an envelope from a file.

    Raises:
        UnreadableFile: It is missing or cannot be read.
        BadEnvelope: It is no envelope.
    """
    content = read_file(path, limit=MAX_ENVELOPE)
    if content is None:
        raise UnreadableFile(f"{path} does not exist", hint="make one with `vibes attest`")
    try:
        return parse_envelope(content)
    except BadEnvelope as error:
        raise BadEnvelope(
            f"{path.name}: {error.message}", hint="name an envelope that `vibes attest` wrote"
        ) from None


def verify(
    envelope: Envelope,
    directory: AuditDir,
    keys: Sequence[TrustedKey],
    now: datetime,
    *,
    versions: VersionsInGit | None = None,
    independent: tuple[IndependentTime, ...] = (),
) -> Verification:
    """Verify an envelope against the present files of a trail.

    Args:
        envelope: The envelope; untrusted.
        directory: The trail.
        keys: The known keys.
        now: The current time.
        versions: Where to look for attested bytes that are not there any more.
        independent: Times at which it existed, by the word of others than its signers.

    Raises:
        BadEnvelope: Its payload is no statement of VIBES.
    """
    statement = parse_statement(envelope)
    times = SignatureTimes(now, statement.attested_at, independent)
    return Verification(
        envelope,
        statement,
        check_signatures(envelope, keys, times),
        check_files(statement, directory, versions),
        (*_other_project(statement, directory), *failed_validation(statement)),
    )


def _other_project(statement: Statement, directory: AuditDir) -> Iterator[str]:
    present = load_config(directory).config.project_name
    if present and statement.project is not None and statement.project != present:
        yield f"it attests the project {statement.project!r}, and this is {present!r}"


def failed_validation(statement: Statement) -> Iterator[str]:
    """Yield a problem if a statement does not say that the trail passed its check."""
    if statement.validation_result != "PASS":
        yield "the trail did not pass `vibes check` when it was attested"
