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
    return decided_by(answers)[0]


def decided_by(answers: Sequence[Answer]) -> tuple[Standing, int | None]:
    """Return where an annotation stands, as `standing_of` says it, and the number of the answer that decides it: the newest that says so.

    Of answers that are stale, a person's goes before others.

    Args:
        answers: In the order of events.

    Returns:
        The number is from 0; None where there is no answer.
    """
    everyone = list(enumerate(answers))
    people = [(number, each) for number, each in everyone if each.kind == ReviewerKind.HUMAN]
    for standing, some, says in (
        (Standing.APPROVED, _since_rejection(people), _approves),
        (Standing.REJECTED, people, _rejects),
        (Standing.UNKNOWN, _since_rejection(everyone), _is_of_unknown_kind),
        (Standing.REJECTED, everyone, _rejects),
        (Standing.STALE, people, _is_anything),
        (Standing.STALE, everyone, _is_no_ai),
        (Standing.AI, everyone, _is_anything),
    ):
        for number, each in reversed(some):
            if says(each):
                return standing, number
    return Standing.UNREVIEWED, None


def _since_rejection(answers: Sequence[tuple[int, Answer]]) -> Sequence[tuple[int, Answer]]:
    """Return the last rejection and what came after it; everything where nobody rejected."""
    rejections = [place for place, (_, each) in enumerate(answers) if _rejects(each)]
    return answers[rejections[-1] :] if rejections else answers


def _approves(answer: Answer) -> bool:
    return answer.verdict == Verdict.APPROVED and answer.holds is True


def _rejects(answer: Answer) -> bool:
    """Whether this is a rejection; an AI rejects nothing."""
    return answer.verdict == Verdict.REJECTED and _is_no_ai(answer)


def _is_of_unknown_kind(answer: Answer) -> bool:
    """Whether an edge says that there was a review, which may hold, and not all that R6 wants to know of it."""
    if answer.kind == ReviewerKind.AI or answer.verdict == Verdict.REJECTED or answer.holds is False:
        return False
    return answer.kind == ReviewerKind.UNKNOWN or answer.verdict is None or answer.holds is None


def _is_no_ai(answer: Answer) -> bool:
    return answer.kind != ReviewerKind.AI


def _is_anything(_: Answer) -> bool:
    return True
