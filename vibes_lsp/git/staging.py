"""Git's index: the commit being made, merge conflicts, staging and committing (R4, R13)."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.attribute_files import NOT_SET, attribute_values
from vibes_lsp.git.diff import read_changes
from vibes_lsp.git.process import literal_pathspec, run_git, without_filters
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.store.files import read_file
from vibes_lsp.store.git_folders import git_folders


@dataclass(frozen=True, slots=True)
class UnmergedFile:
    """A file in conflict.

    Attributes:
        mode: Its mode in the index, such as `100644`.
        stages: Its versions by stage: 1 base, 2 ours, 3 theirs. A side that removed it has none.
    """

    mode: str
    stages: dict[int, bytes] = field(default_factory=dict)


def staged_entries(root: Path, names: Sequence[str], index: Path | None = None) -> dict[str, str]:
    """Return `MODE HASH` of those of some files that an index has; not of files in conflict.

    Args:
        root: The top of the work tree.
        names: Paths from there; as many as fit on a command line.
        index: The index; None for the repository's own.

    Raises:
        HistoryUnavailable: Git fails.
    """
    specs = map(literal_pathspec, names)
    return _entries(run_git(root, "ls-files", "-s", "-z", "--", *specs, index=index))


def _entries(listed: bytes) -> dict[str, str]:
    """Return `MODE HASH` of the files that `git ls-files -s -z` lists, conflicts left out."""
    entries: dict[str, str] = {}
    for line in listed.split(b"\0")[:-1]:
        entry, _, name = line.partition(b"\t")
        mode, blob, stage = entry.decode("ascii").split(" ")
        if stage == "0":
            entries[name.decode("utf-8", "surrogateescape")] = f"{mode} {blob}"
    return entries


def unmerged_files(folder: Path) -> dict[str, UnmergedFile]:
    """Return the files in conflict below a folder, by path relative to it.

    Raises:
        HistoryUnavailable: Git fails.
    """
    files: dict[str, UnmergedFile] = {}
    for line in run_git(folder, "ls-files", "--unmerged", "-z", "--", ".").split(b"\0"):
        if not line:
            continue
        metadata, _, name = line.partition(b"\t")
        mode, blob, stage = metadata.decode("ascii").split(" ")
        file = files.setdefault(os.fsdecode(name), UnmergedFile(mode))
        file.stages[int(stage)] = run_git(folder, "cat-file", "blob", blob)
    return files


def mark_resolved(repository: Repository, path: Path, mode: str) -> None:
    """Stage a file as it is on disk, which ends its conflict; no configured filter runs.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    blob = (
        run_git(repository.root, "hash-object", "-w", "--no-filters", "--", str(path))
        .decode("ascii")
        .strip()
    )
    run_git(
        repository.root,
        "update-index",
        "--add",
        "--cacheinfo",
        mode,
        blob,
        repository.relative_path(path),
        environment=without_filters(repository.root),
    )


