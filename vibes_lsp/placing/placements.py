"""Annotations placed in a text, without duplicates (R18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord

_OWNS_NOTHING: Final = frozenset({Action.DELETE, Action.REVIEW})
TEXT_OLDER_THAN_EDIT: Final = "its text was in git before it was recorded"
"""The tool made the anchors before the edit, or recorded the edit after its commit (R14)."""
LINES_OLDER_THAN_EDIT: Final = "its lines were in git before it was recorded"
"""History disproves the record: the edit was dropped, or it wrote other lines (R15)."""
RECORD_BEFORE_COMMIT: Final = "record edits before committing them"
"""What the recorder can do about `TEXT_OLDER_THAN_EDIT`."""


class ShownLineage(msgspec.Struct, frozen=True):
    """A lineage to show, and the equal older ones that it represents.

    Attributes:
        lineage: The highest ranked of them.
        duplicates: The others, oldest first.
        is_placeholder: Whether the tool recorded "line 1" for lack of a position; it is on no line.
    """

    lineage: Lineage
    duplicates: tuple[Lineage, ...] = ()
    is_placeholder: bool = False

    @property
    def may_own_lines(self) -> bool:
        """Whether lines can belong to it.

        Placeholders, history, functions, reviews and deletions own none (R7, R18).
        """
        lineage = self.lineage
        return not (
            self.is_placeholder
            or lineage.superseded_by
            or lineage.action in _OWNS_NOTHING
            or lineage.current.type != RecordType.LINE
        )


class Placement(msgspec.Struct, frozen=True):
    """An annotation in a text.

    Attributes:
        path: The file that it is in now, relative to the project.
        shown: The lineage and its duplicates.
        located: Where it is.
        owned_ranges: The lines that belong to it: first and last, inclusive.
        replaced_by: For a lost annotation, the id of a later edit that wrote the whole file.
    """

    path: str
    shown: ShownLineage
    located: LocatedRange
    owned_ranges: tuple[tuple[int, int], ...] = ()
    replaced_by: str | None = None

    @property
    def lineage(self) -> Lineage:
        """The lineage that is placed."""
        return self.shown.lineage

    @property
    def current(self) -> LogRecord:
        """The current record of the lineage."""
        return self.lineage.current

    @property
    def moved_from(self) -> str | None:
        """The file that it is recorded for, if that is another one."""
        recorded = normal_path(self.current.text("file_path") or "")
        return None if recorded == self.path else recorded

    @property
    def is_history(self) -> bool:
        """Whether another edit has replaced it (R7): git gives no line to it any more."""
        return bool(self.lineage.superseded_by) and not self.owned_ranges

    @property
    def is_claim(self) -> bool:
        """Whether it claims that an AI wrote code; only claims are gated, reviewed and counted.

        History (R7), reviews (R6) and what git's history contradicts (R15) claim nothing.
        """
        return self.is_current_edit and not self.located.is_contradicted

    @property
    def is_current_edit(self) -> bool:
        """Whether its records are about code: not history (R7), not a review (R6)."""
        return not (self.is_history or self.lineage.is_review)

    @property
    def is_guess(self) -> bool:
        """Whether other places fit as well, so that it owns no line (R15)."""
        return self.located.ambiguous and not self.owned_ranges and self.may_own_lines

    @property
    def is_pending(self) -> bool:
        """Whether it is not in the log yet."""
        return self.lineage.is_pending

    @property
    def may_own_lines(self) -> bool:
        """Whether lines can belong to it; see `ShownLineage.may_own_lines`."""
        return self.shown.may_own_lines

    @property
    def sort_key(self) -> tuple[bool, bool, int, int]:
        """Sorts current before history, located before lost, then by position in the document."""
        start = self.located.start
        return self.is_history, start is None, start or 0, -(self.located.end or 0)


def deduplicate(lineages: Sequence[Lineage]) -> list[ShownLineage]:
    """Merge the annotations of a file that a reader cannot distinguish (R18).

    At least two changes of "line 1" without anchors are placeholders, and become one.

    Args:
        lineages: The lineages of one file, oldest first.

    Returns:
        What to show, in the order of rank.
    """
    has_placeholders = sum(lineage.may_be_placeholder for lineage in lineages) > 1
    placeholders: list[Lineage] = []
    equal: dict[str, list[Lineage]] = {}
    for lineage in lineages:
        if has_placeholders and lineage.may_be_placeholder:
            placeholders.append(lineage)
        else:
            equal.setdefault(lineage.fingerprint, []).append(lineage)
    shown = [ShownLineage(group[-1], tuple(group[:-1])) for group in equal.values()]
    if placeholders:
        shown.append(ShownLineage(placeholders[-1], tuple(placeholders[:-1]), is_placeholder=True))
    return sorted(shown, key=lambda annotation: annotation.lineage.rank)


def why_unverified(placement: Placement) -> str | None:
    """Return why an annotation is not verified, in words; None for any other state."""
    located = placement.located
    if located.state != State.UNVERIFIED:
        return None
    if located.method == Method.ANCHOR_BEFORE_EDIT:
        return TEXT_OLDER_THAN_EDIT
    if located.method == Method.OLDER_THAN_EDIT:
        return LINES_OLDER_THAN_EDIT
    return (
        "found by name only"
        if placement.current.type == RecordType.FUNCTION
        else "the record has nothing to check against"
    )


def in_git_since(placement: Placement) -> str | None:
    """Return since when git has the lines of a disproved annotation, in words; else None."""
    known = placement.located.older_commit
    return (
        None
        if known is None
        else f"since {known.moment.date().isoformat()} or earlier (commit {known.commit[:8]})"
    )
