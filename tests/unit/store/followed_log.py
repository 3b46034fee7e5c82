"""A follower whose deliveries are put together as a reader of them would."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from vibes_lsp.store.log_follower import LogFollower

if TYPE_CHECKING:
    from pathlib import Path


class FixedClock:
    """A clock that stands still until it is set; far from any file's time unless told otherwise."""

    def __init__(self, now: int = 1 << 62) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class FollowedLog:
    """What a reader knows of a log: its lines, and what the last poll said."""

    def __init__(self, path: Path, clock: FixedClock | None = None) -> None:
        self.follower: Final = LogFollower(path, now_ns=clock or FixedClock())
        self.lines: list[bytes] = []
        self.oversized: dict[int, int] = {}

    def poll(self, *, thorough: bool = False) -> str:
        """Take in what changed; say `same`, `more` or `reset`."""
        update = self.follower.poll(thorough=thorough)
        if update is None:
            return "same"
        if update.reset:
            self.lines, self.oversized = [], {}
        for batch in update.batches:
            assert batch.first == len(self.lines) + 1, "lines are numbered without gaps"
            self.lines += batch.lines
            if batch.oversized is not None:
                self.oversized[batch.first] = batch.oversized
        return "reset" if update.reset else "more"


def rewrite_unnoticed(path: Path, data: bytes) -> None:
    """Rewrite in place, leaving size and time as they were."""
    before = path.stat()
    with path.open("r+b") as stream:
        stream.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )
