"""The AI lines of a change (`vibes diff`): changed lines that annotations own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from vibes_lsp.anchors.align import changed_lines
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.diff import DiffEntry, DiffRange, diff_files, parse_diff_range
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.blame import LineCounts, line_kind, line_owners
from vibes_lsp.reports.placements import PlacementReport
from vibes_lsp.reports.review_queue import needs_review

_BINARY_PREFIX: Final = 8_000
"""Characters at the start of a file; a NUL among them means binary, as for git."""


@dataclass(frozen=True, slots=True)
class ChangedRange:
    """Consecutive changed lines of one annotation, 1-based and inclusive."""

    placement: Placement
    start: int
    end: int

    @property
    def kinds(self) -> list[LineKind]:
        """The kind of each line."""
        return [line_kind(self.placement, line) for line in range(self.start, self.end + 1)]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A changed file.

    Attributes:
        path: Relative to the project.
        old_path: Its former path, if it was renamed.
        blobs: The hashes of the contents before and after; None where there is none in git.
        text: The file after the change.
        changed_lines: Number of added or changed lines.
        removed: Lines of the text before that are gone or changed, by the number of the line that
            now follows them.
        ranges: The AI lines among the changed ones, in document order.
        facts: Placements of their annotations as JSON, by the id of the current record.
        report: Converts placements to JSON.
    """

    path: str
    old_path: str | None
    blobs: tuple[str | None, str | None]
    text: Text
    changed_lines: int
    removed: Mapping[int, tuple[str, ...]]
    ranges: tuple[ChangedRange, ...]
    facts: Mapping[str, Members]
    report: PlacementReport

    @property
    def counts(self) -> LineCounts:
        """The AI lines among the changed ones."""
        return LineCounts.of(kind for changed_range in self.ranges for kind in changed_range.kinds)

    def needs_review(self, changed: ChangedRange) -> bool:
        """Whether a range is part of an annotation in the review queue."""
        return needs_review(changed.placement, self.facts[changed.placement.current.id])

    @property
    def unreviewed_lines(self) -> int:
        """The number of AI lines among the changed ones that need a review."""
        return sum(
            changed_range.end - changed_range.start + 1
            for changed_range in self.ranges
            if self.needs_review(changed_range)
        )

    def as_json(self) -> Members:
        """Return paths, numbers, ranges with their lines, and placements."""
        renamed: Members = {} if self.old_path is None else {"formerPath": self.old_path}
        return {
            "filePath": self.path,
            **renamed,
            "changedLines": self.changed_lines,
            **self.counts.as_json(),
            "unreviewedLines": self.unreviewed_lines,
            "ranges": [self._range(changed_range) for changed_range in self.ranges],
            "placements": list(self.facts.values()),
        }

    def _range(self, changed: ChangedRange) -> Members:
        lines: list[JsonValue] = [
            {
                "line": number,
                "kind": line_kind(changed.placement, number).value,
                "text": self.text.lines[number - 1],
            }
            for number in range(changed.start, changed.end + 1)
        ]
        return {
            "annotationId": changed.placement.current.id,
            "lineStart": changed.start,
            "lineEnd": changed.end,
            "lines": lines,
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """A change between two commits, or between a commit and the work tree or the index.

    Attributes:
        diff_range: What was compared.
        files: Text files that differ and that the project tracks, or that have AI lines (R26).
        unreadable: Files that differ but cannot be read.
        is_outside_head: Whether the later commit is not an ancestor of HEAD; its records may be
            missing from the audit trail.
    """

    diff_range: DiffRange
    files: tuple[ChangedFile, ...]
    unreadable: tuple[str, ...]
    is_outside_head: bool

    @property
    def changed_lines(self) -> int:
        """The number of added or changed lines."""
        return sum(file.changed_lines for file in self.files)

    @property
    def counts(self) -> LineCounts:
        """The AI lines among them."""
        return sum((file.counts for file in self.files), LineCounts())

    def as_json(self) -> Members:
        """Return `{base, head, files, unread, total}`; `head` is null if not a commit."""
        counts = self.counts
        total: Members = {
            "files": len(self.files),
            "changedLines": self.changed_lines,
            **counts.as_json(),
            "unreviewedLines": sum(file.unreviewed_lines for file in self.files),
            "share": round(counts.share(self.changed_lines), 4),
        }
        return {
            "base": self.diff_range.base,
            "head": self.diff_range.head,
            "files": [file.as_json() for file in self.files],
            "unread": list(self.unreadable),
            "total": total,
        }


def collect_changes(
    locator: ProjectLocator,
    revisions: str | None,
    scorer: Scorer,
    tracking: Tracking,
    unsaved: Mapping[str, Text] | None = None,
    *,
    is_staged: bool = False,
) -> Changes:
    """Return the AI lines of a change.

    Args:
        locator: The project's locator.
        revisions: `BASE..HEAD`, `BASE...HEAD`, `BASE` or None; see `parse_diff_range`.
        scorer: Computes the risk of annotations.
        tracking: Which files the project tracks.
        unsaved: Unsaved texts by path, which replace files of the work tree.
        is_staged: Whether to compare one commit, by default HEAD, with the index.

    Raises:
        HistoryUnavailable: There is no repository, or the range is invalid.
    """
    project = locator.trail.directory.project
    repository = locator.repository or open_repository(project)
    if repository is None:
        raise HistoryUnavailable(
            f"{project} is not in a git repository, or git is not installed",
            hint="run this command in a git repository",
        )
    diff_range = parse_diff_range(repository, revisions)
    if is_staged:
        diff_range = _with_index(diff_range)
        unsaved = None
    comparison = _Comparison(locator, repository, diff_range, scorer, unsaved or {})
    audit = locator.trail.directory.path.name
    files: list[ChangedFile] = []
    unreadable: list[str] = []
    entries = diff_files(repository, diff_range, project, unsaved or ())
    paths = [comparison.path_of(entry.name) for entry in entries]
    changed = set(paths)
    locator.resolve_commits_in([path for path in locator.annotated_files() if path in changed])
    for entry, path in zip(entries, paths, strict=True):
        if path.split("/")[0] == audit:
            continue
        file = comparison.compare(path, entry)
        if file is None:
            unreadable.append(path)
        elif file.changed_lines and (file.ranges or tracking.tracks(path)):
            files.append(file)
    is_outside_head = diff_range.head is not None and not repository.is_ancestor(diff_range.head)
    return Changes(diff_range, tuple(files), tuple(unreadable), is_outside_head)


def _with_index(diff_range: DiffRange) -> DiffRange:
    if diff_range.head is not None:
        raise HistoryUnavailable(
            "two commits cannot be compared with what is staged",
            hint="name one commit, or none for HEAD",
        )
    return DiffRange(diff_range.base, None, is_staged=True)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares files."""

    locator: ProjectLocator
    repository: Repository
    diff_range: DiffRange
    scorer: Scorer
    unsaved: Mapping[str, Text]

    def path_of(self, name: str) -> str:
        """Return a path of the repository relative to the project."""
        return name.removeprefix(self.repository.prefix_of(self.locator.trail.directory.project))

    def compare(self, path: str, entry: DiffEntry) -> ChangedFile | None:
        """Return the changed file, without changed lines if it is binary or deleted.

        Returns None if a version cannot be read.
        """
        old = self._old_text(entry)
        new = self._new_text(path, entry)
        if old is None or new is None:
            return None
        is_text = not _is_binary(old) and not _is_binary(new)
        changed, removed = changed_lines(old.lines, new.lines) if is_text else ([], {})
        old_path = (
            self.path_of(entry.old_name) if entry.old_name not in {None, entry.name} else None
        )
        placements = self._placements(path, new) if changed else ()
        ranges = tuple(_ranges(placements, changed))
        report = PlacementReport(
            self.locator.trail,
            new,
            scorer=self.scorer,
            resolved_commits=self.locator.resolved_commits,
        )
        owning = {id(changed_range.placement): changed_range.placement for changed_range in ranges}
        facts = {placement.current.id: report.placement(placement) for placement in owning.values()}
        blobs = (entry.old, entry.new)
        return ChangedFile(path, old_path, blobs, new, len(changed), removed, ranges, facts, report)

    def _old_text(self, entry: DiffEntry) -> Text | None:
        if entry.old is None:
            return Text("")
        content = self.repository.objects.contents(entry.old)
        return None if content is None else Text.from_bytes(content)

    def _new_text(self, path: str, entry: DiffEntry) -> Text | None:
        if self.diff_range.head is not None or self.diff_range.is_staged:
            content = self.repository.objects.contents(entry.new) if entry.new is not None else None
            return None if content is None else Text.from_bytes(content)
        if path in self.unsaved:
            return self.unsaved[path]
        file = self.locator.trail.directory.project / path
        if file.is_symlink() or not file.exists():  # a link is not a text
            return Text("")
        try:
            return read_source(self.locator.trail.directory.project, path)
        except UnreadableFile:
            return None

    def _placements(self, path: str, text: Text) -> Sequence[Placement]:
        return self.locator.locate(path, text, self.diff_range.head)


def _ranges(placements: Sequence[Placement], changed: Sequence[int]) -> Iterator[ChangedRange]:
    """Yield the changed AI lines as ranges, without the lines between that it does not own."""
    owned = line_owners(placements)
    ai_lines = [number for number in changed if number in owned]
    ends = [
        number
        for number, following in pairwise(ai_lines)
        if following != number + 1 or owned[following] is not owned[number]
    ]
    start = 0
    for end in [*ends, *ai_lines[-1:]]:
        stop = ai_lines.index(end, start)
        yield ChangedRange(owned[end], ai_lines[start], end)
        start = stop + 1


def _is_binary(text: Text) -> bool:
    return "\0" in text.content[:_BINARY_PREFIX]
