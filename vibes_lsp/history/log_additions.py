"""Which commits added which lines and records to the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.history.git import LOG_OPTIONS, git_lines, literal_pathspec
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.canonical_json import FastDecoder, parse_object
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import text
from vibes_lsp.store.log_follower import MAX_LINE

_MARK: Final = b"\x01commit "
_BOM: Final = b"\xef\xbb\xbf"
_OPTIONS: Final = (
    "--reverse",
    "--topo-order",
    "--full-history",
    "-p",
    "-c",
    "--unified=0",
    f"--format={_MARK.decode()}%H %P",
)


def added_record_ids(
    repository: Repository, revisions: Sequence[str], log: Path
) -> Iterator[tuple[str, str]]:
    """Yield the id of each record that a commit added to the log, and the commit; arguments and errors as for `added_lines`."""
    for line, commit in added_lines(repository, revisions, log):
        identifier = record_id_of(line)
        if identifier:
            yield identifier, commit


def added_lines(
    repository: Repository, revisions: Sequence[str], log: Path
) -> Iterator[tuple[bytes, str]]:
    """Yield each line that a commit added to the log, and the commit; a merge adds what none of its parents has.

    Args:
        repository: Where the log is tracked.
        revisions: As for `git log`.
        log: The log's absolute path.

    Raises:
        HistoryUnavailable: Git failed, perhaps after some were yielded.
        ValueError: The log is outside the repository.
    """
    arguments = (
        "log",
        *_OPTIONS,
        *LOG_OPTIONS,
        *revisions,
        "--",
        literal_pathspec(repository.name_of(log)),
    )
    with git_lines(repository.root, *arguments) as lines:
        commit, added = "", b"+"
        for line in lines:
            if line.startswith(added):
                yield line[len(added) :], commit
            elif line.startswith(_MARK):
                commit, *parents = line[len(_MARK) :].decode().split()
                added = b"+" * max(1, len(parents))  # one for each parent that lacks it


class _Named(msgspec.Struct):
    annotation_id: str | None = None


_DECODER: Final = FastDecoder(_Named)


def record_id_of(line: bytes) -> str:
    """Return the id of the record on a line, empty where it holds none; one that it does not bring takes the strict parser, as does what only that one can refuse."""
    if len(line) > MAX_LINE:
        return ""
    named = _DECODER.decode(line)
    if named is not None and named.annotation_id:
        return named.annotation_id
    record = line.strip().removeprefix(_BOM)  # as whoever reads the log does
    if not record.startswith(b"{"):
        return ""
    try:
        members = parse_object(record)
    except MalformedJson:
        return ""
    return text(members, "annotation_id") or annotation_id(members)
