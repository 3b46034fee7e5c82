"""Read a large log in two processes, of which one is forked.

The forked process reads every second part. Its columns are appended in the order of the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.forked_work import results_of_fork
from vibes_lsp.index.log_columns import AddedLines, LogColumns
from vibes_lsp.store.log_batches import LogPart
from vibes_lsp.store.log_follower import LogFollower, LogUpdate

_PART: Final = 4 << 20
"""Bytes of a part."""
_MIN_PARTS: Final = 4
"""Parts from which on a process is forked."""


def read_update(update: LogUpdate, follower: LogFollower, columns: LogColumns) -> Iterator[None]:
    """Append the lines of an update to columns, of a large one in two processes; yield at times.

    Args:
        update: The last update.
        follower: It gave the update.
        columns: What was found on the lines before.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    yield from _read_parts(update, follower, columns)
    for batch in update.batches:  # the rest, which is all if no process can be forked
        columns.append(batch)
        yield


def _read_parts(update: LogUpdate, follower: LogFollower, columns: LogColumns) -> Iterator[None]:
    try:
        parts = follower.parts_to_read(_PART)
    except UnreadableFile:  # the batches say so, too
        return
    if len(parts) < _MIN_PARTS:
        return
    with results_of_fork(_read_part, parts[1::2]) as results:
        for part in parts[1::2]:
            for batch in update.batches_until(part.start):
                columns.append(batch)
            part_read, added = next(results, (part, None))
            if added is None or not follower.accept(part_read):
                return
            columns.append_added(added)
            yield


def _read_part(part: LogPart) -> tuple[LogPart, AddedLines]:
    columns = LogColumns()
    for batch in part.read():
        columns.append(batch)
    return part, columns.added()
