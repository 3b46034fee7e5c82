"""The part of the catalogue about `vibes check --base` and `vibes gate --base`."""

from __future__ import annotations

from typing import Final

from vibes_lsp.checks.finding import Check, Severity

_E: Final = Severity.ERROR

BASE_RECORD: Final = Check(
    "base-record",
    _E,
    "A record of the base or of the branch was removed or changed",
    "The log is append-only: no tool may modify or remove a record (RFC 12.2).",
    "Restore the record.",
)
BASE_ENTRY: Final = Check(
    "base-entry",
    _E,
    "A manifest entry of the base or of the branch was removed or changed",
    "No tool may modify or remove an entry (RFC 12.3); its key would no longer match (RFC 5.2).",
    "Restore the entry.",
)
BASE_FILE: Final = Check(
    "base-file",
    _E,
    "A file of the trail is not a regular file of this repository, or does not belong there",
    "Git does not show changes behind a link or in a submodule, only this machine may write "
    "`wal/` and `spool/`, and code could hide in other files. A warning for these.",
    "Restore the regular file, or remove the file from git.",
)
BASE_CHECKOUT: Final = Check(
    "base-checkout",
    _E,
    "The trail on disk differs from HEAD",
    "HEAD is what gets merged. Attributes such as `ident` or `filter` change files on checkout.",
    "Commit the corrections made on disk; else remove the attributes and check the files out "
    "again.",
)
BASE_TRAIL: Final = Check(
    "base-trail",
    _E,
    "The branch adds an audit trail in a subfolder",
    "The nearest `.ai-audit/` owns a file, so files below it are not judged here. A warning "
    "if the base has that trail and the branch adds to it.",
    "Record to the project's trail, or have a maintainer merge the change and run the gate in "
    "that folder.",
)
BASE_LEVEL: Final = Check(
    "base-level",
    _E,
    "The assurance level is lower than at the base revision",
    "Data that a lower level omits cannot be recorded later (RFC 3).",
    "Restore the level, or have a maintainer merge the change.",
)
BASE_POLICY: Final = Check(
    "base-policy",
    _E,
    "The policy differs from the base revision",
    "A branch must not loosen its own rules: `vibes gate --base` uses those of the base. A "
    "note if the change only tightens them (RFC 8.1, 10.4.6).",
    "Revert the change, or have a maintainer merge it.",
)

BASE_CHECKS: Final[tuple[Check, ...]] = tuple(
    value for value in list(globals().values()) if isinstance(value, Check)
)
