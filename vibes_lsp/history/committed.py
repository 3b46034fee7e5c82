"""A project's files as commits have them, with what was there before: for finding the commit that brought some lines (R4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.file_versions import file_changes
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.paths import can_be_in_project, normal_path

_LATER: Final = 64
"""Commits after a record's own in which its lines are looked for."""
_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file in a commit.

    Attributes:
        path: Relative to the project.
        commit: The commit's whole hash.
        moment: The committer's time, UTC.
        content: Its bytes there.
        parents: The commits before.
    """

    path: str
    commit: str
    moment: datetime
    content: bytes
    parents: tuple[str, ...]


class CommittedFiles:
    """The files of one project in its commits. A context manager, since it keeps git running; what git cannot answer is left out.

    Args:
        repository: Where the project is tracked.
        project: The folder that paths are relative to.

    Attributes:
        repository: Where the project is tracked.
    """

    def __init__(self, repository: Repository, project: Path) -> None:
        self.repository = repository
        self._blobs = GitObjects(repository.root)
        self._prefix = repository.prefix_of(project)
        self._touched: dict[str, list[tuple[str, datetime]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._blobs.close()

    def at(self, path: str, commit: str) -> CommittedFile | None:
        """Return a file as a commit has it, by this name; None where it has none that is a file of this repository."""
        found = self._blobs.commit(commit)
        content = self._contents(path, commit)
        return (
            None
            if found is None or content is None
            else CommittedFile(path, found.id, found.moment, content, found.parents)
        )

    def commit_time(self, commit: str) -> datetime | None:
        """Return the committer's time of a commit, UTC."""
        found = self._blobs.commit(commit)
        return None if found is None else found.moment

    def before(self, file: CommittedFile) -> Iterator[bytes]:
        """Give the contents that the file had in the commits before, in those that have it."""
        for parent in file.parents:
            content = self._contents(file.path, parent)
            if content is not None:
                yield content

    def prefetch(self, paths: Sequence[str], since: datetime | None = None) -> None:
        """Find out which of HEAD's ancestors touched some files, for `later`; all at once, which is as quick as one.

        Args:
            paths: Relative to the project.
            since: Look at commits from then on only.
        """
        names = {self._prefix + normal_path(path): path for path in paths if _is_inside(path)}
        self._touched = {path: [] for path in paths}
        revisions = ["HEAD"] if since is None else [f"--since={int(since.timestamp())}", "HEAD"]
        try:
            with closing(
                file_changes(self.repository, revisions, names, merges=True, seconds=_SECONDS)
            ) as walked:
                for touch in walked:
                    self._touched[names[touch.path]].append((touch.commit, touch.moment))
        except HistoryUnavailable:
            return

    def later(self, path: str, commit: str) -> Iterator[CommittedFile]:
        """Give a file as the commits after another one left it, oldest first; call `prefetch` before."""
        start = self._blobs.commit(commit)
        if start is None:
            return
        after = [
            name
            for name, moment in reversed(self._touched.get(path, ()))
            if moment >= start.moment and name != start.id
        ]
        for name in after[:_LATER]:
            file = self.at(path, name)
            if file is not None:
                yield file

    def _contents(self, path: str, commit: str) -> bytes | None:
        return (
            self._blobs.contents(f"{commit}:{self._prefix}{normal_path(path)}")
            if _is_inside(path)
            else None
        )


def _is_inside(path: str) -> bool:
    return bool(path) and can_be_in_project(path)
