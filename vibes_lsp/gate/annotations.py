"""Collect the annotations that the gate judges, with the text in which each is found.

A branch can move code to another file, into a submodule, behind a link, or into a text that other
programs decode differently; an annotation that is lost in its own file is searched in all of these.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from vibes_lsp.anchors.line_hashes import MIN_DISTINCTIVE, count_distinctive
from vibes_lsp.anchors.locate import locate_sure
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.gate.changed_files import FileContents
from vibes_lsp.model.paths import is_too_long, normal_path
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.live_risk import custom_signals
from vibes_lsp.placing.placements import Placement, ShownLineage
from vibes_lsp.placing.project_locator import ProjectLocator, with_progress
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import recorded_lines
from vibes_lsp.trail.rows import LogLineKind

_BATCH: Final = 8_192
"""Annotations of files that are gone that are searched for at once: memory is bounded."""
NOT_FOUND: Final = LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)
Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass
class AnnotationCollector:
    """Collects annotations from files.

    Attributes:
        locator: The locator of the project.
        texts: The versions of files to search.
        files: The files to search, relative to the project; None for all.
        progress: Called as the work proceeds.
        unread: Files that could not be read, with the reason; filled by the other methods.
    """

    locator: ProjectLocator
    texts: FileContents
    files: Collection[str] | None = None
    progress: Progress = field(default=lambda *_: None)
    unread: dict[str, str] = field(default_factory=dict)

    def collect(self) -> Iterator[tuple[Text, Placement]]:
        """Yield each annotation in the files with the text that it was found in."""
        annotated = self.locator.annotated_files()
        files = annotated if self.files is None else self._selected_files(annotated)
        for path in self._linked_files(annotated):
            self._read(path)
        lost: list[tuple[Text, Placement]] = []
        found_ids: set[str] = set()
        for text, placement in chain(self._in_files(files), self._in_head()):
            if placement.located.state == State.LOST:
                lost.append((text, placement))
            else:
                found_ids.update(placement.lineage.ids)
                yield text, placement
        if lost or self._any_file_missing(annotated):
            others = [] if self.files is not None else self.locator.other_files()
            for text, placement in self._in_files(others):
                found_ids.update(placement.lineage.ids)
                yield text, placement
            searched = [*files, *others]
            lost_ids = {placement.current.id for _, placement in lost} - found_ids
            for text, placement in self._in_alternative_readings(searched, lost_ids):
                found_ids.update(placement.lineage.ids)
                yield text, placement
            known = frozenset(found_ids)
            missing = (placement for _, placement in lost if placement.current.id not in known)
            for text, placement in self._in_changed_files(
                searched, chain(missing, self._of_removed_files(annotated, known))
            ):
                found_ids.update(placement.lineage.ids)
                yield text, placement
        yield from (
            (text, placement) for text, placement in lost if placement.current.id not in found_ids
        )

    def _in_files(self, files: Sequence[str]) -> Iterator[tuple[Text, Placement]]:
        """Yield the annotations of files."""
        for path in with_progress(files, self.progress):
            text = self._read(path)
            if text is None:
                continue
            yield from _with_duplicates(text, self.locator.locate(path, text))

    def _in_head(self) -> Iterator[tuple[Text, Placement]]:
        """Yield the annotations found in HEAD's version of files that differ on disk."""
        for path in sorted(self.files or ()):
            text = self._read(path, self.texts.in_head)
            if text is not None:
                placements = [
                    placement
                    for placement in self.locator.locate(path, text)
                    if placement.located.state != State.LOST
                ]
                yield from _with_duplicates(text, placements)

    def _in_alternative_readings(
        self, files: Collection[str], lost_ids: Collection[str]
    ) -> Iterator[tuple[Text, Placement]]:
        """Yield lost annotations found when line ends or the encoding are read differently."""
        for path in files:
            for text in self.texts.alternative_readings(path):
                former = self.locator.names.former_paths(path)
                for placement in self.locator.locate(path, text):
                    is_moved = placement.moved_from not in {None, *former}
                    if placement.located.state != State.LOST and (
                        is_moved or placement.current.id in lost_ids
                    ):
                        yield text, placement

    def _in_changed_files(
        self, files: Collection[str], missing: Iterable[Placement]
    ) -> Iterator[tuple[Text, Placement]]:
        """Yield missing annotations whose lines a changed file has and its base version lacks.

        Commit dates play no part: a branch can choose them.
        """
        if (
            self.texts.changes is None or not files
        ):  # to build the lineages of removed files takes long
            return
        anchored = (
            (placement, recorded)
            for placement in missing
            if (recorded := placement.lineage.recorded_range) is not None
        )
        while batch := list(islice(anchored, _BATCH)):
            ranges = [recorded for _, recorded in batch]
            for path in files:
                in_base: Sequence[LocatedRange | None] | None = None
                for text in self.texts.all_readings(path):
                    for number, now in enumerate(locate_sure(ranges, text)):
                        if now is None or not _is_distinctive(now, text):
                            continue
                        if in_base is None:
                            in_base = locate_sure(ranges, self.texts.in_base(path))
                        if in_base[number] is None:
                            yield text, Placement(path, batch[number][0].shown, now)

    def _of_removed_files(
        self, annotated: Collection[str], found_ids: Collection[str]
    ) -> Iterator[Placement]:
        trail = self.locator.trail
        for path in dict.fromkeys(map(normal_path, trail.annotated_paths())):
            for lineage in () if path in annotated else trail.lineages_in(path):
                if (
                    not lineage.superseded_by
                    and lineage.action != Action.DELETE
                    and lineage.current.id not in found_ids
                ):
                    yield Placement(path, ShownLineage(lineage), NOT_FOUND)

    def _any_file_missing(self, annotated: Collection[str]) -> bool:
        """Whether an annotated file is missing: its lines may be in another file."""
        return any(
            normal_path(path) not in annotated for path in self.locator.trail.annotated_paths()
        )

    def _linked_files(self, annotated: Collection[str]) -> list[str]:
        """Return selected files with annotations that are behind a link which leads to no file."""
        known, project, trail = (
            set(annotated),
            self.locator.trail.directory.project,
            self.locator.trail,
        )
        names = dict.fromkeys(
            path for path in map(normal_path, trail.annotated_paths()) if path not in known
        )
        linked = [
            path
            for path in names
            if (self.files is None or path in self.files) and is_behind_a_link(project, path)
        ]
        return [
            path
            for path in linked
            if any(
                not lineage.superseded_by and lineage.action != Action.DELETE
                for lineage in trail.lineages_in(path)
            )
        ]

    def collect_recorded(self) -> Iterator[tuple[Text, Placement]]:
        """Yield every line and function record of the log on the lines that it records."""
        texts: dict[str, Text] = {}
        for record in self.locator.trail.log.records_of(LogLineKind.LINE, LogLineKind.FUNCTION):
            path = normal_path(record.text("file_path") or "")
            if self.files is not None and path not in self.files:
                continue
            if path not in texts:
                texts[path] = self._read(path) or Text("")
            start, end = recorded_lines(record) or (None, None)
            if end is not None and end > len(texts[path].lines):
                start = end = None
            located = LocatedRange(start, end, State.UNVERIFIED, Method.RECORDED, 0.3)
            yield texts[path], Placement(path, ShownLineage(Lineage((record,), record)), located)

    def _selected_files(self, annotated: Collection[str]) -> list[str]:
        """Return the selected files, without annotations too: lines may have moved there."""
        wanted = set(self.files or ())
        return [path for path in annotated if path in wanted] + sorted(
            filter(self._is_there, wanted.difference(annotated))
        )

    def _is_there(self, path: str) -> bool:
        try:
            return (self.locator.trail.directory.project / path).is_file()
        except (OSError, ValueError):  # not a valid file name
            return False

    def _read(self, path: str, read: Callable[[str], Text | None] | None = None) -> Text | None:
        try:
            return (read or self.texts.on_disk)(path)
        except UnreadableFile as error:
            self.unread[path] = error.message
            return None


