"""Following a log gives the same index as reading it once, after any writes."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.logs import IDS, logs, split_logs
from tests.unit.store.followed_log import FollowedLog
from vibes_lsp.index.columns import Column, Names
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.store import log_follower as log_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vibes_lsp.index.log_columns import LogColumns


@contextmanager
def new_log(*, small: bool = True) -> Iterator[Path]:
    """Yield a path for a log, with limits that short logs reach."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if small:
            for name, value in (
                ("MAX_LINE", 80),
                ("_CHUNK", 32),
                ("_BLOCK", 16),
                ("_ALWAYS_VERIFIED", 64),
                ("_VERIFIED_WHEN_SETTLED", 64),
            ):
                patch.setattr(log_module, name, value)
        yield Path(folder) / "annotations.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def contents(columns: LogColumns) -> tuple[object, ...]:
    """Return the content of columns; names instead of their numbers."""
    return (
        [list(column) for column in vars(columns).values() if isinstance(column, Column)],
        [list(names) for names in vars(columns).values() if isinstance(names, Names)],
        {path: list(lines) for path, lines in columns.annotations.items()},
        {session: list(lines) for session, lines in columns.sessions.items()},
        [columns.files_of_session(session) for session in columns.annotating_sessions],
        columns.broken,
    )


def knowledge(index: LogIndex) -> tuple[object, ...]:
    """Return all answers of an index as comparable values."""
    edges = [index.edges(source=each, target=each) for each in (*IDS, "short")]
    records = [index.by_id(each) for each in (*IDS, "short", "x")]
    return (
        contents(index.columns),
        list(index.records(range(1, len(index.columns) + 1))),
        edges,
        records,
        index.incomplete_tail(),
        index.unterminated,
    )


@given(split_logs(), st.booleans())
def test_any_split_of_appends_gives_the_lines_of_one_read(
    pieces: list[tuple[bytes, bool]], small: bool
) -> None:
    with new_log(small=small) as path:
        followed = FollowedLog(path)
        for piece, looked in pieces:
            append(path, piece)
            if looked:
                followed.poll()
        followed.poll()
        once = FollowedLog(path)
        once.poll()
        assert followed.lines == once.lines
        assert followed.oversized == once.oversized
        assert followed.follower.size == once.follower.size
        assert followed.follower.unfinished_line() == once.follower.unfinished_line()
        assert followed.follower.unterminated == once.follower.unterminated
        assert followed.poll() in ("same", "more")
        assert followed.lines == once.lines


@given(split_logs())
def test_any_split_of_appends_gives_the_index_of_one_read(
    pieces: list[tuple[bytes, bool]],
) -> None:
    with new_log(small=False) as path:
        index = LogIndex(path, now_ns=lambda: 1 << 62)
        for piece, looked in pieces:
            append(path, piece)
            if looked:
                index.refresh()
                knowledge(index)
        index.refresh()
        once = LogIndex(path, now_ns=lambda: 1 << 62)
        once.refresh()
        assert knowledge(index) == knowledge(once)


@given(st.lists(logs(), min_size=2, max_size=4))
def test_a_replaced_log_gives_the_index_of_the_new_one(versions: list[bytes]) -> None:
    with new_log() as path:
        followed = FollowedLog(path)
        for version in versions:
            new = path.with_suffix(".new")
            new.write_bytes(version)
            new.replace(path)
            followed.poll()
        once = FollowedLog(path)
        once.poll()
        assert followed.lines == once.lines


@given(logs())
def test_the_lines_and_the_tail_are_the_file(log: bytes) -> None:
    with new_log(small=False) as path:
        path.write_bytes(log)
        followed = FollowedLog(path)
        followed.poll()
        delivered = b"\n".join(followed.lines)
        assert log.startswith(delivered)
        rest = log[len(delivered) :].removeprefix(b"\n") if followed.lines else log
        assert rest[:200] == followed.follower.unfinished_line()
        assert b"\n" not in rest


@given(logs())
def test_every_line_is_where_the_index_says(log: bytes) -> None:
    with new_log(small=False) as path:
        path.write_bytes(log)
        index = LogIndex(path)
        index.refresh()
        lines = log.split(b"\n")
        assert [index.raw(number) for number in range(1, len(index.columns) + 1)] == [
            line.rstrip(b"\r") for line in lines[: len(index.columns)]
        ]
