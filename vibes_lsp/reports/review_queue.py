"""The review queue, and what a reviewer needs to see of one annotation (`vibes review`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from vibes_lsp.anchors.align import changed_lines
from vibes_lsp.anchors.create_anchors import range_hash
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import BrokenBlob, HistoryUnavailable, UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import ContextType, Verdict
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import Progress, ProjectLocator
from vibes_lsp.reports.blame import Blame, blame_file, line_kind, line_owners
from vibes_lsp.reports.coverage import FileCoverage, OwnedFile
from vibes_lsp.reports.find import NO_FILTER, Filter, find_annotations
from vibes_lsp.reports.found_annotations import (
    AnnotationSummary,
    FoundAnnotation,
    found_annotation,
    is_reviewable,
)
from vibes_lsp.reports.placements import PlacementReport, is_reviewed
from vibes_lsp.store.reasoning import reasoning_text
from vibes_lsp.trail.reviews import Review, is_text_unchanged

_CONTEXT: Final = 3
"""Lines that are shown before and after an annotation."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """One annotation as a reviewer sees it.

    Attributes:
        placement: Where its lines are.
        facts: The placement as JSON.
        risk: Score and band as text; None without a score.
        start: Its first line, 1-based.
        lines: Its lines, each with its kind.
        removed: Lines of the version before its commit that are gone, by the line of the file
            before which they were.
        context: The lines of the file before and after them, a few each.
        digest: Anchor hash of the lines, which a verdict names (R6).
        decision: The decision entry behind it; empty if there is none.
        reasoning: The reasoning, or why it cannot be read; None if none was recorded.
        reviews: Its reviews in order, each with whether the lines are unchanged since; None where
            that is unknown.
        earlier: Earlier annotations on its lines, newest first.
    """

    placement: Placement
    facts: Members
    risk: str | None
    start: int
    lines: tuple[tuple[str, LineKind], ...]
    removed: Mapping[int, tuple[str, ...]]
    context: tuple[tuple[str, ...], tuple[str, ...]]
    digest: str
    decision: Members
    reasoning: str | None
    reviews: tuple[tuple[Review, bool | None], ...]
    earlier: tuple[Placement, ...]


def inspect_annotation(
    locator: ProjectLocator, scorer: Scorer, path: str, identifier: str
) -> Inspection | None:
    """Return the current state of an annotation; None if it has no lines in a readable file.

    Args:
        locator: The project's locator.
        scorer: Computes its risk.
        path: Its file, relative to the project.
        identifier: Id of one of its records.
    """
    try:
        text = read_source(locator.trail.directory.project, path)
    except UnreadableFile:
        return None
    blame = blame_file(locator, path, text, scorer)
    placement = next(
        (placement for placement in blame.placements if identifier in placement.lineage.ids), None
    )
    return None if placement is None else inspect_placement(locator, blame, placement)


def inspect_placement(
    locator: ProjectLocator, blame: Blame, placement: Placement
) -> Inspection | None:
    """Return the current state of an annotation of a file; None if it has no lines there.

    Args:
        locator: The project's locator.
        blame: The file.
        placement: One of its placements.
    """
    start, end = placement.located.start, placement.located.end
    if placement.is_history or start is None or end is None:
        return None
    text, report = blame.text, blame.report
    lines = text.lines[start - 1 : end]
    facts = report.placement(placement)
    kinds = (line_kind(placement, number) for number in range(start, end + 1))
    reviews = (
        (review, is_text_unchanged(review, lines))
        for review in locator.trail.reviews_of(placement.lineage)
    )
    return Inspection(
        placement,
        facts,
        report.describe_risk(facts),
        start,
        tuple(zip(lines, kinds, strict=False)),
        _removed(locator, text, facts, range(start, end + 2)),
        (
            tuple(text.lines[max(start - 1 - _CONTEXT, 0) : start - 1]),
            tuple(text.lines[end : end + _CONTEXT]),
        ),
        range_hash(lines),
        _entry(locator, placement.current.text("decision_hash"), ContextType.DECISION),
        _reasoning(locator, placement),
        tuple(reviews),
        tuple(_earlier(blame.placements, placement)),
    )


def _removed(
    locator: ProjectLocator, text: Text, facts: Members, places: range
) -> Mapping[int, tuple[str, ...]]:
    """Return `Inspection.removed` for places in a file; empty where git does not know them."""
    repository, commit = locator.repository, facts.get("commitHash")
    if repository is None:
        return {}
    path = str(facts.get("movedFrom") or facts["filePath"])
    try:
        if isinstance(commit, str):
            before = repository.parent(repository.resolve(commit))
        else:
            before = repository.head()
        if before is None:
            return {}
        content = repository.read_file_below(before, locator.trail.directory.project, path)
    except HistoryUnavailable:
        return {}
    if content is None or b"\0" in content:
        return {}
    _, removed = changed_lines(Text.from_bytes(content).lines, text.lines)
    return {place: removed[place] for place in places if place in removed}


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
    earlier = [
        candidate
        for candidate in placements
        if candidate.lineage.rank < placement.lineage.rank
        and (candidate.is_claim or candidate.is_history)
        and candidate.located.start is not None
        and candidate.located.end is not None
        and candidate.located.start <= end
        and start <= candidate.located.end
    ]
    return sorted(earlier, key=lambda candidate: candidate.lineage.rank, reverse=True)


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """What waits for a review in one file or in the project, and how much is reviewed there.

    Attributes:
        waiting: What needs a review, in the order of `review_queue`.
        reviewed: How many annotations have a review that counts.
    """

    waiting: tuple[FoundAnnotation, ...]
    reviewed: int


def review_progress(
    locator: ProjectLocator, scorer: Scorer, on_progress: Callable[[ReviewProgress], None]
) -> ReviewProgress:
    """Return the review queue with the number of reviewed annotations.

    Args:
        locator: The project's locator.
        scorer: Computes the risk.
        on_progress: Called after each file with annotations.
    """
    annotations = find_annotations(
        locator, NO_FILTER, scorer, lambda in_file: on_progress(_progress(in_file))
    )
    return _progress(annotations)


def _progress(annotations: Sequence[FoundAnnotation]) -> ReviewProgress:
    queue = waiting(annotations)
    return ReviewProgress(
        queue, sum(annotation.is_reviewable for annotation in annotations) - len(queue)
    )


def review_queue(
    locator: ProjectLocator,
    scorer: Scorer,
    wanted: Filter = NO_FILTER,
    *,
    include_rejected: bool = False,
    progress: Progress = lambda *_: None,
) -> tuple[FoundAnnotation, ...]:
    """Return the annotations that need a review: highest score first, then by file and line.

    Left out are annotations without lines to read: lost, removed or uncertain ones, and those that
    are pending or no claim (`Placement.is_claim`).

    Args:
        locator: The project's locator.
        scorer: Computes their risk.
        wanted: Further conditions.
        include_rejected: Whether to append those whose current lines are rejected.
        progress: Called as the work proceeds.
    """
    annotations = find_annotations(locator, wanted, scorer, progress=progress)
    return waiting(annotations, include_rejected=include_rejected)


def waiting(
    annotations: Iterable[FoundAnnotation], *, include_rejected: bool = False
) -> tuple[FoundAnnotation, ...]:
    """Return those annotations that need a review, in the order of `review_queue`."""
    queue: list[tuple[tuple[bool, float, str, int], FoundAnnotation]] = []
    for annotation in annotations:
        if annotation.is_reviewable:
            summary = annotation.summary
            facts: Members = {"review": summary.review}
            if not is_reviewed(facts) or (include_rejected and is_rejected(facts)):
                queue.append((_sort_key(summary), annotation))
    return tuple(annotation for _, annotation in sorted(queue, key=itemgetter(0)))


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What a file tree shows of one file.

    Attributes:
        coverage: Its lines, and the AI lines among them.
        waiting: How many of its annotations are in the review queue.
        band: The highest risk band of these; None without a score.
    """

    coverage: FileCoverage
    waiting: int
    band: str | None

    def as_json(self) -> Members:
        """Return all numbers with the path."""
        return {**self.coverage.as_json(), "waiting": self.waiting, "band": self.band}


