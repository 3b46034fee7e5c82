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
_FORMAT_OPTIONS: Final = (
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
    """Yield the ids of the records that commits added, and the commit; see `added_lines`."""
    for line, commit in added_lines(repository, revisions, log):
        identifier = record_id_of(line)
        if identifier:
            yield identifier, commit


def added_lines(
    repository: Repository, revisions: Sequence[str], log: Path
) -> Iterator[tuple[bytes, str]]:
    """Yield each line that a commit added to the log, and the commit, oldest first.

    A merge adds only lines that none of its parents has.

    Args:
        repository: The repository.
        revisions: As for `git log`.
        log: The log's absolute path.

    Raises:
        HistoryUnavailable: Git failed, perhaps after some lines.
        ValueError: The log is outside the repository.
    """
    arguments = (
        "log",
        *_FORMAT_OPTIONS,
        *LOG_OPTIONS,
        *revisions,
        "--",
        literal_pathspec(repository.relative_path(log)),
    )
    with git_lines(repository.root, *arguments) as lines:
        commit, added = "", b"+"
        for line in lines:
            if line.startswith(added):
                yield line[len(added) :], commit
            elif line.startswith(_MARK):
                commit, *parents = line[len(_MARK) :].decode().split()
                added = b"+" * max(1, len(parents))  # combined diff: a + per parent


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
    try:
        members = parse_object(record)
    except MalformedJson:
        return ""
    return text(members, "annotation_id") or annotation_id(members)
