"""Following a log that is appended to, replaced, truncated or rewritten: more or a reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.store.followed_log import FollowedLog, rewrite_unnoticed
from vibes_lsp.store import log_batches
from vibes_lsp.store import log_follower as log_module

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.store.followed_log import FixedClock

pytestmark = pytest.mark.usefixtures("clock")

OLD = b'{"a":1}\n{"a":2}\n'


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "annotations.jsonl"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def followed(log: Path) -> FollowedLog:
    followed = FollowedLog(log)
    assert followed.poll() == "more"
    assert followed.lines == [b'{"a":1}', b'{"a":2}']
    return followed


@pytest.fixture
def large_log(log: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of several blocks, too large to be verified completely whenever it has grown."""
    for module in (log_batches, log_module):
        monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(log_module, "_ALWAYS_VERIFIED", 64)
    log.write_bytes(OLD * 20)
    return log


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def replace(path: Path, data: bytes) -> None:
    """Replace the file by another one, as editors and git do."""
    other = path.with_suffix(".new")
    other.write_bytes(data)
    other.replace(path)


def test_an_unchanged_log_is_not_read_again(
    log: Path, followed: FollowedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "open_file", lambda path: pytest.fail(f"{path} was opened"))
    assert followed.poll() == "same"
    assert followed.follower.size == log.stat().st_size


def test_only_appended_lines_are_delivered(log: Path, followed: FollowedLog) -> None:
    append(log, b'{"a":3}\n')
    assert followed.poll() == "more"
    assert followed.lines[2:] == [b'{"a":3}']
    assert followed.poll() == "same"


def test_a_truncated_log_starts_over(log: Path, followed: FollowedLog) -> None:
    log.write_bytes(b'{"a":1}\n')
    assert followed.poll() == "reset"
    assert followed.lines == [b'{"a":1}']


def test_a_log_truncated_to_nothing_starts_over(log: Path, followed: FollowedLog) -> None:
    log.write_bytes(b"")
    assert followed.poll() == "reset"
    assert followed.lines == []


def test_a_log_truncated_and_grown_beyond_its_old_size_starts_over(
    log: Path, followed: FollowedLog
) -> None:
    log.write_bytes(b'{"b":1}\n{"b":2}\n{"b":3}\n')
    assert followed.poll() == "reset"
    assert followed.lines == [b'{"b":1}', b'{"b":2}', b'{"b":3}']


def test_a_log_replaced_by_one_of_the_same_size_starts_over(
    log: Path, followed: FollowedLog
) -> None:
    replace(log, b'{"b":1}\n{"b":2}\n')
    assert followed.poll() == "reset"
    assert followed.lines == [b'{"b":1}', b'{"b":2}']


def test_a_log_replaced_by_a_longer_one_with_the_same_beginning_counts_as_appended(
    log: Path, followed: FollowedLog
) -> None:
    """Git replaces the file on every merge: the delivered lines are still valid."""
    replace(log, OLD + b'{"a":3}\n')
    assert followed.poll() == "more"
    assert followed.lines[2:] == [b'{"a":3}']


def test_a_log_replaced_by_its_copy_is_the_same(log: Path, followed: FollowedLog) -> None:
    replace(log, OLD)
    assert followed.poll() == "same"


def test_a_line_inserted_before_the_end_starts_over(log: Path, followed: FollowedLog) -> None:
    replace(log, b'{"a":1}\n{"a":9}\n{"a":2}\n')
    assert followed.poll() == "reset"
    assert followed.lines == [b'{"a":1}', b'{"a":9}', b'{"a":2}']


def test_a_rewrite_within_one_tick_of_the_file_times_is_seen_while_it_can_happen(
    log: Path, clock: FixedClock
) -> None:
    clock.now = log.stat().st_mtime_ns + 1
    followed = FollowedLog(log)
    assert followed.poll() == "more"
    assert followed.poll() == "same"
    rewrite_unnoticed(log, b'{"b":1}\n{"b":2}\n')
    assert followed.poll() == "reset"
    assert followed.lines == [b'{"b":1}', b'{"b":2}']


def test_a_log_settles_only_with_a_poll_after_the_racy_time(log: Path, clock: FixedClock) -> None:
    """The rewrite is in the racy time, the next poll long after it."""
    clock.now = log.stat().st_mtime_ns + 1
    followed = FollowedLog(log)
    followed.poll()
    rewrite_unnoticed(log, b'{"b":1}\n{"b":2}\n')
    clock.now += 3_600_000_000_000
    assert followed.poll() == "reset"


def test_a_log_that_grew_and_changed_starts_over(log: Path, followed: FollowedLog) -> None:
    with log.open("r+b") as stream:
        stream.write(b'{"b":1}\n')
    append(log, b'{"a":3}\n')
    assert followed.poll() == "reset"
    assert followed.lines == [b'{"b":1}', b'{"a":2}', b'{"a":3}']


def test_a_large_log_whose_last_blocks_changed_starts_over(large_log: Path) -> None:
    followed = FollowedLog(large_log)
    followed.poll()
    large_log.write_bytes(OLD * 19 + b'{"b":1}\n{"b":2}\n{"b":3}\n')
    assert followed.poll() == "reset"


def test_a_replaced_large_log_is_verified_completely(large_log: Path) -> None:
    followed = FollowedLog(large_log)
    followed.poll()
    replace(large_log, b'{"b":1}\n' + (OLD * 20)[8:] + b'{"a":3}\n')
    assert followed.poll() == "reset"


def test_a_log_that_vanishes_and_comes_back(log: Path, followed: FollowedLog) -> None:
    log.unlink()
    assert followed.poll() == "reset"
    assert followed.lines == []
    assert followed.poll() == "same"
    log.write_bytes(OLD)
    assert followed.poll() == "more"
    assert len(followed.lines) == 2


def test_a_log_that_was_never_there(tmp_path: Path) -> None:
    followed = FollowedLog(tmp_path / "none" / "annotations.jsonl")
    assert followed.poll() == "same"
    assert followed.follower.unfinished_line() == b""


def test_an_empty_log_has_no_lines(log: Path) -> None:
    log.write_bytes(b"")
    followed = FollowedLog(log)
    followed.poll()
    assert followed.lines == []
    append(log, OLD)
    assert followed.poll() == "more"
    assert len(followed.lines) == 2
