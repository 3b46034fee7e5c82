"""Which commits touch which files, as `git log` tells it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.history.git import git_parts, git_path, log_options
from vibes_lsp.history.repository import Repository, moment_of

_MARK: Final = b"\x01"
_FORMAT: Final = "--format=%x01%H %ct"


@dataclass(frozen=True, slots=True)
class Touch:
    """A file as a commit left it.

    Attributes:
        commit: The commit's whole hash.
        moment: The committer's time, UTC.
        path: From the top of the work tree.
        mode: Afterwards, six digits as git prints it; `000000` when the commit deleted the file.
        blob: The object's name afterwards.
        is_new: Whether no parent has the file.
    """

    commit: str
    moment: datetime
    path: str
    mode: str
    blob: str
    is_new: bool


def touches(
    repository: Repository, revisions: Sequence[str], paths: Sequence[str] = (), *, merges: bool, seconds: float | None = None
) -> Generator[Touch, None, None]:
    """Yield what commits did to files, newest first, children before parents, no branch left out. Renames are a deletion and a new file.

    Args:
        repository: Where to look.
        revisions: As for `git log`.
        paths: Only these files, from the top of the work tree; folders bring what is in them. All when empty.
        merges: Whether to count the files in which a merge differs from all of its parents.
        seconds: How long git may take.

    Raises:
        HistoryUnavailable: Git failed, perhaps after some were yielded.
    """
    options = ("--topo-order", "--full-history", "--raw", "-z", "--no-abbrev", "--no-renames", "-c" if merges else "--no-merges")
    arguments = ("log", *log_options(), *options, _FORMAT, *revisions, "--", *map(git_path, paths))
    with git_parts(repository.root, *arguments, seconds=seconds) as parts:
        commit, moment = "", moment_of(b"0")
        for part in parts:
            line = part.lstrip(b"\n")
            if line.startswith(_MARK):
                name, _, told = line[1:].partition(b" ")
                commit, moment = name.decode("ascii"), moment_of(told)
            elif line.startswith(b":"):
                fields = line.lstrip(b":").decode("ascii").split(" ")
                parents = (len(fields) - 3) // 2
                path = next(parts, b"").decode("utf-8", "surrogateescape")
                yield Touch(commit, moment, path, fields[parents], fields[-2], is_new=set(fields[-1]) == {"A"})
