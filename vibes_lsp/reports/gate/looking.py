"""The annotations that the gate looks at: where they are now, or each record of the log for itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace

from vibes_lsp.anchors.located import Located, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.columns import Kind
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places, in_doubt
from vibes_lsp.index.ranges import recorded_lines
from vibes_lsp.index.repeats import Shown
from vibes_lsp.index.sources import read_source
from vibes_lsp.model.paths import is_too_long, normal_path
from vibes_lsp.model.vocabulary import Action

Step: TypeAlias = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


@dataclass
class Looking:
    """Looks at files; `unread` has those that could not be looked at, with the reason.

    Attributes:
        places: Of the project.
        only: The files that are meant, relative to the project; None for all.
        step: Told how far it is.
    """

    places: Places
    only: Collection[str] | None = None
    step: Step = field(default=lambda *_: None)
    unread: dict[str, str] = field(default_factory=dict)

    def placed(self) -> Iterator[tuple[Text, Placement]]:
        """Give the annotations of the files with the text of each; what came from another file is given where it is."""
        self.places.read_history()
        annotated = self.places.annotated_files()
        files = annotated if self.only is None else self._meant(annotated)
        for path in self._behind_links(annotated):
            self._text(path)
        lost: list[tuple[Text, Placement]] = []
        for text, placement in self._in_files(files):
            if placement.located.state == State.LOST:
                lost.append((text, placement))
            else:
                yield text, placement
        arrived: set[str] = set()
        if lost or self._are_absent(annotated):
            for text, placement in self._arrivals(files if self.only is not None else [*files, *self.places.other_files()]):
                arrived.add(placement.current.id)
                yield text, placement
        yield from ((text, placement) for text, placement in lost if placement.current.id not in arrived)

    def _in_files(self, files: Sequence[str]) -> Iterator[tuple[Text, Placement]]:
        """Give the annotations of files, those last about which git is asked: all at once, for each question starts it anew."""
        waiting: list[tuple[str, Text, list[Placement]]] = []
        for number, path in enumerate(files):
            self.step("files", number, len(files))
            text = self._text(path)
            if text is None:
                continue
            placements = self.places.by_text(path, text)
            if self.places.has_git and in_doubt(placements):
                waiting.append((path, text, placements))
            else:
                yield from _each(text, placements)
        self.places.derive([lineage for _, _, placements in waiting for lineage in in_doubt(placements)])
        for number, (path, text, placements) in enumerate(waiting):
            self.step("edited files", number, len(waiting))
            yield from _each(text, self.places.by_history(path, text, placements))

    def _are_absent(self, annotated: Collection[str]) -> bool:
        """Whether annotations are about files that are not here: their text may be in another one."""
        return any(normal_path(path) not in annotated for path in self.places.trail.paths())

    def _arrivals(self, files: Collection[str]) -> Iterator[tuple[Text, Placement]]:
        """Give the annotations of other files whose text stands in some files now."""
        for path in files:
            text = self._text(path)
            if text is None:
                continue
            former = self.places.former_paths(path)
            for placement in self.places.of(path, text) if self.places.arrivals(path, text) else ():
                if placement.moved_from not in {None, *former}:
                    yield text, placement

    def _behind_links(self, annotated: Collection[str]) -> list[str]:
        """Return the files that have annotations, are meant, and stand behind a link that leads to no file."""
        known, project, trail = set(annotated), self.places.trail.directory.project, self.places.trail
        names = dict.fromkeys(path for path in map(normal_path, trail.paths()) if path not in known)
        meant = [path for path in names if (self.only is None or path in self.only) and is_behind_a_link(project, path)]
        return [path for path in meant if any(not each.superseded_by and each.action != Action.DELETE for each in trail.lineages_in(path))]

    def recorded(self) -> Iterator[tuple[Text, Placement]]:
        """Give every line and function record of the log, each for itself, on the lines that it names."""
        texts: dict[str, Text] = {}
        for record in self.places.trail.log.of_kind(Kind.LINE, Kind.FUNCTION):
            path = normal_path(record.text("file_path") or "")
            if self.only is not None and path not in self.only:
                continue
            if path not in texts:
                texts[path] = self._text(path) or Text("")
            start, end = recorded_lines(record) or (None, None)
            if end is not None and end > len(texts[path].lines):
                start = end = None
            located = Located(start, end, State.UNVERIFIED, Method.RECORDED, 0.3)
            yield texts[path], Placement(path, Shown(Lineage((record,), record)), located)

    def _meant(self, annotated: Collection[str]) -> list[str]:
        """Return the files that are meant: of those without annotations, too, for something may have come to them."""
        wanted = set(self.only or ())
        return [path for path in annotated if path in wanted] + sorted(filter(self._is_there, wanted.difference(annotated)))

    def _is_there(self, path: str) -> bool:
        try:
            return (self.places.trail.directory.project / path).is_file()
        except (OSError, ValueError):  # a name that no file can have
            return False

    def _text(self, path: str) -> Text | None:
        try:
            return read_source(self.places.trail.directory.project, path)
        except UnreadableFile as error:
            self.unread[path] = error.message
            return None


def is_behind_a_link(project: Path, path: str) -> bool:
    """Whether a file, or a folder on the way to it, is a link: git knows of the link, and not of what is read through it."""
    if is_too_long(path):
        return False
    normal = normal_path(path)
    try:
        linked = _has_link(project, normal)
        if linked is None and normal == path:
            return False
        return linked or (project / path).resolve() != project.resolve() / normal
    except (OSError, ValueError, RuntimeError):  # a name that no file can have
        return False


def _has_link(project: Path, path: str) -> bool | None:
    """Whether a file, or a folder on the way to it, is a symbolic link; None when it is not there: a way may have thousands of folders."""
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


def _each(text: Text, placements: Sequence[Placement]) -> Iterator[tuple[Text, Placement]]:
    """Give placements with their text; stand-ins are shown once, and still are as many edits."""
    for placement in placements:
        yield text, placement
        if placement.shown.placeholder:
            for repeat in placement.shown.repeats:
                yield text, replace(placement, shown=Shown(repeat, (), placeholder=True))
