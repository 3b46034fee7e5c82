"""Show what git-ai's notes say about lines, without importing them.

The lines that a note attests in its commit are located in the present text as annotations are. They
are labelled by their source and never count as verified: a note is as untrusted as who pushed it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.line_map import LineMap
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import (
    AnchoredRange,
    LineKind,
    LocatedRange,
    OriginalText,
    State,
)
from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.committed_versions import CommittedVersion, CommittedVersions
from vibes_lsp.exchange.git_ai_notes import (
    MAX_NOTE,
    NOTES_REF,
    AuthorshipLog,
    InvalidNote,
    attributed_lines,
    beyond,
    parse_note,
)
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.notes import NotesRef
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.ingest.events import UNKNOWN
from vibes_lsp.model.members import Members

_MAX_VERSIONS: Final = 64
"""Newest versions with notes that are read for one file."""
_MAX_KEPT: Final = 256
"""Versions with notes that are kept."""


@dataclass(frozen=True, slots=True)
class NotedLines:
    """Lines that a note says an AI wrote.

    Attributes:
        start: First line, 1-based.
        end: Last line, inclusive.
        tool: The tool.
        model: The model, or `unknown`.
        conversation: The tool's own id of the session.
        commit: The commit that the note is attached to.
    """

    start: int
    end: int
    tool: str
    model: str
    conversation: str
    commit: str

    def as_json(self) -> Members:
        """Return the lines and their author."""
        return {
            "lineStart": self.start,
            "lineEnd": self.end,
            "tool": self.tool,
            "model": self.model,
            "conversation": self.conversation,
            "commit": self.commit,
        }


@dataclass(frozen=True, slots=True)
class FileNotes:
    """What the notes say about one file.

    Attributes:
        text: The text of the file that the lines are in.
        lines: The lines, in order.
    """

    text: Text
    lines: tuple[NotedLines, ...]

    def at(self, text: Text, line: int) -> NotedLines | None:
        """Return the note of a line of a text, which may have been edited since."""
        if text is self.text or text.content == self.text.content:
            return next((each for each in self.lines if each.start <= line <= each.end), None)
        if not self.lines or not 1 <= line <= len(text.lines):
            return None
        before = LineMap(self.text, text).old_line(line)
        found = None if before is None else self.at(self.text, before)
        return None if found is None else replace(found, start=line, end=line)

    def without(self, lines: Collection[int]) -> tuple[NotedLines, ...]:
        """Return the notes of all lines but some."""
        owners = {
            line: each
            for each in self.lines
            for line in range(each.start, each.end + 1)
            if line not in lines
        }
        return _joined(owners)


@dataclass(frozen=True, slots=True)
class _NotedVersion:
    """A version of a file, with the lines that its commit's note attests."""

    text: Text
    lines: tuple[NotedLines, ...]


