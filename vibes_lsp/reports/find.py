"""Where code is now that matches a query (`vibes find`), and what waits for a review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.project_files import RawLines, read_content
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import Members
from vibes_lsp.reports.placements import PlacementReport, is_reviewed


@dataclass(frozen=True, slots=True)
class Filter:
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


NO_FILTER: Final = Filter()
"""Asks for all there is."""


def find_placements(
    locator: ProjectLocator, question: Filter, scorer: Scorer
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


def _answers(placement: Placement, facts: Members, question: Filter) -> bool:
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
