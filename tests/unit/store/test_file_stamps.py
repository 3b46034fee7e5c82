"""A stamp shows that a file was written, once it is old enough to show every write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from vibes_lsp.store.file_stamps import RACY_NS, are_settled, file_stamp, is_settled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.store.followed_log import FixedClock

HOUR = 3_600_000_000_000


def _replace(path: Path) -> None:
    before = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(b"longer"),
        lambda path: path.write_bytes(b""),
        lambda path: os.utime(path, (1, 1)),
        _replace,
    ],
    ids=["written", "truncated", "touched", "replaced by an equal file"],
)
def test_a_changed_file_has_another_stamp(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"text")
    before = file_stamp(path)
    assert before is not None
    assert file_stamp(str(path)) == before
    change(path)
    assert file_stamp(path) != before


@pytest.mark.parametrize("name", ["none", "file/none", "\0", "x" * 5000])
def test_what_cannot_be_examined_has_no_stamp(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert file_stamp(tmp_path / name) is None


def test_a_file_is_settled_two_seconds_after_it_was_written(clock: FixedClock) -> None:
    assert not is_settled(clock.now - RACY_NS)
    assert is_settled(clock.now - RACY_NS - 1)
    assert not is_settled(clock.now + HOUR), "the clock of its system may be ahead"
    assert not is_settled(clock.now - HOUR, at_ns=clock.now - HOUR + 1)


def test_one_file_of_just_now_unsettles_all(tmp_path: Path, clock: FixedClock) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch()
    new.touch()
    os.utime(new, ns=(clock.now, clock.now))
    assert are_settled([file_stamp(old), None])
    assert not are_settled([file_stamp(old), file_stamp(new)])
