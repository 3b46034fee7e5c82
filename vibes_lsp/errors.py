"""The error hierarchy: every failure that the core raises on purpose.

Each adapter maps these in one place (exit code, LSP error). A finding about audit data is a result,
not an error.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath
from typing import ClassVar
from zlib import crc32


class VibesError(Exception):
    """Base of all errors that this package raises on purpose.

    Args:
        message: What is wrong, with file, line and member if known, and what was expected.
        hint: What to do; empty if the message is enough.
    """

    code: ClassVar[str] = "vibes-error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class MalformedJson(VibesError):
    """A text is not JSON that can be hashed (R1): invalid, not UTF-8, duplicate keys, too deep."""

    code = "malformed-json"

    def __init__(self, reason: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(f"{reason} (line {line}, column {column})")
        self.reason = reason
        self.line = line
        self.column = column


class AuditDirNotFound(VibesError):
    """There is no `.ai-audit/` in the given folder or above it."""

    code = "audit-dir-not-found"


class UnreadableFile(VibesError):
    """A file cannot be read: missing, not a regular file, too large, outside, no permission."""

    code = "unreadable-file"

    def is_same_as(self, other: VibesError | None) -> bool:
        """Return whether another error reports the same file as unreadable for the same reason."""
        return isinstance(other, UnreadableFile) and other.message == self.message


class OutdatedIndex(UnreadableFile):
    """An index on disk is damaged, or is not of the log as it is now; asking again rebuilds it."""

    code = "outdated-index"


class BrokenBlob(VibesError):
    """Stored reasoning cannot be decompressed, or only beyond the limits."""

    code = "broken-blob"


class MissingBlob(BrokenBlob):
    """The blob of a reasoning entry is missing (it MAY be untracked, RFC 4.2)."""

    code = "missing-blob"


class EscapingBlob(BrokenBlob):
    """The `blob_path` of a reasoning entry points outside `.ai-audit/` (R8)."""

    code = "escaping-blob"


class UnsupportedVersion(VibesError):
    """A file declares a major version that must not be written (RFC 12.1, R11)."""

    code = "unsupported-version"


class RefusedWrite(VibesError):
    """Nothing was written: locked, disk full, no permission, file must not be replaced."""

    code = "refused-write"


class UnknownId(VibesError):
    """No record, entry or session has this id."""

    code = "unknown-id"


class AmbiguousId(VibesError):
    """An id prefix matches more than one record, entry or session."""

    code = "ambiguous-id"


class BrokenRule(VibesError):
    """The condition of a review rule is invalid (R20).

    Args:
        message: What is wrong.
        offset: The 0-based character of the condition where the error is.
    """

    code = "broken-rule"

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class PrismOff(VibesError):
    """The command needs risk scores, but PRISM is off in the policy (R27)."""

    code = "prism-off"


class BadDisclosure(VibesError):
    """A file is not a disclosure of a manifest entry, or has an unsupported version."""

    code = "bad-disclosure"


class AttestationCommandFailed(VibesError):
    """A process that verifies or attests could not do its work."""

    code = "attestation-command-failed"


class CheckFailed(VibesError):
    """A process that checks a trail could not do its work."""

    code = "check-failed"


class BadBadge(VibesError):
    """A file has no badge that `vibes badge` draws or shields.io shows."""

    code = "bad-badge"


class BadPolicy(VibesError):
    """A policy for attestations is no TOML, or has an unknown or invalid member."""

    code = "bad-policy"


class BadQuery(VibesError):
    """SQL is not a query, is invalid or takes too long."""

    code = "bad-query"


class HistoryUnavailable(VibesError):
    """Git cannot answer: not installed, no repository, unknown revision, failed command."""

    code = "history-unavailable"


class ShallowClone(HistoryUnavailable):
    """The clone lacks commits that the answer needs."""

    code = "shallow-clone"


class BadEnvelope(VibesError):
    """An attestation cannot be read: no DSSE envelope, or no statement of VIBES (RFC 11.1)."""

    code = "bad-envelope"


class BadKey(VibesError):
    """A key cannot be used: no Ed25519 key, a private one where a public one belongs, locked."""

    code = "bad-key"


class ServiceFailure(VibesError):
    """A service did not answer, refused the request, or gave an answer that cannot be used.

    Args:
        message: What is wrong.
        hint: What to do.
        status: The HTTP status of the answer, if there was one.
    """

    code = "service-failure"

    def __init__(self, message: str, *, hint: str = "", status: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class KnowledgeBaseNotFound(VibesError):
    """There is no `.vouch/` in the given folder or above it."""

    code = "knowledge-base-not-found"


class InvalidObject(VibesError):
    """An object of a knowledge base breaks a rule: its shape, its id, or what it refers to."""

    code = "invalid-object"


class DecidedOtherwise(VibesError):
    """A proposal has the opposite decision, which is final (vouch 3.6)."""

    code = "decided-otherwise"


class ForbiddenSelfApproval(VibesError):
    """The actor who made a proposal may not decide on it (vouch 5.4)."""

    code = "forbidden-self-approval"


class InternalError(VibesError):
    """An unexpected exception, reported in one line.

    The message has the exception's type and location, but never its text, which may be a prompt.

    Attributes:
        report_id: A hash of the type and the call path, equal for equal faults.
        place: The module and line of this package where it was raised.

    Args:
        error: The exception.
    """

    code = "internal-error"

    def __init__(self, error: BaseException) -> None:
        walked = [
            (_module(frame.f_code.co_filename), frame.f_code.co_name, line)
            for frame, line in traceback.walk_tb(error.__traceback__)
        ]
        frames = [each for each in walked if each[0]]
        kind = type(error).__name__
        path = dict.fromkeys(f"{module}:{name}" for module, name, _ in frames)
        self.report_id = f"{crc32('|'.join([kind, *path]).encode('utf-8', 'replace')):08x}"
        self.place = f"{frames[-1][0]}:{frames[-1][2]}" if frames else "another package"
        super().__init__(
            f"internal error {self.report_id}: {kind} in {self.place}",
            hint="please report this line as a bug of vibes; VIBES_DEBUG=1 prints the details",
        )


_PACKAGE = PurePath(__file__).parent


def _module(filename: str) -> str:
    """Return the path of a file within this package; empty for other files."""
    path = PurePath(filename)
    return path.relative_to(_PACKAGE).as_posix() if path.is_relative_to(_PACKAGE) else ""


def report(error: BaseException) -> InternalError:
    """Return an unexpected exception as an `InternalError`; log its traceback at DEBUG."""
    import logging  # noqa: PLC0415  # rarely needed, and slow to import

    found = InternalError(error)
    logging.getLogger(__name__).debug("%s", found.message, exc_info=error)
    return found
