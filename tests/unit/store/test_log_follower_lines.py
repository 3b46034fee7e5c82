"""Lines of the log: their end, a missing end, lines that are too long, and other kinds of file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.store.followed_log import FollowedLog
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.store import files, log_batches
from vibes_lsp.store import log_follower as log_module
from vibes_lsp.store.log_follower import LogFollower

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "annotations.jsonl"


def read(path: Path) -> FollowedLog:
    followed = FollowedLog(path)
    followed.poll()
    return followed


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def test_a_last_record_that_lacks_its_newline_counts(log: Path) -> None:
    log.write_bytes(b'{"a":1}\n{"a":2}')
    followed = read(log)
    assert followed.lines == [b'{"a":1}', b'{"a":2}']
    assert followed.follower.unterminated
    assert followed.follower.unfinished_line() == b""
    assert followed.poll() == "same"


@pytest.mark.parametrize("more", [b"\n", b'\n{"a":3}\n', b'{"a":3}\n', b"x\n"])
def test_text_after_a_last_record_without_newline_resets_the_log(log: Path, more: bytes) -> None:
    log.write_bytes(b'{"a":1}\n{"a":2}')
    followed = read(log)
    append(log, more)
    assert followed.poll() == "reset"
    assert followed.lines == read(log).lines
    assert not followed.follower.unterminated


def test_a_partial_record_waits_for_its_end(log: Path) -> None:
    log.write_bytes(b'{"a":1}\n{"a":')
    followed = read(log)
    assert followed.lines == [b'{"a":1}']
    assert followed.follower.unfinished_line() == b'{"a":'
    assert not followed.follower.unterminated
    append(log, b"2}\n")
    assert followed.poll() == "more"
    assert followed.lines == [b'{"a":1}', b'{"a":2}']
    assert followed.follower.unfinished_line() == b""


def test_the_shown_part_of_a_partial_record_is_limited(log: Path) -> None:
    log.write_bytes(b'{"a":"' + b"x" * 1000)
    assert len(read(log).follower.unfinished_line()) == 200


@pytest.mark.parametrize("tail", [b"<<<<<<< HEAD", b"[{}", b'{"a":{}', b"null", b"{}}"])
def test_an_invalid_last_line_waits_for_its_newline(log: Path, tail: bytes) -> None:
    log.write_bytes(b'{"a":1}\n' + tail)
    assert read(log).lines == [b'{"a":1}']


def test_windows_line_ends_stay_on_their_lines(log: Path) -> None:
    log.write_bytes(b'{"a":1}\r\n{"a":2}\r\n')
    followed = read(log)
    assert followed.lines == [b'{"a":1}\r', b'{"a":2}\r']
    assert followed.follower.size == log.stat().st_size


def test_other_line_separators_do_not_end_lines(log: Path) -> None:
    record = '{"a":"\u2028\u0085"}'.encode()
    log.write_bytes(record + b"\n")
    assert read(log).lines == [record]


def test_a_byte_order_mark_stays_on_the_first_line(log: Path) -> None:
    log.write_bytes(b'\xef\xbb\xbf{"a":1}\n\n{"a":2}\n')
    assert read(log).lines == [b'\xef\xbb\xbf{"a":1}', b"", b'{"a":2}']


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach: lines of 32 bytes, reads of 16, blocks of 8."""
    monkeypatch.setattr(log_batches, "MAX_LINE", 32)
    for module in (log_batches, log_module):
        monkeypatch.setattr(module, "CHUNK", 16)
        monkeypatch.setattr(module, "BLOCK", 8)


@pytest.mark.usefixtures("small")
def test_an_oversized_line_is_skipped_with_number_and_length(log: Path) -> None:
    log.write_bytes(b'{"a":1}\n' + b"x" * 100 + b'\n{"a":2}\n')
    followed = read(log)
    assert [len(line) for line in followed.lines] == [7, len(followed.lines[1]), 7]
    assert followed.oversized == {2: 100}
    assert followed.lines[2] == b'{"a":2}'
    assert followed.follower.size == log.stat().st_size


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("length", range(28, 68))
@pytest.mark.parametrize("before", [0, 5, 15])
def test_whether_a_line_is_oversized_depends_on_its_length_alone(
    log: Path, length: int, before: int
) -> None:
    first = b"a" * before
    log.write_bytes(first + b"\n" + b"x" * length + b"\nend\n")
    followed = read(log)
    assert followed.oversized == ({2: length} if length > 32 else {})
    assert len(followed.lines) == 3
    assert (followed.lines[0], followed.lines[2]) == (first, b"end")


@pytest.mark.usefixtures("small")
def test_an_oversized_line_is_delivered_when_its_end_is_written(log: Path) -> None:
    log.write_bytes(b'{"a":1}\n' + b"x" * 100)
    followed = read(log)
    assert followed.lines == [b'{"a":1}']
    append(log, b"y" * 50)
    followed.poll()
    assert followed.lines == [b'{"a":1}']
    append(log, b'\n{"a":2}\n')
    assert followed.poll() == "more"
    assert followed.oversized == {2: 150}
    assert followed.lines[2] == b'{"a":2}'


@pytest.mark.usefixtures("small")
def test_an_oversized_record_without_newline_is_not_delivered(log: Path) -> None:
    log.write_bytes(b'{"a":1}\n{"a":"' + b"x" * 60 + b'"}')
    assert read(log).lines == [b'{"a":1}']


def test_a_folder_in_its_place_is_an_error(log: Path) -> None:
    log.mkdir()
    with pytest.raises(UnreadableFile, match=r"annotations\.jsonl is not a regular file"):
        read(log)


def test_a_pipe_in_its_place_is_an_error_without_waiting(log: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(log)
    with pytest.raises(UnreadableFile, match="not a regular file"):
        read(log)


def test_a_pipe_that_replaces_it_during_a_poll_does_not_block(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(log)
    regular = log.with_name("other")
    regular.write_bytes(b"{}\n")
    monkeypatch.setattr(
        log_module, "regular_file_stamp", lambda _: files.regular_file_stamp(regular)
    )
    with pytest.raises(UnreadableFile, match="not a regular file"):
        read(log)


def test_an_unreadable_log_keeps_the_delivered_lines(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fake denies access, because the tests may run with all permissions."""
    log.write_bytes(b'{"a":1}\n')
    followed = read(log)
    append(log, b'{"a":2}\n')

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("vibes_lsp.store.files.os.open", refuse)
        with pytest.raises(UnreadableFile, match="cannot be read: Permission denied"):
            followed.poll()
    assert followed.lines == [b'{"a":1}']
    assert followed.poll() == "more"
    assert followed.lines == [b'{"a":1}', b'{"a":2}']


def test_places_are_read_in_the_given_order(log: Path) -> None:
    log.write_bytes(b"one\ntwo\nthree\n")
    assert LogFollower(log).read([(8, 5), (0, 3), (8, 99), (99, 3)]) == [
        b"three",
        b"one",
        b"three\n",
        b"",
    ]
    with pytest.raises(UnreadableFile):
        LogFollower(log.with_name("absent")).read([(0, 1)])
