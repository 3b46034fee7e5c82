"""Which files the ancestors of HEAD changed, commit by commit, with the file before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.history.git import LOG_OPTIONS, git_lines
from vibes_lsp.history.objects import parse_seconds
from vibes_lsp.history.repository import Repository

_MARK: Final = b"\x01"
_FORMAT: Final = "--format=%x01%H %ct %at"
_FILES: Final = frozenset({"100644", "100755", "100664"})


@dataclass(frozen=True, slots=True)
class ChangedBlob:
    """What a commit did to a file.

    Attributes:
        path: From the top of the work tree.
        blob: The file after the commit; None if it has none.
        before: The file in the parents that have it.
        is_new: Whether no parent has the file.
    """

    path: str
    blob: str | None
    before: tuple[str, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """The files that a commit changed; a merge only those that differ from all its parents.

    Attributes:
        commit: The commit's full hash.
        committed: The committer's time, UTC.
        authored: The author's time, UTC; a rebase or squash keeps it.
        files: The files.
    """

    commit: str
    committed: datetime
    authored: datetime
    files: tuple[ChangedBlob, ...]


def changes_since(repository: Repository, since: datetime) -> Iterator[CommitChanges]:
    """Yield what HEAD and its ancestors changed, parents before children, else by time.

    Args:
        repository: The repository.
        since: Only commits from then on, by the committer's time.

    Raises:
        HistoryUnavailable: Git fails.
    """
    arguments = (
        "log",
        *LOG_OPTIONS,
        "--date-order",
        "--reverse",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "-c",
        _FORMAT,
        f"--since={int(since.timestamp())}",
        "HEAD",
        "--",
    )
    with git_lines(repository.root, *arguments, nul_separated=True) as parts:
        header: list[bytes] = []
        files: list[ChangedBlob] = []
        for part in parts:
            line = part.lstrip(b"\n")
            if line.startswith(_MARK):
                if header:
                    yield _changes(header, files)
                header, files = line[1:].split(b" "), []
            elif line.startswith(b":"):
                files.append(_file(line, next(parts, b"")))
        if header:
            yield _changes(header, files)


def _changes(header: list[bytes], files: list[ChangedBlob]) -> CommitChanges:
    commit, committed, authored = header
    return CommitChanges(
        commit.decode("ascii"), parse_seconds(committed), parse_seconds(authored), tuple(files)
    )


def _file(line: bytes, name: bytes) -> ChangedBlob:
    fields = line.lstrip(b":").decode("ascii").split(" ")
    parents = (len(fields) - 3) // 2
    modes, blobs = fields[: parents + 1], fields[parents + 1 : -1]
    return ChangedBlob(
        name.decode("utf-8", "surrogateescape"),
        blobs[-1] if modes[-1] in _FILES else None,
        tuple(blob for mode, blob in zip(modes[:-1], blobs[:-1], strict=True) if mode in _FILES),
        is_new=set(fields[-1]) == {"A"},
    )