def summarise_file(locator: ProjectLocator, scorer: Scorer, path: str) -> FileSummary | None:
    """Return the summary of a file; None if no annotation is there.

    Raises:
        UnreadableFile: It cannot be read, or is no file of the project.
    """
    text = read_source(locator.trail.directory.project, path)
    if not locator.may_be_annotated(path, text):
        return None
    placements = locator.locate(path, text)
    report = PlacementReport(locator.trail, text, scorer=scorer)
    current = [
        (placement, report.placement(placement))
        for placement in placements
        if placement.is_current_edit
    ]
    queue = waiting(found_annotation(placement, facts) for placement, facts in current)
    coverage = OwnedFile(path, len(text.lines), line_owners(placements)).coverage
    if not (queue or coverage.counts):
        return None
    return FileSummary(coverage, len(queue), queue[0].summary.band if queue else None)


def needs_review(placement: Placement, facts: Members) -> bool:
    """Return whether a placement has lines to review, and no review that counts."""
    return is_reviewable(placement) and not is_reviewed(facts)


def is_rejected(facts: Members) -> bool:
    """Return whether the current lines are rejected."""
    review = facts["review"]
    return (
        is_reviewed(facts)
        and isinstance(review, dict)
        and review.get("verdict") == Verdict.REJECTED
    )


def _sort_key(summary: AnnotationSummary) -> tuple[bool, float, str, int]:
    scores = (summary.score, summary.stored_score)
    score = next((score for score in scores if score is not None), -1.0)
    return (
        is_rejected({"review": summary.review}),
        -score,
        summary.file_path,
        summary.line_start or 0,
    )
