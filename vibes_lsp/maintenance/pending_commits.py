"""The annotations of a log whose commit is not written in it yet (R4): a look that costs little."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import msgspec

from vibes_lsp.model.canonical_json import FastDecoder
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import Action, EdgeType, SupersedesReason


class _Metadata(msgspec.Struct, gc=False):
    reason: str | None = None


class _Members(msgspec.Struct, gc=False):
    type: str | None = None
    annotation_id: str | None = None
    timestamp: str | None = None
    commit_hash: str | None = None
    action: str | None = None
    edge_type: str | None = None
    source_ref: str | None = None
    target_ref: str | None = None
    metadata: _Metadata | None = None


_DECODER: Final = FastDecoder(_Members)
_LOST: Final = frozenset({Action.DELETE.value, Action.REBASE_ORPHAN.value})
"""Actions of records whose lines no commit has."""


@dataclass(frozen=True, slots=True)
class LogCommits:
    """What a log says about the commits of its annotations.

    Attributes:
        pending: The lines of annotations without a commit, by id.
        ids: The ids of all annotations.
        successors: Those of them that continue an earlier record.
    """

    pending: dict[str, bytes] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    successors: set[str] = field(default_factory=set)


def read_commits(log: bytes, since: datetime | None, new: Collection[str] = ()) -> LogCommits:
    """Return the annotations since a time that have no commit, and no later record that has it.

    Args:
        log: The log.
        since: The time; None for all.
        new: Those that enter the log with the commit being made, whose hash is not known.
    """
    commits = LogCommits()
    superseded: set[str | None] = set(new)
    for line in filter(bytes.strip, log.split(b"\n")):
        record = _DECODER.decode(line)
        if record is None:
            continue
        if record.type == "edge":
            reason = None if record.metadata is None else record.metadata.reason
            if record.edge_type == EdgeType.SUPERSEDES and reason != SupersedesReason.COVERS:
                superseded.add(record.target_ref)
                commits.successors.add(record.source_ref or "")
        elif record.type in {"line", "function"} and record.annotation_id:
            commits.ids.add(record.annotation_id)
            if not record.commit_hash and record.action not in _LOST:
                moment = parse_timestamp(record.timestamp or "")
                if moment is None or since is None or moment >= since:
                    commits.pending[record.annotation_id] = line
    for identifier in superseded & commits.pending.keys():
        del commits.pending[identifier or ""]
    return commits
