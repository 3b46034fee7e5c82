"""A log follower whose deliveries are collected as a reader would collect them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from vibes_lsp.store import file_stamps
from vibes_lsp.store.log_follower import LogFollower

if TYPE_CHECKING:
    from pathlib import Path


class FixedClock:
    """A clock that stands still until it is set, by default far from any file's time."""

    def __init__(self, now: int = 1 << 62) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


@contextmanager
def fixed_clock() -> Iterator[FixedClock]:
    """Set the clock that file times are compared with."""
    clock = FixedClock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_stamps, "now_ns", clock)
        yield clock


class FollowedLog:
    """The lines that a reader has, and the result of the last poll."""

    def __init__(self, path: Path) -> None:
        self.follower: Final = LogFollower(path)
        self.lines: list[bytes] = []
        self.oversized: dict[int, int] = {}

    def poll(self) -> str:
        """Read the changes; return `same`, `more` or `reset`."""
        update = self.follower.poll()
        if update is None:
            return "same"
        if update.reset:
            self.lines, self.oversized = [], {}
        for batch in update.batches:
            assert batch.first == len(self.lines) + 1, "lines are numbered without gaps"
            self.lines += [line.removesuffix(b"\n") for line in batch.lines]
            if batch.oversized is not None:
                self.oversized[batch.first] = batch.oversized
        return "reset" if update.reset else "more"


def rewrite_unnoticed(path: Path, data: bytes) -> None:
    """Rewrite a file in place with the same size and time."""
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
