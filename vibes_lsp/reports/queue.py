"""What waits for a person: annotations that nobody has reviewed as they stand now, the riskiest first."""

from __future__ import annotations

from typing import Final

from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Scorer
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, Verdict
from vibes_lsp.reports.find import Question, find
from vibes_lsp.reports.placements import is_reviewed

ANYTHING: Final = Question()
"""Asks for all there is."""


def review_queue(places: Places, scorer: Scorer, question: Question = ANYTHING, *, rejected: bool = False) -> list[Members]:
    """Return placements without a review that still holds, by falling score, then by file and line; without a score last.

    What could not be found, what was removed and what only may be here has no lines to read, and does not wait; nor does what is not
    recorded yet, nor what is no item (`Placement.is_item`).

    Args:
        places: Of the project.
        scorer: Scores the annotations.
        question: What must hold beside that.
        rejected: Whether what was rejected as it stands now comes as well, after all that waits.
    """
    found = find(places, question, scorer)
    wanted = (
        facts for placement, facts in found if waits(placement, facts) or (rejected and _may_wait(placement, facts) and is_rejected(facts))
    )
    return sorted(wanted, key=_urgency)


def waits(placement: Placement, facts: Members) -> bool:
    """Whether a person has still to answer for a placement as it stands now."""
    return _may_wait(placement, facts) and not is_reviewed(facts)


def is_rejected(facts: Members) -> bool:
    """Whether a placement was rejected as it stands now: it waits for who wrote it."""
    review = facts["review"]
    return is_reviewed(facts) and isinstance(review, dict) and review.get("verdict") == Verdict.REJECTED


def _may_wait(placement: Placement, facts: Members) -> bool:
    """Whether there are lines that a person can be asked about.

    What only may be here has none: it is shown, and nobody judges lines that may be others'.
    """
    if not placement.is_item or placement.is_guess or placement.is_pending:
        return False
    return facts["lineStart"] is not None and placement.lineage.action != Action.DELETE


def _urgency(facts: Members) -> tuple[bool, float, str, int]:
    scores = (facts["score"], facts["storedScore"])
    score = next((score for score in scores if isinstance(score, int | float)), -1.0)
    start = facts["lineStart"]
    return (is_rejected(facts), -score, str(facts["filePath"]), start if isinstance(start, int) else 0)
