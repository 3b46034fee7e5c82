"""Which commits added which lines and records to the audit log."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.file_versions import FileChange
from vibes_lsp.history.git import LOG_OPTIONS, git_lines, literal_pathspec, run_git
from vibes_lsp.history.git_cache import digest_of
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.canonical_json import FastDecoder, object_or_none
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import text
from vibes_lsp.patience import GIT, Wait
from vibes_lsp.store.files import open_file
from vibes_lsp.store.log_batches import MAX_LINE

_MARK: Final = b"\x01commit "
_BOM: Final = b"\xef\xbb\xbf"
_MAX_ARGUMENTS: Final = 400
"""Commits that one process compares: within every system's limit for a command line."""
_MAX_KEPT: Final = 4 << 20
"""Bytes of the lines of a branch that are kept, because several checks ask for them."""
_is_commit: Final = re.compile(r"\^?[0-9a-f]{40,64}").fullmatch
_FORMAT_OPTIONS: Final = (
    "--reverse",
    "--topo-order",
    "--full-history",
    "-p",
    "-c",
    "--unified=0",
    f"--format={_MARK.decode()}%H %P",
)


def ids_added(repository: Repository, commits: Sequence[str], name: str) -> dict[str, list[str]]:
    """Return the ids of the records that each commit added to a log; a merge those new to it.

    Args:
        repository: The repository.
        commits: Full hashes.
        name: The log's path in these commits, from the top of the work tree.

    Raises:
        HistoryUnavailable: Git fails.
    """
    found = known_ids(repository, commits, name)
    missing = [commit for commit in commits if commit not in found]
    read: dict[str, list[str]] = {commit: [] for commit in missing}
    for start in range(0, len(missing), _MAX_ARGUMENTS):
        revisions = ("--no-walk=unsorted", *missing[start : start + _MAX_ARGUMENTS])
        for line, commit in _added_lines(repository, revisions, name, GIT):
            if identifier := record_id_of(line):
                read[commit].append(identifier)
    keep_ids(repository, read, name)
    return found | read


def known_ids(repository: Repository, commits: Iterable[str], name: str) -> dict[str, list[str]]:
    """Return what `ids_added` found before; other commits are left out."""
    boundary = digest_of(sorted(repository.shallow_boundary()))
    asked = {
        commit: repository.cache.get(_key(boundary, commit, name), list[str]) for commit in commits
    }
    return {commit: ids for commit, ids in asked.items() if ids is not None}


def keep_ids(repository: Repository, ids: Mapping[str, Sequence[str]], name: str) -> None:
    """Keep what commits added to a log for `ids_added`."""
    boundary = digest_of(sorted(repository.shallow_boundary()))
    for commit, added in ids.items():
        repository.cache.put(_key(boundary, commit, name), added)


def _key(boundary: str, commit: str, name: str) -> str:
    return f"added {boundary} {commit} {name}"


def added_record_ids(
    repository: Repository, revisions: Sequence[str], log: Path
) -> Iterator[tuple[str, str]]:
    """Yield the ids of the records that commits added, and the commit; see `added_lines`."""
    for line, commit in added_lines(repository, revisions, log):
        identifier = record_id_of(line)
        if identifier:
            yield identifier, commit


def added_lines(
    repository: Repository, revisions: Sequence[str], log: Path, *, patience: Wait | None = None
) -> Iterator[tuple[bytes, str]]:
    """Yield each line that a commit added to the log, and the commit, oldest first.

    A merge adds only lines that none of its parents has.

    Args:
        repository: The repository.
        revisions: As for `git log`.
        log: The log's absolute path.
        patience: The wait for git.

    Raises:
        HistoryUnavailable: Git failed, perhaps after some lines.
        ValueError: The log is outside the repository.
    """
    name = repository.relative_path(log)
    if not all(map(_is_commit, revisions)):
        yield from _added_lines(repository, revisions, name, patience)
        return
    boundary = digest_of(sorted(repository.shallow_boundary()))
    key = f"lines {boundary} {' '.join(revisions)} {name}"
    known = repository.cache.get(key, list[tuple[bytes, str]])
    if known is not None:
        yield from known
        return
    kept, size = list[tuple[bytes, str]](), 0
    for line, commit in _added_lines(repository, revisions, name, patience):
        size += len(line)
        if size <= _MAX_KEPT:
            kept.append((line, commit))
        yield line, commit
    if size <= _MAX_KEPT:
        repository.cache.put(key, kept)


def _added_lines(
    repository: Repository, revisions: Sequence[str], name: str, patience: Wait | None
) -> Iterator[tuple[bytes, str]]:
    arguments = (
        "log",
        *_FORMAT_OPTIONS,
        *LOG_OPTIONS,
        *revisions,
        "--",
        literal_pathspec(name),
    )
    with git_lines(repository.root, *arguments, patience=patience, bounded=True) as lines:
        commit, added, is_content = "", b"+", False
        for line in lines:
            if line.startswith(_MARK):
                commit, *parents = line[len(_MARK) :].decode().split()
                added = b"+" * max(1, len(parents))  # combined diff: a + per parent
                is_content = False
            elif line.startswith(b"@@"):
                is_content = True
            elif is_content and line.startswith(added):
                yield line[len(added) :], commit


