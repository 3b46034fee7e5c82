"""The one error hierarchy: every failure the core raises, worded for the person who has to act on it.

Adapters map these in one place each (exit code, LSP error). A finding about audit data is a result, not an error.
"""

from __future__ import annotations

import hashlib
import traceback
from pathlib import PurePath
from typing import ClassVar


class VibesError(Exception):
    """Base of all errors that this package raises on purpose.

    Args:
        message: What is wrong, naming the file, line and field where they are known.
        hint: What the user can do about it; empty when there is nothing to add.
    """

    code: ClassVar[str] = "vibes-error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class MalformedJson(VibesError):
    """A text is not the JSON that R1 lets us hash: broken, not UTF-8, NaN, contradictory keys, nested too deeply."""

    code = "malformed-json"

    def __init__(self, reason: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(f"{reason} (line {line}, column {column})")
        self.reason = reason
        self.line = line
        self.column = column


class AuditDirNotFound(VibesError):
    """No `.ai-audit/` at the given place or above it."""

    code = "audit-dir-not-found"


class UnreadableFile(VibesError):
    """A file of the trail is there but cannot be read: permissions, a folder in its place, too large, escaping."""

    code = "unreadable-file"


class BrokenBlob(VibesError):
    """Reasoning text is stored in a way that cannot be decoded, or only beyond the limits."""

    code = "broken-blob"


class MissingBlob(BrokenBlob):
    """An external entry names a blob that is not there (it MAY be untracked, RFC 4.2)."""

    code = "missing-blob"


class EscapingBlob(BrokenBlob):
    """An external entry names a blob outside `.ai-audit/` (R8)."""

    code = "escaping-blob"


class UnsupportedVersion(VibesError):
    """A file declares a major version that we must not write to (RFC 12.1, R11)."""

    code = "unsupported-version"


class RefusedWrite(VibesError):
    """Writing would overwrite something that we could not parse or did not make."""

    code = "refused-write"


class UnknownId(VibesError):
    """No record, entry or session has this id."""

    code = "unknown-id"


class AmbiguousId(VibesError):
    """An id prefix fits more than one thing."""

    code = "ambiguous-id"


class BrokenRule(VibesError):
    """The condition of a review rule is not in the language of R20.

    Args:
        message: What is wrong.
        offset: The character of the condition at which it goes wrong, from 0.
    """

    code = "broken-rule"

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class PrismOff(VibesError):
    """What is asked for needs risk scores, and the project does not use PRISM (R27)."""

    code = "prism-off"


class BadQuery(VibesError):
    """SQL that is no query, is not understood or takes too long."""

    code = "bad-query"


class HistoryUnavailable(VibesError):
    """Git could not answer: absent, not a repository, an unknown revision, a failing command."""

    code = "history-unavailable"


class InternalError(VibesError):
    """A fault of this program: an exception that nobody foresaw, in one line.

    The line names the kind of the exception and its place in the code, and never quotes it: its text may be a prompt.

    Attributes:
        report_id: The same wherever the same fault happens; what a report of it is found by.
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
        self.report_id = hashlib.sha256(
            "\n".join([kind, *path]).encode("utf-8", "replace")
        ).hexdigest()[:8]
        self.place = f"{frames[-1][0]}:{frames[-1][2]}" if frames else "no module of ours"
        super().__init__(
            f"internal error {self.report_id}: {kind} in {self.place}",
            hint="this is a fault of vibes: please report this line; with VIBES_DEBUG=1 in the environment it prints the details",
        )


_PACKAGE = PurePath(__file__).parent


def _module(filename: str) -> str:
    """Return a file's path within the package; empty for a file of somebody else."""
    path = PurePath(filename)
    return path.relative_to(_PACKAGE).as_posix() if path.is_relative_to(_PACKAGE) else ""


def report(error: BaseException) -> InternalError:
    """Return an unforeseen exception as one line; its traceback goes to the log, for those who look at all of it."""
    import logging  # noqa: PLC0415  # only what fails needs it

    found = InternalError(error)
    logging.getLogger(__name__).debug("%s", found.message, exc_info=error)
    return found
