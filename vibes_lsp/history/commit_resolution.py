"""Which commit introduced a record that names no commit, or a rewritten one (R4, R4b, R17).

The history of the log decides; for records that no commit has, that of the annotated file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.file_versions import file_changes
from vibes_lsp.history.git import git_lines
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.log_additions import added_record_ids
from vibes_lsp.history.repository import Repository, read_shallow_file
from vibes_lsp.model.paths import can_be_in_project, normal_path


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
    """Finds the commits of one project's records; thread-safe. What git cannot answer is left out.

    Attributes:
        repository: The repository that tracks the project.
    """

    def __init__(
        self,
        repository: Repository,
        project: Path,
        log: Path,
        *,
        since: datetime | None = None,
        head: Callable[[], str | None] | None = None,
        cache: GitCache | None = None,
    ) -> None:
        """Create a resolver; git runs on the first request.

        Args:
            repository: The repository that tracks the project.
            project: The folder that recorded paths are relative to.
            log: The log's absolute path.
            since: Consider only commits from then on: faster, for recent records.
            head: Returns the commit of HEAD; by default it is read from git each time.
            cache: What git answered earlier commands; not together with `since`.
        """
        self.repository = repository
        self._project = project
        self._log = log
        self._read_head = repository.head if head is None else head
        self._lock = threading.Lock()
        self._head = ""
        self._shallow_file: Path | None = None
        self._boundary: frozenset[str] = frozenset()
        self._ranks: dict[str, int] | None = None
        self._reachability: dict[tuple[str, str], bool] = {}
        self._since = () if since is None else (f"--since={int(since.timestamp())}",)
        self._cache = cache
        self._log_additions = _LogAdditions(self._since, cache)
        self._file_commits = _FileCommits(self._since, cache)

    def by_log(self, record_ids: Iterable[str]) -> dict[str, ResolvedCommit]:
        """Return, for record ids, the oldest ancestor of HEAD whose log has the record (R4).

        At the boundary of a shallow clone the log already has all earlier records, so their commit
        is only inferred.

        Args:
            record_ids: Ids as in the index; those in no commit are left out.
        """
        ids = set(record_ids)
        with self._lock:
            if not ids or not self._refresh():
                return {}
            if self._log_additions.read(self.repository, self._log, self._head):
                self._ranks = None
            ranks = self._commit_ranks()
            commits = {
                identifier: [
                    each
                    for each in self._log_additions.commits.get(identifier, ())
                    if each in ranks
                ]
                for identifier in ids
            }
            oldest = {
                identifier: min(candidates, key=ranks.__getitem__)
                for identifier, candidates in commits.items()
                if candidates
            }
            return {
                identifier: ResolvedCommit(commit, self._log_method(commit))
                for identifier, commit in oldest.items()
            }

    def by_path(
        self, edit_times: Mapping[str, Iterable[datetime]]
    ) -> dict[tuple[str, datetime], ResolvedCommit]:
        """Return, for edits of files, the first later ancestor of HEAD that changes the file (R17).

        An edit before the boundary of a shallow clone is left out: its first commit is not known.

        Args:
            edit_times: Recorded paths, each with the times of its edits.
        """
        with self._lock:
            names = self._git_paths(edit_times)
            if not names or not self._refresh():
                return {}
            if self._file_commits.read(self.repository, frozenset(names.values()), self._head):
                self._ranks = None
            ranks = self._commit_ranks()
            found: dict[tuple[str, datetime], ResolvedCommit] = {}
            for path, name in names.items():
                times = self._file_commits.moments.get(name, {})
                ancestors = sorted(
                    (commit for commit in times if commit in ranks), key=ranks.__getitem__
                )
                for edited in edit_times[path]:
                    second = edited.replace(microsecond=0)  # commits have whole seconds
                    first = next((commit for commit in ancestors if times[commit] >= second), None)
                    if first is not None and first not in self._boundary:
                        found[path, edited] = ResolvedCommit(first, CommitMethod.INFERRED)
            return found

    def reachable(self, commits: Iterable[str], start: str = "HEAD") -> frozenset[str]:
        """Return the commits, hashes or prefixes, that are in history.

        In a shallow clone, or if git fails, all are.

        Args:
            commits: As recorded.
            start: Where history starts: `HEAD`, or `--all` for every branch and tag.
        """
        wanted = {commit for commit in commits if commit}
        if not wanted:
            return frozenset()
        with self._lock:
            if not self._refresh() or self._boundary:
                return frozenset(wanted)
            new = {
                commit.lower()
                for commit in wanted
                if (start, commit.lower()) not in self._reachability
            }
            if new:
                self._reachability.update(
                    {
                        (start, commit): found
                        for commit, found in self._check_reachable(start, new).items()
                    }
                )
            return frozenset(
                commit for commit in wanted if self._reachability[start, commit.lower()]
            )

    def _check_reachable(self, start: str, wanted: set[str]) -> dict[str, bool]:
        """Return whether each commit is in history."""
        cache = self._cache if start == "HEAD" else None  # other branches move independently
        known = {} if cache is None else cache.get_for_head("reached", dict[str, bool]) or {}
        new = wanted - known.keys()
        if new:
            found, is_settled = self._walk(self._head if start == "HEAD" else start, new)
            known = {**known, **{commit: commit in found for commit in new}}
            if cache is not None and is_settled:
                cache.put_for_head("reached", known)
        return {commit: known[commit] for commit in wanted}

    def _walk(self, start: str, wanted: set[str]) -> tuple[set[str], bool]:
        """Return which commits are in history, and whether git answered; all if it did not."""
        lengths = sorted({len(commit) for commit in wanted})
        found: set[str] = set()
        try:
            with git_lines(self.repository.root, "rev-list", start) as lines:
                for line in lines:
                    name = line.decode().rstrip()
                    found.update(name[:length] for length in lengths if name[:length] in wanted)
                    if len(found) == len(wanted):
                        break
        except HistoryUnavailable:
            return wanted, False
        return found, True

    def _refresh(self) -> bool:
        """Read HEAD, and return whether there is one.

        A changed shallow boundary drops everything read so far.
        """
        head = self._read_head()
        if head is None:
            return False
        if self._shallow_file is None:
            self._shallow_file = self.repository.shallow_file()
        boundary = (
            read_shallow_file(self._shallow_file) if self._shallow_file is not None else frozenset()
        )
        if boundary != self._boundary:
            self._log_additions, self._file_commits = (
                _LogAdditions(self._since, self._cache),
                _FileCommits(self._since, self._cache),
            )
        if self._cache is not None:
            self._cache.set_head(head, boundary)
        if (head, boundary) != (self._head, self._boundary):
            self._reachability.clear()
            self._head, self._boundary, self._ranks = head, boundary, None
        return True

    def _log_method(self, commit: str) -> CommitMethod:
        return CommitMethod.INFERRED if commit in self._boundary else CommitMethod.LOG

    def _git_paths(self, paths: Iterable[str]) -> dict[str, str]:
        """Return git's paths for recorded paths, without those that cannot be tracked."""
        try:
            prefix = self.repository.relative_path(self._project)
        except ValueError:
            return {}
        folder = "" if prefix == "." else f"{prefix}/"
        return {path: folder + normal_path(path) for path in paths if _can_be_tracked(path)}

    def _commit_ranks(self) -> dict[str, int]:
        """Return the topological ranks of the commits found, parents before children."""
        if self._ranks is None:
            wanted = self._log_additions.all_commits() | self._file_commits.all_commits()
            cached = (
                None if self._cache is None else self._cache.get_for_head("rank", dict[str, int])
            )
            if cached is not None and wanted <= cached.keys():
                self._ranks = cached
                return cached
            try:
                with git_lines(
                    self.repository.root, "rev-list", "--topo-order", "--reverse", self._head
                ) as lines:
                    commits = (line.decode().rstrip() for line in lines)
                    self._ranks = {
                        commit: number for number, commit in enumerate(commits) if commit in wanted
                    }
                if self._cache is not None:
                    self._cache.put_for_head("rank", self._ranks)
            except HistoryUnavailable:
                self._ranks = {}
        return self._ranks


class _LogAdditions:
    """Which commits added which records to the log.

    Attributes:
        commits: Commits by record id, ancestors of HEAD or not.
    """

    def __init__(self, since: tuple[str, ...], cache: GitCache | None) -> None:
        self.commits: dict[str, list[str]] = {}
        self._since = since
        self._cache = None if since else cache
        self._head: str | None = None
        self._base: str | None = None

    def all_commits(self) -> set[str]:
        return {commit for commits in self.commits.values() for commit in commits}

    def read(self, repository: Repository, log: Path, head: str) -> bool:
        """Read the new ancestors of HEAD, once for each HEAD; return whether any were due."""
        if head == self._head:
            return False
        self._head = head
        base, self._base = self._base, None
        if base is None or not self._read(repository, log, [head, f"^{base}"]):
            self.commits.clear()
            cached = (
                None
                if self._cache is None
                else self._cache.get_for_head(f"carried {log}", dict[str, list[str]])
            )
            if cached is not None:
                self.commits = cached
            elif not self._read(repository, log, [head]):
                return True  # keep what git returned; the next HEAD is read from the start
            elif self._cache is not None:
                self._cache.put_for_head(f"carried {log}", self.commits)
        self._base = head
        return True

    def _read(self, repository: Repository, log: Path, revisions: Sequence[str]) -> bool:
        try:
            for identifier, commit in added_record_ids(repository, [*self._since, *revisions], log):
                commits = self.commits.setdefault(identifier, [])
                if commit not in commits:
                    commits.append(commit)
        except (HistoryUnavailable, ValueError):
            return False
        return True


