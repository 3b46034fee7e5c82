"""Annotations that match a filter, with their places in the current files (`vibes find`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from vibes_lsp.reports.placement_texts import display_name
from vibes_lsp.reports.placements import PlacementReport, is_reviewed


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that an annotation must meet; None is no condition.

    Names and prompts match by any part, ids and commits by their beginning. `file` is a file or
    folder, relative to the project.
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


Found = tuple[Placement, Members]
"""A placement, and the same as JSON."""
OnFile = Callable[[Sequence[Found]], None]
"""Called with the annotations of each file that match, as they are found."""
NO_FILTER: Final = Filter()
"""Matches every annotation."""


def find_placements(
    locator: ProjectLocator, wanted: Filter, scorer: Scorer, on_file: OnFile | None = None
) -> list[Found]:
    """Return the matching current annotations, file by file.

    Files that are not in this checkout are left out.

    Args:
        locator: The project's locator.
        wanted: The conditions.
        scorer: Computes their risk.
        on_file: Called for each file. What it gets may include annotations that are left out in the
            end, because they are found in another file later.
    """
    locator.prefetch()

    def search(paths: Sequence[str]) -> Iterator[Found]:
        for path in paths:
            in_file = _in_file(locator, path, scorer)
            if on_file is not None and in_file:
                on_file([each for each in in_file if _matches(*each, wanted)])
            yield from in_file

    found = list(search(locator.annotated_files()))
    if any(placement.located.state == State.LOST for placement, _ in found):
        found += search(locator.other_files())
    moved = {placement.current.id for placement, _ in found if placement.moved_from is not None}
    return [
        (placement, facts)
        for placement, facts in found
        if (placement.moved_from is not None or placement.current.id not in moved)
        and _matches(placement, facts, wanted)
    ]


def _in_file(locator: ProjectLocator, path: str, scorer: Scorer) -> list[Found]:
    """Return the current annotations of a file."""
    try:
        content = read_content(locator.trail.directory.project, path)
    except UnreadableFile:
        return []
    if not locator.may_be_annotated(path, RawLines(content)):
        return []
    text = Text.from_bytes(content)
    placements = locator.locate(path, text)
    report = PlacementReport(
        locator.trail, text, scorer=scorer, resolved_commits=locator.resolved_commits
    )
    current = [each for each in placements if each.is_current_edit]
    return [
        (each, {**report.placement(each), "displayName": display_name(each, text)})
        for each in current
    ]


def _matches(placement: Placement, facts: Members, wanted: Filter) -> bool:
    conditions = (
        _contains(_name(facts["model"]), wanted.model),
        _contains(_name(facts["tool"]), wanted.tool),
        _contains(facts.get("prompt"), wanted.prompt),
        _starts_with(facts.get("sessionId"), wanted.session),
        _starts_with(facts.get("commitHash"), wanted.commit),
        wanted.since is None or placement.lineage.first.moment >= wanted.since,
        wanted.band is None or facts["band"] == wanted.band,
        wanted.state is None or facts["state"] == wanted.state,
        not wanted.unreviewed or (placement.is_claim and not is_reviewed(facts)),
        wanted.file is None or _is_inside(placement.path, wanted.file),
    )
    return all(conditions)


def _is_inside(path: str, folder: str) -> bool:
    return folder in {".", path} or path.startswith(f"{folder}/")


def _name(author: object) -> object:
    return author.get("name") if isinstance(author, dict) else None


def _contains(value: object, part: str | None) -> bool:
    return part is None or (isinstance(value, str) and part.lower() in value.lower())


def _starts_with(value: object, beginning: str | None) -> bool:
    return beginning is None or (isinstance(value, str) and value.startswith(beginning))
