"""What HEAD and its ancestors did to files: one `git log` for all, extended when HEAD moves.

What a commit did to a file depends on the commit alone, so only commits that HEAD gained are read.
The order is always the one of a new reading.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final, TypeAlias

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.file_versions import FileChange, FileWalk, file_changes
from vibes_lsp.history.git import git_lines
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.objects import parse_seconds
from vibes_lsp.history.repository import Repository
from vibes_lsp.patience import GIT, Wait

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MAX_GAINED: Final = 5_000
"""Commits by which two tips may differ; for more, history is read again."""
_MAX_SAVED: Final = 1 << 14
"""Changes of a file that are saved; a longer history is read again by each process."""

_SavedChange: TypeAlias = tuple[bytes, int, int, bytes, list[bytes]]
"""Commit, time, mode, blob and blobs before: half the size of a `FileChange`."""


@dataclass(frozen=True, slots=True)
class _TipChange:
    """How the ancestors of one commit differ from those of another.

    Attributes:
        has_gained: Whether there are more.
        lost: Those that are none any more.
        is_on_top: Whether all that differs descends from one commit, so that the order of the
            others is unchanged.
    """

    has_gained: bool
    lost: frozenset[str]
    is_on_top: bool


class FileWalks:
    """The changes of the files that were asked about, by HEAD and its ancestors.

    For one thread at a time. Paths are from the top of the work tree.

    Args:
        repository: The repository.
        cache: What git answered earlier commands; not together with `since`.
        since: Options for `git log` that limit commits by their time.
    """

    def __init__(
        self, repository: Repository, cache: GitCache | None = None, *, since: Sequence[str] = ()
    ) -> None:
        self._repository = repository
        self._cache = None if since else cache
        self._since = since
        self._head: str | None = None
        self._boundary: frozenset[str] = frozenset()
        self._walks: dict[str, FileWalk] = {}
        self._earlier: dict[str, tuple[str, FileWalk]] = {}
        self._tip_changes: dict[str, _TipChange | None] = {}
        self._commits: set[str] = set()

    def set_head(self, head: str, boundary: frozenset[str]) -> None:
        """Answer for this HEAD from now on; a changed shallow boundary drops everything."""
        if self._cache is not None:
            self._cache.set_head(head, boundary)
        if (head, boundary) == (self._head, self._boundary):
            return
        if boundary != self._boundary:
            self._earlier.clear()
        elif self._head is not None:
            self._earlier.update(
                {
                    path: (self._head, walk)
                    for path, walk in self._walks.items()
                    if walk.is_settled and not self._is_saved(walk)
                }
            )
        self._head, self._boundary = head, boundary
        self._walks = {}
        self._tip_changes.clear()
        self._commits = set()

    def read(self, paths: Iterable[str]) -> None:
        """Read the changes of files that are not known yet, with one `git log` for all."""
        new = [path for path in dict.fromkeys(paths) if path not in self._walks]
        if self._head is None or not new:
            return
        by_tip: dict[str, dict[str, FileWalk]] = {}
        for path in new:
            known = self._earlier.pop(path, None) or self._saved(path)
            tip, walk = known if known is not None else ("", FileWalk())
            by_tip.setdefault(tip, {})[path] = walk
        unread = list(by_tip.pop("", ()))
        for tip, walks in by_tip.items():
            extended = walks if tip == self._head else self._extended(tip, walks)
            if extended is None:
                unread += walks
            else:
                self._keep(extended, is_new=tip != self._head)
        if unread:
            self._keep(self._read([self._head], unread), is_new=True)

    def has(self, path: str) -> bool:
        """Whether the changes of a file are known, of this HEAD or of an earlier one."""
        return path in self._walks or path in self._earlier or self._saved(path) is not None

    def of(self, path: str) -> FileWalk:
        """Return all changes of a file."""
        self.read([path])
        return self._walks.get(path, _FAILED)

    def is_ancestor(self, commit: str) -> bool:
        """Whether a commit is known to be HEAD or an ancestor, from what was read; else unknown."""
        return commit in self._commits

    def maker(self, path: str, blob: str) -> str | None:
        """Return the commit that made the version of a file that HEAD has.

        Blame of HEAD passes on to it as soon as no parent of a commit has the same version. None if
        more than one commit made it, or if that is not known.
        """
        walk = self.of(path) if self.has(path) else _FAILED
        commits = {each.commit for each in walk.changes if each.blob == blob}
        return commits.pop() if walk.is_settled and len(commits) == 1 else None

    def _keep(self, walks: Mapping[str, FileWalk], *, is_new: bool) -> None:
        self._walks.update(walks)
        for path, walk in walks.items():
            self._commits.update(each.commit for each in walk.changes)
            is_saved = is_new and self._is_saved(walk)
            if is_saved and self._cache is not None and self._head is not None:
                self._cache.put_for_tip(f"walk {path}", self._head, _pack(walk.changes))

    def _is_saved(self, walk: FileWalk) -> bool:
        """Whether a walk is in the cache, in a sixth of its memory."""
        is_small = walk.is_settled and len(walk.changes) <= _MAX_SAVED
        return is_small and self._cache is not None

    def _saved(self, path: str) -> tuple[str, FileWalk] | None:
        if self._cache is None:
            return None
        found = self._cache.get_for_tip(f"walk {path}", list[_SavedChange])
        if found is None or not _COMMIT.fullmatch(found[0]):
            return None
        return found[0], FileWalk(_unpack(path, found[1]))

    def _read(self, revisions: Sequence[str], paths: Collection[str]) -> dict[str, FileWalk]:
        return walk_files(self._repository, [*self._since, *revisions], paths, patience=GIT)

    def _compared(self, tip: str) -> _TipChange | None:
        if tip not in self._tip_changes:
            self._tip_changes[tip] = _compare_tips(self._repository, tip, self._head or "")
        return self._tip_changes[tip]

    def _extended(self, tip: str, walks: Mapping[str, FileWalk]) -> dict[str, FileWalk] | None:
        """Return the walks of another tip with what HEAD gained and lost; None if git fails."""
        head, change = self._head or "", self._compared(tip)
        if change is None:
            return None
        new = self._read([head, f"^{tip}"], walks) if change.has_gained else {}
        if not all(walk.is_settled for walk in new.values()):
            return None
        extended = {
            path: [
                *(new[path].changes if path in new else ()),
                *(each for each in walk.changes if each.commit not in change.lost),
            ]
            for path, walk in walks.items()
        }
        if not change.is_on_top:
            try:
                extended = _in_order(self._repository, head, extended)
            except (HistoryUnavailable, KeyError):
                return None
        return {path: FileWalk(changes) for path, changes in extended.items()}


_FAILED: Final = FileWalk(is_complete=False, is_settled=False)


def walk_files(
    repository: Repository, revisions: Sequence[str], paths: Collection[str], *, patience: Wait
) -> dict[str, FileWalk]:
    """Return what commits did to several files, with one `git log` for all.

    Args:
        repository: The repository.
        revisions: As for `git log`.
        paths: The files, from the top of the work tree.
        patience: The wait for git.
    """
    found: dict[str, list[FileChange]] = {path: [] for path in paths}
    is_settled = True
    try:
        with closing(file_changes(repository, revisions, paths, patience=patience)) as walked:
            for change in walked:
                found[change.path].append(change)
    except HistoryUnavailable:
        is_settled = False
    return {path: FileWalk(changes, is_settled, is_settled) for path, changes in found.items()}


def walk_before(repository: Repository, commit: str, path: str, cache: GitCache | None) -> FileWalk:
    """Return what the ancestors of a commit did to a file; the commit itself is left out.

    Args:
        repository: The repository.
        commit: The commit.
        path: From the top of the work tree.
        cache: For what does not depend on HEAD; None in a shallow clone.
    """
    key = f"before {commit} {path}"
    saved = None if cache is None else cache.get(key, list[_SavedChange])
    if saved is not None:
        return FileWalk(_unpack(path, saved))
    whole = walk_files(repository, [commit], [path], patience=GIT)[path]
    walk = FileWalk(
        [each for each in whole.changes if each.commit != commit],
        whole.is_complete,
        whole.is_settled,
    )
    if cache is not None and walk.is_settled and len(walk.changes) <= _MAX_SAVED:
        cache.put(key, _pack(walk.changes))
    return walk


def _compare_tips(repository: Repository, tip: str, head: str) -> _TipChange | None:
    """Compare the ancestors of two commits; None if they differ by too much, or git fails."""
    gained: set[str] = set()
    lost: set[str] = set()
    parents: set[str] = set()
    has_root = False
    options = ("--left-right", "--parents", f"--max-count={_MAX_GAINED + 1}")
    try:
        with git_lines(
            repository.root, "rev-list", *options, f"{tip}...{head}", "--", patience=GIT
        ) as lines:
            for line in lines:
                marked, *before = line.split()
                (lost if marked.startswith(b"<") else gained).add(marked[1:].decode("ascii"))
                parents.update(each.decode("ascii") for each in before)
                has_root = has_root or not before
    except HistoryUnavailable:
        return None
    if len(gained) + len(lost) > _MAX_GAINED:
        return None
    is_on_top = len(parents - gained - lost) == 1 and not has_root
    return _TipChange(bool(gained), frozenset(lost), is_on_top)


def _in_order(
    repository: Repository, head: str, changes: Mapping[str, Sequence[FileChange]]
) -> dict[str, list[FileChange]]:
    """Return changes of files in the order of `git log --topo-order`.

    Raises:
        HistoryUnavailable: Git fails.
        KeyError: A commit is no ancestor of HEAD.
    """
    wanted = {each.commit for some in changes.values() for each in some}
    with git_lines(repository.root, "rev-list", "--topo-order", head, "--", patience=GIT) as lines:
        commits = (line.decode("ascii").rstrip() for line in lines)
        ranks = {commit: number for number, commit in enumerate(commits) if commit in wanted}
    return {
        path: sorted(some, key=lambda each: ranks[each.commit]) for path, some in changes.items()
    }


def _pack(changes: Iterable[FileChange]) -> list[_SavedChange]:
    return [
        (
            bytes.fromhex(each.commit),
            int(each.moment.timestamp()),
            int(each.mode, 8),
            bytes.fromhex(each.blob),
            [bytes.fromhex(blob) for blob in each.before],
        )
        for each in changes
    ]


def _unpack(path: str, saved: Iterable[_SavedChange]) -> list[FileChange]:
    return [
        FileChange(
            commit.hex(),
            parse_seconds(b"%d" % seconds),
            path,
            f"{mode:06o}",
            blob.hex(),
            tuple(each.hex() for each in before),
        )
        for commit, seconds, mode, blob, before in saved
    ]
