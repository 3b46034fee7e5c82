"""A git repository: revisions, tracked and ignored files, ancestry; opening and creating one."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.process import git_lines, git_verdict, run_git
from vibes_lsp.git.repository_state import common_git_folder
from vibes_lsp.store.bounded_lines import bounded_lines
from vibes_lsp.store.files import read_file
from vibes_lsp.store.git_folders import MAX_REFS_FILE

if TYPE_CHECKING:
    from vibes_lsp.git.git_cache import GitCache

_MAX_IN_MEMORY: Final = 8 << 20
"""A file whose lines are read one by one is in memory up to this size."""


@dataclass(frozen=True)
class Repository:
    """A git work tree.

    Attributes:
        root: Its top folder.
        objects: Its objects; git starts with the first request for one.
    """

    root: Path
    objects: GitObjects = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "objects", GitObjects(self.root))

    @cached_property
    def cache(self) -> GitCache:
        """What git answered about them; in memory, unless `use_saved` is called."""
        # most commits, which wait for what is imported, ask nothing that is kept
        from vibes_lsp.git.git_cache import GitCache  # noqa: PLC0415

        return GitCache()

    def close(self) -> None:
        """End the process that reads objects, for which later requests find none."""
        self.objects.close()
        if "cache" in vars(self):
            self.cache.close()

    def head(self) -> str | None:
        """Return the commit of HEAD; None before the first commit."""
        return self.objects.head()

    def certain_head(self) -> str | None:
        """Return as `head`; None means that nothing is committed.

        Raises:
            HistoryUnavailable: Git cannot read the commit of HEAD.
        """
        head = self.head()
        if head is None:
            verdict = git_verdict(self.root, "rev-parse", "--verify", "--quiet", "HEAD")
            if verdict.succeeded or verdict.messages:
                raise HistoryUnavailable("git cannot read the commit of HEAD")
        return head

    def resolve(self, revision: str) -> str:
        """Return the full hash of the commit that a revision names, as a user writes it.

        Raises:
            HistoryUnavailable: It names none, or several refs or objects have the name, of which
                git uses one and warns; a full ref or hash is never ambiguous.
        """
        unknown = HistoryUnavailable(f"{revision!r} names no commit here", hint=_HINT)
        if _SEARCH.search(revision):
            raise unknown
        if revision == "HEAD" or _HASH.fullmatch(revision):
            commit = self.objects.commit_id("HEAD" if revision == "HEAD" else revision.lower())
            if commit is None:
                raise unknown
            return commit
        warning = ("-c", "core.warnAmbiguousRefs=true")
        options = ("--verify", "--end-of-options", f"{revision}^{{commit}}")
        verdict = git_verdict(self.root, *warning, "rev-parse", *options)
        name = _SUFFIX.split(revision, maxsplit=1)[0]
        is_exact = name in _PSEUDOREFS or name.startswith("refs/") or _HASH.fullmatch(name)
        if not is_exact and "is ambiguous" in verdict.messages:
            names = f"refs/heads/{name}, refs/tags/{name} or refs/remotes/{name}"
            raise HistoryUnavailable(f"{name!r} is ambiguous", hint=f"give a full name: {names}")
        if not verdict.succeeded:
            raise unknown
        return verdict.output.strip()

    def parent(self, commit: str) -> str | None:
        """Return the first parent of a commit; None for a first commit.

        Raises:
            HistoryUnavailable: A shallow clone lacks it.
        """
        if commit in self.shallow_boundary():
            raise HistoryUnavailable(
                f"the parent of {commit[:8]} is not in this shallow clone",
                hint="fetch more of the history, with `git fetch --deepen=1`",
            )
        return self.objects.commit_id(commit, "^")

    def commit_time(self, commit: str) -> datetime:
        """Return the committer's time of a commit.

        Raises:
            HistoryUnavailable: There is no such commit.
        """
        commit_object = self.objects.commit(commit)
        if commit_object is None:
            raise HistoryUnavailable(f"{commit!r} names no commit here", hint=_HINT)
        return commit_object.moment

    def shallow_boundary(self) -> frozenset[str]:
        """Return the commits of a shallow clone whose parents are missing.

        Git shows each as if it had added every file it has.
        """
        common = common_git_folder(self.root)
        try:
            if common is None:
                asked = run_git(self.root, "rev-parse", "--git-common-dir").rstrip(b"\n")
                common = self.root / os.fsdecode(asked)
            content = read_file(common / "shallow", limit=MAX_REFS_FILE) or b""
            return frozenset(content.decode("ascii").split())
        except (HistoryUnavailable, UnreadableFile, ValueError):
            return frozenset()

    def read_file_below(self, commit: str, folder: Path, name: str) -> bytes | None:
        """Return a file at a commit, without following symbolic links of the work tree.

        Args:
            commit: A full hash.
            folder: Absolute, inside the work tree.
            name: Relative to the folder, with forward slashes.

        Raises:
            HistoryUnavailable: Git fails.
        """
        blob = self._blob(commit, self.prefix_of(folder) + name)
        content = None if blob is None else self.objects.contents(blob)
        if content is not None or blob is None:
            return content
        return run_git(self.root, "cat-file", "blob", blob)  # it is large, damaged or missing

    def has_file_below(self, commit: str, folder: Path, name: str) -> bool:
        """Whether a commit has a file; the arguments are those of `read_file_below`."""
        return self._blob(commit, self.prefix_of(folder) + name) is not None

    def read_lines_below(self, commit: str, folder: Path, name: str) -> Iterator[bytes]:
        """Yield the lines of a file that may exceed memory; none if the commit has no such file.

        Lines are as `bounded_lines` has them; arguments and errors are those of `read_file_below`.
        """
        blob = self._blob(commit, self.prefix_of(folder) + name)
        content = None if blob is None else self.objects.contents(blob, _MAX_IN_MEMORY)
        if content is not None:
            yield from bounded_lines(io.BytesIO(content))
        elif blob is not None:
            with git_lines(self.root, "cat-file", "blob", blob) as lines:
                yield from lines

    def _blob(self, commit: str, name: str) -> str | None:
        """Return the blob of a file or symbolic link; None if the commit does not have it.

        None for an unknown commit, too.

        Raises:
            HistoryUnavailable: Git lacks one of the commit's folders.
        """
        if self.objects.commit(commit) is None:
            return None
        entry = self.objects.certain_entry(commit, name)
        return None if entry is None or entry.is_folder or entry.is_submodule else entry.id

    def relative_path(self, path: Path) -> str:
        """Return git's path for an absolute path."""
        return path.resolve().relative_to(self.root.resolve()).as_posix()

    def tracked_files(self, folder: Path) -> frozenset[str]:
        """Return the tracked files below a folder, relative to it.

        Raises:
            HistoryUnavailable: Git fails.
        """
        return _tracked(folder)

    def is_ignored(self, path: Path) -> bool:
        """Whether git ignores a path."""
        return path in self.ignored([path])

    def ignored(self, paths: Sequence[Path]) -> dict[Path, bool]:
        """Return those of some paths that git ignores.

        The value is whether every clone ignores the path: by a `.gitignore` of the work tree, not
        by a setting of this machine.

        Args:
            paths: Absolute.
        """
        options = ("--verbose", "--non-matching", "-z", "--no-index", "--stdin")
        try:
            asked = b"\0".join(map(os.fsencode, paths))
            fields = run_git(self.root, "check-ignore", *options, stdin=asked).split(b"\0")
        except (HistoryUnavailable, UnicodeEncodeError):  # none is ignored, or one cannot be asked
            if len(paths) == 1:
                return {}
            alone = [self.ignored([path]) for path in paths]
            return {path: whole for answer in alone for path, whole in answer.items()}
        rules = zip(paths, fields[0::4], fields[2::4], strict=False)
        return {
            path: _is_in_work_tree(Path(os.fsdecode(file)))
            for path, file, pattern in rules
            if pattern and not pattern.startswith(b"!")
        }

    def work_trees(self) -> list[Path]:
        """Return the top folders of all work trees of the repository, this one first.

        Raises:
            HistoryUnavailable: Git fails.
        """
        listed = run_git(self.root, "worktree", "list", "--porcelain")
        folders = [
            Path(line.removeprefix(b"worktree ").decode("utf-8", "surrogateescape"))
            for line in listed.split(b"\n")
            if line.startswith(b"worktree ")
        ]
        return [self.root, *(path for path in folders if path != self.root)]

    def prefix_of(self, folder: Path) -> str:
        """Return the prefix of git's paths below a folder: `folder/`, or nothing at the top."""
        inside = self.relative_path(folder)
        return "" if inside == "." else f"{inside}/"

    def merge_base(self, first: str, second: str) -> str:
        """Return the merge base of two commits.

        Raises:
            HistoryUnavailable: There is none, or the clone is too shallow.
        """
        try:
            return run_git(self.root, "merge-base", first, second).decode().strip()
        except HistoryUnavailable:
            message = f"{first[:8]} and {second[:8]} have no commit in common here"
            raise HistoryUnavailable(
                message, hint="deepen the clone if it is shallow: git fetch --unshallow"
            ) from None

    def is_ancestor(self, commit: str, of: str = "HEAD") -> bool:
        """Whether a commit is another one or an ancestor of it; both are hashes or `HEAD`."""
        if self.objects.commit_id(of) == commit:
            return True
        try:
            run_git(self.root, "merge-base", "--is-ancestor", commit, of)
        except HistoryUnavailable:
            return False
        return True

    def upstream_commit(self) -> str | None:
        """Return the commit of `origin`'s main branch as last fetched, else of the upstream."""
        for name in ("refs/remotes/origin/HEAD", "@{upstream}"):
            with suppress(HistoryUnavailable):
                return self.resolve(name)
        return None

    def nearest_ancestor(self, commits: Sequence[str]) -> str | None:
        """Return the first of some commits on the way back from HEAD; None if none is an ancestor.

        Args:
            commits: Hashes or unique prefixes.
        """
        wanted = [commit for commit in commits if commit]
        try:
            with git_lines(self.root, "rev-list", "HEAD") as lines:
                names = (line.decode() for line in lines)
                return next(
                    (prefix for name in names for prefix in wanted if name.startswith(prefix)), None
                )
        except HistoryUnavailable:
            return None