_PARTIAL: Final = "next-index-"
"""Start of the name of git's temporary index for a commit of some paths only."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256: Final = 64
"""Digits of the hashes of a repository that uses SHA-256."""
_BATCH: Final = 200
_STAGED: Final = (
    "--cached",
    "--raw",
    "--no-abbrev",
    "-z",
    "--no-renames",
    "--ignore-submodules=none",
    "--ita-invisible-in-index",
)
"""Options that count as staged what `git commit` itself does, independent of settings."""


@dataclass(frozen=True, slots=True)
class CommitIndex:
    """The index of the commit that git is making.

    Attributes:
        repository: The repository.
        git_dir: The git directory; of a linked work tree its own.
        index_files: The commit's index, and the repository's next one if that is another file.
        variables: Those with which git writes an index; see `git.without_filters`. Where git itself
            makes the commit, it has run the filters that a person uses.
    """

    repository: Repository
    git_dir: Path
    index_files: tuple[Path, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_rebasing(self) -> bool:
        """Whether a rebase is in progress."""
        return any((self.git_dir / name).exists() for name in ("rebase-merge", "rebase-apply"))

    @property
    def is_sequencing(self) -> bool:
        """Whether git makes this commit as one of several, and goes on with the index it has read.

        It would stop with *your local changes would be overwritten* if a hook changed the index.
        A rebase that waits for a person has `stopped-sha`; then the commit is that person's.
        """
        rebase = self.git_dir / "rebase-merge"
        return (self.git_dir / "sequencer").exists() or (
            rebase.exists() and not (rebase / "stopped-sha").exists()
        )

    def parents(self) -> list[str]:
        """Return the parents of the commit, as far as a hook can know them; not of an amend.

        Raises:
            HistoryUnavailable: Git fails.
        """
        head = self.repository.head()
        merged = read_file(self.git_dir / "MERGE_HEAD") or b""
        names = [line.decode("ascii", "replace") for line in merged.split()]
        return [] if head is None else [head, *filter(_COMMIT.fullmatch, names)]

    def write_tree(self) -> str:
        """Return the hash of the tree that the commit has if nothing more is staged.

        Raises:
            HistoryUnavailable: Git refuses.
        """
        written = run_git(self.repository.root, "write-tree", index=self.index_files[0])
        return written.decode("ascii").strip()

    @property
    def is_merging(self) -> bool:
        """Whether the commit concludes a merge."""
        return (self.git_dir / "MERGE_HEAD").exists()

    def may_be_empty(self, changed: Mapping[str, str]) -> bool:
        """Whether git may refuse the commit as empty; then nothing must be written for it.

        A hook runs before git looks for changes and does not see `--amend` or `--allow-empty`. So
        an index that equals HEAD counts as empty, and so does one that equals HEAD's parent. A
        merge never does.

        Args:
            changed: What `changed_files` returns.

        Raises:
            HistoryUnavailable: Git fails.
        """
        if self.is_merging:
            return False
        if not changed:
            return True
        objects = self.repository.objects
        commit = objects.commit(self.repository.head() or "")
        if commit is None or not commit.parents:
            return False
        parent = commit.parents[0]
        for name, entry in changed.items():
            before = objects.entry(parent, name)
            if entry != ("" if before is None else f"{before.mode} {before.id}"):
                return False
        return objects.commit(parent) is not None and not self._differing(parent)

    def changed_files(self) -> dict[str, str]:
        """Return `MODE HASH` of the files that the commit changes, empty for one that it removes.

        Paths are from the top of the work tree.

        Raises:
            HistoryUnavailable: Git fails.
        """
        head = self.repository.head()
        if head is not None:
            return self._differing(head)
        listed = run_git(self.repository.root, "ls-files", "-s", "-z", index=self.index_files[0])
        return _entries(listed)

    def _differing(self, commit: str) -> dict[str, str]:
        """Return `MODE HASH` of the files that differ from a commit's, by path."""
        index = self.index_files[0]
        listed = run_git(self.repository.root, "diff-index", *_STAGED, commit, "--", index=index)
        return {
            name: "" if now is None else f"{now.mode} {now.id}"
            for name, _, _, now in read_changes(listed)
        }

    def stage(
        self, changed: Iterable[Path], new: Iterable[Path] = ()
    ) -> dict[str, tuple[str, str]]:
        """Stage files as they are on disk; return what the commit had and has, where that differs.

        Both are `MODE HASH`, or empty where the commit had no such file.

        Ignored files are left out unless they are tracked. Files with a filter are left out: no
        program that a repository configures is run.

        Args:
            changed: Absolute paths of files to stage.
            new: Files to stage only if they are not tracked yet: changes in them are their owner's
                to stage.

        Raises:
            HistoryUnavailable: Git refuses.
        """
        always = self._existing(changed)
        once = self._existing(new)
        before = self.entries([*always, *once])
        wanted = [*always, *(name for name in once if name not in before)]
        wanted = [name for name in wanted if not self._has(name, before.get(name, ""))]
        if not wanted:
            return {}
        known = before.keys() | self._untracked([name for name in wanted if name not in before])
        filtered = self.filtered(wanted)
        wanted = [name for name in wanted if name in known and name not in filtered]
        for batch in _batches(wanted):
            for index in self.index_files:
                run_git(
                    self.repository.root,
                    "update-index",
                    "--add",
                    "--",
                    *batch,
                    index=index,
                    environment=self.variables,
                )
        after = self.entries(wanted)
        return {
            name: (before.get(name, ""), after.get(name, ""))
            for name in wanted
            if after.get(name) != before.get(name)
        }

    def _has(self, name: str, entry: str) -> bool:
        """Whether an entry of an index has a file's bytes as they are on disk."""
        blob = entry.rpartition(" ")[2]
        algorithm = hashlib.sha256 if len(blob) == _SHA256 else hashlib.sha1
        content = read_file(self.repository.root / name) if blob else None
        return (
            content is not None
            and algorithm(b"blob %d\0" % len(content) + content).hexdigest() == blob
        )

    def _existing(self, paths: Iterable[Path]) -> list[str]:
        return [
            self.repository.relative_path(path.parent / path.name)
            for path in paths
            if path.is_file() and not path.is_symlink()
        ]

    def entries(self, names: Sequence[str]) -> dict[str, str]:
        """Return `MODE HASH` of those of some files that the commit has.

        Args:
            names: Paths from the top of the work tree.

        Raises:
            HistoryUnavailable: Git fails.
        """
        entries: dict[str, str] = {}
        for batch in _batches(names):
            entries |= staged_entries(self.repository.root, batch, self.index_files[0])
        return entries

    def filtered(self, names: Sequence[str]) -> set[str]:
        """Return the files that have a filter, by their paths from the top of the work tree.

        Raises:
            HistoryUnavailable: Git fails.
        """
        values = attribute_values(self.repository.root, names, "filter")
        return {name for name, value in values.items() if value["filter"] not in NOT_SET}

    def _untracked(self, names: Sequence[str]) -> set[str]:
        """Return the files that are neither tracked nor ignored."""
        untracked: set[str] = set()
        for batch in _batches(names):
            options = ("--others", "--exclude-standard", "-z", "--")
            untracked.update(
                _names(
                    run_git(
                        self.repository.root,
                        "ls-files",
                        *options,
                        *map(literal_pathspec, batch),
                        index=self.index_files[0],
                    )
                )
            )
        return untracked


