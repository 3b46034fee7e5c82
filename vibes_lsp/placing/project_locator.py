"""Locate the annotations in a project's files with git's history: for commands, which may wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Final, Self, TypeAlias

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.commit_resolution import CommitResolver, ResolvedCommit
from vibes_lsp.git.file_changes import file_changes
from vibes_lsp.git.line_origins import LineOrigin
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.patience import GIT
from vibes_lsp.placing.file_names import FileNames
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import ProjectOwners
from vibes_lsp.store.kept_texts import read_kept_text
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import resolve_commits
from vibes_lsp.trail.trail import Trail

_BATCH: Final = 2_048
"""Annotations whose commits are resolved at once: git is asked seldom, and memory is bounded."""
Progress: TypeAlias = Callable[[str, int, int], object]
"""Called with a word for the work, how much is done, and how much there is."""


def with_progress(paths: Sequence[str], progress: Progress) -> Iterator[str]:
    """Yield files, and say of each how many are done."""
    for number, path in enumerate(paths):
        progress("files", number, len(paths))
        yield path


class ProjectLocator:
    """Locates annotations file by file. A context manager, because it keeps a git process.

    Args:
        trail: The trail, refreshed.
        use_git: Whether to run git.
        use_cache: Whether to use the user's cache of git's answers: only for commands that display
            the result, never for those that decide or write by it.
        use_kept_texts: Whether to use texts that this machine has kept: not where the result must
            be the same on each machine.
        renamed: As for `refresh`.
        repository: The repository that the project is in, if it is open; it is closed with this.

    Attributes:
        trail: The trail.
        names: The names of annotated files, recorded and now.
        resolved_commits: Commits of annotations that record none, or a rewritten one, by the id of
            their first record: those that `resolve_commits` was asked for.
    """

    def __init__(
        self,
        trail: Trail,
        *,
        use_git: bool = True,
        use_cache: bool = False,
        use_kept_texts: bool = True,
        renamed: Mapping[str, str] | None = None,
        repository: Repository | None = None,
    ) -> None:
        self.trail = trail
        self._read_kept_text = partial(read_kept_text, trail.directory) if use_kept_texts else None
        self.resolved_commits: dict[str, ResolvedCommit] = {}
        self._resolved_names: set[str] = set()
        self._use_cache = use_cache
        self._repository: Repository | None = None
        self._commits: CommitResolver | None = None
        self._owners: dict[str | None, ProjectOwners] = {}
        if use_git:
            self._open(repository or open_repository(trail.directory.project))
        self.names = FileNames(trail, self._repository, renamed or {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def refresh(self, renamed: Mapping[str, str]) -> None:
        """Read what changed in the trail, the repository, HEAD and other files.

        Args:
            renamed: New names by old ones, of files that were renamed since the last commit.
        """
        self.trail.refresh()
        self._open(open_repository(self.trail.directory.project))
        self.resolved_commits.clear()
        self._resolved_names.clear()
        self._owners.clear()
        self.names = FileNames(self.trail, self._repository, renamed)

    def _open(self, repository: Repository | None) -> None:
        """Ask a repository from now on, which may be another one than before, or gone."""
        if repository != self._repository:
            self.close()
            self._repository, self._commits = repository, None
            if repository is not None:
                directory = self.trail.directory
                self._commits = CommitResolver(repository, directory.project, directory.log)
                if self._use_cache:
                    repository.cache.use_saved(repository.root)

    def close(self) -> None:
        """Close the cache and end git's process."""
        if self._repository is not None:
            self._repository.close()

    @property
    def repository(self) -> Repository | None:
        """The repository that the project is in, as of the last refresh."""
        return self._repository

    def nearest_commit(self, commits: Sequence[str]) -> str | None:
        """Return the nearest ancestor of HEAD; None if there is none or git fails (R7)."""
        return None if self._repository is None else self._repository.nearest_ancestor(commits)

    def resolve_commits_in(self, paths: Iterable[str] | None = None) -> None:
        """Resolve the commits of annotations of files at once, by default of all that exist."""
        pending: list[Lineage] = []
        for name in self.names.with_former(self.annotated_files() if paths is None else paths):
            if name not in self._resolved_names:
                self._resolved_names.add(name)
                pending += self.trail.lineages_in(name)
            if len(pending) >= _BATCH:
                self.resolve_commits(pending)
                pending.clear()
        self.resolve_commits(pending)

    def annotated_files(self) -> list[str]:
        """Return the existing files that annotations are about, by their current names."""
        return list(self.names.annotated_files)

    def other_files(self) -> list[str]:
        """Return the tracked files that no annotation names; text may have moved into them."""
        if self._repository is None:
            return []
        try:
            return sorted(
                self._repository.tracked_files(self.trail.directory.project)
                - self.names.annotated_files.keys()
            )
        except HistoryUnavailable:
            return []

    def may_be_annotated(self, path: str, text: Text) -> bool:
        """Whether a file may have annotations: recorded for it, or moved in from another file."""
        return path in self.names.annotated_files or self.owners.may_own(text)

    def resolve_commits(self, lineages: Sequence[Lineage]) -> None:
        """Resolve the commits of annotations that record none, into `resolved_commits`."""
        if self._commits is not None:
            self.resolved_commits |= resolve_commits(lineages, self._commits)

    @property
    def owners(self) -> ProjectOwners:
        """Whose the lines of files are, as of the last refresh."""
        return self._owners_at(None)

    def _owners_at(self, commit: str | None) -> ProjectOwners:
        if commit not in self._owners:
            self._owners[commit] = ProjectOwners(
                self.trail,
                self._repository,
                self._read,
                self._read_kept_text,
                self.names.former_paths,
                head=commit,
            )
        return self._owners[commit]

    def _read(self, path: str) -> Text | None:
        try:
            return read_source(self.trail.directory.project, path)
        except UnreadableFile:
            return None

    def versions_of(self, path: str) -> Iterator[tuple[str, Text]]:
        """Yield the versions of a file that git has, newest first, each with its name then."""
        repository = self._repository
        head = None if repository is None else repository.head()
        if repository is None or head is None:
            return
        prefix = repository.prefix_of(self.trail.directory.project)
        for name in (path, *self.names.former_paths(path)):
            with (
                suppress(HistoryUnavailable),
                closing(file_changes(repository, [head], [prefix + name], patience=GIT)) as changes,
            ):
                for change in changes:
                    content = repository.objects.contents(change.blob)
                    if content is not None:
                        yield name, Text.from_bytes(content)

    def locate(self, path: str, text: Text, commit: str | None = None) -> list[Placement]:
        """Return the annotations of a file in document order, history after owners.

        Args:
            path: Relative to the project, forward slashes.
            text: The file.
            commit: The commit that has this text; by default it is the text on disk or on screen.
        """
        return self._owners_at(commit).locate(path, text)

    def read_and_locate(self, path: str) -> tuple[Text, list[Placement]]:
        """Return a file on disk and its annotations; nothing if it cannot be read."""
        text = self._read(path)
        if text is None or not self.may_be_annotated(path, text):
            return text or Text(""), []
        return text, self.locate(path, text)

    def locate_with_origins(
        self, path: str, text: Text
    ) -> tuple[list[Placement], Sequence[LineOrigin | None]]:
        """Return what `locate` does, and the commits of lines, as far as it asked for them."""
        return self.owners.locate_with_origins(path, text)
