"""The tools that ask: what is known of lines, why they are so, prompts, risk and the review queue.

Each function answers for a project that was refreshed; none writes anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError
from typing_extensions import override

from vibes_lsp.anchors.functions import find_function
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.project_files import read_source
from vibes_lsp.mcp.annotation_answers import SHORT, annotation_answer
from vibes_lsp.mcp.answers import (
    AnnotationAnswer,
    Provenance,
    Reasons,
    ReviewQueue,
    Risks,
)
from vibes_lsp.mcp.reasons import reason
from vibes_lsp.mcp.recorded_text import Quotations, path_text
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.placing.placements import Placement
from vibes_lsp.recording.arguments import Checked, Lenient, WrongArgument
from vibes_lsp.recording.paths import required_path
from vibes_lsp.reports.blame import blame_file, is_on_lines, owns_lines
from vibes_lsp.reports.find import Filter, find_annotations, placements_in
from vibes_lsp.reports.found_annotations import AnnotationSummary, FoundAnnotation
from vibes_lsp.reports.review_queue import waiting

MAX_RESULTS: Final = 100
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=MAX_RESULTS)]
LineNumber: TypeAlias = Annotated[int, Field(ge=1)]
NOTHING_RECORDED: Final = (
    "No annotation is on these lines: a person wrote them, or an AI that recorded nothing."
)


def _code(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("code", "expected some code")
    return value


Code: TypeAlias = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_code)]


class FileLines(Checked):
    """Lines of a file; without lines, the whole file.

    Attributes:
        file: The file, relative to the project or absolute.
        line_start: The first line, from 1.
        line_end: The last line, inclusive; by default only the first.
        limit: How many annotations the answer has at most.
    """

    file: Name
    line_start: LineNumber | None = None
    line_end: LineNumber | None = None
    limit: Limit = 20

    @override
    def _check_together(self) -> None:
        if self.line_start is None and self.line_end is not None:
            raise WrongArgument("line_start", "is required, as line_end is given")
        if self.line_start is not None and self.line_start > (self.line_end or self.line_start):
            raise WrongArgument("line_end", "must not be before line_start")


class WhyArguments(FileLines):
    """Lines of a file, a function of it, or lines that have a text.

    Attributes:
        function: The name of a function, method or class, instead of lines.
        code: Whole lines as they are in the file now, instead of their numbers.
    """

    function: Name | None = None
    code: Code | None = None
    limit: Limit = 8

    @override
    def _check_together(self) -> None:
        super()._check_together()
        places = (self.line_start, self.function, self.code)
        if sum(place is not None for place in places) > 1:
            raise WrongArgument("line_start", "give lines, a function or code, not several of them")


class Selection(Checked):
    """Annotations of the project, or of a part of it.

    Attributes:
        file: Only a file or a folder.
        band: Only this band of risk.
        model: Only models whose name contains this.
        session_id: Only a session, by its id or the beginning of it.
        limit: How many annotations the answer has at most.
    """

    file: Name | None = None
    band: Lenient[Band] | None = None
    model: Name | None = None
    session_id: Name | None = None
    limit: Limit = 20


@dataclass(frozen=True, slots=True)
class _Place:
    """Lines of a file, 1-based and inclusive."""

    path: str
    text: Text
    start: int
    end: int
    is_whole_file: bool


def provenance_at(project: ServedProject, lines: FileLines) -> Provenance:
    """Return the annotations on lines of a file, owners first.

    Raises:
        WrongArgument: The file or the lines are not in the project.
        UnreadableFile: The file cannot be read.
    """
    place = _place(project, lines)
    quotations = Quotations()
    located = _located(project, place)
    current = [(placement, facts) for placement, facts in located if placement.is_current_edit]
    shown = current[: lines.limit]
    return Provenance(
        file=path_text(place.path) or "",
        line_start=place.start,
        line_end=place.end,
        annotations=[annotation_answer(placement, facts, quotations) for placement, facts in shown],
        more=len(current) - len(shown),
        hint=None if located else NOTHING_RECORDED,
        warnings=project.warnings,
    )


def why(project: ServedProject, arguments: WhyArguments) -> Reasons:
    """Return why lines are as they are: the edits on them and those that these replaced.

    Raises:
        WrongArgument: The file, the lines, the function or the code are not in the project.
        UnreadableFile: The file cannot be read.
    """
    place = _place(project, arguments, function=arguments.function, code=arguments.code)
    quotations = Quotations()
    located = _located(project, place)
    shown = located[: arguments.limit]
    return Reasons(
        file=path_text(place.path) or "",
        line_start=place.start,
        line_end=place.end,
        annotations=[
            reason(project.trail, placement, facts, quotations) for placement, facts in shown
        ],
        more=len(located) - len(shown),
        hint=None if located else NOTHING_RECORDED,
        warnings=project.warnings,
    )


def risk(project: ServedProject, selection: Selection) -> Risks:
    """Return the edits of the project with what their risk is computed from, highest first.

    Raises:
        WrongArgument: The file is not in the project.
    """
    policy = project.config.policy
    scored = [
        (score, annotation)
        for annotation in _selected(project, selection)
        if (score := _score(annotation.summary)) is not None
    ]
    ranked = [annotation for _, annotation in sorted(scored, key=lambda pair: -pair[0])]
    answers = _answers(project, ranked[: selection.limit], with_factors=True)
    return Risks(
        is_scored=policy.computes_scores,
        thresholds={str(band): bound for band, bound in policy.thresholds.items()},
        annotations=answers,
        more=len(ranked[selection.limit :]),
        hint=None if policy.computes_scores else "The project's policy does not score risk.",
        warnings=project.warnings,
    )


def review_queue(project: ServedProject, selection: Selection) -> ReviewQueue:
    """Return the edits that no person has reviewed as they are now, highest risk first.

    Raises:
        WrongArgument: The file is not in the project.
    """
    queue = waiting(_selected(project, selection))
    answers = _answers(project, queue[: selection.limit])
    return ReviewQueue(
        annotations=answers,
        more=len(queue[selection.limit :]),
        hint="Only a person can review: `vibes review` in a terminal, or an editor.",
        warnings=project.warnings,
    )


def _selected(project: ServedProject, selection: Selection) -> list[FoundAnnotation]:
    conditions = Filter(
        model=selection.model,
        session=selection.session_id,
        band=None if selection.band is None else str(selection.band),
        file=None if selection.file is None else required_path(project.root, selection.file),
    )
    return find_annotations(project.locator(), conditions, project.scorer())


def _answers(
    project: ServedProject, annotations: Sequence[FoundAnnotation], *, with_factors: bool = False
) -> list[AnnotationAnswer]:
    summaries = [annotation.summary for annotation in annotations]
    placed = {
        (path, placement.current.id): (placement, facts)
        for path in {summary.file_path for summary in summaries}
        for placement, facts in placements_in(project.locator(), path, project.scorer())
    }
    keys = [(summary.file_path, summary.annotation_id) for summary in summaries]
    quotations = Quotations()
    return [
        annotation_answer(*placed[key], quotations, prompt=SHORT, with_factors=with_factors)
        for key in keys
        if key in placed  # else its file was changed since
    ]


def _score(summary: AnnotationSummary) -> float | None:
    return summary.stored_score if summary.score is None else summary.score


def _located(project: ServedProject, place: _Place) -> list[tuple[Placement, Members]]:
    """Return the annotations on lines of a file: owners first, then the later ones first."""
    blame = blame_file(project.locator(), place.path, place.text, project.scorer())
    lines = (place.start, place.end)
    touching = [
        placement
        for placement in blame.placements
        if is_on_lines(placement, *lines)
        or (place.is_whole_file and placement.located.start is None)
    ]
    touching.sort(key=lambda placement: placement.lineage.rank, reverse=True)
    touching.sort(key=lambda placement: (not owns_lines(placement, *lines), placement.is_history))
    return [(placement, blame.report.placement(placement)) for placement in touching]


def _place(
    project: ServedProject,
    lines: FileLines,
    *,
    function: str | None = None,
    code: str | None = None,
) -> _Place:
    path = required_path(project.root, lines.file)
    text = read_source(project.root, path)
    total = len(text.lines)
    if function is not None:
        start, end = _lines_of_function(text, path, function)
    elif code is not None:
        start, end = _lines_of_code(text, path, code)
    elif lines.line_start is not None:
        start, end = lines.line_start, min(lines.line_end or lines.line_start, total)
    else:
        return _Place(path, text, 1, max(total, 1), is_whole_file=True)
    if start > total:
        raise WrongArgument("line_start", f"line {start} is not in {path}, which has {total} lines")
    return _Place(path, text, start, end, is_whole_file=False)


def _lines_of_function(text: Text, path: str, function: str) -> tuple[int, int]:
    definition = find_function(text, path, function, None)
    if definition is None:
        raise WrongArgument("function", f"{function!r} is not found in {path}; give lines instead")
    if definition.ambiguous:
        raise WrongArgument(
            "function", f"several definitions in {path} are called {function!r}; give lines instead"
        )
    return definition.start, definition.end


def _lines_of_code(text: Text, path: str, code: str) -> tuple[int, int]:
    """Return the lines that have a text, which must be at one place only."""
    code_lines = Text(code.strip("\r\n")).lines
    starts = [
        number
        for number in range(1, len(text.lines) - len(code_lines) + 2)
        if text.lines[number - 1 : number - 1 + len(code_lines)] == code_lines
    ]
    if not starts:
        raise WrongArgument(
            "code", f"these lines are not in {path}; give whole lines as they are saved"
        )
    if len(starts) > 1:
        shown = ", ".join(map(str, starts[:5])) + (" and more" if len(starts) > 5 else "")
        raise WrongArgument(
            "code", f"{path} has these lines at several places, from line {shown}; give lines"
        )
    return starts[0], starts[0] + len(code_lines) - 1
