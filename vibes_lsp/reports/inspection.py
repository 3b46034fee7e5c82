"""What a reviewer has to see of one annotation: the lines as they are now, why they were written, what makes them risky, what was said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vibes_lsp.anchors.create_anchors import range_hash
from vibes_lsp.anchors.located import LineKind
from vibes_lsp.errors import BrokenBlob, UnreadableFile
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.project_files import read_source
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.reviews import Review, is_text_unchanged
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.reports.blame import kind_of
from vibes_lsp.reports.placements import PlacementReport
from vibes_lsp.store.reasoning import reasoning_text


@dataclass(frozen=True, slots=True)
class Inspection:
    """One annotation as it is at one moment.

    Attributes:
        placement: Where it is.
        facts: The same as JSON.
        figures: Score and band in words; None where there are none.
        start: Its first line, 1-based.
        lines: The lines that it is about, each with whose it is.
        digest: Their anchor hash, which a verdict is about (R6).
        decision: The decision behind it; empty where there is none.
        reasoning: How the AI reasoned, or why that cannot be read; None where nothing was recorded.
        reviews: What was said of it so far, in the order of events, and whether the lines are still those; None where that is not known.
        earlier: Other annotations on its lines that were there before it, the newest first.
    """

    placement: Placement
    facts: Members
    figures: str | None
    start: int
    lines: tuple[tuple[str, LineKind], ...]
    digest: str
    decision: Members
    reasoning: str | None
    reviews: tuple[tuple[Review, bool | None], ...]
    earlier: tuple[Placement, ...]


def inspect(
    locator: ProjectLocator, scorer: Scorer, path: str, identifier: str
) -> Inspection | None:
    """Return an annotation as it is now; None where the file cannot be read, or it has no lines there.

    Args:
        locator: Of the project.
        scorer: Scores it.
        path: The file that it was found in, relative to the project.
        identifier: The id of one of its records.
    """
    try:
        text = read_source(locator.trail.directory.project, path)
    except UnreadableFile:
        return None
    placements = locator.locate(path, text)
    placement = next((each for each in placements if identifier in each.lineage.ids), None)
    if (
        placement is None
        or placement.is_history
        or placement.located.start is None
        or placement.located.end is None
    ):
        return None
    start, end = placement.located.start, placement.located.end
    lines = text.lines[start - 1 : end]
    report = PlacementReport(locator.trail, text, scorer=scorer, derived=locator.resolved_commits)
    facts = report.placement(placement)
    kinds = (kind_of(placement, number) for number in range(start, end + 1))
    reviews = (
        (each, is_text_unchanged(each, lines))
        for each in locator.trail.reviews_of(placement.lineage)
    )
    return Inspection(
        placement,
        facts,
        report.figures(facts),
        start,
        tuple(zip(lines, kinds, strict=False)),
        range_hash(lines),
        _entry(locator, placement.current.text("decision_hash"), ContextType.DECISION),
        _reasoning(locator, placement),
        tuple(reviews),
        tuple(_earlier(placements, placement)),
    )


def _entry(locator: ProjectLocator, key: str | None, kind: ContextType) -> Members:
    entry = locator.trail.manifest.entry(key) if key else None
    return entry if entry is not None and entry.get("type") == kind else {}


def _reasoning(locator: ProjectLocator, placement: Placement) -> str | None:
    entry = _entry(locator, placement.current.text("reasoning_hash"), ContextType.REASONING)
    if not entry:
        return None
    try:
        return reasoning_text(entry, locator.trail.directory)
    except BrokenBlob as error:
        return f"cannot be read: {error.message}"


def _earlier(placements: Sequence[Placement], placement: Placement) -> list[Placement]:
    start, end = placement.located.start or 0, placement.located.end or 0
    found = [
        each
        for each in placements
        if each.lineage.rank < placement.lineage.rank
        and (each.is_claim or each.is_history)
        and each.located.start is not None
        and each.located.end is not None
        and each.located.start <= end
        and start <= each.located.end
    ]
    return sorted(found, key=lambda each: each.lineage.rank, reverse=True)
