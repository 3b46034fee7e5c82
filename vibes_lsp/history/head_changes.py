"""What differs between the ancestors of two commits of HEAD: commits, and the files they touched.

What is known of a file at one HEAD serves for another one if nothing that it depends on differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import LOG_OPTIONS, git_lines
from vibes_lsp.history.repository import Repository, parse_seconds

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FORMAT: Final = "--format=%m %ct %H %P"
_OPTIONS: Final = ("--left-right", "--raw", "--no-renames", "-z", "-m")
_MAX_COMMITS: Final = 500
"""Commits by which two tips may differ; for more, everything is looked up again."""
_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class HeadChange:
    """How the ancestors of one commit differ from those of another: only by commits in a line.

    So each file that none of them touched has the same versions in the same order. It also has the
    same blame since a time at which none of them is older: git stops at one that is.

    Attributes:
        paths: The files that the commits touched, from the top of the work tree; a rename touches
            both names.
        commits: The commits that are ancestors of one of the two only.
        oldest: The time of the oldest of these; None if there are none.
    """

    paths: frozenset[str] = frozenset()
    commits: frozenset[str] = frozenset()
    oldest: datetime | None = None


def head_change(repository: Repository, before: str, now: str) -> HeadChange | None:
    """Return what differs between the ancestors of two commits, with one `git log`.

    None if they differ by a merge or by much, do not descend from one commit, or git fails. It
    depends on nothing else, except for the boundary of a shallow clone.

    Args:
        repository: The repository.
        before: The full hash of a commit.
        now: That of another one.
    """
    if before == now:
        return HeadChange()
    if not (_COMMIT.fullmatch(before) and _COMMIT.fullmatch(now)):
        return None
    arguments = (*LOG_OPTIONS, *_OPTIONS, _FORMAT, f"--max-count={_MAX_COMMITS + 1}")
    paths: set[bytes] = set()
    commits: set[str] = set()
    parents: set[str] = set()
    moments: list[datetime] = []
    try:
        with git_lines(
            repository.root,
            *("log", *arguments, f"{before}...{now}", "--"),
            seconds=_SECONDS,
            nul_separated=True,
        ) as parts:
            for part in parts:
                line = part.lstrip(b"\n")
                if line.startswith(b":"):
                    paths.add(next(parts, b""))
                    continue
                _, seconds, commit, *some = line.decode("ascii").split()
                if len(some) != 1 or len(commits) == _MAX_COMMITS:
                    return None
                commits.add(commit)
                moments.append(parse_seconds(seconds.encode()))
                parents.update(some)
    except (HistoryUnavailable, ValueError):
        return None
    if len(parents - commits) > 1:
        return None
    names = frozenset(each.decode("utf-8", "surrogateescape") for each in paths)
    return HeadChange(names, frozenset(commits), min(moments, default=None))