class NoteOverlay:
    """Reads git-ai's notes for files of a project; for one thread at a time.

    Nothing starts where there are no notes.

    Args:
        locator: The project's locator, which reads git's history.
    """

    def __init__(self, locator: ProjectLocator) -> None:
        self._locator = locator
        self._ref: NotesRef | None = None
        self._versions: CommittedVersions | None = None
        self._kept: dict[tuple[str, str, str], _NotedVersion | None] = {}

    def close(self) -> None:
        """End git's process."""
        if self._versions is not None:
            self._versions.close()
            self._versions = None

    def of(self, texts: Mapping[str, Text]) -> dict[str, FileNotes]:
        """Return what the notes say about files; files without notes are left out.

        Args:
            texts: The texts of the files as they are now, by path.
        """
        repository = self._locator.repository
        if repository is None:
            return {}
        if self._ref is None or self._ref.repository != repository:
            self.close()
            self._ref = NotesRef(repository, NOTES_REF)
        notes = self._ref.notes()
        if not notes:
            return {}
        if self._versions is None:
            project = self._locator.trail.directory.project
            self._versions = CommittedVersions(repository, project)
        found = {path: self._of_file(self._versions, notes, path, texts[path]) for path in texts}
        return {path: each for path, each in found.items() if each.lines}

    def _of_file(
        self, versions: CommittedVersions, notes: Mapping[str, str], path: str, text: Text
    ) -> FileNotes:
        noted = [
            each
            for version in self._locator.file_versions(path)
            if version.commit in notes
            and (each := self._noted(versions, version, notes[version.commit])) is not None
        ][:_MAX_VERSIONS]
        wanted: list[tuple[AnchoredRange, OriginalText, NotedLines]] = []
        for number, version in enumerate(noted):
            later = tuple(each.text for each in reversed(noted[:number]))
            for lines in version.lines:
                anchors = create_anchors(version.text, lines.start, lines.end)
                recorded = AnchoredRange(lines.start, lines.end, anchors)
                original = OriginalText(version.text, lines.start, lines.end, later)
                wanted.append((recorded, original, lines))
        located = locate([each[0] for each in wanted], text, [each[1] for each in wanted])
        return FileNotes(text, _merged(located, [each[2] for each in wanted]))

    def _noted(
        self, versions: CommittedVersions, version: Version, blob: str
    ) -> _NotedVersion | None:
        """Return a version with what its note attests, kept because neither ever changes."""
        key = version.commit, version.path, blob
        if key not in self._kept:
            while len(self._kept) >= _MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = _read_version(versions, version, blob)
        return self._kept[key]


def _read_version(versions: CommittedVersions, version: Version, blob: str) -> _NotedVersion | None:
    data, commit = versions.blob(blob), versions.commit(version.commit)
    if data is None or len(data) > MAX_NOTE or commit is None:
        return None
    with suppress(InvalidNote):
        log = parse_note(data)
        names = [each for each in log.files if versions.project_path(each) == version.path]
        read = versions.version(version.path, commit) if names else None
        if read is not None:
            return _NotedVersion(read.text, tuple(_noted_lines(log, names[0], read)))
    return None


def _noted_lines(log: AuthorshipLog, name: str, version: CommittedVersion) -> Iterator[NotedLines]:
    """Yield the attested lines that the commit introduced."""
    if beyond(log.files[name], len(version.text.lines)):
        return
    for each in attributed_lines(log.files[name], len(version.text.lines)):
        session = log.sessions.get(each.key.partition("::")[0])
        if session is None:
            continue
        for is_new, start, end in version.runs(each.start, each.end):
            if is_new:
                yield NotedLines(
                    start,
                    end,
                    session.tool_name,
                    session.model or UNKNOWN,
                    session.conversation,
                    version.commit,
                )


def _merged(located: Sequence[LocatedRange], noted: Sequence[NotedLines]) -> tuple[NotedLines, ...]:
    """Return the notes of the lines that are as they were attested; the newest commit wins."""
    owners: dict[int, NotedLines] = {}
    for where, lines in zip(located, noted, strict=True):
        for line in _intact(where):
            owners.setdefault(line, lines)
    return _joined(owners)


def _joined(owners: Mapping[int, NotedLines]) -> tuple[NotedLines, ...]:
    """Return the notes of lines as ranges."""
    joined: list[NotedLines] = []
    for line in sorted(owners):
        last, here = joined[-1] if joined else None, replace(owners[line], start=line, end=line)
        if (
            last is not None
            and last.end == line - 1
            and replace(last, start=line, end=line) == here
        ):
            joined[-1] = replace(last, end=line)
        else:
            joined.append(here)
    return tuple(joined)


def _intact(where: LocatedRange) -> Iterator[int]:
    """Yield the lines of a located range that have not changed since."""
    if where.start is None or where.end is None:
        return
    if where.sure:
        yield from range(where.start, where.end + 1)
    elif where.state is State.EDITED and not where.ambiguous:
        for line, kind in enumerate(where.kinds, where.start):
            if kind is LineKind.AI:
                yield line
