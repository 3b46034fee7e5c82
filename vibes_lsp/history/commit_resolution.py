"""Derived commits (R4, R17): which commit brought a record that does not name one."""

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
    """How a record's commit is known."""

    RECORDED = "recorded"
    LOG = "log"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class ResolvedCommit:
    """A commit and how it was found.

    Attributes:
        commit: Its hash.
        method: How it was found.
        replaces: The commit that the record names, where HEAD does not come from that one any more (R4b).
    """

    commit: str
    method: CommitMethod
    replaces: str | None = None


class CommitResolver:
    """The commits of one project's records, for as long as it is open. Any thread may ask; what git cannot answer is left out.

    Attributes:
        repository: Where the project is tracked.
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
        """Read nothing yet.

        Args:
            repository: Where the project is tracked.
            project: The folder that recorded paths are relative to.
            log: The log's absolute path.
            since: Look at commits from then on only: for those who ask about recent records, and may not wait.
            head: Says which commit HEAD is, for those who know; by default git is asked each time.
            cache: What earlier commands were told; not with `since`.
        """
        self.repository = repository
        self._project = project
        self._log = log
        self._look_up = repository.head if head is None else head
        self._lock = threading.Lock()
        self._head = ""
        self._shallow_file: Path | None = None
        self._boundary: frozenset[str] = frozenset()
        self._rank: dict[str, int] | None = None
        self._reached: dict[tuple[str, str], bool] = {}
        self._since = () if since is None else (f"--since={int(since.timestamp())}",)
        self._cache = cache
        self._carried = _Carried(self._since, cache)
        self._touched = _Touched(self._since, cache)

    def by_log(self, wanted: Iterable[str]) -> dict[str, ResolvedCommit]:
        """Return, for record ids, the oldest ancestor of HEAD whose log holds them (R4).

        Where a shallow clone ends, the log of the last commit holds all records before it: their commit is only inferred.

        Args:
            wanted: Ids as the index has them; those that no commit holds are left out.
        """
        ids = set(wanted)
        with self._lock:
            if not ids or not self._look():
                return {}
            if self._carried.read(self.repository, self._log, self._head):
                self._rank = None
            rank = self._ranked()
            commits = {
                identifier: [
                    each for each in self._carried.commits.get(identifier, ()) if each in rank
                ]
                for identifier in ids
            }
            oldest = {
                identifier: min(held, key=rank.__getitem__)
                for identifier, held in commits.items()
                if held
            }
            return {
                identifier: ResolvedCommit(commit, self._log_method(commit))
                for identifier, commit in oldest.items()
            }

    def by_path(
        self, moments: Mapping[str, Iterable[datetime]]
    ) -> dict[tuple[str, datetime], ResolvedCommit]:
        """Return, for edits of files at some times, the first ancestor of HEAD after it that touches the file (R17).

        An edit from before the end of a shallow clone is left out: which commit was the first is not known there.

        Args:
            moments: Paths as recorded, each with the times of its edits.
        """
        with self._lock:
            names = self._names(moments)
            if not names or not self._look():
                return {}
            if self._touched.read(self.repository, frozenset(names.values()), self._head):
                self._rank = None
            rank = self._ranked()
            found: dict[tuple[str, datetime], ResolvedCommit] = {}
            for path, name in names.items():
                touched = self._touched.moments.get(name, {})
                ancestors = sorted(
                    (commit for commit in touched if commit in rank), key=rank.__getitem__
                )
                for edited in moments[path]:
                    second = edited.replace(microsecond=0)  # commits know whole seconds only
                    first = next(
                        (commit for commit in ancestors if touched[commit] >= second), None
                    )
                    if first is not None and first not in self._boundary:
                        found[path, edited] = ResolvedCommit(first, CommitMethod.INFERRED)
            return found

    def reached(self, commits: Iterable[str], start: str = "HEAD") -> frozenset[str]:
        """Return which of some commits, hashes or prefixes of them, history has; all where it is cut off, or git cannot answer.

        Args:
            commits: As recorded.
            start: Where to look back from: `HEAD`, or `--all` for every branch and tag.
        """
        wanted = {commit for commit in commits if commit}
        if not wanted:
            return frozenset()
        with self._lock:
            if not self._look() or self._boundary:
                return frozenset(wanted)
            new = {
                commit.lower() for commit in wanted if (start, commit.lower()) not in self._reached
            }
            if new:
                self._reached.update(
                    {(start, commit): found for commit, found in self._among(start, new).items()}
                )
            return frozenset(commit for commit in wanted if self._reached[start, commit.lower()])

    def _among(self, start: str, wanted: set[str]) -> dict[str, bool]:
        """Return whether history has each of some commits."""
        cache = self._cache if start == "HEAD" else None  # other branches move without it
        known = {} if cache is None else cache.get_for_head("reached", dict[str, bool]) or {}
        new = wanted - known.keys()
        if new:
            found, is_settled = self._walk(self._head if start == "HEAD" else start, new)
            known = {**known, **{commit: commit in found for commit in new}}
            if cache is not None and is_settled:
                cache.put_for_head("reached", known)
        return {commit: known[commit] for commit in wanted}

    def _walk(self, start: str, wanted: set[str]) -> tuple[set[str], bool]:
        """Return which commits history has, and whether git answered; all if it did not."""
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

    def _look(self) -> bool:
        """Take note of HEAD, if there is one; a clone that was deepened or cut has another history, of which nothing is known yet."""
        head = self._look_up()
        if head is None:
            return False
        if self._shallow_file is None:
            self._shallow_file = self.repository.shallow_file()
        boundary = (
            read_shallow_file(self._shallow_file) if self._shallow_file is not None else frozenset()
        )
        if boundary != self._boundary:
            self._carried, self._touched = (
                _Carried(self._since, self._cache),
                _Touched(self._since, self._cache),
            )
        if self._cache is not None:
            self._cache.look(head, boundary)
        if (head, boundary) != (self._head, self._boundary):
            self._reached.clear()
            self._head, self._boundary, self._rank = head, boundary, None
        return True

    def _log_method(self, commit: str) -> CommitMethod:
        return CommitMethod.INFERRED if commit in self._boundary else CommitMethod.LOG

    def _names(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the names that git has for recorded paths that can be tracked at all."""
        try:
            prefix = self.repository.name_of(self._project)
        except ValueError:
            return {}
        folder = "" if prefix == "." else f"{prefix}/"
        return {path: folder + normal_path(path) for path in paths if _can_be_tracked(path)}

    def _ranked(self) -> dict[str, int]:
        """Return the order of those ancestors of HEAD that anything was found in, parents before children."""
        if self._rank is None:
            wanted = self._carried.all_commits() | self._touched.all_commits()
            kept = None if self._cache is None else self._cache.get_for_head("rank", dict[str, int])
            if kept is not None and wanted <= kept.keys():
                self._rank = kept
                return kept
            try:
                with git_lines(
                    self.repository.root, "rev-list", "--topo-order", "--reverse", self._head
                ) as lines:
                    commits = (line.decode().rstrip() for line in lines)
                    self._rank = {
                        commit: number for number, commit in enumerate(commits) if commit in wanted
                    }
                if self._cache is not None:
                    self._cache.put_for_head("rank", self._rank)
            except HistoryUnavailable:
                self._rank = {}
        return self._rank


