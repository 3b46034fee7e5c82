"""The index that a commit is made from, and files that git could not merge (R4, R13)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import literal_pathspec, run_git
from vibes_lsp.history.repository import Repository, open_repository


@dataclass(frozen=True, slots=True)
class UnmergedFile:
    """A file in conflict.

    Attributes:
        mode: What git has it as, such as `100644`.
        stages: Its versions by git's numbers: 1 the common one, 2 ours, 3 theirs; a side that removed it has none.
    """

    mode: str
    stages: dict[int, bytes] = field(default_factory=dict)


def unmerged_files(folder: Path) -> dict[str, UnmergedFile]:
    """Return what is in conflict below a folder, by its name there.

    Raises:
        HistoryUnavailable: Git does not answer.
    """
    found: dict[str, UnmergedFile] = {}
    for line in run_git(folder, "ls-files", "--unmerged", "-z", "--", ".").split(b"\0"):
        if not line:
            continue
        facts, _, name = line.partition(b"\t")
        mode, blob, stage = facts.decode("ascii").split(" ")
        file = found.setdefault(os.fsdecode(name), UnmergedFile(mode))
        file.stages[int(stage)] = run_git(folder, "cat-file", "blob", blob)
    return found


def mark_resolved(repository: Repository, path: Path, mode: str) -> None:
    """Put a file into the index as it is on disk, so that it is in conflict no more; no filter of the repository's settings runs.

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
        repository.name_of(path),
    )


def merge_base(repository: Repository, commit: str) -> str | None:
    """Return where HEAD and a commit part; None where they have nothing in common, or there is no HEAD.

    Args:
        repository: Where.
        commit: A whole hash.
    """
    head = repository.head()
    if head is None:
        return None
    try:
        return run_git(repository.root, "merge-base", head, commit).decode("ascii").strip()
    except HistoryUnavailable:
        return None


_PARTIAL: Final = "next-index-"
"""How git calls the index of a commit of some paths only."""
_AT_ONCE: Final = 200
_STAGED: Final = (
    "--cached",
    "--name-only",
    "-z",
    "--no-renames",
    "--ignore-submodules=none",
    "--ita-invisible-in-index",
)
"""What `git commit` itself counts as staged, whatever the settings say."""