class _FileCommits:
    """Which commits changed which of the files asked about so far.

    Attributes:
        moments: By git's path: its commits, ancestors of HEAD or not, and their times.
    """

    def __init__(self, since: tuple[str, ...], cache: GitCache | None) -> None:
        self.moments: dict[str, dict[str, datetime]] = {}
        self._since = since
        self._cache = None if since else cache
        self._head: str | None = None
        self._failed: set[str] = set()

    def all_commits(self) -> set[str]:
        return {commit for commits in self.moments.values() for commit in commits}

    def read(self, repository: Repository, names: frozenset[str], head: str) -> bool:
        """Read HEAD's new ancestors, and all of them for new paths; return whether any were due."""
        moved = self._head is not None and self._head != head
        if moved:
            self._failed.clear()
            if not self._read(repository, [head, f"^{self._head}"], frozenset(self.moments)):
                self.moments.clear()
        self._head = head
        if self._cache is not None:
            for name in names - self.moments.keys():
                cached = self._cache.get_for_head(f"touched {name}", dict[str, datetime])
                if cached is not None:
                    self.moments[name] = cached
        new = names - self.moments.keys() - self._failed
        if new and not self._read(repository, [head], new):
            self._failed |= new
        return moved or bool(new)

    def _read(
        self, repository: Repository, revisions: Sequence[str], names: frozenset[str]
    ) -> bool:
        found: dict[str, dict[str, datetime]] = {name: {} for name in names}
        try:
            for change in file_changes(repository, [*self._since, *revisions], names, merges=False):
                found[change.path][change.commit] = change.moment
        except HistoryUnavailable:
            return False
        for name, commits in found.items():
            self.moments.setdefault(name, {}).update(commits)
            if self._cache is not None and len(revisions) == 1:
                self._cache.put_for_head(f"touched {name}", commits)
        return True


def _can_be_tracked(path: str) -> bool:
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return bool(path) and can_be_in_project(path)
