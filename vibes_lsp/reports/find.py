"""Where code is now that answers a question (`vibes find`): by model, prompt, session, risk, state, review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.foreign import foreign_paths
from vibes_lsp.index.placements import Placement, place
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.reports.blame import read_source
from vibes_lsp.reports.placements import PlacementReport


@dataclass(frozen=True, slots=True)
class Question:
    """What must hold; None asks nothing. Names and prompts match by any part, ids and commits by their beginning."""

    model: str | None = None
    tool: str | None = None
    prompt: str | None = None
    session: str | None = None
    commit: str | None = None
    since: datetime | None = None
    band: str | None = None
    state: str | None = None
    unreviewed: bool = False


def find(trail: Trail, question: Question, thresholds: Mapping[Band, float]) -> Iterator[tuple[Placement, Members]]:
    """Give what is current and answers the question, file by file; files that are not in this checkout have no places."""
    paths = dict.fromkeys(normal_path(path) for path in trail.paths())
    absent = foreign_paths(paths, trail.directory.project)
    for path in paths:
        if path in absent:
            continue
        try:
            text = read_source(trail.directory.project, path)
        except UnreadableFile:
            continue
        yield from _in_file(trail, path, text, question, PlacementReport(trail, text, thresholds=thresholds))


def _in_file(trail: Trail, path: str, text: Text, question: Question, report: PlacementReport) -> Iterator[tuple[Placement, Members]]:
    for placement in place(trail, path, text):
        if placement.is_history:
            continue
        facts = report.placement(placement)
        if _answers(placement, facts, question):
            yield placement, facts


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
        not question.unreviewed or facts["review"] is None,
    )
    return all(wanted)


def _name(author: object) -> object:
    return author.get("name") if isinstance(author, dict) else None


def _part(value: object, part: str | None) -> bool:
    return part is None or (isinstance(value, str) and part.lower() in value.lower())


def _begins(value: object, beginning: str | None) -> bool:
    return beginning is None or (isinstance(value, str) and value.startswith(beginning))