@dataclass(frozen=True, slots=True)
class CommitIndex:
    """What will be committed.

    Attributes:
        repository: Where.
        git_dir: Its own files; for a linked work tree those of the work tree.
        paths: The index of the commit; and the one that will be the repository's, if that is another.
    """

    repository: Repository
    git_dir: Path
    paths: tuple[Path, ...]

    @property
    def is_rebasing(self) -> bool:
        """Whether history is being rewritten at this moment."""
        return any((self.git_dir / name).exists() for name in ("rebase-merge", "rebase-apply"))

    def is_empty(self) -> bool:
        """Whether git may refuse the commit because it changes nothing: then nothing must be written for it.

        A hook runs before git looks for changes, and is not told of `--amend` or `--allow-empty`. So an index that equals HEAD, or the
        parent that an amended HEAD has, counts as one that changes nothing. A merge is committed in any case.

        Raises:
            HistoryUnavailable: Git cannot say.
        """
        if (self.git_dir / "MERGE_HEAD").exists():
            return False
        return not self.changed() or (
            self.repository.has_commit("HEAD^") and not self._differing("HEAD^")
        )

    def changed(self) -> list[str]:
        """Return the names, from the top of the work tree, of the files that the commit changes.

        Raises:
            HistoryUnavailable: Git cannot say.
        """
        if self.repository.head() is None:
            return _names(run_git(self.repository.root, "ls-files", "-z", index=self.paths[0]))
        return self._differing("HEAD")

    def _differing(self, revision: str) -> list[str]:
        return _names(
            run_git(
                self.repository.root, "diff-index", *_STAGED, revision, "--", index=self.paths[0]
            )
        )

    def stage(self, changed: Iterable[Path], new: Iterable[Path] = ()) -> list[str]:
        """Stage files as they are on disk, and return the names of those that the commit got in another form than it had.

        Ignored files are left out unless they are tracked; a file with a filter is left out, for no program that a repository
        names is run.

        Args:
            changed: Absolute paths of files that are staged.
            new: Likewise, of files that are staged only if they were never added: what is changed in them is for their owner to add.

        Raises:
            HistoryUnavailable: Git refuses.
        """
        always = self._existing(changed)
        once = self._existing(new)
        before = self._entries([*always, *once])
        wanted = [*always, *(name for name in once if name not in before)]
        known = before.keys() | self._untracked([name for name in wanted if name not in before])
        filtered = self._filtered(wanted)
        wanted = [name for name in wanted if name in known and name not in filtered]
        for some in _some(wanted):
            for index in self.paths:
                run_git(self.repository.root, "update-index", "--add", "--", *some, index=index)
        after = self._entries(wanted)
        return [name for name in wanted if after.get(name) != before.get(name)]

    def differs_from_head(self, path: Path) -> bool:
        """Whether the commit changes a file already.

        Raises:
            HistoryUnavailable: Git cannot say.
        """
        return self.repository.name_of(path) in self.changed()

    def _existing(self, paths: Iterable[Path]) -> list[str]:
        return [
            self.repository.name_of(path.parent / path.name)
            for path in paths
            if path.is_file() and not path.is_symlink()
        ]

    def _entries(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return mode and object of those of some files that the commit has."""
        found: dict[str, bytes] = {}
        for some in _some(names):
            listed = run_git(
                self.repository.root,
                "ls-files",
                "-s",
                "-z",
                "--",
                *map(literal_pathspec, some),
                index=self.paths[0],
            )
            for line in listed.split(b"\0")[:-1]:
                entry, _, name = line.partition(b"\t")
                found[name.decode("utf-8", "surrogateescape")] = entry
        return found

    def _filtered(self, names: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for some in _some(names):
            told = run_git(self.repository.root, "check-attr", "-z", "filter", "--", *some).split(
                b"\0"
            )
            values = zip(told[0::3], told[2::3], strict=False)
            found.update(
                name.decode("utf-8", "surrogateescape")
                for name, value in values
                if value not in {b"unspecified", b"unset"}
            )
        return found

    def _untracked(self, names: Sequence[str]) -> set[str]:
        """Return those of some files that are neither tracked nor ignored."""
        found: set[str] = set()
        for some in _some(names):
            options = ("--others", "--exclude-standard", "-z", "--")
            found.update(
                _names(
                    run_git(
                        self.repository.root,
                        "ls-files",
                        *options,
                        *map(literal_pathspec, some),
                        index=self.paths[0],
                    )
                )
            )
        return found


def open_commit_index(folder: Path, environment: Mapping[str, str]) -> CommitIndex | None:
    """Return the index that a commit is made from; None outside a work tree.

    Args:
        folder: Where git runs its hook: the top of the work tree.
        environment: The hook's: `GIT_DIR` and `GIT_INDEX_FILE` say what is committed.

    Raises:
        HistoryUnavailable: It is made in another repository than the one that the folder is in.
    """
    repository = open_repository(folder)
    if repository is None:
        return None
    git_dir = Path(os.fsdecode(run_git(folder, "rev-parse", "--absolute-git-dir").rstrip(b"\n")))
    told = environment.get("GIT_DIR")
    if told and (folder / told).resolve() != git_dir.resolve():
        raise HistoryUnavailable(
            f"the commit is made in {told}, which is not the repository of {folder}"
        )
    index = folder / (environment.get("GIT_INDEX_FILE") or git_dir / "index")
    waiting = index.with_name("index.lock")
    is_partial = index.name.startswith(_PARTIAL) and waiting.is_file()
    return CommitIndex(repository, git_dir, (index, waiting) if is_partial else (index,))


def _names(listed: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name]


def _some(names: Sequence[str]) -> Iterator[list[str]]:
    """Give the names in portions that fit on a command line; none when there are none."""
    pending = iter(names)
    while some := list(islice(pending, _AT_ONCE)):
        yield some


_PLAIN: Final = ("-c", "core.autocrlf=false", "-c", "core.fileMode=false", "-c", "gc.auto=0")


@dataclass(frozen=True, slots=True)
class CommitAuthor:
    """Who commits."""

    name: str
    address: str


def stage_all(folder: Path) -> None:
    """Stage the whole work tree.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    run_git(folder, *_PLAIN, "add", "--all")


def create_commit(
    folder: Path, message: str, author: CommitAuthor, moment: datetime, *, amend: bool = False
) -> None:
    """Commit what is staged; no hook runs.

    Args:
        folder: The work tree.
        message: What is said of it.
        author: Who made and committed it.
        moment: When.
        amend: Whether it takes the place of the last one.

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
    run_git(folder, *_PLAIN, "commit", *options, environment=who)
