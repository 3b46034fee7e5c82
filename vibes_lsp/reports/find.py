"""Where code is now that answers a question (`vibes find`): by model, prompt, session, risk, state, review."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from vibes_lsp.anchors.located import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Scorer
from vibes_lsp.index.sought import RawLines
from vibes_lsp.index.sources import read_content
from vibes_lsp.model.members import Members
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


def find(places: Places, question: Question, scorer: Scorer) -> list[tuple[Placement, Members]]:
    """Return what is current and answers the question, file by file; files that are not in this checkout have no places."""
    places.read_ahead()
    found = [each for path in places.annotated_files() for each in _in_file(places, path, scorer)]
    if any(placement.located.state == State.LOST for placement, _ in found):
        found += [each for path in places.other_files() for each in _in_file(places, path, scorer)]
    went = {placement.current.id for placement, _ in found if placement.moved_from is not None}
    return [
        (placement, facts)
        for placement, facts in found
        if (placement.moved_from is not None or placement.current.id not in went) and _answers(placement, facts, question)
    ]


def _in_file(places: Places, path: str, scorer: Scorer) -> Iterator[tuple[Placement, Members]]:
    try:
        content = read_content(places.trail.directory.project, path)
    except UnreadableFile:
        return
    if not places.may_be_in(path, RawLines(content)):
        return
    text = Text.from_bytes(content)
    placements = places.of(path, text)
    report = PlacementReport(places.trail, text, scorer=scorer, derived=places.derived)
    yield from ((placement, report.placement(placement)) for placement in placements if _is_found(placement))


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
        not question.unreviewed or (placement.is_item and not is_reviewed(facts)),
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
