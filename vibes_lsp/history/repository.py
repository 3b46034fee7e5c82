"""What a repository holds: its revisions, files at a revision, the order of ancestors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import git_lines, run_git


@dataclass(frozen=True, slots=True)
class Repository:
    """A git work tree.

    Attributes:
        root: Its top folder.
    """

    root: Path

    def head(self) -> str | None:
        """Return the commit of HEAD; None before the first commit."""
        try:
            return self.resolve("HEAD")
        except HistoryUnavailable:
            return None

    def resolve(self, revision: str) -> str:
        """Return the whole hash of the commit that a revision names.

        Raises:
            HistoryUnavailable: It names none, or git would have to choose between several.
        """
        return resolve_commit(self.root, revision)

    def has_commit(self, revision: str) -> bool:
        """Whether a revision names a commit that is here."""
        try:
            self.resolve(revision)
        except HistoryUnavailable:
            return False
        return True

    def commit_time(self, commit: str) -> datetime:
        """Return the committer's time of a commit.

        Raises:
            HistoryUnavailable: There is no such commit.
        """
        seconds = run_git(
            self.root,
            "show",
            "-s",
            "--no-show-signature",
            "--format=%ct",
            "--end-of-options",
            commit,
        )
        return parse_seconds(seconds)

    def boundary(self) -> frozenset[str]:
        """Return the commits of a shallow clone whose parents were left out: each seems to bring every file that it has."""
        file = self.shallow_file()
        return read_shallow_file(file) if file is not None else frozenset()

    def shallow_file(self) -> Path | None:
        """Return the file that would list the commits of `boundary`; None where git cannot answer."""
        try:
            return self.root / os.fsdecode(
                run_git(self.root, "rev-parse", "--git-path", "shallow").rstrip(b"\n")
            )
        except HistoryUnavailable:
            return None

    def read(self, commit: str, path: Path) -> bytes | None:
        """Return a file as it was at a commit; None when it was not there.

        Args:
            commit: A whole hash.
            path: Absolute, inside the work tree.

        Raises:
            HistoryUnavailable: Git cannot be run.
        """
        return self._blob(commit, self.name_of(path))

    def read_below(self, commit: str, folder: Path, name: str) -> bytes | None:
        """Return a file as it was at a commit, whatever has that name on disk now: no link there leads elsewhere.

        Args:
            commit: A whole hash.
            folder: Absolute, inside the work tree.
            name: Relative to the folder, forward slashes.

        Raises:
            HistoryUnavailable: Git cannot be run.
        """
        return self._blob(commit, self.prefix_of(folder) + name)

    def _blob(self, commit: str, name: str) -> bytes | None:
        try:
            kind = run_git(self.root, "cat-file", "-t", f"{commit}:{name}").strip()
        except HistoryUnavailable:
            return None
        return (
            run_git(self.root, "cat-file", "blob", f"{commit}:{name}") if kind == b"blob" else None
        )

    def name_of(self, path: Path) -> str:
        """Return the name that git has for an absolute path."""
        return path.resolve().relative_to(self.root.resolve()).as_posix()

    def tracked(self, folder: Path) -> frozenset[str]:
        """Return the names of the tracked files below a folder, relative to it.

        Raises:
            HistoryUnavailable: Git cannot be run.
        """
        listed = run_git(folder, "ls-files", "-z", "--", ".")
        return frozenset(
            name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name
        )

    def is_ignored(self, path: Path) -> bool:
        """Whether git ignores a path."""
        try:
            run_git(self.root, "check-ignore", "--quiet", "--no-index", "--", str(path))
        except HistoryUnavailable:
            return False
        return True

    def is_ignored_in_every_clone(self, path: Path) -> bool:
        """Whether git ignores a path in every clone: by a `.gitignore` of the work tree, not by settings of this machine."""
        try:
            told = run_git(self.root, "check-ignore", "--verbose", "--no-index", "--", str(path))
        except HistoryUnavailable:
            return False
        rule = told.partition(b"\n")[0].rpartition(b"\t")[0]
        line = _RULE_LINE.search(rule)
        if line is None:
            return False
        file = Path(os.fsdecode(rule[: line.start()].strip(b'"')))
        return (
            not rule.startswith(b"!", line.end())
            and file.name == ".gitignore"
            and not file.is_absolute()
        )

    def attributes(self, path: Path, names: Iterable[str]) -> dict[str, str]:
        """Return the values that git's attributes have for a file.

        Raises:
            HistoryUnavailable: Git cannot be run.
        """
        told = run_git(self.root, "check-attr", "-z", *names, "--", str(path)).split(b"\0")
        pairs = zip(told[1::3], told[2::3], strict=False)
        return {name.decode(): value.decode("utf-8", "replace") for name, value in pairs}

    def prefix_of(self, folder: Path) -> str:
        """Return what the names of the files below a folder begin with: the folder's name and a slash, or nothing at the top."""
        inside = self.name_of(folder)
        return "" if inside == "." else f"{inside}/"

    def merge_base(self, one: str, other: str) -> str:
        """Return the commit at which two commits parted.

        Raises:
            HistoryUnavailable: They have nothing in common, or the clone is too shallow to know.
        """
        try:
            return run_git(self.root, "merge-base", one, other).decode().strip()
        except HistoryUnavailable:
            message = f"{one[:12]} and {other[:12]} have no commit in common here"
            raise HistoryUnavailable(
                message, hint="a shallow clone may have to be deepened"
            ) from None

    def is_ancestor(self, commit: str, of: str = "HEAD") -> bool:
        """Whether a commit is another one or an ancestor of it."""
        try:
            run_git(self.root, "merge-base", "--is-ancestor", commit, of)
        except HistoryUnavailable:
            return False
        return True

    def upstream_commit(self) -> str | None:
        """Return the commit that the branch others build on has, as far as is known here: `origin`'s main branch, else this one's upstream."""
        for name in ("refs/remotes/origin/HEAD", "@{upstream}"):
            with suppress(HistoryUnavailable):
                return self.resolve(name)
        return None

    def nearest_ancestor(self, commits: Sequence[str]) -> str | None:
        """Return which of some commits comes first when walking back from HEAD; None when none is an ancestor.

        Args:
            commits: Hashes or unique prefixes of hashes.
        """
        wanted = [commit for commit in commits if commit]
        try:
            with git_lines(self.root, "rev-list", "HEAD") as lines:
                for line in lines:
                    commit = line.decode().strip()
                    found = next((each for each in wanted if commit.startswith(each)), None)
                    if found is not None:
                        return found
        except HistoryUnavailable:
            return None
        return None


