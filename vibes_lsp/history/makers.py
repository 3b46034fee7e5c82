"""Who made commits, and which of them the lines of a file are from: what git says, which nothing proves."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import git_path, run_git
from vibes_lsp.history.repository import Repository

_SHARED: Final = frozenset({"noreply@github.com"})
"""Committers of what people do on a host's pages: everybody's, and so nobody's."""
_FORMAT: Final = "--format=%H%x00%an%x00%ae%x00%cn%x00%ce%x00%(trailers:key=Co-authored-by,valueonly,unfold,separator=%x1f)"
_MEMBERS: Final = 6
_HEADER: Final = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+(?: \d+)?")
_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Makers:
    """Whoever made a commit: author, committer, co-authors.

    Attributes:
        names: Their names and addresses, as `folded` has them.
        label: The author as people read it.
    """

    names: frozenset[str]
    label: str


def folded(text: str) -> str:
    """Return a name or address as it is compared: letters by what they are, not by how they are written."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def names_of(text: str) -> frozenset[str]:
    """Return the name and the address in `Name <address>`, or the text itself where it is only one of them."""
    name, opened, rest = text.strip().rpartition("<")
    mail = rest.removesuffix(">")
    is_both = opened and mail != rest and ">" not in mail and "\n" not in name.strip()
    parts = (name, mail) if is_both else (text,)
    return frozenset(folded(part) for part in parts) - {""}


def makers_of(
    repository: Repository, revisions: Sequence[str], *, alone: bool = False
) -> dict[str, Makers]:
    """Return who made each commit.

    Args:
        repository: Where to look.
        revisions: As for `git log`; hashes, where they are meant `alone`.
        alone: Whether only the commits that are named are meant, and not their ancestors.

    Raises:
        HistoryUnavailable: Git cannot answer.
    """
    options = ("--no-walk",) if alone else ()
    found: dict[str, Makers] = {}
    for start in range(0, len(revisions), _AT_ONCE):
        some = revisions[start : start + _AT_ONCE]
        said = run_git(
            repository.root,
            "log",
            "-z",
            "--no-show-signature",
            "--no-mailmap",
            "--encoding=UTF-8",
            _FORMAT,
            *options,
            *some,
            "--",
        )
        parts = said.decode("utf-8", "replace").split("\0")
        for at in range(0, len(parts) - _MEMBERS + 1, _MEMBERS):
            commit, author, address, committer, other, more = parts[at : at + _MEMBERS]
            found[commit] = _makers((author, address), (committer, other), more.split("\x1f"))
    return found


def user_of(repository: Repository) -> Makers:
    """Return who would make a commit here now."""
    person = _configured(repository, "user.name"), _configured(repository, "user.email")
    return _makers(person, person, [])


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
        git_path(name),
    )
    return frozenset(said.decode().split())


def commits_of_lines(
    repository: Repository, revision: str, name: str, lines: Iterable[tuple[int, int]]
) -> frozenset[str]:
    """Return the commits that lines of a file are from.

    Args:
        repository: Where to look.
        revision: The file is looked at in this commit.
        name: From the top of the work tree.
        lines: First and last lines, 1-based and inclusive.

    Raises:
        HistoryUnavailable: Git cannot answer, as when there are no such lines.
    """
    ranges = [f"-L{first},{last}" for first, last in lines]
    options = ("--porcelain", "--no-textconv", "--ignore-revs-file=", "--no-progress", *ranges)
    said = run_git(repository.root, "blame", *options, revision, "--", name)
    return frozenset(
        found[1].decode() for line in said.split(b"\n") if (found := _HEADER.fullmatch(line))
    )


def _makers(author: tuple[str, str], committer: tuple[str, str], more: Sequence[str]) -> Makers:
    """Return who made a commit, of names with their addresses; more are written as `Name <address>`."""
    committed = committer if folded(committer[1]) not in _SHARED else ()
    names = frozenset(folded(each) for each in (*author, *committed)) - {""}
    return Makers(
        names.union(*(names_of(each) for each in more)), author[0] or author[1] or "nobody"
    )


def _configured(repository: Repository, name: str) -> str:
    try:
        return run_git(repository.root, "config", "--get", name).decode("utf-8", "replace").strip()
    except HistoryUnavailable:
        return ""
