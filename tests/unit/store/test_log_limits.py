"""Following a log reads no more than it may, and reports what the system cannot read."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, BinaryIO

import pytest
from typing_extensions import override

from tests.unit.store.followed_log import FollowedLog
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store import log_follower
from vibes_lsp.store.bounded_lines import CHUNK
from vibes_lsp.trail.log_index import LogIndex
from vibes_lsp.trail.rows import LogLineKind

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

pytestmark = pytest.mark.usefixtures("clock")
LINE = b'{"type":"line","file_path":"a.py"}\n'


@pytest.mark.parametrize(
    ("before", "is_replaced"),
    [(LINE * 99 + LINE.strip(), False), (LINE * 100, True)],
    ids=["unterminated", "replaced"],
)
def test_a_log_that_is_read_again_is_much_to_read(
    tmp_path: Path, before: bytes, *, is_replaced: bool
) -> None:
    path = tmp_path / "annotations.jsonl"
    path.write_bytes(before)
    followed = FollowedLog(path)
    followed.poll()
    assert followed.follower.bytes_to_read() == 0
    after = LINE * 101
    if is_replaced:
        path.rename(tmp_path / "old")
        after = b"\n" + after
    path.write_bytes(after)
    assert followed.follower.bytes_to_read() == len(after)
    assert followed.poll() == "reset"
    assert followed.lines == after.splitlines()


class Broken:
    """A file whose reads fail."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def read(self, _: int = -1) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def seek(self, place: int) -> int:
        return self.file.seek(place)

    def fileno(self) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


def state(index: LogIndex) -> tuple[object, int]:
    return index.problem, index.line_count()


def test_a_failing_disk_makes_a_log_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "annotations.jsonl"
    path.write_bytes(LINE)
    index = LogIndex(path)
    opened: list[Broken] = []

    def open_broken(path: Path) -> Broken:
        opened.append(Broken(path.open("rb")))
        return opened[-1]

    with monkeypatch.context() as patch:
        patch.setattr(log_follower, "open_file", open_broken)
        assert index.refresh()
        assert isinstance(index.problem, UnreadableFile)
    assert index.refresh()
    assert state(index) == (None, 1)
    with path.open("ab") as file:
        file.write(LINE)
    with monkeypatch.context() as patch:
        patch.setattr(log_follower, "open_file", open_broken)
        assert index.refresh()
        assert isinstance(index.problem, UnreadableFile)
    assert index.refresh()
    assert state(index) == (None, 2)
    with monkeypatch.context() as patch:
        patch.setattr(log_follower, "open_file", open_broken)
        with pytest.raises(UnreadableFile):
            index.raw(1)
    assert all(each.file.closed for each in opened)


class BreaksLater(Broken):
    """A file of which a few reads succeed."""

    reads = 2

    @override
    def read(self, size: int = -1) -> bytes:
        self.reads -= 1
        return self.file.read(size) if self.reads >= 0 else super().read(size)


def test_a_disk_that_fails_midway_leaves_no_part_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "annotations.jsonl"
    index = LogIndex(path)
    count = 4 * CHUNK // len(LINE)
    for total in (count, 2 * count):  # from the start, and what was appended
        with path.open("ab") as file:
            file.write(LINE * count)
        with monkeypatch.context() as patch:
            patch.setattr(log_follower, "open_file", lambda path: BreaksLater(path.open("rb")))
            assert index.refresh()
            assert isinstance(index.problem, UnreadableFile)
            assert list(index.records_of(LogLineKind.LINE)) == []
            generation = index.generation
            assert not index.refresh(), "the problem is reported once"
            assert index.generation == generation
            assert state(index)[1] == 0
        assert index.refresh()
        assert state(index) == (None, total)
