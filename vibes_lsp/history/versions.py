"""The versions of a file along HEAD's ancestry, renames followed; which of them an edit at some time led to (R17)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.repository import Repository
from vibes_lsp.history.touches import Touch, touches

_LIMIT: Final = 500
_MAX_RENAMES: Final = 16
_SECONDS: Final = 20.0
_FILES: Final = frozenset({"100644", "100755", "100664"})
_DELETED: Final = "000000"


@dataclass(frozen=True, slots=True)
class Version:
    """A file as a commit has it.

    Attributes:
        commit: The commit's whole hash.
        path: The file's name in that commit.
        blob: The object that holds its content.
        moment: The committer's time, UTC.
    """

    commit: str
    path: str
    blob: str
    moment: datetime


@dataclass(frozen=True, slots=True)
class FileVersions:
    """What is known of a file's history.

    Attributes:
        versions: What commits made of the file, newest first. Commits that deleted it are left out.
        deletions: The commits that deleted it, newest first.
        complete: Whether these are all: the limit was not met, the clone is not shallow, no object is missing.
        touched: What each commit that touched the file led to, newest first: None for a deletion, and where it cannot be told.
    """

    versions: tuple[Version, ...] = ()
    deletions: tuple[str, ...] = ()
    complete: bool = True
    touched: tuple[tuple[datetime, Version | None], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names that the file has had, the newest first."""
        return tuple(dict.fromkeys(version.path for version in self.versions))

    def after(self, moment: datetime) -> Version | None:
        """Return the version that an edit at some time led to (R17).

        That is the first ancestor of HEAD after it that touches the file; commits know whole seconds only. None when there is none,
        when it deleted the file, and when the known history begins with it: an earlier one may have been cut off.
        """
        second = moment.replace(microsecond=0)
        return next((version for touched, version in reversed(self.touched) if touched >= second), None)

    def named(self, name: Callable[[str], str]) -> FileVersions:
        """Return the same with other names for the paths."""

        def again(version: Version) -> Version:
            return replace(version, path=name(version.path))

        touched = tuple((moment, again(version) if version is not None else None) for moment, version in self.touched)
        return replace(self, versions=tuple(map(again, self.versions)), touched=touched)


@dataclass(frozen=True, slots=True)
class Walked:
    """What the ancestors of a commit did to a file.

    Attributes:
        touches: Newest first.
        is_whole: Whether these are all.
        is_settled: Whether git answered: what is left out is left out for its number.
    """

    touches: Sequence[Touch] = ()
    is_whole: bool = True
    is_settled: bool = True


class Trace(msgspec.Struct, frozen=True, array_like=True):
    """What commits did to a file, under all names that it has had.

    Attributes:
        touches: Newest first.
        is_cut: Whether there may be more.
        is_settled: Whether git answered: asked again, it says the same.
    """

    touches: Sequence[Touch]
    is_cut: bool
    is_settled: bool = True

    def versions(self, boundary: frozenset[str]) -> FileVersions:
        """Return the versions of the file.

        Args:
            boundary: Where a shallow clone ends; see `Repository.boundary`.
        """
        return _collected(self.touches, boundary, cut=self.is_cut)


def walk_together(repository: Repository, head: str, paths: Sequence[str], *, limit: int = _LIMIT) -> dict[str, Walked]:
    """Return what the ancestors of a commit did to some files, in one walk through history instead of one for each file."""
    found: dict[str, list[Touch]] = {path: [] for path in paths}
    is_whole = True
    try:
        with closing(touches(repository, [head], paths, merges=True, seconds=_SECONDS)) as walked:
            for touch in walked:
                found[touch.path].append(touch)
    except HistoryUnavailable:
        is_whole = False
    return {path: Walked(walked[:limit], is_whole and len(walked) <= limit, is_whole) for path, walked in found.items()}


def trace(
    repository: Repository,
    head: str,
    path: str,
    boundary: frozenset[str],
    renamed: Callable[[str], Mapping[str, str]],
    *,
    limit: int = _LIMIT,
    begun: Walked | None = None,
) -> Trace:
    """Return what a commit and all of its ancestors did to a file, side branches and the merges that changed it included.

    Where a commit brought the file, the name that the file had before is looked for in that commit, and followed from there.

    Args:
        repository: Where the file is or was tracked.
        head: The commit.
        path: From the top of the work tree.
        boundary: Where a shallow clone ends; see `Repository.boundary`.
        renamed: Gives the new names of the files that a commit renamed, by the old ones.
        limit: How many commits are taken in.
        begun: What is known already of the commit's ancestors and the file's present name.
    """
    found: dict[tuple[str, str], Touch] = {}
    pending = deque([(head, path)])
    cut, settled, renames = False, True, 0
    while pending and not cut:
        start, name = pending.popleft()
        is_first = (start, name) == (head, path)
        known = begun if is_first else None
        walked = known or _walk(repository, start, name, limit - len(found), is_inclusive=is_first)
        cut, settled = not walked.is_whole, settled and walked.is_settled
        for touch in walked.touches:
            if (touch.commit, name) in found:
                continue
            found[touch.commit, name] = touch
            if touch.is_new and touch.commit not in boundary and renames < _MAX_RENAMES:
                renames += 1
                before = [old for old, new in renamed(touch.commit).items() if new == name]
                if before:
                    pending.append((touch.commit, before[0]))
                    cut = False
                    break  # what had the name earlier was another file
    return Trace(list(found.values()), cut, settled)


def _walk(repository: Repository, start: str, path: str, limit: int, *, is_inclusive: bool) -> Walked:
    found: list[Touch] = []
    try:
        with closing(touches(repository, [start], [path], merges=True, seconds=_SECONDS)) as walked:
            for touch in walked:
                if touch.commit == start and not is_inclusive:
                    continue
                if len(found) == limit:
                    return Walked(found, is_whole=False)
                found.append(touch)
    except HistoryUnavailable:
        return Walked(found, is_whole=False, is_settled=False)
    return Walked(found)


def _collected(touched: Sequence[Touch], boundary: frozenset[str], *, cut: bool) -> FileVersions:
    versions = [Version(each.commit, each.path, each.blob, each.moment) if each.mode in _FILES else None for each in touched]
    certain = [None if each.commit in boundary else version for each, version in zip(touched, versions, strict=True)]
    if cut and certain:
        certain[-1] = None
    return FileVersions(
        tuple(version for version in versions if version is not None),
        tuple(each.commit for each in touched if each.mode == _DELETED),
        complete=not cut and not boundary,
        touched=tuple((each.moment, version) for each, version in zip(touched, certain, strict=True)),
    )
