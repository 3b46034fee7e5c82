"""Annotations as a search over a project returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from vibes_lsp.anchors.location import State
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.placements import Placement, why_unverified
from vibes_lsp.reports.authors import author_name
from vibes_lsp.reports.placements import review_label


class AnnotationSummary(msgspec.Struct, gc=False, rename="camel"):
    """The members of a placement as JSON that lists show and filters compare."""

    annotation_id: str
    file_path: str
    state: str
    ambiguous: bool
    band: str | None
    score: float | None
    stored_score: float | None
    review: dict[str, Any] | None
    tool: dict[str, Any]
    model: dict[str, Any]
    timestamp: str | None
    line_start: int | None = None
    line_end: int | None = None
    function_name: str | None = None
    moved_from: str | None = None
    session_id: str | None = None
    commit_hash: str | None = None
    prompt: str | None = None

    @property
    def author(self) -> str:
        """The name of the model, else of the tool; untrusted text."""
        return author_name(self.model.get("name"), self.tool.get("name"))

    @property
    def place(self) -> str:
        """File, lines and function, as far as there are any; untrusted text."""
        lines = "" if self.line_start is None else f":{self.line_start}-{self.line_end}"
        name = "" if self.function_name is None else f" {self.function_name}"
        return f"{self.file_path}{lines}{name}"

    @property
    def review_word(self) -> str:
        """The review in one to three words of our own; empty without a review."""
        return (review_label({"review": self.review}) or "").removeprefix("review ")


MAY_HAVE_MOVED: Final = frozenset({State.LOST, State.EDITED})
"""States of an annotation whose text, or a part of it, may be in another file now."""


@dataclass(frozen=True, slots=True)
class FoundAnnotation:
    """A current annotation, as it was found in a file.

    Attributes:
        facts: The placement as JSON (`reports.placements`) with a `displayName`.
        is_claim: See `Placement.is_claim`.
        is_reviewable: Whether it has certain lines that a person can review.
        why_unverified: See `why_unverified`.
        moved: Its id if it is recorded for another file; else None.
        may_be_elsewhere: Whether its text may be in another file now.
    """

    facts: Members
    is_claim: bool
    is_reviewable: bool
    why_unverified: str | None
    moved: str | None
    may_be_elsewhere: bool

    @property
    def summary(self) -> AnnotationSummary:
        """Some members of the facts."""
        return msgspec.convert(self.facts, AnnotationSummary)


def is_reviewable(placement: Placement) -> bool:
    """Return whether a placement has certain lines that a person can review."""
    if not placement.is_claim or placement.is_guess or placement.is_pending:
        return False
    return placement.located.start is not None and placement.lineage.action != Action.DELETE


def found_annotation(placement: Placement, facts: Members) -> FoundAnnotation:
    """Return a placement, given also as JSON, as a found annotation."""
    return FoundAnnotation(
        facts,
        is_claim=placement.is_claim,
        is_reviewable=is_reviewable(placement),
        why_unverified=why_unverified(placement),
        moved=None if placement.moved_from is None else placement.current.id,
        may_be_elsewhere=placement.located.state in MAY_HAVE_MOVED,
    )
