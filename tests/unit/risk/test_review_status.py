"""What reviews amount to (R6): a person's approval of the current text releases."""

from __future__ import annotations

import pytest

from vibes_lsp.model.vocabulary import ReviewerKind, Verdict
from vibes_lsp.risk.review_status import ReviewAnswer, review_status

APPROVED = ReviewAnswer(ReviewerKind.HUMAN, Verdict.APPROVED, is_unchanged=True)
STALE = ReviewAnswer(ReviewerKind.HUMAN, Verdict.APPROVED, is_unchanged=False)
REJECTED = ReviewAnswer(ReviewerKind.HUMAN, Verdict.REJECTED, is_unchanged=True)
BY_AI = ReviewAnswer(ReviewerKind.AI, Verdict.APPROVED, is_unchanged=True)
REJECTED_BY_AI = ReviewAnswer(ReviewerKind.AI, Verdict.REJECTED, is_unchanged=True)
BARE = ReviewAnswer(ReviewerKind.UNKNOWN)
TEXTLESS = ReviewAnswer(ReviewerKind.HUMAN, Verdict.APPROVED)
REJECTED_BY_SOMEBODY = ReviewAnswer(ReviewerKind.UNKNOWN, Verdict.REJECTED)


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ([], "unreviewed"),
        ([APPROVED], "approved"),
        ([STALE], "stale"),
        ([STALE, APPROVED], "approved"),
        ([APPROVED, STALE], "approved"),
        ([REJECTED], "rejected"),
        ([APPROVED, REJECTED], "rejected"),
        ([REJECTED, APPROVED], "approved"),
        ([REJECTED, STALE], "rejected"),
        ([BY_AI], "ai"),
        ([BY_AI, APPROVED, REJECTED_BY_AI], "approved"),
        ([REJECTED, BY_AI], "rejected"),
        ([BARE], "unknown"),
        ([TEXTLESS], "unknown"),
        ([BARE, STALE], "unknown"),
        ([REJECTED, BARE], "rejected"),
        ([BARE, REJECTED_BY_SOMEBODY], "rejected"),
        ([REJECTED_BY_SOMEBODY, BARE], "unknown"),
        ([APPROVED, REJECTED_BY_SOMEBODY], "approved"),
    ],
)
def test_review_status(answers: list[ReviewAnswer], status: str) -> None:
    assert review_status(answers) == status
