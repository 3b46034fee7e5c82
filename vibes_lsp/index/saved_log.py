"""The index of a log in the user's cache folder: valid for the part of the log that it was made of.

A repository could contain a forged index, so none is read from a project. The follower verifies
that the log still begins with that part; lines appended since are indexed in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.index.log_columns import LogColumns
from vibes_lsp.index.saved_columns import open_columns, save_columns, saved_name
from vibes_lsp.store.file_stamps import FileStamp
from vibes_lsp.store.log_batches import DeliveredPart
from vibes_lsp.store.log_follower import LogFollower
from vibes_lsp.store.user_cache import can_write_large

MIN_LOG: Final = 4 << 20
"""Bytes of a log from which on its index is saved; a smaller one is read in 10 ms."""
_MIN_ADDED: Final = 4 << 20
_ADDED_SHARE: Final = 32
"""An index is saved again when the log has grown by this part of it, or by `_MIN_ADDED`."""
_FORMAT: Final = 6


class _Facts(msgspec.Struct, array_like=True):
    """What is saved beside the columns.

    Attributes:
        end: Bytes of the log that are indexed.
        lines: Lines of the log that are indexed.
        seen: The log's stamp: device, inode, size, time of modification.
        changed_ns: When the log's status changed, which no program can set back.
        settled: Whether the log was old enough for its stamp to show every later change.
        columns: See `LogColumns.to_save`.
    """

    end: int
    lines: int
    seen: tuple[int, int, int, int]
    changed_ns: int
    settled: bool
    columns: bytes


def open_saved(log: Path, follower: LogFollower) -> tuple[LogColumns, bool] | None:
    """Return the saved columns of a log, and have its follower go on after them.

    None if there are none. The next poll tells whether they are still of this log.

    Returns:
        The columns, and whether the log looks as it did or as if it only grew.
    """
    try:
        status = log.stat()
        if status.st_size < MIN_LOG:
            return None
        file = open_columns(*saved_name("log", log, _FORMAT))
        if file is None:
            return None
        facts = msgspec.msgpack.decode(file.facts, type=_Facts)
        columns = LogColumns(file, facts.columns)
        blocks = file.column("blocks")
    except (OSError, ValueError, KeyError, msgspec.DecodeError, OutdatedIndex):
        return None
    seen = FileStamp(*facts.seen)
    is_same = (status.st_size, status.st_mtime_ns, status.st_ctime_ns) == (
        seen.size,
        seen.modified_ns,
        facts.changed_ns,
    )
    is_same_file = (status.st_dev, status.st_ino) == (seen.device, seen.inode)
    is_recognised = is_same_file and (is_same or status.st_size > seen.size)
    follower.resume(
        DeliveredPart(facts.end, facts.lines),
        lambda: array("I", blocks.whole().tobytes()),
        seen if is_recognised else None,
        settled=facts.settled,
    )
    return columns, is_recognised


def is_worth_saving(columns: LogColumns, size: int) -> bool:
    """Whether so much of a log was indexed in this process that saving it pays."""
    if size < MIN_LOG:
        return False
    saved = columns.ends.split
    end = columns.ends[saved - 1] if saved else 0
    return size - end >= max(_MIN_ADDED, end // _ADDED_SHARE)


def save(
    log: Path, columns: LogColumns, follower: LogFollower, resolve: Callable[[], None]
) -> bool:
    """Save the index of a log that was read and verified wholly; return whether it was saved.

    Args:
        log: The log.
        columns: What was found on its lines.
        follower: It delivered the lines.
        resolve: See `LogColumns.to_save`.
    """
    delivered = follower.delivered() if can_write_large() else None
    found = columns.to_save(resolve) if delivered is not None else None
    if delivered is None or found is None:
        return False
    part, seen, settled = delivered
    try:
        status = log.stat()
        name, source = saved_name("log", log, _FORMAT)
    except (OSError, ValueError):
        return False
    is_current = (status.st_size, status.st_mtime_ns) == (seen.size, seen.modified_ns)
    columns_to_save, column_facts = found
    facts = _Facts(
        part.end,
        part.lines,
        seen,
        status.st_ctime_ns if is_current else 0,
        settled and is_current,
        column_facts,
    )
    saved: dict[str, Sequence[array[int] | memoryview]] = {
        **columns_to_save,
        "blocks": (part.blocks,),
    }
    return save_columns(name, source, msgspec.msgpack.encode(facts), saved)
