"""Reviews of annotations, read from edges in either direction, and the review status (R6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from vibes_lsp.anchors.create_anchors import range_hash_variants
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import Action, EdgeType, NodeType, ReviewerKind, Verdict
from vibes_lsp.risk.review_status import ReviewAnswer, ReviewStatus, deciding_answer, review_status
from vibes_lsp.trail.records import Edge, LogRecord


@dataclass(frozen=True, slots=True)
class Review:
    """One review; members are None if the edge lacks them.

    Attributes:
        annotation: Id of the record that was reviewed.
        reviewer: The reviewer's name.
        kind: Whether a person or an AI reviewed; unknown in edges of other tools.
        verdict: The verdict.
        text_hash: Anchor hash of the lines that were reviewed.
        note: The reviewer's remark.
        edge: The edge that records it.
    """

    annotation: str
    reviewer: str | None
    kind: ReviewerKind
    verdict: Verdict | None
    text_hash: str | None
    note: str | None
    edge: Edge


def read_reviews(edges: Iterable[Edge], find: Callable[[str], LogRecord | None]) -> list[Review]:
    """Return the reviews among some edges, in the order of events.

    Args:
        edges: Any edges.
        find: Returns a record by its id, to distinguish the review from the reviewed record.
    """
    reviews = [
        review
        for edge in edges
        if edge.type == EdgeType.REVIEWED_BY and (review := _read(edge, find))
    ]
    return sorted(reviews, key=lambda review: review.edge.record.rank)


def is_text_unchanged(review: Review, lines: Sequence[str] | None) -> bool | None:
    """Whether the lines are as they were reviewed; None if the review does not name their hash.

    Args:
        review: The review.
        lines: The lines of the annotation as they are now; None if they are not found.
    """
    if review.text_hash is None:
        return None
    return lines is not None and review.text_hash in range_hash_variants(lines)


def review_status_of(
    reviews: Sequence[Review], lines: Sequence[str] | None, *, is_removed: bool = False
) -> ReviewStatus:
    """Return the review status of an annotation (R6).

    Args:
        reviews: In the order of events.
        lines: Its lines as they are now; None if they are not found.
        is_removed: Whether it is about removed lines, which cannot change any more.
    """
    return review_status(_answers(reviews, lines, is_removed=is_removed))


def deciding_review(
    reviews: Sequence[Review], lines: Sequence[str] | None, *, is_removed: bool = False
) -> Review | None:
    """Return the review that decides `review_status_of`; None without one (R6).

    Args:
        reviews: In the order of events.
        lines: Its lines as they are now; None if they are not found.
        is_removed: As for `review_status_of`.
    """
    _, number = deciding_answer(_answers(reviews, lines, is_removed=is_removed))
    return None if number is None else reviews[number]


def _answers(
    reviews: Sequence[Review], lines: Sequence[str] | None, *, is_removed: bool
) -> list[ReviewAnswer]:
    return [
        ReviewAnswer(review.kind, review.verdict, is_removed or is_text_unchanged(review, lines))
        for review in reviews
    ]


def _read(edge: Edge, find: Callable[[str], LogRecord | None]) -> Review | None:
    annotation = _reviewed(edge, find)
    if annotation is None:
        return None
    metadata = edge.metadata
    return Review(
        annotation,
        text(metadata, "reviewer"),
        _member(ReviewerKind, text(metadata, "kind")) or ReviewerKind.UNKNOWN,
        _member(Verdict, text(metadata, "verdict")),
        text(metadata, "text"),
        text(metadata, "note"),
        edge,
    )


def _reviewed(edge: Edge, find: Callable[[str], LogRecord | None]) -> str | None:
    """Return the reviewed end: the annotation; of two, the one that is not a review."""
    source, target = (kind == NodeType.ANNOTATION for kind in (edge.source_type, edge.target_type))
    if source and target:
        record = find(edge.source)
        return (
            edge.target
            if record is not None and record.text("action") == Action.REVIEW
            else edge.source
        )
    if source:
        return edge.source
    return edge.target if target else None


_E = TypeVar("_E", bound=StrEnum)


def _member(vocabulary: type[_E], word: str | None) -> _E | None:
    return vocabulary(word) if word in set(vocabulary) else None