class _Carried:
    """Which commits added which records to the log.

    Attributes:
        commits: The commits by the record's id, HEAD's ancestors or not.
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
        """Take in the ancestors of HEAD that are new, once for each HEAD; return whether there was anything to do."""
        if head == self._head:
            return False
        self._head = head
        base, self._base = self._base, None
        if base is None or not self._take(repository, log, [head, f"^{base}"]):
            self.commits.clear()
            kept = (
                None
                if self._cache is None
                else self._cache.get_for_head(f"carried {log}", dict[str, list[str]])
            )
            if kept is not None:
                self.commits = kept
            elif not self._take(repository, log, [head]):
                return True  # what git could tell stands; another HEAD is read from the beginning
            elif self._cache is not None:
                self._cache.put_for_head(f"carried {log}", self.commits)
        self._base = head
        return True

    def _take(self, repository: Repository, log: Path, revisions: Sequence[str]) -> bool:
        try:
            for identifier, commit in added_record_ids(repository, [*self._since, *revisions], log):
                commits = self.commits.setdefault(identifier, [])
                if commit not in commits:
                    commits.append(commit)
        except (HistoryUnavailable, ValueError):
            return False
        return True


class _Touched:
    """Which commits touched which of the files that were ever asked about.

    Attributes:
        moments: By the file's name in git: its commits, HEAD's ancestors or not, each with its time.
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
        """Take in the ancestors of HEAD that are new, all of them for names that are; return whether there was anything to do."""
        moved = self._head is not None and self._head != head
        if moved:
            self._failed.clear()
            if not self._take(repository, [head, f"^{self._head}"], frozenset(self.moments)):
                self.moments.clear()
        self._head = head
        if self._cache is not None:
            for name in names - self.moments.keys():
                kept = self._cache.get_for_head(f"touched {name}", dict[str, datetime])
                if kept is not None:
                    self.moments[name] = kept
        new = names - self.moments.keys() - self._failed
        if new and not self._take(repository, [head], new):
            self._failed |= new
        return moved or bool(new)

    def _take(
        self, repository: Repository, revisions: Sequence[str], names: frozenset[str]
    ) -> bool:
        found: dict[str, dict[str, datetime]] = {name: {} for name in names}
        try:
            for touch in file_changes(repository, [*self._since, *revisions], names, merges=False):
                found[touch.path][touch.commit] = touch.moment
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
