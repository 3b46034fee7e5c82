"""Who made commits, and which of them the lines of a file are from: what git says, which nothing proves."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git
from vibes_lsp.history.repository import Repository

_SHARED: Final = frozenset({"noreply@github.com"})
"""Committers of what people do on a host's pages: everybody's, and so nobody's."""
_FORMAT: Final = "--format=%H%x00%an%x00%ae%x00%cn%x00%ce%x00%(trailers:key=Co-authored-by,valueonly,unfold,separator=%x1f)"
_MEMBERS: Final = 6
_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Contributors:
    """Whoever made a commit: author, committer, co-authors.

    Attributes:
        names: Their names and addresses, as `normalize_identity` has them.
        label: The author as people read it.
    """

    names: frozenset[str]
    label: str


def normalize_identity(text: str) -> str:
    """Return a name or address as it is compared: letters by what they are, not by how they are written."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def parse_identity(text: str) -> frozenset[str]:
    """Return the name and the address in `Name <address>`, or the text itself where it is only one of them."""
    name, opened, rest = text.strip().rpartition("<")
    mail = rest.removesuffix(">")
    is_both = opened and mail != rest and ">" not in mail and "\n" not in name.strip()
    parts = (name, mail) if is_both else (text,)
    return frozenset(normalize_identity(part) for part in parts) - {""}


def contributors_of(
    repository: Repository, revisions: Sequence[str], *, alone: bool = False
) -> dict[str, Contributors]:
    """Return who made each commit.

    Args:
        repository: Where to look.
        revisions: As for `git log`; hashes, where they are meant `alone`.
        alone: Whether only the commits that are named are meant, and not their ancestors.

    Raises:
        HistoryUnavailable: Git cannot answer.
    """
    options = ("--no-walk",) if alone else ()
    found: dict[str, Contributors] = {}
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
            found[commit] = _contributors((author, address), (committer, other), more.split("\x1f"))
    return found


def configured_user(repository: Repository) -> Contributors:
    """Return who would make a commit here now."""
    person = _configured(repository, "user.name"), _configured(repository, "user.email")
    return _contributors(person, person, [])


def _contributors(
    author: tuple[str, str], committer: tuple[str, str], more: Sequence[str]
) -> Contributors:
    """Return who made a commit, of names with their addresses; more are written as `Name <address>`."""
    committed = committer if normalize_identity(committer[1]) not in _SHARED else ()
    names = frozenset(normalize_identity(each) for each in (*author, *committed)) - {""}
    return Contributors(
        names.union(*(parse_identity(each) for each in more)), author[0] or author[1] or "nobody"
    )


def _configured(repository: Repository, name: str) -> str:
    try:
        return run_git(repository.root, "config", "--get", name).decode("utf-8", "replace").strip()
    except HistoryUnavailable:
        return ""
