"""Files that differ between two commits, or between a commit and the work tree (`vibes diff`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.objects import TreeEntry
from vibes_lsp.git.process import literal_pathspec, run_git, without_filters
from vibes_lsp.git.renames import BY_HASH, BY_SIMILARITY
from vibes_lsp.git.repository import Repository


def changed_in_work_tree(folder: Path) -> frozenset[str]:
    """Return the files in a folder that differ from the index, relative to the folder.

    These are changed, deleted, and new files that are not ignored, and perhaps some that are the
    same: callers compare contents. No filter runs. Empty if git fails.
    """
    try:
        return _differing(folder, "diff-files")
    except HistoryUnavailable:
        return frozenset()


def changed_since(folder: Path, commit: str) -> frozenset[str]:
    """Return the files in a folder that differ from a commit, as `changed_in_work_tree` does.

    Args:
        folder: The folder.
        commit: A full hash.

    Raises:
        HistoryUnavailable: Git fails.
    """
    return _differing(folder, "diff-index", commit)


def _differing(folder: Path, *command: str) -> frozenset[str]:
    options = ("--name-only", "-z", "--relative", "--no-renames", "--ignore-submodules=all")
    listed = run_git(
        folder,
        "-c",
        "core.checkStat=minimal",
        *command[:1],
        *options,
        "-O/dev/null",
        *command[1:],
        environment=without_filters(folder),
    )
    return frozenset(map(os.fsdecode, listed.split(b"\0")[:-1])) | untracked_files(folder)


def untracked_files(folder: Path) -> frozenset[str]:
    """Return the files in a folder that git neither tracks nor ignores, relative to the folder.

    Raises:
        HistoryUnavailable: Git fails.
    """
    listed = run_git(folder, "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
    names = (os.fsdecode(name) for name in listed.split(b"\0")[:-1])
    return frozenset(name for name in names if not name.endswith("/"))  # a nested repository


_OPTIONS: Final = (
    "-r",
    "-z",
    "--raw",
    "--no-abbrev",
    "--diff-filter=ACMRT",
    "-l1000",
    "--ignore-submodules=all",
)
_STAGED: Final = ("diff-index", "--cached", "--ita-invisible-in-index")
_EMPTY_TREES: Final = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The hash of the empty tree, by the length of a repository's hashes."""


@dataclass(frozen=True, slots=True)
class DiffRange:
    """What to compare.

    Attributes:
        base: The older commit; the empty tree for what a first commit introduced.
        head: The newer commit; None for the work tree or the index.
        is_staged: Whether the newer side is the index: what a commit would contain.
    """

    base: str
    head: str | None
    is_staged: bool = False


@dataclass(frozen=True, slots=True)
class DiffEntry:
    """A file that is new or changed. Paths are from the top of the work tree.

    Attributes:
        name: Its path.
        old_name: Its path before; None for a new file.
        old: The blob before; None for a new file.
        new: The blob now; None if the content is on disk.
        is_reported: Whether git reports a change; else only its `stat` changed, and the content may
            be the same.
    """

    name: str
    old_name: str | None
    old: str | None
    new: str | None
    is_reported: bool = True


def parse_diff_range(repository: Repository, expression: str | None) -> DiffRange:
    """Parse `BASE..HEAD`, `BASE...HEAD`, `REV^!`, `BASE` or None (HEAD against the work tree).

    A side left out is HEAD. Three dots start at the merge base. `REV^!` is what one commit changed
    since its first parent.

    Raises:
        HistoryUnavailable: A side names no commit, or the two have no merge base.
    """
    text = expression or "HEAD"
    if text.endswith("^!"):
        head = repository.resolve(text.removesuffix("^!") or "HEAD")
        return DiffRange(repository.parent(head) or _EMPTY_TREES[len(head)], head)
    separator = next((dots for dots in ("...", "..") if dots in text), None)
    if separator is None:
        return DiffRange(repository.resolve(text), None)
    left, _, right = text.partition(separator)
    base, head = (repository.resolve(side or "HEAD") for side in (left, right))
    return DiffRange(repository.merge_base(base, head) if separator == "..." else base, head)


