"""Where git's blame says that each line of a file comes from: commit, path and line there (R31).

It depends on objects alone, so git is asked once for each file of a commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.objects import parse_seconds
from vibes_lsp.git.process import git_lines
from vibes_lsp.git.quoted_names import unquoted_name
from vibes_lsp.git.repository import Repository
from vibes_lsp.patience import BLAME

_OPTIONS: Final = (
    "--incremental",
    "--root",  # a root commit is no boundary
    "--no-textconv",
    "--no-progress",
    "--ignore-revs-file=",
)
_GROUP: Final = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+) (\d+)\n?")
_MAX_IGNORED: Final = 400
"""Commits to ignore in one command: within the limit of a command line of every system."""


class LineOrigin(NamedTuple):
    """The line of a commit that brought a line.

    Attributes:
        commit: The commit's full hash.
        path: The file's path in it, from the top of the work tree.
        number: The 0-based number of the line in it.
        moment: The committer's time, UTC.
    """

    commit: str
    path: str
    number: int
    moment: datetime


def line_origins(
    repository: Repository,
    path: str,
    commit: str,
    *,
    since: datetime | None = None,
    excluded: Sequence[str] = (),
    ignored: Sequence[str] = (),
    ignore_space: bool = False,
) -> list[LineOrigin | None]:
    """Return where each line of a file comes from; None for lines of a commit that is left out.

    Args:
        repository: The repository.
        path: From the top of the work tree.
        commit: The commit whose version of the file is asked, a full hash.
        since: Leave out older commits. So the cost depends on what was committed since.
        excluded: Leave out these commits and their ancestors; full hashes.
        ignored: Commits whose changes are attributed to the lines that they changed.
        ignore_space: Whether changes of white space are attributed so.

    Raises:
        HistoryUnavailable: Git fails, or is too slow.
    """
    options = [
        *(["-w"] if ignore_space else ()),
        *([f"--since=@{max(int(since.timestamp()), 0)} +0000"] if since is not None else ()),
        *(f"--ignore-rev={name}" for name in ignored[:_MAX_IGNORED]),
        *(f"^{name}" for name in excluded),
        commit,
    ]
    facts, boundary = repository.cache, digest_of(sorted(repository.shallow_boundary()))
    key = f"blame {boundary} {digest_of(options)} {path}"
    known = facts.get(key, list[LineOrigin | None])
    if known is not None:
        return known
    by_number: dict[int, LineOrigin | None] = {}
    arguments = ("blame", *_OPTIONS, *options, "--", path)
    with git_lines(repository.root, *arguments, patience=BLAME) as lines:
        for first, group in _groups(lines, is_bounded=since is not None or bool(excluded)):
            by_number.update(enumerate(group, first))
    if len(by_number) != max(by_number, default=-1) + 1:
        raise HistoryUnavailable("git blame left out lines")
    origins = [by_number[number] for number in range(len(by_number))]
    facts.put(key, origins)
    return origins


def _groups(
    lines: Iterator[bytes], *, is_bounded: bool
) -> Iterator[tuple[int, list[LineOrigin | None]]]:
    """Yield groups of lines: the number of the first, and the origins.

    Git gives the members of a commit with its first group only; each group ends with the path.
    """
    moments: dict[bytes, datetime] = {}
    older: set[bytes] = set()
    commit, there, here, count = b"", 0, 0, 0
    for line in lines:
        if header := _GROUP.fullmatch(line):
            commit = header[1]
            there, here, count = (int(number) for number in header.groups()[1:])
        elif line.startswith(b"committer-time "):
            moments[commit] = parse_seconds(line[15:])
        elif line == b"boundary\n" and is_bounded:
            older.add(commit)
        elif line.startswith(b"filename "):
            path, name = unquoted_name(line[9:-1]), commit.decode()
            yield (
                here - 1,
                [
                    None
                    if commit in older
                    else LineOrigin(name, path, there - 1 + step, moments[commit])
                    for step in range(count)
                ],
            )
