"""Derived commits (R4, R17): which commit a record came with, when the record itself does not say.

A commit is taken from the log's own history, or else from the history of the annotated file. Both read git's history once
for all records that are asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, MalformedJson
from vibes_lsp.history.git import git_lines, log_options
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.canonical import parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import text
from vibes_lsp.model.paths import normal_path

_MARK: Final = b"\x01commit "


class CommitMethod(StrEnum):
    """How a record's commit is known."""

    RECORDED = "recorded"
    LOG = "log"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class DerivedCommit:
    """A commit and how it was found."""

    commit: str
    method: CommitMethod


def commits_by_log(repository: Repository, log: Path, wanted: Iterable[str]) -> dict[str, DerivedCommit]:
    """Return, for record ids, the oldest ancestor of HEAD whose log holds them (R4).

    Args:
        repository: Where the log is tracked.
        log: The log's absolute path.
        wanted: Ids as the index has them; those that no commit holds are left out.
    """
    open_ids = set(wanted)
    found: dict[str, DerivedCommit] = {}
    arguments = ("log", "--reverse", "--topo-order", *log_options(), "-p", "-c", "--unified=0", f"--format={_MARK.decode()}%H")
    try:
        with git_lines(repository.root, *arguments, "HEAD", "--", repository.name_of(log)) as lines:
            commit = ""
            for line in lines:
                if line.startswith(_MARK):
                    commit = line[len(_MARK) :].decode().strip()
                elif line.startswith(b"+") and line.lstrip(b"+").startswith(b"{"):  # one for each parent that lacks it
                    identifier = _identifier(line.lstrip(b"+"))
                    if identifier in open_ids:
                        open_ids.discard(identifier)
                        found[identifier] = DerivedCommit(commit, CommitMethod.LOG)
    except (HistoryUnavailable, ValueError):
        return found
    return found


def commits_by_path(
    repository: Repository, project: Path, moments: Mapping[str, Iterable[datetime]]
) -> dict[tuple[str, datetime], DerivedCommit]:
    """Return, for edits of files at some times, the first ancestor of HEAD after it that touches the file (R17).

    Args:
        repository: Where the files are tracked.
        project: The folder that the paths are relative to.
        moments: Paths as recorded, each with the times of its edits.
    """
    try:
        prefix = repository.name_of(project)
    except ValueError:
        return {}
    folder = "" if prefix == "." else f"{prefix}/"
    names = {path: _printed(folder + normal_path(path)) for path in moments}
    wanted = frozenset(names.values())
    touched: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    arguments = ("log", "--reverse", "--topo-order", *log_options(), "--name-only", f"--format={_MARK.decode()}%H %ct")
    try:
        with git_lines(repository.root, *arguments, "HEAD") as lines:
            commit, moment = "", datetime.min.replace(tzinfo=UTC)
            for line in lines:
                if line.startswith(_MARK):
                    commit, seconds = line[len(_MARK) :].decode().split()
                    moment = datetime.fromtimestamp(int(seconds), UTC)
                else:
                    name = line.rstrip(b"\n").decode("utf-8", "surrogateescape")
                    if name in wanted:
                        touched[name].append((moment, commit))
    except HistoryUnavailable:
        return {}
    found: dict[tuple[str, datetime], DerivedCommit] = {}
    for path, times in moments.items():
        for edited in times:
            later = (commit for moment, commit in touched[names[path]] if moment >= edited.replace(microsecond=0))
            first = next(later, None)
            if first is not None:
                found[path, edited] = DerivedCommit(first, CommitMethod.INFERRED)
    return found


def _printed(name: str) -> str:
    """Git quotes names that hold quotes, backslashes or control characters."""
    escaped = name.translate(_ESCAPES)
    return name if escaped == name else f'"{escaped}"'


_ESCAPES: Final = {code: f"\\{code:03o}" for code in (*range(32), 127)} | {
    ord(character): f"\\{letter}" for character, letter in zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True)
}


def _identifier(line: bytes) -> str:
    try:
        members = parse_object(line)
    except MalformedJson:
        return ""
    return text(members, "annotation_id") or annotation_id(members)
