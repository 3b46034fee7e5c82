"""Where code is now that matches a query (`vibes find`), and what waits for a review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.anchors.located import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.project_files import RawLines, read_content
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, Verdict
from vibes_lsp.reports.placements import PlacementReport, is_reviewed


@dataclass(frozen=True, slots=True)
class Question:
    """What must hold; None asks nothing.

    Names and prompts match by any part, ids and commits by their beginning. A file is relative to the project, and may be a folder.
    """

    model: str | None = None
    tool: str | None = None
    prompt: str | None = None
    session: str | None = None
    commit: str | None = None
    since: datetime | None = None
    band: str | None = None
    state: str | None = None
    unreviewed: bool = False
    file: str | None = None


def find(
    locator: ProjectLocator, question: Question, scorer: Scorer
) -> list[tuple[Placement, Members]]:
    """Return what is current and answers the question, file by file; files that are not in this checkout have no places."""
    locator.prefetch()
    found = [each for path in locator.annotated_files() for each in _in_file(locator, path, scorer)]
    if any(placement.located.state == State.LOST for placement, _ in found):
        found += [
            each for path in locator.other_files() for each in _in_file(locator, path, scorer)
        ]
    went = {placement.current.id for placement, _ in found if placement.moved_from is not None}
    return [
        (placement, facts)
        for placement, facts in found
        if (placement.moved_from is not None or placement.current.id not in went)
        and _answers(placement, facts, question)
    ]


def _in_file(
    locator: ProjectLocator, path: str, scorer: Scorer
) -> Iterator[tuple[Placement, Members]]:
    try:
        content = read_content(locator.trail.directory.project, path)
    except UnreadableFile:
        return
    if not locator.may_be_annotated(path, RawLines(content)):
        return
    text = Text.from_bytes(content)
    placements = locator.locate(path, text)
    report = PlacementReport(locator.trail, text, scorer=scorer, derived=locator.resolved_commits)
    yield from (
        (placement, report.placement(placement)) for placement in placements if _is_found(placement)
    )


def _is_found(placement: Placement) -> bool:
    """Whether it is current and about code: what history contradicts is found, and said to be that."""
    return not placement.is_history and not placement.lineage.is_review


def _answers(placement: Placement, facts: Members, question: Question) -> bool:
    wanted = (
        _part(_name(facts["model"]), question.model),
        _part(_name(facts["tool"]), question.tool),
        _part(facts.get("prompt"), question.prompt),
        _begins(facts.get("sessionId"), question.session),
        _begins(facts.get("commitHash"), question.commit),
        question.since is None or placement.lineage.first.moment >= question.since,
        question.band is None or facts["band"] == question.band,
        question.state is None or facts["state"] == question.state,
        not question.unreviewed or (placement.is_claim and not is_reviewed(facts)),
        question.file is None or _lies_in(placement.path, question.file),
    )
    return all(wanted)


def _lies_in(path: str, place: str) -> bool:
    return place in {".", path} or path.startswith(f"{place}/")


def _name(author: object) -> object:
    return author.get("name") if isinstance(author, dict) else None


def _part(value: object, part: str | None) -> bool:
    return part is None or (isinstance(value, str) and part.lower() in value.lower())


def _begins(value: object, beginning: str | None) -> bool:
    return beginning is None or (isinstance(value, str) and value.startswith(beginning))


ANYTHING: Final = Question()
"""Asks for all there is."""


def review_queue(
    locator: ProjectLocator,
    scorer: Scorer,
    question: Question = ANYTHING,
    *,
    rejected: bool = False,
) -> list[Members]:
    """Return placements without a review that still holds, by falling score, then by file and line; without a score last.

    What could not be found, what was removed and what only may be here has no lines to read, and does not wait; nor does what is not
    recorded yet, nor what is no item (`Placement.is_claim`).

    Args:
        locator: Of the project.
        scorer: Scores the annotations.
        question: What must hold beside that.
        rejected: Whether what was rejected as it stands now comes as well, after all that waits.
    """
    found = find(locator, question, scorer)
    wanted = (
        facts
        for placement, facts in found
        if waits(placement, facts)
        or (rejected and _may_wait(placement, facts) and is_rejected(facts))
    )
    return sorted(wanted, key=_urgency)


def waits(placement: Placement, facts: Members) -> bool:
    """Whether a person has still to answer for a placement as it stands now."""
    return _may_wait(placement, facts) and not is_reviewed(facts)


def is_rejected(facts: Members) -> bool:
    """Whether a placement was rejected as it stands now: it waits for who wrote it."""
    review = facts["review"]
    return (
        is_reviewed(facts)
        and isinstance(review, dict)
        and review.get("verdict") == Verdict.REJECTED
    )


def _may_wait(placement: Placement, facts: Members) -> bool:
    """Whether there are lines that a person can be asked about.

    What only may be here has none: it is shown, and nobody judges lines that may be others'.
    """
    if not placement.is_claim or placement.is_guess or placement.is_pending:
        return False
    return facts["lineStart"] is not None and placement.lineage.action != Action.DELETE


def _urgency(facts: Members) -> tuple[bool, float, str, int]:
    scores = (facts["score"], facts["storedScore"])
    score = next((score for score in scores if isinstance(score, int | float)), -1.0)
    start = facts["lineStart"]
    return (
        is_rejected(facts),
        -score,
        str(facts["filePath"]),
        start if isinstance(start, int) else 0,
    )