def is_tracked(path: Path) -> bool:
    """Whether git tracks a file, ignored or not; False outside a work tree or without git."""
    try:
        return bool(run_git(path.parent, "ls-files", "-z", "--", f":(literal){path.name}"))
    except HistoryUnavailable:
        return False


def was_committed(path: Path, moment: datetime) -> bool:
    """Whether the last commit of HEAD's history before a moment that changed a file left it there.

    False outside a work tree, without git, and before the first commit.

    Args:
        path: Absolute; its folder may be gone.
        moment: With a time zone.
    """
    folder = next((parent for parent in path.parents if parent.is_dir()), path.parent)
    name = path.relative_to(folder).as_posix()
    last = ("--max-count=1", f"--min-age={int(moment.timestamp())}")
    try:
        commit = run_git(folder, "rev-list", *last, "HEAD", "--", f":(literal){name}").decode()
        return bool(commit) and bool(run_git(folder, "ls-tree", commit.strip(), f"./{name}"))
    except HistoryUnavailable:
        return False


def tracked_names(folder: Path) -> frozenset[str]:
    """Return the names of the files in a folder that git tracks, ignored or not; else nothing."""
    try:
        return _tracked(folder)
    except HistoryUnavailable:
        return frozenset()


def _tracked(folder: Path) -> frozenset[str]:
    listed = run_git(folder, "ls-files", "-z", "--", ".")
    return frozenset(os.fsdecode(name) for name in listed.split(b"\0") if name)


