"""Making a repository and its commits, for a workspace of our own: the same hashes in every run, whatever the machine's git is set to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.history.git import run_git

_PLAIN: Final = ("-c", "core.autocrlf=false", "-c", "core.fileMode=false", "-c", "gc.auto=0")


@dataclass(frozen=True, slots=True)
class CommitAuthor:
    """Who commits."""

    name: str
    address: str


def make_repository(folder: Path) -> None:
    """Make a folder, which has to be there, a repository with the branch `main`.

    Raises:
        HistoryUnavailable: Git is absent, or refuses.
    """
    run_git(
        folder, "init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1"
    )


def stage_all(folder: Path) -> None:
    """Stage the whole work tree.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    run_git(folder, *_PLAIN, "add", "--all")


def commit(
    folder: Path, message: str, author: CommitAuthor, moment: datetime, *, amend: bool = False
) -> None:
    """Commit what is staged; no hook runs.

    Args:
        folder: The work tree.
        message: What is said of it.
        author: Who made and committed it.
        moment: When.
        amend: Whether it takes the place of the last one.

    Raises:
        HistoryUnavailable: Git refuses.
    """
    when = moment.isoformat()
    who = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.address,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": author.name,
        "GIT_COMMITTER_EMAIL": author.address,
        "GIT_COMMITTER_DATE": when,
    }
    options = (
        "--quiet",
        "--no-gpg-sign",
        "--no-verify",
        "--message",
        message,
        *(("--amend", "--reset-author") if amend else ()),
    )
    run_git(folder, *_PLAIN, "commit", *options, environment=who)
