"""Following a log gives the same index as reading it once, after any writes."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.logs import IDS, logs, split_logs
from tests.unit.store.followed_log import FollowedLog, fixed_clock
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.store import log_batches
from vibes_lsp.store import log_follower as log_module
from vibes_lsp.trail.log_index import LogIndex
from vibes_lsp.trail.rows import LogLineKind

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def new_log(*, small: bool = True) -> Iterator[Path]:
    """Yield a path for a log, with limits that short logs reach."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if small:
            for name, value in (
                ("MAX_LINE", 80),
                ("CHUNK", 32),
                ("BLOCK", 16),
                ("_ALWAYS_VERIFIED", 64),
            ):
                for module in (log_batches, log_module):
                    if hasattr(module, name):
                        patch.setattr(module, name, value)
        yield Path(folder) / "annotations.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def knowledge(index: LogIndex) -> tuple[object, ...]:
    """Return all answers of an index as comparable values."""
    edges = [index.edges(source=each, target=each) for each in (*IDS, "short")]
    records = [list(index.with_id(each)) for each in (*IDS, "short", "x")]
    named = [index.annotations_naming(each, 9) for each in (*IDS, "short")]
    lines = range(1, index.line_count() + 1)
    return (
        {kind: list(index.lines_of(kind)) for kind in LogLineKind},
        {kind: index.lines_of_edges(kind) for kind in EdgeType},
        list(index.records(lines)),
        [index.raw(line) for line in lines],
        [index.lines_about(path) for path in ("a.py", "b.py", "größe.py")],
        index.sessions(),
        edges,
        records,
        named,
        index.incomplete_tail(),
        index.unterminated,
    )


@given(split_logs(), st.booleans())
def test_any_split_of_appends_gives_the_lines_of_one_read(
    pieces: list[tuple[bytes, bool]], small: bool
) -> None:
    with new_log(small=small) as path, fixed_clock():
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
    with new_log(small=False) as path, fixed_clock():
        index = LogIndex(path)
        for piece, looked in pieces:
            append(path, piece)
            if looked:
                index.refresh()
                knowledge(index)
        index.refresh()
        once = LogIndex(path)
        once.refresh()
        assert knowledge(index) == knowledge(once)


@given(st.lists(logs(), min_size=2, max_size=4))
def test_a_replaced_log_gives_the_index_of_the_new_one(versions: list[bytes]) -> None:
    with new_log() as path, fixed_clock():
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
    with new_log(small=False) as path, fixed_clock():
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
        assert [index.raw(number) for number in range(1, index.line_count() + 1)] == [
            line.rstrip(b"\r") for line in lines[: index.line_count()]
        ]


@given(
    st.lists(logs(), min_size=1, max_size=6).map(b"".join),
    st.integers(0, 3),
    st.integers(0, 1 << 16),
    st.sampled_from(["truncate", "rewrite", "append", "replace", "remove"]),
)
def test_a_log_that_changes_while_it_is_read_gives_its_index_in_the_end(
    log: bytes, when: int, place: int, way: str
) -> None:
    batches = 0
    with new_log() as path:
        path.write_bytes(log)

        def change(_done: int) -> None:
            nonlocal batches
            batches += 1
            if batches != when + 1:
                return
            at = place % (len(log) + 1)
            match way:
                case "truncate":
                    os.truncate(path, at)
                case "rewrite":
                    path.write_bytes(log[:at] + b"x" + log[at + 1 :])
                case "append":
                    append(path, log[at:])
                case "replace":
                    new = path.with_suffix(".new")
                    new.write_bytes(log[at:])
                    new.replace(path)
                case _:
                    path.unlink()

        index, other = (LogIndex(path) for _ in range(2))
        index.refresh(progress=change)
        index.file._seen = None  # what changed while it was read is not missed by its stamp
        index.refresh()
        other.refresh()
        assert knowledge(index) == knowledge(other)
