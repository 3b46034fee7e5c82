"""What git's own diff adds and takes away, by the algorithm that blame uses (R31)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.process import LOG_OPTIONS, git_lines, literal_pathspec, run_git
from vibes_lsp.git.quoted_names import unquoted_name
from vibes_lsp.git.repository import Repository
from vibes_lsp.patience import BLAME, GIT

_OPTIONS: Final = (
    "-p",
    "--unified=0",
    "--text",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
)
_HUNK: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_BATCH: Final = 200
"""Paths in one command: within the limit of a command line of every system."""
_MAX_KEPT: Final = 32 << 20
"""Bytes of the lines of one patch that are returned; what exceeds them is left out."""


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """Neighbouring lines that a patch takes away or adds; numbers are 0-based.

    Attributes:
        old_start: Where lines are taken away, in the old file.
        removed: The lines that are taken away.
        new_start: Where lines are added, in the new file.
        added: The lines that are added.
    """

    old_start: int
    removed: list[bytes]
    new_start: int
    added: list[bytes]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to a file.

    Attributes:
        path: From the top of the work tree.
        hunks: The changes, in order.
    """

    path: str
    hunks: list[PatchHunk] = field(default_factory=list)


def commit_patch(repository: Repository, parent: str, commit: str) -> list[FilePatch]:
    """Return what a commit does to the files of a parent. Renames are not looked for.

    Args:
        repository: The repository.
        parent: A full hash.
        commit: A full hash.

    Raises:
        HistoryUnavailable: Git fails.
    """
    arguments = ("diff-tree", "-r", *_OPTIONS, parent, commit, "--")
    with git_lines(repository.root, *arguments, patience=GIT) as lines:
        return _read(lines)


def had_line(repository: Repository, commits: Sequence[str], path: str, line: str) -> bool:
    """Whether commits or their ancestors changed how often a file has a line; not if it is new.

    Args:
        repository: The repository.
        commits: Full hashes.
        path: The file, from the top of the work tree.
        line: The text.

    Raises:
        HistoryUnavailable: Git fails.
    """
    if not commits:
        return False
    boundary = digest_of(sorted(repository.shallow_boundary()))
    key = f"had {boundary} {digest_of([path, line, *commits])}"
    known = repository.cache.get(key, bool)
    if known is None:
        options = (*LOG_OPTIONS, "--no-renames", "--full-history", "--max-count=1", "--format=%H")
        arguments = ("log", *options, f"-S{line}", *commits, "--", literal_pathspec(path))
        with git_lines(repository.root, *arguments, patience=BLAME) as lines:
            known = any(lines)
        repository.cache.put(key, known)
    return known


def staged_patch(
    repository: Repository, parent: str, paths: Sequence[str], index: Path | None = None
) -> list[FilePatch]:
    """Return what the index does to files of a commit.

    Args:
        repository: The repository.
        parent: A full hash.
        paths: The files, from the top of the work tree.
        index: The index; None for the repository's own.

    Raises:
        HistoryUnavailable: Git fails.
    """
    patches: list[FilePatch] = []
    for start in range(0, len(paths), _BATCH):
        names = map(literal_pathspec, paths[start : start + _BATCH])
        arguments = ("diff-index", "--cached", *_OPTIONS, parent, "--", *names)
        patches += _read(iter(run_git(repository.root, *arguments, index=index).split(b"\n")))
    return patches


def _read(lines: Iterator[bytes]) -> list[FilePatch]:
    files: list[FilePatch] = []
    names = b"", b""
    left = kept = 0
    for ended in lines:
        line = ended.removesuffix(b"\n")
        if left and line[:1] in (b"-", b"+"):
            left -= 1
            kept += len(line)
            hunk = files[-1].hunks[-1]
            if kept <= _MAX_KEPT:
                (hunk.removed if line.startswith(b"-") else hunk.added).append(line[1:])
        elif line.startswith(b"--- "):
            names = line[4:], b""
        elif line.startswith(b"+++ "):
            names = names[0], line[4:]
            files.append(FilePatch(_path(*names)))
        elif header := _HUNK.match(line):
            old, removed, new, added = (int(number or 1) for number in header.groups(b"1"))
            left = removed + added
            files[-1].hunks.append(PatchHunk(old - bool(removed), [], new - bool(added), []))
    return files


def _path(old: bytes, new: bytes) -> str:
    """Return the path of a file from the headers of its patch."""
    name = old if new.startswith(b"/dev/null") else new
    return unquoted_name(name.rstrip(b"\t")).partition("/")[2]