class _Identified(msgspec.Struct):
    annotation_id: str | None = None


_DECODER: Final = FastDecoder(_Identified)


def record_id_of(line: bytes) -> str:
    """Return the id of the record on a line of the log; empty if the line holds none.

    The strict parser computes a missing id, and decides about lines that the quick one refuses.
    """
    if len(line) > MAX_LINE:
        return ""
    decoded = _DECODER.decode(line)
    if decoded is not None and decoded.annotation_id:
        return decoded.annotation_id
    record = line.strip().removeprefix(_BOM)  # as the log's reader does
    if not record.startswith(b"{"):
        return ""
    members = object_or_none(record)
    if members is None:
        return ""
    return text(members, "annotation_id") or annotation_id(members)


_MAX_HASHED: Final = 4 << 30
"""Bytes that are hashed to find which versions are beginnings of the log, in a few seconds."""
_PART: Final = 1 << 20
"""Bytes of the log that are read at once: all of it would be in memory twice."""
_DIGESTS: Final = {40: "sha1", 64: "sha256"}
"""The hash of git's objects by the length of their names."""


def ids_by_commit(
    repository: Repository, changes: Iterable[FileChange], log: Path
) -> tuple[dict[str, list[str]], bool]:
    """Return the ids of the records that each commit added to the log, and whether git answered.

    A log only grows: most of its versions are beginnings of the current one, as their hashes show.
    Of those the added lines are read from it. Git compares only the others, because it takes a
    millisecond for each megabyte of each version.

    Args:
        repository: The repository.
        changes: What the commits did to the log.
        log: The log's absolute path.
    """
    found: dict[str, list[str]] = {}
    changes = list(changes)
    with closing(CurrentLog(log)) as current, suppress(OSError):
        lengths = current.verified_lengths(
            repository, {blob for each in changes for blob in (each.blob, *each.before)}
        )
        for change in changes:
            old, new = lengths.get(change.before[0]), lengths.get(change.blob)
            if not change.is_merge and old is not None and new is not None:
                found[change.commit] = current.ids(old, new)
    rest = [change.commit for change in changes if change.commit not in found]
    try:
        for start in range(0, len(rest), _MAX_ARGUMENTS):
            some = rest[start : start + _MAX_ARGUMENTS]
            found.update({commit: [] for commit in some})
            revisions = ["--no-walk=unsorted", *some]
            for line, commit in added_lines(repository, revisions, log, patience=GIT):
                if identifier := record_id_of(line):
                    found[commit].append(identifier)
    except (HistoryUnavailable, KeyError, ValueError):
        return found, False
    return found, True


class CurrentLog:
    """The log as it is in the work tree, read a part at a time; empty if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = io.BytesIO()
        self._size = 0
        with suppress(UnreadableFile, ValueError):
            self._file = open_file(path)
            self._size = os.fstat(self._file.fileno()).st_size

    def close(self) -> None:
        """Close it."""
        self._file.close()

    def verified_lengths(self, repository: Repository, blobs: Iterable[str]) -> dict[str, int]:
        """Return the lengths of those blobs that are whole lines at the beginning of the log."""
        names = {blob for blob in blobs if blob.strip("0")}
        found = dict.fromkeys(("0" * length for length in _DIGESTS), 0)
        budget = _MAX_HASHED
        for blob, size in _sizes(repository, names).items():
            budget -= size
            if budget >= 0 and self.begins_with(blob, size):
                found[blob] = size
        return found

    def begins_with(self, blob: str, size: int) -> bool:
        """Whether a blob is whole lines at the beginning of the log."""
        if not 0 < size <= self._size:
            return False
        self._file.seek(size - 1)
        if self._file.read(1) != b"\n":
            return False
        digest = hashlib.new(_DIGESTS[len(blob)], b"blob %d\0" % size, usedforsecurity=False)
        left = size
        self._file.seek(0)
        while left and (part := self._file.read(min(left, _PART))):
            digest.update(part)
            left -= len(part)
        return digest.hexdigest() == blob

    def ids(self, old: int, new: int) -> list[str]:
        """Return the ids of the records that were added after a length up to another one."""
        found: list[str] = []
        self._file.seek(old)
        is_whole = True
        while old < new and (line := self._file.readline(MAX_LINE + 1)):
            old += len(line)
            is_start, is_whole = is_whole, line.endswith(b"\n")
            if is_start and is_whole and (identifier := record_id_of(line[:-1])):
                found.append(identifier)
        return found


def _sizes(repository: Repository, blobs: Iterable[str]) -> Mapping[str, int]:
    """Return the sizes of blobs; those that are missing are left out."""
    asked = "".join(f"{blob}\n" for blob in blobs).encode()
    if not asked:
        return {}
    try:
        lines = run_git(
            repository.root, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked
        ).split(b"\n")
    except HistoryUnavailable:
        return {}
    pairs = (line.decode("ascii").split(" ") for line in lines if line)
    return {blob: int(size) for blob, size in pairs if size.isdigit()}
