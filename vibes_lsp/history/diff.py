"""Which files differ between two commits, or between a commit and the work tree (`vibes diff`)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.history.repository import Repository

_ENTRY: Final = re.compile(
    rb"(?P<known>  ctime: \d+:\d+\n  mtime: (?P<seconds>\d+):(?P<nanoseconds>\d+)\n  [^\n]*\n  [^\n]*\n  size: (?P<size>\d+)\t[^\n]*\n)?"
    rb"(?P<tag>[A-Z?]) (?P<name>.*)",
    re.DOTALL,
)
"""What `git ls-files -z -t --debug` prints up to a NUL: how the file before looked when it was added, then a tag and a name."""


def changed_in_work_tree(folder: Path) -> frozenset[str]:
    """Return the files in a folder that are not as git last saw them, relative to it: changed, new and not ignored, or deleted.

    A file that was only touched counts, and so does one that is no older than the index: what was written while git looked may be of the same time
    and size. Whoever compares contents finds no change in these. Nothing where git cannot answer.
    """
    try:
        index = folder / os.fsdecode(
            run_git(folder, "rev-parse", "--git-path", "index").rstrip(b"\n")
        )
        listed = run_git(
            folder,
            "ls-files",
            "-z",
            "-t",
            "--cached",
            "--others",
            "--exclude-standard",
            "--debug",
            "--",
            ".",
        )
    except HistoryUnavailable:
        return frozenset()
    return frozenset(_changed(folder, listed, _written(index)))


def _written(index: Path) -> int:
    """Return when the index was written, in nanoseconds; 0 when that is not known, so that all files count as changed."""
    try:
        return index.stat().st_mtime_ns
    except OSError:
        return 0


def _changed(folder: Path, listed: bytes, written: int) -> Iterator[str]:
    before: str | None = None
    for part in [*listed.split(b"\0")[:-1], listed.rpartition(b"\0")[2] + b"H "]:
        entry = _ENTRY.fullmatch(part)
        if entry is None:  # another git prints this otherwise
            return
        if before is not None and entry["known"] is not None:
            seen = int(entry["seconds"]), int(entry["nanoseconds"]), int(entry["size"])
            if not _is_as_seen(folder / before, *seen, written):
                yield before
        name = entry["name"].decode("utf-8", "surrogateescape")
        if entry["tag"] == b"?" and not name.endswith("/"):  # a folder: another repository
            yield name
        before = name if entry["tag"] == b"H" else None


def _is_as_seen(path: Path, seconds: int, nanoseconds: int, size: int, written: int) -> bool:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    if stat.S_ISDIR(found.st_mode):  # a submodule
        return True
    whole, rest = divmod(found.st_mtime_ns, 1_000_000_000)
    if found.st_mtime_ns >= written:
        return False
    return (whole & 0xFFFFFFFF, found.st_size & 0xFFFFFFFF) == (seconds, size) and nanoseconds in {
        0,
        rest,
    }


_OPTIONS: Final = (
    "-r",
    "-z",
    "--raw",
    "--no-abbrev",
    "--diff-filter=ACMRT",
    "-l1000",
    "--ignore-submodules=all",
)
_SIMILAR: Final = "--find-renames=50%"
_EQUAL: Final = "--find-renames=100%"
"""Needs no contents, which a partial clone may not have."""
_FILES: Final = frozenset({b"100644", b"100755", b"100664"})
_NOTHING: Final = frozenset(b"0")


@dataclass(frozen=True, slots=True)
class DiffRange:
    """What is compared.

    Attributes:
        base: The commit before.
        head: The commit after; None for the work tree.
    """

    base: str
    head: str | None


@dataclass(frozen=True, slots=True)
class DiffEntry:
    """A file that is new or not as it was. Names are from the top of the work tree.

    Attributes:
        name: What it is called now.
        former: What it was called before; None for a new file.
        old: The object that holds what it was; None for a new file.
        new: The object that holds what it is; None when that is on disk.
        listed: Whether git tells of it; else the file was only touched since git last saw it, and may be as it was.
    """

    name: str
    former: str | None
    old: str | None
    new: str | None
    listed: bool = True


def parse_diff_range(repository: Repository, given: str | None) -> DiffRange:
    """Return what `BASE..HEAD`, `BASE...HEAD` (since the two parted), `BASE` or nothing (HEAD, to the work tree) means; a side left out is HEAD.

    Raises:
        HistoryUnavailable: A side names no commit, or the two have nothing in common.
    """
    text = given or "HEAD"
    separator = next((each for each in ("...", "..") if each in text), None)
    if separator is None:
        return DiffRange(repository.resolve(text), None)
    left, _, right = text.partition(separator)
    base, head = (repository.resolve(side or "HEAD") for side in (left, right))
    return DiffRange(repository.merge_base(base, head) if separator == "..." else base, head)


def diff_files(
    repository: Repository,
    blobs: GitObjects,
    span: DiffRange,
    folder: Path,
    also: Iterable[str] = (),
) -> list[DiffEntry]:
    """Return the files below a folder that differ, by name; those that are gone are left out.

    Args:
        repository: Where to look.
        blobs: Its objects.
        span: What is compared.
        folder: The project: what is elsewhere in the repository is left out.
        also: Files to be taken as changed, relative to the folder: unsaved ones. For the work tree only.

    Raises:
        HistoryUnavailable: Git cannot answer.
    """
    prefix = repository.prefix_of(folder)
    if span.head is not None:
        found = _listed(repository, ("diff-tree", "--no-commit-id"), (span.base, span.head))
    else:
        found = _since(
            repository,
            blobs,
            span.base,
            [prefix + name for name in (*changed_in_work_tree(folder), *also)],
        )
    return sorted(
        (each for each in found if each.name.startswith(prefix)), key=lambda each: each.name
    )


def _since(
    repository: Repository, blobs: GitObjects, base: str, touched: Iterable[str]
) -> list[DiffEntry]:
    """Return what differs from a commit in the index or on disk; what became of it on disk is for the reader to see."""
    staged = {each.name: each for each in _listed(repository, ("diff-index", "--cached"), (base,))}
    for name in touched:
        if name in staged:
            continue
        entry = blobs.entry(base, name)
        known = entry is not None and entry.is_file
        staged[name] = DiffEntry(
            name,
            name if known else None,
            entry.id if entry is not None and known else None,
            None,
            listed=False,
        )
    return [replace(each, new=None) for each in staged.values()]


def _listed(
    repository: Repository, command: tuple[str, ...], commits: tuple[str, ...]
) -> list[DiffEntry]:
    try:
        listed = run_git(repository.root, *command, *_OPTIONS, _SIMILAR, *commits, "--")
    except HistoryUnavailable:
        listed = run_git(repository.root, *command, *_OPTIONS, _EQUAL, *commits, "--")
    return list(_read(iter(listed.split(b"\0")[:-1])))


def _read(parts: Iterator[bytes]) -> Iterator[DiffEntry]:
    """Read `:MODE MODE OBJECT OBJECT STATUS`, a name, and for a rename or copy one more: the new one."""
    for part in parts:
        old_mode, mode, old, new, status = part.removeprefix(b":").split(b" ")
        former = next(parts).decode("utf-8", "surrogateescape")
        name = (
            next(parts).decode("utf-8", "surrogateescape") if status[:1] in {b"R", b"C"} else former
        )
        if mode not in _FILES:
            continue
        known = old_mode in _FILES
        yield DiffEntry(
            name,
            former if known else None,
            old.decode() if known else None,
            new.decode() if set(new) - _NOTHING else None,
        )