def diff_files(
    repository: Repository,
    span: DiffRange,
    folder: Path,
    also: Iterable[str] = (),
) -> list[DiffEntry]:
    """Return the files below a folder that differ, by path; deleted files are left out.

    Args:
        repository: The repository.
        span: What to compare.
        folder: The project; files outside it are left out.
        also: Unsaved files, which count as changed, relative to the folder. Only for the work tree.

    Raises:
        HistoryUnavailable: Git fails.
    """
    prefix = repository.prefix_of(folder)
    if span.head is not None:
        files = _listed(repository, ("diff-tree", "--no-commit-id"), (span.base, span.head))
    elif span.is_staged:
        files = _listed(repository, _STAGED, (span.base,))
    else:
        files = _since(
            repository,
            span.base,
            [prefix + name for name in (*changed_in_work_tree(folder), *also)],
        )
    return sorted(
        (file for file in files if file.name.startswith(prefix)), key=lambda file: file.name
    )


def _since(repository: Repository, base: str, touched: Iterable[str]) -> list[DiffEntry]:
    """Return the files that differ from a commit in the index or in the work tree."""
    staged = {file.name: file for file in _listed(repository, ("diff-index", "--cached"), (base,))}
    for name in touched:
        if name in staged:
            continue
        entry = repository.objects.certain_entry(base, name)
        known = entry is not None and entry.is_file
        staged[name] = DiffEntry(
            name,
            name if known else None,
            entry.id if entry is not None and known else None,
            None,
            is_reported=False,
        )
    return [replace(file, new=None) for file in staged.values()]


class TreeChange(NamedTuple):
    """What differs at a path between two trees, or between a tree and an index.

    Attributes:
        name: The path, from the top of the work tree.
        old_name: The path in the older tree; another one for a file that was renamed or copied.
        before: The entry of the older tree; None if it has no file there.
        now: The entry of the newer tree; None if it has no file there.
    """

    name: str
    old_name: str
    before: TreeEntry | None
    now: TreeEntry | None


def read_changes(listed: bytes) -> Iterator[TreeChange]:
    """Yield what `git diff-tree -z --raw` and `git diff-index -z --raw` list.

    That is `:MODE MODE OBJECT OBJECT STATUS`, a path, and after a rename or copy the new path.
    """
    parts = iter(listed.split(b"\0")[:-1])
    for part in parts:
        old_mode, mode, old, new, status = part.decode("ascii").removeprefix(":").split(" ")
        old_name = name = next(parts).decode("utf-8", "surrogateescape")
        if status[0] in "RC":
            name = next(parts).decode("utf-8", "surrogateescape")
        yield TreeChange(name, old_name, _entry(old_mode, old), _entry(mode, new))


def tree_changes(
    repository: Repository, base: str | None, head: str, folder: Path
) -> dict[str, TreeChange]:
    """Return what differs below a folder between two commits, by path relative to it.

    Entries are as git stores them, not as checkout wrote them. Folders are left out.

    Args:
        repository: The repository.
        base: The older commit, a full hash; None for all that the newer one has.
        head: The newer commit, a full hash.
        folder: Absolute, inside the work tree.

    Raises:
        HistoryUnavailable: Git fails.
    """
    prefix = repository.prefix_of(folder)
    listed = run_git(
        repository.root,
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--ignore-submodules=none",
        base or _EMPTY_TREES[len(head)],
        head,
        "--",
        *([literal_pathspec(prefix.rstrip("/"))] if prefix else ()),
    )
    return {
        change.name[len(prefix) :]: change
        for change in read_changes(listed)
        if change.name.startswith(prefix)
    }


def _entry(mode: str, identifier: str) -> TreeEntry | None:
    return TreeEntry(mode, identifier) if mode.strip("0") else None


def _listed(
    repository: Repository, command: tuple[str, ...], commits: tuple[str, ...]
) -> list[DiffEntry]:
    try:
        listed = run_git(repository.root, *command, *_OPTIONS, BY_SIMILARITY, *commits, "--")
    except HistoryUnavailable:
        listed = run_git(repository.root, *command, *_OPTIONS, BY_HASH, *commits, "--")
    entries: list[DiffEntry] = []
    for name, old_name, before, now in read_changes(listed):
        if now is not None and now.is_file:
            new = now.id if now.id.strip("0") else None
            is_known = before is not None and before.is_file
            old = before.id if before is not None and is_known else None
            entries.append(DiffEntry(name, old_name if is_known else None, old, new))
    return entries
