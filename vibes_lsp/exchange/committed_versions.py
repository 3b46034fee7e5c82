"""Versions of files in commits, and which of their lines a commit may have introduced.

An import claims lines only in the version that its source names, and only those that no parent of
the commit has at the same place: what git had before was written by another edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple, Self

from vibes_lsp.anchors.align import align
from vibes_lsp.anchors.text import Text, replace_invalid
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.file_changes import FileChange, file_changes
from vibes_lsp.git.objects import Commit, GitObjects
from vibes_lsp.git.renames import renames_in
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.paths import can_be_in_project, normal_path

_MAX_BYTES: Final = 16 << 20
"""Largest file that is read, in bytes."""


class NewLines(NamedTuple):
    """The lines that a commit introduced, 1-based.

    Attributes:
        certain: Those that no parent has at the same place.
        possible: These, and copies of repeated lines that the commit added more of: which copy is
            the new one is unknown.
    """

    certain: frozenset[int]
    possible: frozenset[int]


@dataclass(frozen=True, slots=True)
class CommittedVersion:
    """A file in a commit.

    Attributes:
        path: Relative to the project.
        commit: The commit's full hash.
        moment: When its lines were written, at the latest: the author's time, which a rebase
            keeps, unless the committer's is earlier.
        committed: The committer's time.
        text: Its text.
        is_new: Whether the commit added the file.
        new_lines: The lines that the commit introduced; None if its parents are not here, as at the
            boundary of a shallow clone.
    """

    path: str
    commit: str
    moment: datetime
    committed: datetime
    text: Text
    is_new: bool
    new_lines: NewLines | None

    def runs(self, start: int, end: int) -> Iterator[tuple[bool, int, int]]:
        """Divide lines into those that the commit introduced and others: runs with both ends.

        A run of which no line is certainly new was not introduced.
        """
        certain, possible = self.new_lines or NewLines(frozenset(), frozenset())
        for is_new, run in groupby(range(start, end + 1), possible.__contains__):
            lines = list(run)
            yield is_new and not certain.isdisjoint(lines), lines[0], lines[-1]


class CommittedVersions:
    """Reads versions of a project's files; a context manager, because it keeps git running.

    Args:
        repository: The repository that the project is in.
        project: The project's folder.
    """

    def __init__(self, repository: Repository, project: Path) -> None:
        self.repository = repository
        self._objects = GitObjects(repository.root, limit=_MAX_BYTES)
        self._prefix = repository.prefix_of(project)
        self._boundary = repository.shallow_boundary()
        self._renames = lru_cache(maxsize=4)(self._read_renames)
        self._changes = lru_cache(maxsize=16)(self._read_changes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End git's process."""
        self._objects.close()

    def project_path(self, name: str) -> str | None:
        """Return a path from the top of the work tree relative to the project; None outside it."""
        root = self.repository.root.as_posix().rstrip("/") + "/"
        relative = name.removeprefix(root)  # some tools write absolute paths
        if not can_be_in_project(relative) or replace_invalid(relative) != relative:
            return None
        inside = normal_path(relative)
        if not inside.startswith(self._prefix) or inside == self._prefix:
            return None
        return inside[len(self._prefix) :]

    def commit(self, name: str) -> Commit | None:
        """Return a commit by its hash or a unique prefix of it; None if git does not have it."""
        return self._objects.commit(name)

    def commits_since(self, path: str, moment: datetime) -> list[str]:
        """Return HEAD and its ancestors that changed a file from then on, oldest first."""
        return [change.commit for change in self._changes(path) if change.moment >= moment]

    def _read_changes(self, path: str) -> list[FileChange]:
        try:
            changes = list(file_changes(self.repository, ["HEAD"], [self._prefix + path]))
        except HistoryUnavailable:
            return []
        return changes[::-1]

    def blob(self, name: str) -> bytes | None:
        """Return the bytes of a blob; None if it is missing or too large."""
        return self._objects.contents(name)

    def version(self, path: str, commit: Commit) -> CommittedVersion | None:
        """Return a file of the project in a commit; None if the commit does not have it."""
        name = self._prefix + path
        content = self._objects.contents(f"{commit.id}:{name}")
        if content is None:
            return None
        text = Text.from_bytes(content)
        moment = min(commit.moment, commit.authored or commit.moment)
        former = list(self._former_versions(name, commit))
        is_cut = commit.id in self._boundary or any(
            self.commit(parent) is None for parent in commit.parents
        )
        new_lines = None if is_cut else _new_lines(text, former)
        return CommittedVersion(path, commit.id, moment, commit.moment, text, not former, new_lines)

    def _former_versions(self, name: str, commit: Commit) -> Iterator[Text]:
        """Yield the file in the commit's parents that have it, also by its name before a rename."""
        for parent in commit.parents:
            content = self._objects.contents(f"{parent}:{name}")
            if content is None:
                former = self._renames(commit.id).get(name)
                content = None if former is None else self._objects.contents(f"{parent}:{former}")
            if content is not None:
                yield Text.from_bytes(content)

    def _read_renames(self, commit: str) -> dict[str, str]:
        """Return the files that a commit renamed, old paths by new."""
        renames, _ = renames_in(self.repository, [commit])
        return {new: old for old, new in renames.get(commit, {}).items()}


def _new_lines(text: Text, former: Sequence[Text]) -> NewLines:
    """Return the lines of a text that no former version has at the same place."""
    lines = text.lines
    counts = Counter(lines)
    older: set[int] = set()
    repeated: set[int] = set()
    for former_text in former:
        before = Counter(former_text.lines)
        for place in align(former_text.lines, lines):
            if place >= 0:
                has_more = counts[lines[place]] > before[lines[place]]
                (repeated if has_more else older).add(place + 1)
    possible = frozenset(range(1, len(lines) + 1)) - older
    return NewLines(possible - repeated, possible)