def open_commit_index(folder: Path, environment: Mapping[str, str]) -> CommitIndex | None:
    """Return the index of the commit that git is making; None outside a work tree.

    Args:
        folder: Where git runs the hook: the top of the work tree.
        environment: The hook's environment, with `GIT_DIR` and `GIT_INDEX_FILE`.

    Raises:
        HistoryUnavailable: The commit belongs to another repository than the folder.
    """
    repository = open_repository(folder)
    if repository is None:
        return None
    git_dir, _ = git_folders(repository.root / ".git")
    expected = environment.get("GIT_DIR")
    if expected and (folder / expected).resolve() != git_dir.resolve():
        raise HistoryUnavailable(f"GIT_DIR is {expected}, which is not the repository of {folder}")
    index = folder / (environment.get("GIT_INDEX_FILE") or git_dir / "index")
    next_index = index.with_name("index.lock")
    is_partial = index.name.startswith(_PARTIAL) and next_index.is_file()
    return CommitIndex(repository, git_dir, (index, next_index) if is_partial else (index,))


def _names(listed: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name]


def _batches(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield paths in batches that fit on a command line; none for no paths."""
    pending = iter(names)
    while batch := list(islice(pending, _BATCH)):
        yield batch


def commit_files(repository: Repository, files: Sequence[Path], message: str) -> bool:
    """Commit some files as they are on disk and nothing else, without hooks.

    Args:
        repository: The repository.
        files: Absolute paths; those that git ignores or would filter are left out.
        message: The commit message.

    Returns:
        Whether there was anything to commit.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    git_dir, _ = git_folders(repository.root / ".git")
    variables = without_filters(repository.root)
    index = CommitIndex(repository, git_dir, (git_dir / "index",), variables)
    index.stage(files)
    names = sorted(set(index.changed_files()) & {repository.relative_path(file) for file in files})
    if not names:
        return False
    options = ("--quiet", "--no-verify", "--no-gpg-sign", "--message", message, "--only")
    run_git(
        repository.root,
        "commit",
        *options,
        "--",
        *map(literal_pathspec, names),
        environment=variables,
    )
    return True


_DEFAULTS: Final = ("-c", "core.autocrlf=false", "-c", "core.fileMode=false", "-c", "gc.auto=0")


@dataclass(frozen=True, slots=True)
class CommitAuthor:
    """An author who is also the committer."""

    name: str
    address: str


def stage_all(folder: Path) -> None:
    """Stage the whole work tree.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    run_git(folder, *_DEFAULTS, "add", "--all")


def create_commit(
    folder: Path, message: str, author: CommitAuthor, moment: datetime, *, amend: bool = False
) -> None:
    """Commit what is staged, without hooks; the hash is the same on every machine.

    Args:
        folder: The work tree.
        message: The commit message.
        author: Author and committer.
        moment: Author and committer date.
        amend: Whether to replace the last commit.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    when = moment.isoformat()
    who = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.address,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": author.name,
        "GIT_COMMITTER_EMAIL": author.address,
        "GIT_COMMITTER_DATE": when,
    }
    options = (
        "--quiet",
        "--no-gpg-sign",
        "--no-verify",
        "--message",
        message,
        *(("--amend", "--reset-author") if amend else ()),
    )
    run_git(folder, *_DEFAULTS, "commit", *options, environment=who)
