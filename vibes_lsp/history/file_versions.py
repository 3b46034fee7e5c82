"""The versions of a file along HEAD's ancestry, renames followed, and which of them an edit led to (R17)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import LOG_OPTIONS, git_fields, literal_pathspec, run_git
from vibes_lsp.history.repository import Repository, parse_seconds

_MARK: Final = b"\x01"
_FORMAT: Final = "--format=%x01%H %ct"
_NAMED: Final = 16
"""Most paths that git is given. It compares each with every name it meets: for 97 paths in 3,800
commits that takes 1.4 s, and to list all files 0.2 s."""
_CHARACTERS: Final = 8_000
"""Most characters of these paths: a command line holds no more on every system."""


class FileChange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file as a commit left it.

    Attributes:
        commit: The commit's whole hash.
        moment: The committer's time, UTC.
        path: From the top of the work tree.
        mode: Afterwards, six digits as git prints it; `000000` when the commit deleted the file.
        blob: The object's name afterwards.
        is_new: Whether no parent has the file.
    """

    commit: str
    moment: datetime
    path: str
    mode: str
    blob: str
    is_new: bool


def file_changes(
    repository: Repository,
    revisions: Sequence[str],
    paths: Collection[str],
    *,
    merges: bool,
    seconds: float | None = None,
) -> Generator[FileChange, None, None]:
    """Yield what commits did to files, newest first, children before parents, no branch left out. Renames are a deletion and a new file.

    Args:
        repository: Where to look.
        revisions: As for `git log`.
        paths: Only these files, from the top of the work tree.
        merges: Whether to count the files in which a merge differs from all of its parents.
        seconds: How long git may take.

    Raises:
        HistoryUnavailable: Git failed, perhaps after some were yielded.
    """
    options = (
        "--topo-order",
        "--full-history",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "-c" if merges else "--no-merges",
    )
    wanted = {name: path for path in paths if (name := _name(path)) is not None}
    if not wanted:
        return
    is_few = len(wanted) <= _NAMED and sum(map(len, wanted)) <= _CHARACTERS
    named = map(literal_pathspec, wanted.values()) if is_few else ()
    arguments = ("log", *LOG_OPTIONS, *options, _FORMAT, *revisions, "--", *named)
    with git_fields(repository.root, *arguments, seconds=seconds) as parts:
        commit, moment = "", parse_seconds(b"0")
        for part in parts:
            line = part.lstrip(b"\n")
            if line.startswith(_MARK):
                identifier, _, told = line[1:].partition(b" ")
                commit, moment = identifier.decode("ascii"), parse_seconds(told)
            elif line.startswith(b":"):
                name = next(parts, b"")
                if (path := wanted.get(name)) is not None:
                    yield _touch(commit, moment, path, line)


def _name(path: str) -> bytes | None:
    """Return the bytes of a path in git; None when no file that git tracks can have it."""
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    return name if name.decode("utf-8", "surrogateescape") == path else None


def _touch(commit: str, moment: datetime, path: str, line: bytes) -> FileChange:
    fields = line.lstrip(b":").decode("ascii").split(" ")
    parents = (len(fields) - 3) // 2
    return FileChange(
        commit, moment, path, fields[parents], fields[-2], is_new=set(fields[-1]) == {"A"}
    )


def commits_of_file(repository: Repository, revisions: Sequence[str], name: str) -> frozenset[str]:
    """Return the commits among some that touched a file.

    Args:
        repository: Where to look.
        revisions: As for `git log`.
        name: From the top of the work tree.

    Raises:
        HistoryUnavailable: Git cannot answer.
    """
    said = run_git(
        repository.root,
        "log",
        "--full-history",
        "-m",
        "--no-show-signature",
        "--format=%H",
        *revisions,
        "--",
        literal_pathspec(name),
    )
    return frozenset(said.decode().split())


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
        return next(
            (version for touched, version in reversed(self.touched) if touched >= second), None
        )

    def named(self, name: Callable[[str], str]) -> FileVersions:
        """Return the same with other names for the paths."""

        def again(version: Version) -> Version:
            return replace(version, path=name(version.path))

        touched = tuple(
            (moment, again(version) if version is not None else None)
            for moment, version in self.touched
        )
        return replace(self, versions=tuple(map(again, self.versions)), touched=touched)


@dataclass(frozen=True, slots=True)
class FileWalk:
    """What the ancestors of a commit did to a file.

    Attributes:
        touches: Newest first.
        is_whole: Whether these are all.
        is_settled: Whether git answered: what is left out is left out for its number.
    """

    touches: Sequence[FileChange] = ()
    is_whole: bool = True
    is_settled: bool = True


class FileTrace(msgspec.Struct, frozen=True, array_like=True):
    """What commits did to a file, under all names that it has had.

    Attributes:
        touches: Newest first.
        is_cut: Whether there may be more.
        is_settled: Whether git answered: asked again, it says the same.
    """

    touches: Sequence[FileChange]
    is_cut: bool
    is_settled: bool = True

    def versions(self, boundary: frozenset[str]) -> FileVersions:
        """Return the versions of the file.

        Args:
            boundary: Where a shallow clone ends; see `Repository.boundary`.
        """
        return _collected(self.touches, boundary, cut=self.is_cut)


def walk_files(
    repository: Repository, head: str, paths: Sequence[str], *, limit: int = _LIMIT
) -> dict[str, FileWalk]:
    """Return what the ancestors of a commit did to some files, in one walk through history instead of one for each file."""
    found: dict[str, list[FileChange]] = {path: [] for path in paths}
    is_whole = True
    try:
        with closing(
            file_changes(repository, [head], paths, merges=True, seconds=_SECONDS)
        ) as walked:
            for touch in walked:
                found[touch.path].append(touch)
    except HistoryUnavailable:
        is_whole = False
    return {
        path: FileWalk(walked[:limit], is_whole and len(walked) <= limit, is_whole)
        for path, walked in found.items()
    }


def trace_file(
    repository: Repository,
    head: str,
    path: str,
    boundary: frozenset[str],
    renamed: Callable[[str], Mapping[str, str]],
    *,
    limit: int = _LIMIT,
    begun: FileWalk | None = None,
) -> FileTrace:
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
    found: dict[tuple[str, str], FileChange] = {}
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
    return FileTrace(list(found.values()), cut, settled)


def _walk(
    repository: Repository, start: str, path: str, limit: int, *, is_inclusive: bool
) -> FileWalk:
    found: list[FileChange] = []
    try:
        with closing(
            file_changes(repository, [start], [path], merges=True, seconds=_SECONDS)
        ) as walked:
            for touch in walked:
                if touch.commit == start and not is_inclusive:
                    continue
                if len(found) == limit:
                    return FileWalk(found, is_whole=False)
                found.append(touch)
    except HistoryUnavailable:
        return FileWalk(found, is_whole=False, is_settled=False)
    return FileWalk(found)


def _collected(
    touched: Sequence[FileChange], boundary: frozenset[str], *, cut: bool
) -> FileVersions:
    versions = [
        Version(each.commit, each.path, each.blob, each.moment) if each.mode in _FILES else None
        for each in touched
    ]
    certain = [
        None if each.commit in boundary else version
        for each, version in zip(touched, versions, strict=True)
    ]
    if cut and certain:
        certain[-1] = None
    return FileVersions(
        tuple(version for version in versions if version is not None),
        tuple(each.commit for each in touched if each.mode == _DELETED),
        complete=not cut and not boundary,
        touched=tuple(
            (each.moment, version) for each, version in zip(touched, certain, strict=True)
        ),
    )
