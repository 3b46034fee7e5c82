"""Which commits added which lines and records to the audit log."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.process import LOG_OPTIONS, git_lines, literal_pathspec
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.canonical_json import FastDecoder, object_or_none
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import text
from vibes_lsp.patience import GIT, Wait
from vibes_lsp.store.bounded_lines import MAX_LINE, bounded_lines

_MARK: Final = b"\x01commit "
_BOM: Final = b"\xef\xbb\xbf"
_MAX_ARGUMENTS: Final = 400
"""Commits that one process compares: within every system's limit for a command line."""
_FORMAT_OPTIONS: Final = (
    "--reverse",
    "--topo-order",
    "--full-history",
    "-p",
    "-c",
    "--unified=0",
    f"--format={_MARK.decode()}%H %P",
)


def ids_added(repository: Repository, commits: Sequence[str], name: str) -> dict[str, list[str]]:
    """Return the ids of the records that each commit added to a log; a merge those new to it.

    Args:
        repository: The repository.
        commits: Full hashes; those that follow each other should be beside each other.
        name: The log's path in these commits, from the top of the work tree.

    Raises:
        HistoryUnavailable: Git fails.
    """
    key = f"added {digest_of(sorted(repository.shallow_boundary()))} {name}"
    known = {commit: repository.cache.get(f"{key} {commit}", list[str]) for commit in commits}
    cached = {commit: ids for commit, ids in known.items() if ids is not None}
    missing = [commit for commit in known if commit not in cached]
    grown = _ids_appended(repository, missing, name)
    rest = [commit for commit in missing if commit not in grown]
    compared: dict[str, list[str]] = {commit: [] for commit in rest}
    for start in range(0, len(rest), _MAX_ARGUMENTS):
        revisions = ("--no-walk=unsorted", *rest[start : start + _MAX_ARGUMENTS])
        for line, commit in added_lines(repository, revisions, name, patience=GIT):
            if identifier := record_id_of(line):
                compared[commit].append(identifier)
    for commit, ids in (grown | compared).items():
        repository.cache.put(f"{key} {commit}", ids)
    return cached | grown | compared


def _ids_appended(
    repository: Repository, commits: Iterable[str], name: str
) -> dict[str, list[str]]:
    """Return the ids that commits added to a log which begins as the parent's does: most do.

    Git takes five times as long, as it compares all lines of both.
    """
    logs: dict[str, bytes | None] = {}
    boundary = repository.shallow_boundary()

    def log_of(commit: str) -> bytes | None:
        entry = repository.objects.certain_entry(commit, name)
        if entry is None or not entry.is_file:
            return b""
        if entry.id not in logs:
            if len(logs) > 1:  # of neighbours one is the other's parent
                del logs[next(iter(logs))]
            logs[entry.id] = repository.objects.contents(entry.id)
        return logs[entry.id]

    appended: dict[str, list[str]] = {}
    for commit in commits:
        known = repository.objects.commit(commit)
        if known is None or len(known.parents) > 1:
            continue
        parents = () if known.id in boundary else known.parents
        now, before = log_of(commit), log_of(parents[0]) if parents else b""
        if now is None or before is None:
            continue
        if now.startswith(before) and before[-1:] in {b"", b"\n"}:
            lines = bounded_lines(io.BytesIO(now[len(before) :]))
            appended[commit] = [identifier for line in lines if (identifier := record_id_of(line))]
    return appended


def added_lines(
    repository: Repository, revisions: Sequence[str], name: str, *, patience: Wait | None = None
) -> Iterator[tuple[bytes, str]]:
    """Yield each line that a commit added to the log, and the commit, oldest first.

    A merge adds only lines that none of its parents has.

    Args:
        repository: The repository.
        revisions: As for `git log`.
        name: The log's path in these commits, from the top of the work tree.
        patience: The wait for git.

    Raises:
        HistoryUnavailable: Git failed, perhaps after some lines.
    """
    arguments = (
        "log",
        *_FORMAT_OPTIONS,
        *LOG_OPTIONS,
        *revisions,
        "--",
        literal_pathspec(name),
    )
    with git_lines(repository.root, *arguments, patience=patience) as lines:
        commit, added, is_content = "", b"+", False
        for line in lines:
            if line.startswith(_MARK):
                commit, *parents = line[len(_MARK) :].decode().split()
                added = b"+" * max(1, len(parents))  # combined diff: a + per parent
                is_content = False
            elif line.startswith(b"@@"):
                is_content = True
            elif is_content and line.startswith(added):
                yield line[len(added) :], commit


class _Identified(msgspec.Struct):
    annotation_id: str | None = None


_DECODER: Final = FastDecoder(_Identified)


def record_id_of(line: bytes) -> str:
    """Return the id of the record on a line of the log; empty if the line holds none.

    The strict parser computes a missing id, and decides about lines that the quick one refuses.
    """
    if len(line) > MAX_LINE:
        return ""
    decoded = _DECODER.decode(line)
    if decoded is not None and decoded.annotation_id:
        return decoded.annotation_id
    record = line.strip().removeprefix(_BOM)  # as the log's reader does
    if not record.startswith(b"{"):
        return ""
    members = object_or_none(record)
    if members is None:
        return ""
    return text(members, "annotation_id") or annotation_id(members)
