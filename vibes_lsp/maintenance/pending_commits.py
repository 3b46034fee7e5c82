"""Whether a log may have annotations whose commit is due (R4): a look that costs a hook little."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

import msgspec

from vibes_lsp.model.canonical_json import FastDecoder
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import EdgeType, SupersedesReason


class _Metadata(msgspec.Struct, gc=False):
    reason: str | None = None


class _Members(msgspec.Struct, gc=False):
    type: str | None = None
    annotation_id: str | None = None
    timestamp: str | None = None
    commit_hash: str | None = None
    edge_type: str | None = None
    target_ref: str | None = None
    metadata: _Metadata | None = None


_DECODER: Final = FastDecoder(_Members)


def may_be_due(log: bytes, since: datetime, new: Collection[str] = ()) -> bool:
    """Whether an annotation since a time has no commit, and no later record that has it.

    Args:
        log: The log.
        since: The time.
        new: Those that enter the log with the commit being made, whose hash is not known.
    """
    pending: set[str | None] = set()
    superseded: set[str | None] = set()
    for line in filter(bytes.strip, log.split(b"\n")):
        record = _DECODER.decode(line)
        if record is None:
            continue
        if record.type == "edge":
            reason = None if record.metadata is None else record.metadata.reason
            if record.edge_type == EdgeType.SUPERSEDES and reason != SupersedesReason.COVERS:
                superseded.add(record.target_ref)
        elif record.type in {"line", "function"} and not record.commit_hash:
            moment = parse_timestamp(record.timestamp or "")
            if moment is None or moment >= since:
                pending.add(record.annotation_id)
    return not pending <= superseded.union(new)
