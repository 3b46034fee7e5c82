"""Reviews of annotations (R6): who gave which verdict on which text, read from edges in either direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from vibes_lsp.anchors.create_anchors import range_hashes
from vibes_lsp.index.records import Edge, LogRecord
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import Action, EdgeType, NodeType, ReviewerKind, Verdict
from vibes_lsp.risk.review_status import ReviewAnswer, ReviewStatus, deciding_answer, review_status


@dataclass(frozen=True, slots=True)
class Review:
    """One reviewer's answer.

    Attributes:
        annotation: Id of the record that was reviewed.
        by: The reviewer's name; None when the edge does not say.
        kind: Whether a person or an AI answered; unknown in edges of other tools.
        verdict: The answer; None when the edge does not say.
        text: Anchor hash of the lines that were reviewed; None when the edge does not say.
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
        find: Looks a record up by its id, to tell the review from the reviewed.
    """
    reviews = [
        review
        for edge in edges
        if edge.type == EdgeType.REVIEWED_BY and (review := _read(edge, find))
    ]
    return sorted(reviews, key=lambda review: review.edge.record.rank)


def is_text_unchanged(review: Review, lines: Sequence[str] | None) -> bool | None:
    """Whether the lines are as they were reviewed; None when the edge does not say what they were.

    Args:
        review: The review.
        lines: The lines of the annotation as they are now; None where they are not found.
    """
    if review.text_hash is None:
        return None
    return lines is not None and review.text_hash in range_hashes(lines)


def review_status_of(
    reviews: Sequence[Review], lines: Sequence[str] | None, *, is_removed: bool = False
) -> ReviewStatus:
    """Return where an annotation stands with its reviewers (R6).

    Args:
        reviews: In the order of events.
        lines: Its lines as they are now; None where they are not found.
        is_removed: Whether it is about what was removed, which nothing can change any more.
    """
    return review_status(_answers(reviews, lines, is_removed=is_removed))


def deciding_review(
    reviews: Sequence[Review], lines: Sequence[str] | None, *, is_removed: bool = False
) -> Review | None:
    """Return the review that decides what `standing` says; None where there is none (R6).

    Args:
        reviews: In the order of events.
        lines: Its lines as they are now; None where they are not found.
        is_removed: As for `standing`.
    """
    _, number = deciding_answer(_answers(reviews, lines, is_removed=is_removed))
    return None if number is None else reviews[number]


def _answers(
    reviews: Sequence[Review], lines: Sequence[str] | None, *, is_removed: bool
) -> list[ReviewAnswer]:
    return [
        ReviewAnswer(each.kind, each.verdict, is_removed or is_text_unchanged(each, lines))
        for each in reviews
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
    """Which end was reviewed: the annotation; of two, the one that is no review itself."""
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