def _is_in_work_tree(gitignore: Path) -> bool:
    """Whether a source of rules, as git names it, is a `.gitignore` of the work tree."""
    return gitignore.name == ".gitignore" and not gitignore.is_absolute()


def nearest_ancestor(project: Path, commits: Sequence[str]) -> str | None:
    """Return as `Repository.nearest_ancestor`; None for a project in no repository."""
    repository = open_repository(project)
    return None if repository is None else repository.nearest_ancestor(commits)


def open_repository(folder: Path) -> Repository | None:
    """Return the repository that a folder is in; None outside a work tree or without git."""
    try:
        top = run_git(folder, "rev-parse", "--show-toplevel")
    except HistoryUnavailable:
        return None
    return Repository(Path(top.decode("utf-8", "surrogateescape").rstrip("\n")))


def init_repository(folder: Path) -> None:
    """Create a repository with the branch `main` in an existing folder.

    Commit hashes do not depend on this machine's settings.

    Raises:
        HistoryUnavailable: Git is missing or refuses.
    """
    run_git(
        folder, "init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1"
    )


_SUFFIX: Final = re.compile(r"[~^]|@\{")
_SEARCH: Final = re.compile(r":|\{/")
"""Syntax for a search by commit message or path: authors of commits could choose the result."""
_PSEUDOREFS: Final = frozenset(
    {
        "",
        "@",
        "HEAD",
        "FETCH_HEAD",
        "ORIG_HEAD",
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "REBASE_HEAD",
        "REVERT_HEAD",
    }
)
"""Refs that git itself writes: they win over all other refs, and no push creates them."""
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
_HINT: Final = "give a branch, a tag or a commit; a shallow clone may lack it"
