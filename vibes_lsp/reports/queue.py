"""What waits for a person: annotations that nobody has reviewed as they stand now, the riskiest first."""

from __future__ import annotations

from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Scorer
from vibes_lsp.model.members import Members
from vibes_lsp.reports.find import Question, find


def review_queue(places: Places, scorer: Scorer) -> list[Members]:
    """Return placements without a review that still holds, by falling score, then by file and line; without a score last.

    What could not be found has no lines to read, and does not wait.
    """
    waiting = [facts for _, facts in find(places, Question(), scorer) if facts["lineStart"] is not None and _waits(facts)]
    return sorted(waiting, key=_urgency)


def _waits(facts: Members) -> bool:
    review = facts["review"]
    return not isinstance(review, dict) or review.get("stale") is True


def _urgency(facts: Members) -> tuple[float, str, int]:
    scores = (facts["score"], facts["storedScore"])
    score = next((score for score in scores if isinstance(score, int | float)), -1.0)
    start = facts["lineStart"]
    return (-score, str(facts["filePath"]), start if isinstance(start, int) else 0)
