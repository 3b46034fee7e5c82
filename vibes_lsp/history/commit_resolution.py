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
from vibes_lsp.history.file_versions import FileChange
from vibes_lsp.history.file_walks import FileWalks
from vibes_lsp.history.git import git_lines
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.log_additions import (
    ids_by_commit,
    keep_ids,
    known_ids,
)
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
        walks: FileWalks | None = None,
    ) -> None:
        """Create a resolver; git runs on the first request.

        Args:
            repository: The repository that tracks the project.
            project: The folder that recorded paths are relative to.
            log: The log's absolute path.
            since: Consider only commits from then on: faster, for recent records.
            head: Returns the commit of HEAD; by default it is read from git each time.
            cache: What git answered earlier commands; not together with `since`.
            walks: What others read of the files' history, in the same thread; not with `since`.
        """
        self.repository = repository
        self._project = project
        self._log = log
        self._read_head = repository.head if head is None else head
        self._lock = threading.Lock()
        self._head = ""
        self._shallow_file: Path | None = None
        self._boundary: frozenset[str] = frozenset()
        self._reachability: dict[tuple[str, str], bool] = {}
        since_options = () if since is None else (f"--since={int(since.timestamp())}",)
        self._cache = None if since_options else cache
        self._walks = walks or FileWalks(repository, self._cache, since=since_options)
        self._log_additions = _LogAdditions(repository, log)

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
            try:
                name = self.repository.relative_path(self._log)
            except ValueError:
                return {}
            oldest = self._log_additions.oldest(self._head, self._walks.of(name).changes)
            return {
                identifier: ResolvedCommit(oldest[identifier], self._log_method(oldest[identifier]))
                for identifier in ids
                if identifier in oldest
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
            self._walks.read(names.values())
            found: dict[tuple[str, datetime], ResolvedCommit] = {}
            for path, name in names.items():
                walk = self._walks.of(name)
                changes = [each for each in walk.changes if not each.is_merge]
                for edited in edit_times[path] if walk.is_settled else ():
                    second = edited.replace(microsecond=0)  # commits have whole seconds
                    first = next(
                        (each.commit for each in reversed(changes) if each.moment >= second), None
                    )
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
        known |= {commit: True for commit in wanted if self._walks.is_ancestor(commit)}
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
        self._walks.set_head(head, boundary)
        if (head, boundary) != (self._head, self._boundary):
            self._reachability.clear()
            if boundary != self._boundary:
                self._log_additions.restart()
            self._head, self._boundary = head, boundary
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


class _LogAdditions:
    """Which commits added which records to the log, and which of them is the oldest."""

    def __init__(self, repository: Repository, log: Path) -> None:
        self._repository, self._log = repository, log
        self._added: dict[str, list[str]] | None = None
        self._oldest: dict[str, str] = {}
        self._oldest_of: tuple[str, int] = "", 0

    def restart(self) -> None:
        """Read all again: commits at the boundary of a shallow clone add other lines."""
        self._added, self._oldest_of = None, ("", 0)

    def oldest(self, head: str, changes: Sequence[FileChange]) -> Mapping[str, str]:
        """Return the oldest commit that added each record.

        Args:
            head: The commit of HEAD.
            changes: What HEAD and its ancestors did to the log, newest first.
        """
        if self._oldest_of != (head, len(changes)):
            added = self._read(changes)
            self._oldest = {
                identifier: change.commit
                for change in changes
                for identifier in added[change.commit]
            }
            self._oldest_of = head, len(changes)
        return self._oldest

    def _read(self, changes: Sequence[FileChange]) -> Mapping[str, Sequence[str]]:
        """Return the ids that each commit added, reading those of new commits."""
        name = self._repository.relative_path(self._log)
        if self._added is None:
            self._added = known_ids(self._repository, (each.commit for each in changes), name)
        new = [each for each in changes if each.commit not in self._added]
        if not new:
            return self._added
        found, is_settled = ids_by_commit(self._repository, new, self._log)
        if not is_settled:  # what git returned serves for this HEAD
            return {each.commit: [] for each in changes} | self._added | found
        self._added |= found
        keep_ids(self._repository, found, name)
        return self._added


def _can_be_tracked(path: str) -> bool:
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return bool(path) and can_be_in_project(path)
