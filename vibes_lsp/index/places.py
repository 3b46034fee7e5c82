"""Where annotations are in the files of a project, with all that git's history knows: for commands that may wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from vibes_lsp.anchors.located import Since
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.commit_resolution import CommitResolver, ResolvedCommit
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.index.candidate_files import RawLines
from vibes_lsp.index.commits import resolve_commits
from vibes_lsp.index.file_history import NO_HISTORY, FileHistories, FileHistory
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.moved_out import MovedOut
from vibes_lsp.index.older_text import Standing
from vibes_lsp.index.placements import Placement, located_in, place, replaced
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.vocabulary import Action


class Places:
    """Places annotations file by file. A context manager, since it keeps git running.

    Args:
        trail: The trail, refreshed.
        use_git: Whether to ask git at all.
        use_cache: Whether what git says is kept for later commands, and what it said to earlier ones
            believed: not for what decides or writes.

    Attributes:
        trail: The trail.
        derived: Commits of annotations that record none that holds, by the id of their first record, of the files asked about so far.
    """

    def __init__(self, trail: Trail, *, use_git: bool = True, use_cache: bool = False) -> None:
        self.trail = trail
        self._use_cache = use_cache
        self.derived: dict[str, ResolvedCommit] = {}
        self._repository: Repository | None = None
        self._history: ProjectHistory | None = None
        self._commits: CommitResolver | None = None
        if use_git:
            self._open()
        self._departures = MovedOut(trail)
        self._standing: Standing = {}
        self._pasts = FileHistories(
            trail, self._history, self.derived, departures=self._departures, standing=self._standing
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def renew(self, renamed: Mapping[str, str]) -> None:
        """Take in what changed: the trail, the repository, HEAD, other files.

        Args:
            renamed: New names by old ones, of files that were renamed since the last commit.
        """
        self.trail.refresh()
        self._open()
        self.derived.clear()
        self._pasts = FileHistories(
            self.trail,
            self._history,
            self.derived,
            renamed,
            self._departures,
            standing=self._standing,
        )

    def _open(self) -> None:
        """Open the repository, which may be another one than before, or gone."""
        project = self.trail.directory.project
        repository = open_repository(project)
        if repository == self._repository:
            if self._history is not None:
                self._history.renew()
            return
        self.close()
        self._repository, self._history, self._commits = repository, None, None
        if repository is not None:
            history = self._history = ProjectHistory(
                project, cache_head=True, use_cache=self._use_cache
            )
            self._commits = CommitResolver(
                repository,
                project,
                self.trail.directory.log,
                head=history.head,
                cache=history.cache(),
            )

    def nearest(self, commits: Sequence[str]) -> str | None:
        """Return which of some commits is the nearest ancestor of HEAD; None when none is one or git cannot say (R7)."""
        return None if self._repository is None else self._repository.nearest_ancestor(commits)

    def close(self) -> None:
        """Let go of git."""
        if self._history is not None:
            self._pasts.keep()
            self._history.close()

    def head(self) -> str | None:
        """Return the commit of HEAD, as it was when this was opened or renewed; None without one."""
        return None if self._history is None else self._history.head()

    @property
    def has_git(self) -> bool:
        """Whether there is a history to ask."""
        return self._repository is not None

    def prefetch(self) -> None:
        """Prepare for questions about all files: git's history is read once, and the commits of all annotations are found."""
        self._pasts.prefetch()
        self.derive(self.trail.lineages())

    def read_history(self) -> None:
        """Have git's history read at once for all files, and no commits looked for."""
        self._pasts.prefetch()

    def annotated_files(self) -> list[str]:
        """Return the files of this checkout that annotations are about, by the names that they have now."""
        return list(self._pasts.annotated_files)

    def other_files(self) -> list[str]:
        """Return the files that git tracks and no annotation names: something may have come to them from elsewhere."""
        if self._repository is None:
            return []
        try:
            return sorted(
                self._repository.tracked(self.trail.directory.project)
                - self._pasts.annotated_files.keys()
            )
        except HistoryUnavailable:
            return []

    def may_be_in(self, path: str, file: RawLines) -> bool:
        """Whether any annotation may be in a file: those recorded for it, or whose text came to it from another file.

        Args:
            path: Relative to the project, forward slashes.
            file: Its bytes, as it is saved.
        """
        return path in self._pasts.annotated_files or self._pasts.may_have_moved_in(file)

    def derive(self, lineages: Sequence[Lineage]) -> None:
        """Find out the commits of annotations that record none; they are in `derived` then."""
        if self._repository is not None and self._commits is not None:
            self.derived.update(
                resolve_commits(lineages, self._repository, self.trail.directory, self._commits)
            )

    def past(self, path: str, text: Text) -> FileHistory:
        """Return what history knows of a file's annotations, their commits included.

        Args:
            path: Relative to the project, forward slashes.
            text: The file as it is now, saved or not.
        """
        if self._history is None:
            return self._pasts.of(path, text) if self._pasts.has_renames else NO_HISTORY
        names = (path, *self._pasts.former_paths(path))
        lineages = [lineage for name in names for lineage in self.trail.lineages_in(name)]
        if lineages:
            self.derive(lineages)
        return self._pasts.of(path, text)

    def versions_of(self, path: str) -> Iterator[tuple[str, Text]]:
        """Give the versions of a file that git has, newest first, each with the name that it had."""
        for version in () if self._history is None else self._history.versions(path).versions:
            data = None if self._history is None else self._history.contents(version)
            if data is not None:
                yield version.path, Text.from_bytes(data)

    def former_paths(self, path: str) -> tuple[str, ...]:
        """Return the names that a file had."""
        return self._pasts.former_paths(path)

    def arrivals(self, path: str, text: Text) -> tuple[str, ...]:
        """Return the ids of annotations of other files whose text stands in a file now, and there no more."""
        return self._pasts.arrivals(path, text)

    def by_text(self, path: str, text: Text) -> list[Placement]:
        """Return the annotations of a file as its text and the log alone tell: what came from other files is not among them.

        Where any are in doubt, and there is a history to ask, nothing is guessed of these: they are lost, until `by_history` finds them.
        """
        past = self._pasts.by_name(path)
        if self.has_git:
            certain = place(self.trail, path, text, past, guess=False)
            if in_doubt(certain) or all(each.located.sure for each in certain):
                return certain
        return place(self.trail, path, text, past)

    def by_history(self, path: str, text: Text, placements: Sequence[Placement]) -> list[Placement]:
        """Return what `by_text` did, with history asked where that leaves a doubt: as `of` does, but for what came from other files.

        The commits of the annotations in doubt must have been derived.
        """
        past = self._pasts.by_name(path, in_doubt(placements), text)
        return replaced(placements, located_in(text, placements, past), len(text.lines))

    def contradicted(
        self, path: str, text: Text, placements: Sequence[Placement]
    ) -> dict[str, Since | None]:
        """Return those that git's history contradicts (R15), each with the commit that has the lines.

        The keys are the ids of the first records.

        The commits of the annotations must have been derived.
        """
        past = self._pasts.by_name(path, [each.lineage for each in placements], text)
        pairs = zip(placements, located_in(text, placements, past), strict=True)
        return {
            each.lineage.first.id: where.since for each, where in pairs if where.is_contradicted
        }

    def of(self, path: str, text: Text) -> list[Placement]:
        """Return the annotations of a file in document order, history after owners; see `place`."""
        return place(self.trail, path, text, self.past(path, text))


def in_doubt(placements: Sequence[Placement]) -> list[Lineage]:
    """Return the annotations of which a text alone does not say for sure where they are."""
    return [
        each.lineage
        for each in placements
        if not each.is_history and not each.located.sure and each.lineage.action != Action.DELETE
    ]
