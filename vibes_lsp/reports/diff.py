"""Only the AI's lines of a change (`vibes diff`): of the added or changed lines, those that annotations own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from vibes_lsp.anchors.line_map import align
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.diff import DiffEntry, DiffRange, diff_files, parse_diff_range
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.locate_annotations import with_locations
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.project_files import read_source
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.reports.blame import LineCounts, line_kind, line_owners
from vibes_lsp.reports.placements import PlacementReport


def as_of(
    trail: Trail, placements: Sequence[Placement], moment: datetime, length: int
) -> list[Placement]:
    """Return the placements that an older text can have, with the lines that they own then.

    What is sure counts whenever it was recorded: its text stands there, and clocks differ.

    Args:
        trail: Where they come from.
        placements: All, in that text.
        moment: When the text was committed; of whole seconds.
        length: The number of lines of the text.
    """
    known = [each for each in placements if each.located.sure or _was(each.lineage, moment)]
    ids = {each.current.id for each in known}

    def then(placement: Placement) -> Placement:
        replacing = tuple(
            each
            for each in placement.lineage.superseded_by
            if each in ids or _was_recorded(trail, each, moment)
        )
        return replace(
            placement,
            shown=replace(
                placement.shown, lineage=replace(placement.lineage, superseded_by=replacing)
            ),
        )

    return with_locations([then(each) for each in known], [each.located for each in known], length)


def _was(lineage: Lineage, moment: datetime) -> bool:
    return lineage.first.moment.replace(microsecond=0) <= moment


def _was_recorded(trail: Trail, identifier: str, moment: datetime) -> bool:
    lineage = trail.lineage_of(identifier)
    return lineage is not None and _was(lineage, moment)


_BINARY: Final = 8_000
"""Characters at the beginning among which a NUL means that a file is no text, as for git."""


@dataclass(frozen=True, slots=True)
class ChangedRange:
    """Consecutive changed lines of one annotation, 1-based and inclusive."""

    placement: Placement
    start: int
    end: int

    @property
    def kinds(self) -> list[LineKind]:
        """Whose each line is."""
        return [line_kind(self.placement, line) for line in range(self.start, self.end + 1)]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """What a change did to a file.

    Attributes:
        path: Relative to the project.
        former: Its name before, if that was another one.
        text: The file after the change.
        changed: The number of lines that were added or changed.
        ranges: The AI's among them, down the file.
        facts: The annotations that own them, as JSON, by the id of the current record.
        report: What made them JSON.
    """

    path: str
    former: str | None
    text: Text
    changed: int
    ranges: tuple[ChangedRange, ...]
    facts: Mapping[str, Members]
    report: PlacementReport

    @property
    def counts(self) -> LineCounts:
        """The AI's lines among the changed ones."""
        return LineCounts.of(kind for each in self.ranges for kind in each.kinds)

    def as_json(self) -> Members:
        """Return path, changed lines, counts, ranges with their lines, and placements."""
        former: Members = {} if self.former is None else {"formerPath": self.former}
        return {
            "filePath": self.path,
            **former,
            "changedLines": self.changed,
            **self.counts.as_json(),
            "ranges": [self._range(each) for each in self.ranges],
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
    """A change.

    Attributes:
        span: What was compared.
        files: The text files of the project that differ: those it tracks, and others that have lines of an AI (R26).
        unread: Files that differ and cannot be read.
        is_elsewhere: Whether the later commit is no ancestor of HEAD, so that this trail may not know what was recorded for it.
    """

    span: DiffRange
    files: tuple[ChangedFile, ...]
    unread: tuple[str, ...]
    is_elsewhere: bool

    @property
    def changed(self) -> int:
        """The number of lines that were added or changed."""
        return sum(file.changed for file in self.files)

    @property
    def counts(self) -> LineCounts:
        """The AI's lines among them."""
        return sum((file.counts for file in self.files), LineCounts())

    def as_json(self) -> Members:
        """Return `{base, head, files, unread, total}`; `head` is null for the work tree."""
        counts = self.counts
        total: Members = {
            "files": len(self.files),
            "changedLines": self.changed,
            **counts.as_json(),
            "share": round(counts.share(self.changed), 4),
        }
        return {
            "base": self.span.base,
            "head": self.span.head,
            "files": [file.as_json() for file in self.files],
            "unread": list(self.unread),
            "total": total,
        }


def collect_changes(
    locator: ProjectLocator,
    given: str | None,
    scorer: Scorer,
    tracking: Tracking,
    unsaved: Mapping[str, Text] | None = None,
) -> Changes:
    """Return the AI's lines of a change.

    Args:
        locator: Of the project.
        given: `BASE..HEAD`, `BASE...HEAD`, `BASE` or None; see `parse_diff_range`.
        scorer: Scores the annotations.
        tracking: Which files the project tracks.
        unsaved: Texts that count before what is on disk, by path; for the work tree only.

    Raises:
        HistoryUnavailable: There is no repository, or the commits cannot be compared.
    """
    project = locator.trail.directory.project
    repository = open_repository(project)
    if repository is None:
        raise HistoryUnavailable(
            f"{project} is in no git repository, or git is absent",
            hint="a change is what git knows of",
        )
    span = parse_diff_range(repository, given)
    with GitObjects(repository.root) as blobs:
        moment = repository.commit_time(span.head) if span.head is not None else None
        view = _View(locator, repository, blobs, moment, scorer, unsaved or {})
        audit = locator.trail.directory.path.name
        found: list[ChangedFile] = []
        unread: list[str] = []
        for each in diff_files(repository, blobs, span, project, unsaved or ()):
            path = view.path_of(each.name)
            if path.split("/")[0] == audit:
                continue
            file = view.file(path, each)
            if file is None:
                unread.append(path)
            elif file.changed and (file.ranges or tracking.tracks(path)):
                found.append(file)
    is_elsewhere = span.head is not None and not repository.is_ancestor(span.head)
    return Changes(span, tuple(found), tuple(unread), is_elsewhere)


@dataclass(frozen=True, slots=True)
class _View:
    """Looks at one change; `moment` is when its later commit was made, None for the work tree."""

    locator: ProjectLocator
    repository: Repository
    blobs: GitObjects
    moment: datetime | None
    scorer: Scorer
    unsaved: Mapping[str, Text]

    def path_of(self, name: str) -> str:
        """Return a name of git's relative to the project."""
        return name.removeprefix(self.repository.prefix_of(self.locator.trail.directory.project))

    def file(self, path: str, difference: DiffEntry) -> ChangedFile | None:
        """Return what became of a file: without any changed line when it is no text or gone; None when it cannot be read."""
        old = self._before(difference)
        new = self._after(path, difference)
        if old is None or new is None:
            return None
        changed = [] if _is_binary(old) or _is_binary(new) else _changed_lines(old, new)
        former = (
            self.path_of(difference.old_name)
            if difference.old_name not in {None, difference.name}
            else None
        )
        placements = self._placements(path, new) if changed else ()
        ranges = tuple(_ranges(placements, changed))
        report = PlacementReport(
            self.locator.trail, new, scorer=self.scorer, derived=self.locator.resolved_commits
        )
        owning = {id(each.placement): each.placement for each in ranges}
        facts = {placement.current.id: report.placement(placement) for placement in owning.values()}
        return ChangedFile(path, former, new, len(changed), ranges, facts, report)

    def _before(self, difference: DiffEntry) -> Text | None:
        if difference.old is None:
            return Text("")
        data = self.blobs.contents(difference.old)
        return None if data is None else Text.from_bytes(data)

    def _after(self, path: str, difference: DiffEntry) -> Text | None:
        if self.moment is not None:
            data = self.blobs.contents(difference.new) if difference.new is not None else None
            return None if data is None else Text.from_bytes(data)
        if path in self.unsaved:
            return self.unsaved[path]
        file = self.locator.trail.directory.project / path
        if file.is_symlink() or not file.exists():  # a link has no text of its own
            return Text("")
        try:
            return read_source(self.locator.trail.directory.project, path)
        except UnreadableFile:
            return None

    def _placements(self, path: str, text: Text) -> Sequence[Placement]:
        placements = self.locator.locate(path, text)
        return (
            placements
            if self.moment is None
            else as_of(self.locator.trail, placements, self.moment, len(text.lines))
        )


def _changed_lines(old: Text, new: Text) -> list[int]:
    """Return the lines of a text, 1-based, that are not lines of an older one."""
    kept = set(align(old.lines, new.lines))
    return [number + 1 for number in range(len(new.lines)) if number not in kept]


def _ranges(placements: Sequence[Placement], changed: Sequence[int]) -> Iterator[ChangedRange]:
    """Give the changed lines that are an AI's; those that a person put among an AI's are not."""
    owned = line_owners(placements)
    mine = [
        number
        for number in changed
        if number in owned and line_kind(owned[number], number) != LineKind.HUMAN
    ]
    ends = [
        number
        for number, following in pairwise(mine)
        if following != number + 1 or owned[following] is not owned[number]
    ]
    start = 0
    for end in [*ends, *mine[-1:]]:
        stop = mine.index(end, start)
        yield ChangedRange(owned[end], mine[start], end)
        start = stop + 1


def _is_binary(text: Text) -> bool:
    return "\0" in text.content[:_BINARY]
