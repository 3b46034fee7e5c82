"""What the reviews of an annotation are worth (R6): the one place for that rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from vibes_lsp.model.vocabulary import ReviewerKind, Verdict


class Standing(StrEnum):
    """Where an annotation stands with its reviewers."""

    UNREVIEWED = "unreviewed"
    APPROVED = "approved"
    UNKNOWN = "unknown"
    STALE = "stale"
    REJECTED = "rejected"
    AI = "ai"


@dataclass(frozen=True, slots=True)
class Answer:
    """One reviewer's answer.

    Attributes:
        kind: Who answered.
        verdict: The answer; None when the edge does not say.
        holds: Whether the lines are as they were reviewed; None when the edge does not say what they were.
    """

    kind: ReviewerKind
    verdict: Verdict | None = None
    holds: bool | None = None


def standing_of(answers: Sequence[Answer]) -> Standing:
    """Return where an annotation stands (R6).

    A person's last rejection wins over every approval before it. After it, a person's approval of the text as it is now approves. Edges without the
    members of R6 count as the RFC has it, as a review of unknown kind, and never undo what a person rejected. An AI's answer changes nothing.

    Args:
        answers: In the order of events.
    """
    if not answers:
        return Standing.UNREVIEWED
    by_people = _since_rejection([each for each in answers if each.kind == ReviewerKind.HUMAN])
    if any(each.verdict == Verdict.APPROVED and each.holds is True for each in by_people):
        return Standing.APPROVED
    if any(each.verdict == Verdict.REJECTED for each in by_people):
        return Standing.REJECTED
    if any(_is_of_unknown_kind(each) and each.holds is not False for each in _since_rejection(answers)):
        return Standing.UNKNOWN
    if any(each.kind == ReviewerKind.UNKNOWN and each.verdict == Verdict.REJECTED for each in answers):
        return Standing.REJECTED
    if any(each.kind != ReviewerKind.AI for each in answers):
        return Standing.STALE
    return Standing.AI


def _since_rejection(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return the last rejection and what came after it; everything where nobody rejected. An AI rejects nothing."""
    rejections = [number for number, each in enumerate(answers) if each.verdict == Verdict.REJECTED and each.kind != ReviewerKind.AI]
    return answers[rejections[-1] :] if rejections else answers


def _is_of_unknown_kind(answer: Answer) -> bool:
    """Whether an edge says that there was a review, and not all that R6 wants to know of it."""
    if answer.kind == ReviewerKind.AI or answer.verdict == Verdict.REJECTED:
        return False
    return answer.kind == ReviewerKind.UNKNOWN or answer.verdict is None or answer.holds is None
