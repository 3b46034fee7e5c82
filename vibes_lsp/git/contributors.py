"""Who made commits, as their objects say; nothing proves these names.

Commits are read as they are: `git log` recodes names by the encoding that a commit declares, and
takes the first of several authors, so it can show another name than other programs do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, ShallowClone
from vibes_lsp.git.process import run_git, unreadable_object
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.escaping import single_line

_SHARED: Final = frozenset({"noreply@github.com"})
"""Committer of everything done on a host's web pages, which identifies no person."""
_IDENTITY: Final = re.compile(rb"([^<>\0]*)<([^<>\0]*)> -?\d+ [+-]\d+")
"""Who and when, as in a commit's header."""
_CO_AUTHOR: Final = re.compile(r"^co-authored-by[ \t]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_CONTINUED: Final = re.compile(r"\r?\n[ \t]+")
_PEOPLE: Final = (b"author", b"committer")
_UTF8: Final = frozenset({b"utf-8", b"utf8"})
_MAX_ENCODING: Final = 40


@dataclass(frozen=True, slots=True)
class Contributors:
    """The author, committer and co-authors of a commit.

    Attributes:
        names: Their names and addresses, normalized.
        label: The author, for display.
        doubt: Why the commit does not certainly say who made it; empty if it does.
    """

    names: frozenset[str]
    label: str
    doubt: str = ""


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


def commits_of(repository: Repository, head: str, base: str) -> list[str]:
    """Return the commits from `head` back that `base` does not have, newest first.

    Raises:
        ShallowClone: The clone lacks some of them.
        HistoryUnavailable: Git fails.
    """
    commits = run_git(repository.root, "rev-list", head, f"^{base}", "--").decode().split()
    first = next(iter(repository.shallow_boundary().intersection(commits)), None)
    if first is not None:
        raise ShallowClone(
            f"this shallow clone lacks the commits of the branch before {first[:8]}",
            hint="fetch them: git fetch --unshallow",
        )
    return commits


def require_whole_branch(repository: Repository, head: str, base: str) -> None:
    """Raise `ShallowClone` if the clone lacks commits of a branch; see `commits_of`.

    At the boundary of a shallow clone a commit seems to have added all that its ancestors did.
    """
    if repository.shallow_boundary():
        commits_of(repository, head, base)


def contributors_of(repository: Repository, commits: Iterable[str]) -> dict[str, Contributors]:
    """Return who made each commit.

    Args:
        repository: The repository.
        commits: Full hashes.

    Raises:
        HistoryUnavailable: A commit cannot be read.
    """
    contributors = {}
    for commit in commits:
        content = repository.objects.raw_commit(commit)
        if content is None:
            raise unreadable_object(repository.root, f"commit {commit[:8]}")
        contributors[commit] = _contributors_in(content)
    return contributors


def _contributors_in(commit: bytes) -> Contributors:
    """Return the contributors that a commit object names."""
    header, _, message = commit.partition(b"\n\n")
    fields = [line.partition(b" ")[::2] for line in header.split(b"\n")]
    people = {key: [value for name, value in fields if name == key] for key in _PEOPLE}
    identities = [_identity(value) for values in people.values() for value in values]
    trailers = _CO_AUTHOR.findall(_CONTINUED.sub(" ", message.decode("utf-8", "replace")))
    author, committer = (identities + [("", "")] * 2)[:2]
    contributors = _contributors(author, committer, trailers)
    return replace(contributors, doubt=_doubt(fields, people, identities))


def _identity(value: bytes) -> tuple[str, str]:
    """Return name and address of an author or committer; empty ones where it is malformed."""
    match = _IDENTITY.fullmatch(value)
    if match is None:
        return "", ""
    name, address = (part.strip().decode("utf-8", "replace") for part in match.groups())
    return name, address


def _doubt(
    fields: Sequence[tuple[bytes, bytes]],
    people: Mapping[bytes, Sequence[bytes]],
    identities: Sequence[tuple[str, str]],
) -> str:
    """Return why a commit does not certainly say who made it; empty if it does."""
    encodings = [value for name, value in fields if name == b"encoding"]
    foreign = [value for value in encodings if value.lower() not in _UTF8]
    if foreign:
        declared = foreign[0][:_MAX_ENCODING].decode("ascii", "backslashreplace")
        return f"its names are in the encoding {single_line(declared, _MAX_ENCODING)}"
    for role, values in people.items():
        if len(values) != 1:
            return f"it has {len(values)} {role.decode()}s"
    if any("\ufffd" in part for identity in identities for part in identity):
        return "a name in it is not UTF-8"
    if not all(part for identity in identities for part in identity):
        return "a name or an address in it is empty or malformed"
    return ""


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
