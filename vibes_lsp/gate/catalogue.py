"""What the gate says, each with an id: in SARIF, in findings, in the documentation."""

from __future__ import annotations

from typing import Final

from vibes_lsp.checks.finding import Check, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

BLOCKED: Final = Check(
    "gate-block",
    _E,
    "An AI's code is blocked",
    "Its risk reaches the threshold, or a rule of the project says so (RFC 10.4.5, 10.4.6).",
    "Have a person review the lines and approve them as they are, or change them.",
)
REVIEW_REQUIRED: Final = Check(
    "gate-review",
    _E,
    "An AI's code needs a review",
    "A rule of the project requires that a person has looked at it (RFC 10.4.6).",
    "Have a person review the lines and approve them as they are.",
)
REJECTED: Final = Check(
    "gate-rejected",
    _E,
    "An AI's code was rejected in review",
    "A person said no, and nobody has approved it since (R6).",
    "Change the lines, and have a person approve what they are then.",
)
FLAGGED: Final = Check(
    "gate-flag",
    _W,
    "An AI's code deserves a look",
    "Its risk is medium or more, or a rule of the project says so (RFC 10.4.3, 10.4.6).",
    "Look at it; nothing is stopped.",
)
APPROVAL: Final = Check(
    "gate-approval",
    _W,
    "An approval does not count",
    "Whoever wrote or committed the code, and what is no person, cannot release it (R6).",
    "Have somebody else approve, in a commit of their own.",
)
HIDDEN: Final = Check(
    "gate-hidden",
    _W,
    "A record of the change takes code out of the gate that still stands",
    "Replaced, removed and lost annotations are not gated (R27), so what a change says of its own code is not believed while the text is there.",
    "Nothing, where the annotation passes: it is gated as if the record were not there.",
)
WORKTREE: Final = Check(
    "gate-worktree",
    _N,
    "A file on disk is not the one in HEAD",
    "HEAD is what is merged. Edits that no commit has yet, and git attributes such as `ident` or `filter`, make another file of it: both are judged.",
    "Commit the edits, or take the attributes away.",
)
UNVOUCHED: Final = Check(
    "gate-unvouched",
    _E,
    "Nothing proves the risk that a record of the change brings",
    "Its id is made without the risk members (R3), which anybody could have changed since, and the policy goes by them.",
    "Record with an id over the whole record (RFC 5.4).",
)
REMADE: Final = Check(
    "gate-remade",
    _E,
    "A record of the change retells how code was made",
    "A later record of an edit may give its place and commit anew, and nothing else (RFC 7.3.1, R4); otherwise risk could be written away.",
    "Take the record out of the change.",
)
LOST: Final = Check(
    "gate-lost",
    _N,
    "An annotation's lines are not found, so nothing is gated",
    "Code that is gone has no risk; code that was changed beyond recognition may have (R27).",
    "Look where the lines went; `vibes show` has the record, and an editor can say where it is now.",
)
UNREAD: Final = Check(
    "gate-unread",
    _E,
    "An annotated file cannot be read",
    "What cannot be looked at cannot be gated.",
    "Make it a readable file of the project.",
)
UNUSABLE: Final = Check(
    "gate-policy",
    _E,
    "A part of the policy cannot be used",
    "A rule that is left out stops nothing (RFC 10.4.6).",
    "Mend `config.json` at the place; `vibes check` says more.",
)
