"""Who made commits, as git records it; nothing proves these names."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.process import run_git
from vibes_lsp.git.repository import Repository

_SHARED: Final = frozenset({"noreply@github.com"})
"""Committer of everything done on a host's web pages, which identifies no person."""
_FORMAT: Final = (
    "--format=%H%x00%an%x00%ae%x00%cn%x00%ce"
    "%x00%(trailers:key=Co-authored-by,valueonly,unfold,separator=%x1f)"
)
_FIELDS: Final = 6
_BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Contributors:
    """The author, committer and co-authors of a commit.

    Attributes:
        names: Their names and addresses, normalized.
        label: The author, for display.
    """

    names: frozenset[str]
    label: str


def normalize_identity(text: str) -> str:
    """Normalize a name or address for comparison: Unicode form, case and blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def parse_identity(text: str) -> frozenset[str]:
    """Return the normalized name and address in `Name <address>`; of other text the text itself."""
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
        repository: The repository.
        revisions: As for `git log`; hashes if `alone`.
        alone: Whether to leave out the ancestors of the revisions.

    Raises:
        HistoryUnavailable: Git fails.
    """
    options = ("--no-walk",) if alone else ()
    contributors: dict[str, Contributors] = {}
    for start in range(0, len(revisions), _BATCH):
        batch = revisions[start : start + _BATCH]
        output = run_git(
            repository.root,
            "log",
            "-z",
            "--no-show-signature",
            "--no-mailmap",
            "--encoding=UTF-8",
            _FORMAT,
            *options,
            *batch,
            "--",
        )
        parts = output.decode("utf-8", "replace").split("\0")
        for at in range(0, len(parts) - _FIELDS + 1, _FIELDS):
            commit, author, address, committer, committer_address, co_authors = parts[
                at : at + _FIELDS
            ]
            contributors[commit] = _contributors(
                (author, address), (committer, committer_address), co_authors.split("\x1f")
            )
    return contributors


def configured_user(repository: Repository) -> Contributors:
    """Return who would make a commit now."""
    try:
        listed = run_git(repository.root, "config", "-z", "--get-regexp", r"^user\.(name|email)$")
    except HistoryUnavailable:  # neither is set
        listed = b""
    pairs = (setting.partition("\n") for setting in listed.decode("utf-8", "replace").split("\0"))
    values = {name: value.strip() for name, _, value in pairs}
    person = values.get("user.name", ""), values.get("user.email", "")
    return _contributors(person, person, [])


def _contributors(
    author: tuple[str, str], committer: tuple[str, str], co_authors: Sequence[str]
) -> Contributors:
    """Return the contributors of a commit; co-authors are written as `Name <address>`."""
    committed = committer if normalize_identity(committer[1]) not in _SHARED else ()
    names = frozenset(normalize_identity(identity) for identity in (*author, *committed)) - {""}
    return Contributors(
        names.union(*(parse_identity(identity) for identity in co_authors)),
        author[0] or author[1] or "unknown author",
    )
