"""What the reviews of an annotation are worth (R6): the one place for that rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from vibes_lsp.model.vocabulary import ReviewerKind, Verdict


class ReviewStatus(StrEnum):
    """Where an annotation stands with its reviewers."""

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
        kind: Who answered.
        verdict: The answer; None when the edge does not say.
        holds: Whether the lines are as they were reviewed; None when the edge does not say what they were.
    """

    kind: ReviewerKind
    verdict: Verdict | None = None
    holds: bool | None = None


def review_status(answers: Sequence[ReviewAnswer]) -> ReviewStatus:
    """Return where an annotation stands (R6).

    A person's last rejection wins over every approval before it. After it, a person's approval of the text as it is now approves. Edges without the
    members of R6 count as the RFC has it, as a review of unknown kind, and never undo what a person rejected. An AI's answer changes nothing.

    Args:
        answers: In the order of events.
    """
    return deciding_answer(answers)[0]


def deciding_answer(answers: Sequence[ReviewAnswer]) -> tuple[ReviewStatus, int | None]:
    """Return where an annotation stands, as `review_status` says it, and the number of the answer that decides it: the newest that says so.

    Of answers that are stale, a person's goes before others.

    Args:
        answers: In the order of events.

    Returns:
        The number is from 0; None where there is no answer.
    """
    everyone = list(enumerate(answers))
    people = [(number, each) for number, each in everyone if each.kind == ReviewerKind.HUMAN]
    for status, some, says in (
        (ReviewStatus.APPROVED, _since_rejection(people), _approves),
        (ReviewStatus.REJECTED, people, _rejects),
        (ReviewStatus.UNKNOWN, _since_rejection(everyone), _is_of_unknown_kind),
        (ReviewStatus.REJECTED, everyone, _rejects),
        (ReviewStatus.STALE, people, _is_anything),
        (ReviewStatus.STALE, everyone, _is_no_ai),
        (ReviewStatus.AI, everyone, _is_anything),
    ):
        for number, each in reversed(some):
            if says(each):
                return status, number
    return ReviewStatus.UNREVIEWED, None


def _since_rejection(
    answers: Sequence[tuple[int, ReviewAnswer]],
) -> Sequence[tuple[int, ReviewAnswer]]:
    """Return the last rejection and what came after it; everything where nobody rejected."""
    rejections = [place for place, (_, each) in enumerate(answers) if _rejects(each)]
    return answers[rejections[-1] :] if rejections else answers


def _approves(answer: ReviewAnswer) -> bool:
    return answer.verdict == Verdict.APPROVED and answer.holds is True


def _rejects(answer: ReviewAnswer) -> bool:
    """Whether this is a rejection; an AI rejects nothing."""
    return answer.verdict == Verdict.REJECTED and _is_no_ai(answer)


def _is_of_unknown_kind(answer: ReviewAnswer) -> bool:
    """Whether an edge says that there was a review, which may hold, and not all that R6 wants to know of it."""
    if (
        answer.kind == ReviewerKind.AI
        or answer.verdict == Verdict.REJECTED
        or answer.holds is False
    ):
        return False
    return answer.kind == ReviewerKind.UNKNOWN or answer.verdict is None or answer.holds is None


def _is_no_ai(answer: ReviewAnswer) -> bool:
    return answer.kind != ReviewerKind.AI


def _is_anything(_: ReviewAnswer) -> bool:
    return True
