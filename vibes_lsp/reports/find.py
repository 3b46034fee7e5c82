"""Annotations that match a filter, with their places in the current files (`vibes find`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_files import read_source
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import Members
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.found_annotations import (
    FoundAnnotation,
    decode_found,
    encode_found,
    found_annotation,
)
from vibes_lsp.reports.placement_texts import display_name
from vibes_lsp.reports.placements import PlacementReport, is_reviewed
from vibes_lsp.trail.records import moment_of


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


OnFile: TypeAlias = Callable[[Sequence[FoundAnnotation]], None]
"""Called with the annotations of each file that match, as they are found."""
NO_FILTER: Final = Filter()
"""Matches every annotation."""


def find_annotations(
    locator: ProjectLocator, wanted: Filter, scorer: Scorer, on_file: OnFile | None = None
) -> list[FoundAnnotation]:
    """Return the matching current annotations, file by file.

    Files that are not in this checkout are left out.

    Args:
        locator: The project's locator.
        wanted: The conditions.
        scorer: Computes their risk.
        on_file: Called for each file. What it gets may include annotations that are left out in the
            end, because they are found in another file later.
    """
    paths = locator.annotated_files()
    locator.prefetch(paths)
    locator.trail.gather_reviews()
    moved: set[str] = set()
    may_be_elsewhere = locator.has_gone_files()

    def matching(path: str) -> list[FoundAnnotation]:
        nonlocal may_be_elsewhere
        in_file = [found_annotation(*each) for each in placements_in(locator, path, scorer)]
        may_be_elsewhere = may_be_elsewhere or any(each.may_be_elsewhere for each in in_file)
        moved.update(each.moved for each in in_file if each.moved is not None)
        found = decode_found(encode_found([each for each in in_file if _matches(each, wanted)]))
        if on_file is not None and found:
            on_file(found)
        return list(found)

    found = [each for path in paths for each in matching(path)]
    elsewhere = [
        each
        for path in (locator.other_files() if may_be_elsewhere else ())
        for each in matching(path)
    ]
    if moved:
        found = [each for each in found if each.moved or each.summary.annotation_id not in moved]
    return found + elsewhere


def placements_in(
    locator: ProjectLocator, path: str, scorer: Scorer
) -> list[tuple[Placement, Members]]:
    """Return the current annotations of a file, each also as JSON; none if it is unreadable."""
    try:
        text = read_source(locator.trail.directory.project, path)
    except UnreadableFile:
        return []
    if not locator.may_be_annotated(path, text):
        return []
    return _current(locator, locator.locate(path, text), text, scorer)


def _current(
    locator: ProjectLocator, placements: Sequence[Placement], text: Text, scorer: Scorer
) -> list[tuple[Placement, Members]]:
    report = PlacementReport(
        locator.trail, text, scorer=scorer, resolved_commits=locator.resolved_commits
    )
    return [
        (each, {**report.placement(each), "displayName": display_name(each, text)})
        for each in placements
        if each.is_current_edit
    ]


def _matches(found: FoundAnnotation, wanted: Filter) -> bool:
    if wanted == NO_FILTER:
        return True
    summary = found.summary
    conditions = (
        _contains(summary.model.get("name"), wanted.model),
        _contains(summary.tool.get("name"), wanted.tool),
        _contains(summary.prompt, wanted.prompt),
        _starts_with(summary.session_id, wanted.session),
        _starts_with(summary.commit_hash, wanted.commit),
        wanted.since is None or moment_of(summary.timestamp) >= wanted.since,
        wanted.band is None or summary.band == wanted.band,
        wanted.state is None or summary.state == wanted.state,
        not wanted.unreviewed or (found.is_claim and not is_reviewed({"review": summary.review})),
        wanted.file is None or _is_inside(summary.file_path, wanted.file),
    )
    return all(conditions)


def _is_inside(path: str, folder: str) -> bool:
    return folder in {".", path} or path.startswith(f"{folder}/")


def _contains(value: object, part: str | None) -> bool:
    return part is None or (isinstance(value, str) and part.lower() in value.lower())


def _starts_with(value: object, beginning: str | None) -> bool:
    return beginning is None or (isinstance(value, str) and value.startswith(beginning))
