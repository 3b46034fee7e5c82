"""Annotations that match a filter, with their places in the current files (`vibes find`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeAlias

from vibes_lsp.anchors.line_hashes import is_long, line_hash, split_hashes
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.model.members import Members, text
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import Progress, ProjectLocator, with_progress
from vibes_lsp.reports.authors import Authors
from vibes_lsp.reports.found_annotations import FoundAnnotation, found_annotation
from vibes_lsp.reports.placement_texts import display_name
from vibes_lsp.reports.placements import PlacementReport, is_reviewed
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import known_commit
from vibes_lsp.trail.records import LogRecord, moment_of


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
    locator: ProjectLocator,
    wanted: Filter,
    scorer: Scorer,
    on_file: OnFile | None = None,
    progress: Progress = lambda *_: None,
) -> list[FoundAnnotation]:
    """Return the matching current annotations, file by file.

    Files that are not in this checkout are left out. Only those are searched that can have what is
    wanted.

    Args:
        locator: The project's locator.
        wanted: The conditions.
        scorer: Computes their risk.
        on_file: Called for each file. What it gets may include annotations that are left out in the
            end, because they are found in another file later.
        progress: Called as the work proceeds.
    """
    locator.resolve_commits_in()
    possible = _PossibleFiles(locator, wanted)
    if possible.is_empty:
        return []
    paths = [path for path in locator.annotated_files() if possible.may_have(path)]
    moved: set[str] = set()
    may_be_elsewhere = locator.names.has_gone_files

    def matching(path: str) -> list[FoundAnnotation]:
        nonlocal may_be_elsewhere
        in_file = [
            found_annotation(*placement_and_facts)
            for placement_and_facts in placements_in(locator, path, scorer)
        ]
        may_be_elsewhere = may_be_elsewhere or any(
            annotation.may_be_elsewhere for annotation in in_file
        )
        moved.update(annotation.moved for annotation in in_file if annotation.moved is not None)
        matches = [annotation for annotation in in_file if _matches(annotation, wanted)]
        if on_file is not None and matches:
            on_file(matches)
        return matches

    in_place = [
        annotation for path in with_progress(paths, progress) for annotation in matching(path)
    ]
    elsewhere = [
        annotation
        for path in (locator.other_files() if may_be_elsewhere else ())
        for annotation in matching(path)
    ]
    if moved:
        in_place = [
            annotation
            for annotation in in_place
            if annotation.moved or annotation.summary.annotation_id not in moved
        ]
    return in_place + elsewhere


class _PossibleFiles:
    """The files that can have a wanted annotation, by what is known before it is located.

    Those that it is recorded for, and those with a line of it: it may have moved there.

    Args:
        locator: The project's locator, which has resolved commits.
        wanted: The conditions.
    """

    def __init__(self, locator: ProjectLocator, wanted: Filter) -> None:
        self._locator, self._wanted = locator, wanted
        self._authors = Authors(locator.trail)
        self._is_limited = replace(wanted, band=None, state=None, unreviewed=False) != NO_FILTER
        self._names: set[str] = set()
        self._hashes: set[str] = set()
        self._hashes_inside: set[str] = set()
        for name in locator.names.recorded if self._is_limited else ():
            lineages = [
                lineage for lineage in locator.trail.lineages_in(name) if self._may_match(lineage)
            ]
            if lineages:
                self._names.add(name)
                hashes = {digest for lineage in lineages for digest in _line_hashes(lineage)}
                self._hashes |= hashes
                if self._is_wanted_file(locator.names.current_name(name)):
                    self._hashes_inside |= hashes

    @property
    def is_empty(self) -> bool:
        """Whether no file has a wanted annotation."""
        return self._is_limited and not self._names

    def may_have(self, path: str) -> bool:
        """Whether a file, relative to the project, can have one, or lines of one of another file.

        The latter counts for files that are not wanted too: what is found there is lost nowhere.
        """
        if not self._is_limited:
            return True
        is_wanted = self._is_wanted_file(path)
        names = self._locator.names.with_former([path])
        if is_wanted and any(name in self._names for name in names):
            return True
        hashes = self._hashes if is_wanted else self._hashes_inside
        try:
            text = read_source(self._locator.trail.directory.project, path) if hashes else None
        except UnreadableFile:
            return False
        return text is not None and any(
            is_long(line) and line_hash(line) in hashes for line in text.lines
        )

    def _is_wanted_file(self, path: str) -> bool:
        return self._wanted.file is None or _is_inside(path, self._wanted.file)

    def _may_match(self, lineage: Lineage) -> bool:
        wanted, record = self._wanted, lineage.current
        author = self._authors.of(record.text("environment_hash"))
        return (
            _contains(author.model, wanted.model)
            and _contains(author.tool, wanted.tool)
            and _starts_with(record.text("session_id"), wanted.session)
            and (wanted.since is None or moment_of(lineage.first.text("timestamp")) >= wanted.since)
            and (wanted.commit is None or _starts_with(self._commit(lineage), wanted.commit))
            and (wanted.prompt is None or _contains(self._prompt(record), wanted.prompt))
        )

    def _commit(self, lineage: Lineage) -> str | None:
        commit = known_commit(lineage, self._locator.resolved_commits.get(lineage.first.id))
        return None if commit is None else commit.commit

    def _prompt(self, record: LogRecord) -> str | None:
        key = record.text("prompt_hash")
        entry = self._locator.trail.manifest.entry(key) if key else None
        return None if entry is None else text(entry, "prompt_text")


def _line_hashes(lineage: Lineage) -> Iterator[str]:
    """Yield the hashes of the lines that an edit wrote, as far as its records say them."""
    for member in lineage.members:
        hashes = split_hashes(member.members.get("line_hashes"))
        yield from hashes or map(line_hash, (member.text("anchor_context") or "").split("\n"))


def placements_in(
    locator: ProjectLocator, path: str, scorer: Scorer
) -> list[tuple[Placement, Members]]:
    """Return the current annotations of a file, each also as JSON; none if it is unreadable."""
    text, placements = locator.read_and_locate(path)
    report = PlacementReport(
        locator.trail, text, scorer=scorer, resolved_commits=locator.resolved_commits
    )
    return [
        (placement, {**report.placement(placement), "displayName": display_name(placement, text)})
        for placement in placements
        if placement.is_current_edit
    ]


def _matches(annotation: FoundAnnotation, wanted: Filter) -> bool:
    if wanted == NO_FILTER:
        return True
    summary = annotation.summary
    conditions = (
        _contains(summary.model.get("name"), wanted.model),
        _contains(summary.tool.get("name"), wanted.tool),
        _contains(summary.prompt, wanted.prompt),
        _starts_with(summary.session_id, wanted.session),
        _starts_with(summary.commit_hash, wanted.commit),
        wanted.since is None or moment_of(summary.timestamp) >= wanted.since,
        wanted.band is None or summary.band == wanted.band,
        wanted.state is None or summary.state == wanted.state,
        not wanted.unreviewed
        or (annotation.is_claim and not is_reviewed({"review": summary.review})),
        wanted.file is None or _is_inside(summary.file_path, wanted.file),
    )
    return all(conditions)


def _is_inside(path: str, folder: str) -> bool:
    return folder in {".", path} or path.startswith(f"{folder}/")


def _contains(value: object, part: str | None) -> bool:
    return part is None or (isinstance(value, str) and part.lower() in value.lower())


def _starts_with(value: object, beginning: str | None) -> bool:
    return beginning is None or (isinstance(value, str) and value.startswith(beginning))
