"""Read files in commits and their parents, to find which commit introduced lines (R4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.file_changes import file_changes
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.patience import FILE_HISTORY

_LATER: Final = 64
"""Maximum number of commits after a record's own in which its lines are searched."""


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file in a commit.

    Attributes:
        path: Relative to the project.
        commit: The commit's full hash.
        moment: The committer's time, UTC.
        content: Its bytes.
        parents: The parent commits.
    """

    path: str
    commit: str
    moment: datetime
    content: bytes
    parents: tuple[str, ...]


class CommittedFiles:
    """The files of a project in its commits; what git cannot answer is left out.

    Args:
        repository: The repository that tracks the project.
        project: The folder that paths are relative to.

    Attributes:
        repository: As given.
    """

    def __init__(self, repository: Repository, project: Path) -> None:
        self.repository = repository
        self._objects = repository.objects
        self._prefix = repository.prefix_of(project)
        self._changes: dict[str, list[tuple[str, datetime]]] = {}

    def read(self, path: str, commit: str) -> CommittedFile | None:
        """Return a file at a commit; None if the commit has no file of this path."""
        commit_object = self._objects.commit(commit)
        content = self._contents(path, commit)
        return (
            None
            if commit_object is None or content is None
            else CommittedFile(
                path, commit_object.id, commit_object.moment, content, commit_object.parents
            )
        )

    def commit_time(self, commit: str) -> datetime | None:
        """Return the committer's time of a commit, UTC."""
        commit_object = self._objects.commit(commit)
        return None if commit_object is None else commit_object.moment

    def parent_contents(self, file: CommittedFile) -> Iterator[bytes]:
        """Yield the contents of a file in the commit's parents that have it."""
        for parent in file.parents:
            content = self._contents(file.path, parent)
            if content is not None:
                yield content

    def prefetch(self, paths: Sequence[str], since: datetime | None = None) -> None:
        """Find the ancestors of HEAD that changed some files, with one `git log`.

        Args:
            paths: Relative to the project.
            since: Consider only commits from then on.
        """
        names = {self._prefix + normal_path(path): path for path in paths if _is_inside(path)}
        self._changes = {path: [] for path in paths}
        revisions = ["HEAD"] if since is None else [f"--since={int(since.timestamp())}", "HEAD"]
        try:
            with closing(
                file_changes(self.repository, revisions, names, patience=FILE_HISTORY)
            ) as changes:
                for change in changes:
                    self._changes[names[change.path]].append((change.commit, change.moment))
        except HistoryUnavailable:
            return

    def later_versions(self, path: str, commit: str) -> Iterator[CommittedFile]:
        """Yield a file at later commits that changed it, oldest first; call `prefetch` first."""
        start = self._objects.commit(commit)
        if start is None:
            return
        after = [
            name
            for name, moment in reversed(self._changes.get(path, ()))
            if moment >= start.moment and name != start.id
        ]
        for name in after[:_LATER]:
            file = self.read(path, name)
            if file is not None:
                yield file

    def _contents(self, path: str, commit: str) -> bytes | None:
        return (
            self._objects.contents(f"{commit}:{self._prefix}{normal_path(path)}")
            if _is_inside(path)
            else None
        )


def _is_inside(path: str) -> bool:
    return bool(path) and can_be_in_project(path)
