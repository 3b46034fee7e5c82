"""Which files commits changed, and which commit each of them says that it reverts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.history.git import LOG_OPTIONS, git_lines
from vibes_lsp.history.git_cache import digest_of
from vibes_lsp.history.repository import Repository
from vibes_lsp.patience import GIT

_BATCH: Final = 400
_REVERTED: Final = re.compile(rb"This reverts commit ([0-9a-f]{40,64})\b")
_MARK: Final = b"\x01"
_OPTIONS: Final = (
    "--no-walk=unsorted",
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--format=%x01%H%x00%B",
)


@dataclass(frozen=True, slots=True)
class CommitSummary:
    """What a commit changed.

    Attributes:
        names: The files, from the top of the work tree; none of a merge.
        reverted: The commit that its message says it reverts, a full hash.
    """

    names: frozenset[str]
    reverted: str | None


def commit_summaries(repository: Repository, commits: Sequence[str]) -> dict[str, CommitSummary]:
    """Return what commits changed.

    Args:
        repository: The repository.
        commits: Full hashes.

    Raises:
        HistoryUnavailable: Git fails.
    """
    boundary = digest_of(sorted(repository.shallow_boundary()))
    keys = {commit: f"summary {boundary} {commit}" for commit in commits}
    asked = {commit: repository.cache.get(key, CommitSummary) for commit, key in keys.items()}
    found = {commit: summary for commit, summary in asked.items() if summary is not None}
    missing = [commit for commit in asked if commit not in found]
    for start in range(0, len(missing), _BATCH):
        arguments = ("log", *LOG_OPTIONS, *_OPTIONS, *missing[start : start + _BATCH], "--")
        with git_lines(repository.root, *arguments, patience=GIT, nul_separated=True) as fields:
            for commit, summary in _read(fields):
                found[commit] = summary
                repository.cache.put(keys[commit], summary)
    return found


def _read(fields: Iterator[bytes]) -> Iterator[tuple[str, CommitSummary]]:
    """Yield each commit; a field with the mark is followed by a message, a raw one by a name."""
    commit, reverted, names = b"", None, set[str]()
    for field in fields:
        if (text := field.lstrip(b"\n")).startswith(_MARK):
            if commit:
                yield commit.decode("ascii"), CommitSummary(frozenset(names), reverted)
            commit, names = text[1:], set()
            found = _REVERTED.search(next(fields, b""))
            reverted = found[1].decode("ascii") if found else None
        elif text.startswith(b":"):
            names.add(next(fields, b"").decode("utf-8", "surrogateescape"))
    if commit:
        yield commit.decode("ascii"), CommitSummary(frozenset(names), reverted)
