"""The share of AI lines (`vibes stats --by file`): lines that annotations own, of all tracked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import read_content
from vibes_lsp.model.members import Members
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.blame import LineCounts, line_kind, line_owners

_MAX_SOURCE: Final = 8 << 20
_BINARY_PREFIX: Final = 8192
"""Characters at the start of a file; a NUL among them means that the file is binary."""
_SKIPPED_FOLDERS: Final = frozenset({".git", ".ai-audit", "node_modules", ".venv"})


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """The lines of one file, or of all files.

    Attributes:
        path: Relative to the project.
        lines: All lines.
        counts: The AI lines among them.
    """

    path: str
    lines: int
    counts: LineCounts

    @property
    def share(self) -> float:
        """The share of verified AI lines, 0 to 1."""
        return self.counts.share(self.lines)

    def as_json(self) -> Members:
        """Return the numbers with the path."""
        return {"filePath": self.path, **self.numbers()}

    def numbers(self) -> Members:
        """Return the numbers without the path."""
        return {"lines": self.lines, **self.counts.as_json(), "share": round(self.share, 4)}


@dataclass(frozen=True, slots=True)
class OwnedFile:
    """A tracked text file with the owners of its lines.

    Attributes:
        path: Relative to the project.
        lines: Number of lines.
        owners: The owner of each line that has one, by line number.
    """

    path: str
    lines: int
    owners: dict[int, Placement]

    @property
    def coverage(self) -> FileCoverage:
        """The coverage of the file."""
        kinds = (line_kind(placement, line) for line, placement in self.owners.items())
        return FileCoverage(self.path, self.lines, LineCounts.of(kinds))


def owned_files(
    locator: ProjectLocator, tracking: Tracking, files: AbstractSet[str]
) -> Iterator[OwnedFile]:
    """Yield every tracked text file among some, sorted by path."""
    trail = locator.trail
    for path in sorted(files):
        if path.split("/")[0] == trail.directory.path.name or not tracking.tracks(path):
            continue
        content = _content(trail.directory.project, path)
        if content is None:
            continue
        text = Text.from_bytes(content)
        is_annotated = locator.may_be_annotated(path, text)
        owners = line_owners(locator.locate(path, text)) if is_annotated else {}
        yield OwnedFile(path, len(text.lines), owners)


def untracked_files(
    locator: ProjectLocator, tracking: Tracking, files: AbstractSet[str]
) -> list[str]:
    """Return the annotated files that the configuration tracks but git does not.

    They are not part of the coverage.

    Args:
        locator: The project's locator.
        tracking: Which files the configuration tracks.
        files: What `project_files` returns.
    """
    if locator.repository is None:
        return []
    return [
        path for path in locator.annotated_files() if path not in files and tracking.tracks(path)
    ]


def total_coverage(files: list[FileCoverage]) -> FileCoverage:
    """Return the sum over files."""
    counts = sum((file.counts for file in files), LineCounts())
    return FileCoverage("", sum(file.lines for file in files), counts)


def project_files(locator: ProjectLocator) -> frozenset[str]:
    """Return the files that git tracks, relative to the project; without git, all files.

    Raises:
        HistoryUnavailable: Git fails.
    """
    project = locator.trail.directory.project
    if locator.repository is not None:
        return locator.repository.tracked_files(project)
    return frozenset(_files_in(project))


def _files_in(project: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(project):
        folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS]
        for name in names:
            yield (Path(folder) / name).relative_to(project).as_posix()


def _content(project: Path, path: str) -> bytes | None:
    """Return the content of a text file; None for a binary or unreadable one."""
    try:
        content = read_content(project, path, limit=_MAX_SOURCE)
    except UnreadableFile:
        return None
    beginning = content[: 4 * _BINARY_PREFIX]
    is_binary = (
        b"\0" in beginning and "\0" in beginning.decode("utf-8", "surrogateescape")[:_BINARY_PREFIX]
    )
    return None if is_binary else content
