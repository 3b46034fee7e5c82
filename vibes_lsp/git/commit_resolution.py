"""Which commit introduced a record that names no commit, or a rewritten one (R4, R4b, R17).

The history of the log decides; for records that no commit has, that of the annotated file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.file_changes import file_changes
from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.log_additions import ids_added
from vibes_lsp.git.process import git_lines
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.patience import GIT


class CommitMethod(StrEnum):
    """How the commit of a record is known.

    Attributes:
        RECORDED: The record names it.
        LOG: It is the first commit whose log has the record.
        INFERRED: It is the first to change the file after the edit, or a shallow boundary.
    """

    RECORDED = "recorded"
    LOG = "log"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class ResolvedCommit:
    """A commit and how it was found.

    Attributes:
        commit: Its hash.
        method: How it was found.
        replaces: The commit that the record names, if a rebase or squash took it out of HEAD's
            ancestry (R4b).
    """

    commit: str
    method: CommitMethod
    replaces: str | None = None


class CommitResolver:
    """Finds the commits of one project's records. What git cannot answer is left out.

    Args:
        repository: The repository that tracks the project.
        project: The folder that recorded paths are relative to.
        log: The log's absolute path.
        since: Consider only commits from then on: faster, for recent records.

    Attributes:
        repository: As given.
    """

    def __init__(
        self, repository: Repository, project: Path, log: Path, *, since: datetime | None = None
    ) -> None:
        self.repository = repository
        self._project, self._log = project, log
        self._since = () if since is None else (f"--since={int(since.timestamp())}",)
        self._state: tuple[str | None, frozenset[str]] = None, frozenset()
        self._oldest: Mapping[str, str] = {}

    def by_log(self, record_ids: Iterable[str]) -> dict[str, ResolvedCommit]:
        """Return, for record ids, the oldest ancestor of HEAD whose log has the record (R4).

        At the boundary of a shallow clone the log already has all earlier records, so their commit
        is only inferred.

        Args:
            record_ids: Ids as in the index; those in no commit are left out.
        """
        ids = set(record_ids)
        if not ids:
            return {}
        state = head, boundary = self.repository.head(), self.repository.shallow_boundary()
        if state != self._state:
            self._state, self._oldest = state, {} if head is None else self._oldest_by_id(head)
        return {
            identifier: ResolvedCommit(
                commit, CommitMethod.INFERRED if commit in boundary else CommitMethod.LOG
            )
            for identifier in ids
            if (commit := self._oldest.get(identifier)) is not None
        }

    def _oldest_by_id(self, head: str) -> Mapping[str, str]:
        """Return the oldest commit that added each record to the log; nothing if git fails."""
        cache, boundary = (
            self.repository.cache,
            digest_of(sorted(self.repository.shallow_boundary())),
        )
        try:
            name = self.repository.relative_path(self._log)
            key = f"log {boundary} {head} {self._since} {name}"
            commits = cache.get(key, list[str])
            if commits is None:
                changes = file_changes(self.repository, [*self._since, head], [name])
                commits = [change.commit for change in changes]
                cache.put(key, commits)
            added = ids_added(self.repository, commits, name)
        except (HistoryUnavailable, ValueError):  # ValueError: the log is outside the repository
            return {}
        return {identifier: commit for commit in commits for identifier in added[commit]}

    def by_path(
        self, edit_times: Mapping[str, Iterable[datetime]]
    ) -> dict[tuple[str, datetime], ResolvedCommit]:
        """Return, for edits of files, the first later ancestor of HEAD that changes the file (R17).

        An edit before the boundary of a shallow clone is left out: its first commit is not known.

        Args:
            edit_times: Recorded paths, each with the times of its edits.
        """
        names, head = self._git_paths(edit_times), self.repository.head()
        if not names or head is None:
            return {}
        commits: dict[str, list[tuple[datetime, str]]] = {name: [] for name in names.values()}
        try:
            for change in file_changes(
                self.repository, [*self._since, head], commits.keys(), patience=GIT
            ):
                if not change.is_merge:
                    commits[change.path].append((change.moment, change.commit))
        except HistoryUnavailable:
            return {}
        resolved: dict[tuple[str, datetime], ResolvedCommit] = {}
        boundary = self.repository.shallow_boundary()
        for path, name in names.items():
            for edited in edit_times[path]:
                second = edited.replace(microsecond=0)  # commits have whole seconds
                later = (commit for moment, commit in reversed(commits[name]) if moment >= second)
                first = next(later, None)
                if first is not None and first not in boundary:
                    resolved[path, edited] = ResolvedCommit(first, CommitMethod.INFERRED)
        return resolved

    def reachable(self, commits: Iterable[str], start: str = "HEAD") -> frozenset[str]:
        """Return the commits, hashes or prefixes, that are in history.

        In a shallow clone, or if git fails, all are.

        Args:
            commits: As recorded.
            start: Where history starts: `HEAD`, or `--all` for every branch and tag.
        """
        wanted = frozenset(commit for commit in commits if commit)
        head = self.repository.head() if wanted else None
        if head is None or self.repository.shallow_boundary():
            return wanted
        try:
            ancestors = self._ancestors(
                head if start == "HEAD" else start, set(map(str.lower, wanted))
            )
        except HistoryUnavailable:
            return wanted
        return frozenset(commit for commit in wanted if commit.lower() in ancestors)

    def _ancestors(self, start: str, wanted: set[str]) -> set[str]:
        """Return which commits are in history.

        Raises:
            HistoryUnavailable: Git fails.
        """
        lengths = sorted({len(commit) for commit in wanted})
        ancestors: set[str] = set()
        with git_lines(self.repository.root, "rev-list", start) as lines:
            for line in lines:
                name = line.decode().rstrip()
                ancestors.update(name[:length] for length in lengths if name[:length] in wanted)
                if len(ancestors) == len(wanted):
                    break
        return ancestors

    def _git_paths(self, paths: Iterable[str]) -> dict[str, str]:
        """Return git's paths for recorded paths, without those that cannot be tracked."""
        try:
            prefix = self.repository.prefix_of(self._project)
        except ValueError:
            return {}
        return {path: prefix + normal_path(path) for path in paths if can_be_in_project(path)}
