"""What reviews are worth (R6): only a person's approval of the text as it is releases, and only a person's later word undoes that."""

from __future__ import annotations

import pytest

from vibes_lsp.model.vocabulary import ReviewerKind, Verdict
from vibes_lsp.risk.standing import Answer, standing_of

APPROVED = Answer(ReviewerKind.HUMAN, Verdict.APPROVED, holds=True)
STALE = Answer(ReviewerKind.HUMAN, Verdict.APPROVED, holds=False)
REJECTED = Answer(ReviewerKind.HUMAN, Verdict.REJECTED, holds=True)
BY_AI = Answer(ReviewerKind.AI, Verdict.APPROVED, holds=True)
REJECTED_BY_AI = Answer(ReviewerKind.AI, Verdict.REJECTED, holds=True)
BARE = Answer(ReviewerKind.UNKNOWN)
TEXTLESS = Answer(ReviewerKind.HUMAN, Verdict.APPROVED)
REJECTED_BY_SOMEBODY = Answer(ReviewerKind.UNKNOWN, Verdict.REJECTED)


@pytest.mark.parametrize(
    ("answers", "standing"),
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
def test_where_an_annotation_stands(answers: list[Answer], standing: str) -> None:
    assert standing_of(answers) == standing
