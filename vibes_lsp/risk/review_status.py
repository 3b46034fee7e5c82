"""Derive the review status of an annotation from its reviews (R6); only this module does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from vibes_lsp.model.vocabulary import ReviewerKind, Verdict


class ReviewStatus(StrEnum):
    """The result of all reviews of an annotation.

    Attributes:
        UNREVIEWED: There is no review.
        APPROVED: A person approved the current lines.
        UNKNOWN: A review does not record who reviewed, or which text.
        STALE: The lines have changed since the review.
        REJECTED: A reviewer who is not an AI rejected it.
        AI: Only an AI reviewed it.
    """

    UNREVIEWED = "unreviewed"
    APPROVED = "approved"
    UNKNOWN = "unknown"
    STALE = "stale"
    REJECTED = "rejected"
    AI = "ai"


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """One reviewer's answer.

    Attributes:
        kind: The kind of reviewer.
        verdict: The answer; None if the edge has none.
        is_unchanged: Whether the lines are as they were reviewed; None if the edge does not record
            that.
    """

    kind: ReviewerKind
    verdict: Verdict | None = None
    is_unchanged: bool | None = None


def review_status(answers: Sequence[ReviewAnswer]) -> ReviewStatus:
    """Return the status of an annotation (R6).

    A person's last rejection outweighs all earlier approvals. After it, a person's approval of the
    current text approves. Edges without the members of R6 count as reviews of unknown kind, as in
    the RFC, and never cancel a person's rejection. An AI's answer counts only if there is no other.

    Args:
        answers: In the order of events.
    """
    return deciding_answer(answers)[0]


def deciding_answer(answers: Sequence[ReviewAnswer]) -> tuple[ReviewStatus, int | None]:
    """Return the status of an annotation and the index of the newest answer that decides it.

    Among stale answers a person's comes first.

    Args:
        answers: In the order of events.

    Returns:
        The index is None if there is no answer.
    """
    everyone = list(enumerate(answers))
    people = [(number, answer) for number, answer in everyone if answer.kind == ReviewerKind.HUMAN]
    for status, candidates, matches in (
        (ReviewStatus.APPROVED, _since_rejection(people), _approves),
        (ReviewStatus.REJECTED, people, _rejects),
        (ReviewStatus.UNKNOWN, _since_rejection(everyone), _is_of_unknown_kind),
        (ReviewStatus.REJECTED, everyone, _rejects),
        (ReviewStatus.STALE, people, _is_any),
        (ReviewStatus.STALE, everyone, _is_not_ai),
        (ReviewStatus.AI, everyone, _is_any),
    ):
        for number, answer in reversed(candidates):
            if matches(answer):
                return status, number
    return ReviewStatus.UNREVIEWED, None


def _since_rejection(
    answers: Sequence[tuple[int, ReviewAnswer]],
) -> Sequence[tuple[int, ReviewAnswer]]:
    """Return the last rejection and all later answers; all answers if there is no rejection."""
    rejections = [place for place, (_, answer) in enumerate(answers) if _rejects(answer)]
    return answers[rejections[-1] :] if rejections else answers


def _approves(answer: ReviewAnswer) -> bool:
    return answer.verdict == Verdict.APPROVED and answer.is_unchanged is True


def _rejects(answer: ReviewAnswer) -> bool:
    """Whether this is a rejection; an AI cannot reject."""
    return answer.verdict == Verdict.REJECTED and _is_not_ai(answer)


def _is_of_unknown_kind(answer: ReviewAnswer) -> bool:
    """Whether an edge records a review that may be valid, without all members of R6."""
    if (
        answer.kind == ReviewerKind.AI
        or answer.verdict == Verdict.REJECTED
        or answer.is_unchanged is False
    ):
        return False
    return (
        answer.kind == ReviewerKind.UNKNOWN or answer.verdict is None or answer.is_unchanged is None
    )


def _is_not_ai(answer: ReviewAnswer) -> bool:
    return answer.kind != ReviewerKind.AI


def _is_any(_: ReviewAnswer) -> bool:
    return True
