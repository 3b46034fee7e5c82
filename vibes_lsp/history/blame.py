"""Read `git blame`: which commit each line of a file comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

import msgspec

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import git_lines, run_git
from vibes_lsp.history.objects import parse_seconds
from vibes_lsp.history.repository import Repository
from vibes_lsp.patience import BLAME

_OPTIONS: Final = ("--incremental", "--no-textconv", "--ignore-revs-file", "")
_LINE_HEADER: Final = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+(?: \d+)?")
_HEADER: Final = 4
"""Number of words in a header line: hash, two line numbers, number of lines."""


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """The commit that a line comes from.

    Attributes:
        commit: Its hash.
        moment: The committer's time, UTC.
    """

    commit: str
    moment: datetime


class FileBlame(msgspec.Struct, frozen=True, array_like=True):
    """The blame of a whole file, compact enough for the cache.

    Attributes:
        moments: The committers' times (UTC) by commit.
        runs: Runs of lines in file order: the commit and the number of lines.
    """

    moments: Mapping[str, datetime]
    runs: Sequence[tuple[str, int]]

    def lines(self) -> Sequence[BlamedLine]:
        """Return the commit of each line."""
        commits = {name: BlamedLine(name, moment) for name, moment in self.moments.items()}
        return [commits[name] for name, count in self.runs for _ in range(count)]


def blame_file(repository: Repository, path: str, commit: str, since: datetime) -> FileBlame | None:
    """Return the commit of each line of a file; None if git fails or is too slow.

    Git stops at `since`: older lines get any commit that has them and is older. So the cost depends
    on what was committed after `since`.

    Args:
        repository: The repository.
        path: From the top of the work tree.
        commit: The commit whose version of the file is blamed.
        since: Where to stop.
    """
    found: dict[int, str] = {}
    moments: dict[str, datetime] = {}
    name = ""
    arguments = ("blame", *_OPTIONS, f"--since={int(since.timestamp())}", commit, "--", path)
    try:
        with git_lines(repository.root, *arguments, patience=BLAME) as lines:
            for line in lines:
                words = line.split()
                if len(words) == _HEADER and words[3].isdigit() and len(words[0]) >= len(commit):
                    name = words[0].decode("ascii")
                    first = int(words[2])
                    found.update(dict.fromkeys(range(first, first + int(words[3])), name))
                elif words[:1] == [b"committer-time"]:
                    moments[name] = parse_seconds(words[1])
    except (HistoryUnavailable, ValueError, IndexError):
        return None
    if sorted(found) != list(range(1, len(found) + 1)) or not moments.keys() >= set(found.values()):
        return None
    names = [found[number] for number in range(1, len(found) + 1)]
    runs = [(name, len(list(lines))) for name, lines in groupby(names)]
    return FileBlame({name: moments[name] for name, _ in runs}, runs)


def commits_of_lines(
    repository: Repository, revision: str, name: str, lines: Iterable[tuple[int, int]]
) -> frozenset[str]:
    """Return the commits that lines of a file come from.

    Args:
        repository: The repository.
        revision: The commit whose version of the file is blamed.
        name: From the top of the work tree.
        lines: First and last lines, 1-based and inclusive.

    Raises:
        HistoryUnavailable: Git fails, as when there are no such lines.
    """
    ranges = [f"-L{first},{last}" for first, last in lines]
    options = ("--porcelain", "--no-textconv", "--ignore-revs-file=", "--no-progress", *ranges)
    output = run_git(repository.root, "blame", *options, revision, "--", name)
    return frozenset(
        found[1].decode() for line in output.split(b"\n") if (found := _LINE_HEADER.fullmatch(line))
    )
