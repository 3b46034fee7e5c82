"""The catalogue of findings of `vibes gate`: id, severity, title, reason and advice."""

from __future__ import annotations

from typing import Final

from vibes_lsp.checks.finding import Check, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

BLOCKED: Final = Check(
    "gate-block",
    _E,
    "AI-written code is blocked",
    "Its risk score reaches the threshold, or a review rule blocks it (RFC 10.4.5, 10.4.6).",
    "Change the lines, or have a person review and approve them.",
)
REVIEW_REQUIRED: Final = Check(
    "gate-review",
    _E,
    "AI-written code requires a review",
    "A review rule of the project requires a person's approval (RFC 10.4.6).",
    "Have a person review and approve the lines.",
)
REJECTED: Final = Check(
    "gate-rejected",
    _E,
    "AI-written code was rejected in review",
    "A person rejected it, and there is no later approval (R6).",
    "Change the lines, and have a person approve the new version.",
)
FLAGGED: Final = Check(
    "gate-flag",
    _W,
    "AI-written code is flagged",
    "Its risk is medium or higher, or a review rule flags it (RFC 10.4.3, 10.4.6).",
    "Look at the lines; they do not fail the gate.",
)
APPROVAL: Final = Check(
    "gate-approval",
    _W,
    "An approval does not count",
    "Only a person who neither wrote nor committed the code can approve it (R6).",
    "Have someone else approve, in a commit of their own.",
)
HIDDEN: Final = Check(
    "gate-hidden",
    _W,
    "A record of the branch hides code that is still present",
    "Superseded, deleted and lost annotations are not gated (R27), so a branch could hide its own "
    "code. The record is ignored while the code is present.",
    "No action needed if the annotation passes; otherwise remove the record from the branch.",
)
WORKTREE: Final = Check(
    "gate-worktree",
    _N,
    "A file on disk differs from HEAD",
    "HEAD is what gets merged. Uncommitted edits and git attributes such as `ident` or `filter` "
    "make the file differ; both versions are gated.",
    "Commit the edits, or remove the attributes.",
)
UNVOUCHED: Final = Check(
    "gate-unvouched",
    _E,
    "The id of a record does not cover its risk members",
    "The id was computed without them (R3), so they may have been changed; the policy uses them.",
    "Record with an id that covers the whole record (RFC 5.4).",
)
REMADE: Final = Check(
    "gate-remade",
    _E,
    "A record of the branch changes how code was made",
    "A later record of an edit may change its place and commit only (RFC 7.3.1, R4); otherwise a "
    "branch could lower its own risk.",
    "Remove the record from the branch.",
)
LOST: Final = Check(
    "gate-lost",
    _N,
    "The lines of an annotation are not found, so they are not gated",
    "Deleted code has no risk, but code that was changed beyond recognition may have (R27).",
    "Check where the lines went; `vibes show` prints the record.",
)
UNREAD: Final = Check(
    "gate-unread",
    _E,
    "An annotated file or a record cannot be read",
    "What cannot be read cannot be gated.",
    "Make the file readable, or correct the record; `vibes check` says what is wrong.",
)
UNUSABLE: Final = Check(
    "gate-policy",
    _E,
    "A part of the policy is invalid",
    "An invalid rule is ignored and blocks nothing (RFC 10.4.6).",
    "Correct `config.json` at the reported place; `vibes check` has the details.",
)

ALL: Final[tuple[Check, ...]] = tuple(
    value for value in list(globals().values()) if isinstance(value, Check)
)