def _is_distinctive(located: LocatedRange, text: Text) -> bool:
    lines = text.lines[(located.start or 1) - 1 : located.end or 0]
    return count_distinctive(lines) >= MIN_DISTINCTIVE


def is_behind_a_link(project: Path, path: str) -> bool:
    """Whether a file or a folder above it is a link.

    Git shows the link, but not changes of what is read through it.
    """
    if is_too_long(path):
        return False
    normal = normal_path(path)
    try:
        linked = _has_link(project, normal)
        if linked is None and normal == path:
            return False
        return linked or (project / path).resolve() != project.resolve() / normal
    except (OSError, ValueError, RuntimeError):  # not a valid file name
        return False


def _has_link(project: Path, path: str) -> bool | None:
    """Whether a file or a folder above it is a symbolic link; None if it does not exist.

    Stops at the first missing part: a recorded path may name thousands of folders.
    """
    part = os.fspath(project)
    for name in path.split("/"):
        part = f"{part}/{name}"
        try:
            mode = os.lstat(part).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISLNK(mode):
            return True
    return False


def _with_duplicates(
    text: Text, placements: Sequence[Placement]
) -> Iterator[tuple[Text, Placement]]:
    """Yield placements with their text, and duplicates that are edits of their own.

    Placeholders are shown once but are separate edits; so are duplicates with other custom signals.
    """
    for placement in placements:
        yield text, placement
        shown = placement.shown
        for repeat in shown.duplicates:
            if shown.is_placeholder or custom_signals(repeat.current) != custom_signals(
                shown.lineage.current
            ):
                yield (
                    text,
                    replace(
                        placement,
                        shown=ShownLineage(repeat, (), is_placeholder=shown.is_placeholder),
                    ),
                )