def read_shallow_file(file: Path) -> frozenset[str]:
    """Return what a repository's `shallow_file` lists: nothing when it is not there, as in a whole clone."""
    try:
        return frozenset(file.read_text("ascii").split())
    except (OSError, ValueError):
        return frozenset()


def parse_seconds(seconds: bytes) -> datetime:
    """Return the time that git prints as seconds since 1970; the epoch where no calendar has it."""
    try:
        return _EPOCH + timedelta(seconds=int(seconds))
    except (OverflowError, ValueError):
        return _EPOCH


def is_tracked(path: Path) -> bool:
    """Whether git has a file in its index, ignored or not; False outside a work tree, and where git is absent."""
    try:
        return bool(run_git(path.parent, "ls-files", "-z", "--", f":(literal){path.name}"))
    except HistoryUnavailable:
        return False


_RULE_LINE: Final = re.compile(rb":\d++:")
"""What `git check-ignore --verbose` says of a path: file, line, pattern; then a tab and the path."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def open_repository(folder: Path) -> Repository | None:
    """Return the work tree that a folder lies in; None when it lies in none or git is absent."""
    try:
        top = run_git(folder, "rev-parse", "--show-toplevel")
    except HistoryUnavailable:
        return None
    return Repository(Path(top.decode("utf-8", "surrogateescape").rstrip("\n")))


def init_repository(folder: Path) -> None:
    """Make a folder, which has to be there, a repository with the branch `main`.

    Raises:
        HistoryUnavailable: Git is absent, or refuses.
    """
    run_git(
        folder, "init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1"
    )


_SUFFIX: Final = re.compile(r"[~^]|@\{")
_SEARCH: Final = re.compile(r":|\{/")
"""What asks git to look for a commit by its message, or for a path: whoever writes messages would choose."""
_OWN: Final = frozenset(
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
"""What git itself writes, beside the refs: it comes before every ref of that name, and no push makes it."""
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
_SHORT_HASH: Final = re.compile(r"[0-9a-f]{4,63}", re.IGNORECASE)
_PLACES: Final = (
    "refs/{}",
    "refs/tags/{}",
    "refs/heads/{}",
    "refs/remotes/{}",
    "refs/remotes/{}/HEAD",
)
"""Where git looks for a name (gitrevisions). It takes the first that it finds, and only warns of others."""
_HINT: Final = "give a branch, a tag or a commit; a shallow clone may lack it"


def resolve_commit(root: Path, revision: str) -> str:
    """Return the whole hash of the commit that a revision names.

    Args:
        root: The top folder of the work tree.
        revision: As people write it.

    Raises:
        HistoryUnavailable: It names none, or git would have to choose between several.
    """
    if _SEARCH.search(revision):
        raise HistoryUnavailable(f"{revision!r} names no commit here", hint=_HINT)
    _refuse_ambiguity(root, _SUFFIX.split(revision, maxsplit=1)[0])
    try:
        found = run_git(
            root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
    except HistoryUnavailable:
        raise HistoryUnavailable(f"{revision!r} names no commit here", hint=_HINT) from None
    return found.decode().strip()


def _refuse_ambiguity(root: Path, name: str) -> None:
    """Raise where more than one thing has a name; a whole ref or hash means only itself."""
    if name in _OWN or name.startswith(("refs/", "-")) or _HASH.fullmatch(name):
        return
    places = [place.format(name) for place in _PLACES]
    try:
        listed = (
            run_git(root, "for-each-ref", "--format=%(refname)", *places)
            .decode("utf-8", "replace")
            .splitlines()
        )
        found = [place for place in places if place in listed]
        if found and _SHORT_HASH.fullmatch(name):
            found += run_git(root, "rev-parse", f"--disambiguate={name}").decode().split()
    except HistoryUnavailable:
        raise HistoryUnavailable(f"{name!r} names no commit here", hint=_HINT) from None
    if len(found) > 1:
        raise HistoryUnavailable(
            f"{name!r} is ambiguous: it names {' and '.join(found[:4])}",
            hint="give one of these whole names",
        )
