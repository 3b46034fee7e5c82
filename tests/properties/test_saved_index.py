"""An index in the cache gives the answers of the log, whatever became of either file."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.logs import logs
from tests.properties.test_log_follower import append, knowledge, new_log
from tests.trails import annotation_id
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.store import log_follower
from vibes_lsp.store.log_batches import LineBatch
from vibes_lsp.trail.index_writer import TRAIL_DATABASE, IndexWriter
from vibes_lsp.trail.log_index import LogIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")


@contextmanager
def new_project(*, small: bool) -> Iterator[tuple[Path, Path]]:
    """Yield a path for a log and the folder of indexes."""
    with (
        new_log(small=small) as path,
        tempfile.TemporaryDirectory() as cache,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_CACHE_HOME", cache)
        patch.setattr(log_follower, "_ALWAYS_VERIFIED", 8 << 20)  # or an edit may be missed
        yield path, Path(cache, "vibes-lsp/trail")


def ask(index: LogIndex, about: Callable[[LogIndex], _T]) -> _T:
    """Ask a refreshed index; again, when it says that it is outdated."""
    for _ in range(3):
        index.refresh()
        try:
            return about(index)
        except OutdatedIndex:
            continue
    raise AssertionError("still outdated")


def members_of(identifier: str) -> Callable[[LogIndex], list[dict[str, Any]]]:
    """Return what asks an index for the members of the records with an id."""
    return lambda index: [record.members for record in index.with_id(identifier)]


def answers_of_the_log(path: Path) -> tuple[object, ...]:
    index = LogIndex(path)
    index.refresh()
    return knowledge(index)


def rewrite(path: Path, data: bytes) -> None:
    """Write in place: the inode stays."""
    with path.open("r+b") as stream:
        stream.write(data)
        stream.truncate()


def replace(path: Path, data: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(data)
    new.replace(path)


CHANGES = st.sampled_from(["append", "rewrite", "replace", "edit", "edit and append", "truncate"])


@settings(max_examples=60)
@given(
    logs(),
    st.lists(
        st.tuples(CHANGES, logs(), st.integers(0, 1 << 16), st.booleans()),
        max_size=5,
    ),
    st.booleans(),
)
def test_any_changes_of_the_log_give_its_answers(
    first: bytes, steps: list[tuple[str, bytes, int, bool]], small: bool
) -> None:
    with new_project(small=small) as (path, _):
        path.write_bytes(first)
        index = LogIndex(path, uses_saved=True)
        assert ask(index, knowledge) == answers_of_the_log(path)
        beside = LogIndex(path, uses_saved=True)
        for change, data, place, is_restarted in steps:
            before = path.read_bytes()
            at = place % max(len(before), 1)
            edited = before[:at] + b"x" + before[at + 1 :]
            match change:
                case "append":
                    append(path, data)
                case "rewrite":
                    rewrite(path, data)
                case "replace":
                    replace(path, data)
                case "edit":
                    rewrite(path, edited)
                case "edit and append":
                    rewrite(path, edited)
                    append(path, data)
                case _:
                    os.truncate(path, at if before else 0)
            if is_restarted:
                index = LogIndex(path, uses_saved=True)
            assert ask(index, knowledge) == answers_of_the_log(path)
            assert ask(beside, knowledge) == answers_of_the_log(path)


@pytest.mark.parametrize("state", ["half", "empty", "noise", "of another log", "a folder"])
def test_any_damage_of_the_saved_index_gives_the_answers_of_the_log(state: str) -> None:
    with new_project(small=False) as (path, folder):
        path.write_bytes(b'{"type":"line","file_path":"a.py"}\n' * 300)
        indexed(path)
        saved = TRAIL_DATABASE.path(path)
        assert saved is not None
        data = saved.read_bytes()
        saved.unlink()
        match state:
            case "half":
                saved.write_bytes(data[: len(data) // 2])
            case "empty":
                saved.write_bytes(b"")
            case "noise":
                saved.write_bytes(data[:4096] + b"noise" * 9_999)
            case "of another log":
                replace(path, b'{"type":"line","file_path":"b.py"}\n')
                saved.write_bytes(data)
            case _:
                saved.mkdir()
        index = LogIndex(path, uses_saved=True)
        assert ask(index, knowledge) == answers_of_the_log(path)
        append(path, b'{"type":"line","file_path":"a.py"}\n')
        assert ask(index, knowledge) == answers_of_the_log(path)
        shutil.rmtree(folder)
        assert ask(index, knowledge) == answers_of_the_log(path)


def indexed(path: Path) -> LogIndex:
    """Return an index that has read a log, in the cache and closed."""
    index = LogIndex(path, uses_saved=True)
    index.refresh()
    assert index.lasts
    index.close()
    return index


def test_a_flipped_bit_of_the_index_shows_no_record_that_the_log_does_not_have() -> None:
    """SQLite notices most; what it finds is compared with the record in the log."""
    ids = [annotation_id({"number": number}) for number in range(60)]
    with new_project(small=False) as (path, folder):
        for number, identifier in enumerate(ids):
            record = {"type": "line", "annotation_id": identifier, "file_path": f"{number % 3}.py"}
            append(path, json.dumps(record).encode() + b"\n")
        log = LogIndex(path)
        log.refresh()
        records = {record.id: record for record in log.records(range(1, 61))}
        indexed(path)
        saved = TRAIL_DATABASE.path(path)
        assert saved is not None
        data = saved.read_bytes()
        rng = random.Random(1)
        for bit in rng.sample(range(8 * len(data)), 150):
            for file in folder.iterdir():
                file.unlink()
            saved.write_bytes(
                data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]
            )
            index = LogIndex(path, uses_saved=True)
            for identifier in rng.sample(ids, 3):
                assert ask(index, members_of(identifier)) in (
                    [],
                    [records[identifier].members],
                )
            index.close()


def test_programs_share_an_index_and_read_only_what_is_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with new_project(small=False) as (path, _):
        append(path, b'{"type":"line","file_path":"a.py"}\n' * 3)
        indexed(path)
        append(path, b'{"type":"line","file_path":"b.py"}\n')
        read: list[int] = []
        add = IndexWriter.add

        def counted(writer: IndexWriter, source: int, batch: LineBatch, start: int) -> int:
            read.extend(range(batch.first, batch.first + len(batch.lines)))
            return add(writer, source, batch, start)

        monkeypatch.setattr(IndexWriter, "add", counted)
        again = LogIndex(path, uses_saved=True)
        again.refresh()
        assert read == [4]
        assert [again.lines_about(name) for name in ("a.py", "b.py")] == [[1, 2, 3], [4]]


def test_a_log_that_was_rewritten_is_read_from_the_first_block_that_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with new_project(small=True) as (path, _):
        lines = [b'{"type":"line","file_path":"%03d"}\n' % number for number in range(40)]
        path.write_bytes(b"".join(lines))
        index = LogIndex(path, uses_saved=True)
        index.refresh()
        epoch = index.epoch
        read: list[int] = []
        add = IndexWriter.add

        def counted(writer: IndexWriter, source: int, batch: LineBatch, start: int) -> int:
            read.append(batch.first)
            return add(writer, source, batch, start)

        monkeypatch.setattr(IndexWriter, "add", counted)
        replace(path, b"".join([*lines[:30], b'{"type":"line","file_path":"new"}\n', *lines[30:]]))
        index.refresh()
        assert min(read) in range(28, 32), "the lines before it are kept"
        assert index.epoch != epoch
        assert knowledge(index) == answers_of_the_log(path)


def test_an_index_that_another_program_writes_to_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited,trail-index=0")
    with new_project(small=False) as (path, _):
        append(path, b'{"type":"line","file_path":"a.py"}\n')
        indexed(path)
        append(path, b'{"type":"line","file_path":"a.py"}\n')
        other = sqlite3.connect(str(TRAIL_DATABASE.path(path)), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        index = LogIndex(path, uses_saved=True)
        index.refresh()
        assert index.lines_about("a.py") == [1, 2]
        assert not index.lasts
        other.close()


def test_without_a_cache_the_index_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_log(small=False) as path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        (tmp_path / "file").touch()
        append(path, b'{"type":"line","file_path":"a.py"}\n')
        index = LogIndex(path, uses_saved=True)
        index.refresh()
        assert index.lines_about("a.py") == [1]
        assert not index.lasts


def test_who_decides_reads_the_log_itself() -> None:
    with new_project(small=False) as (path, folder):
        append(path, b'{"type":"line","file_path":"a.py"}\n')
        index = LogIndex(path)
        index.refresh()
        assert index.lines_about("a.py") == [1]
        assert not folder.exists()


@pytest.mark.parametrize("is_saved", [True, False])
def test_no_author_of_a_log_can_choose_the_keys_of_its_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_saved: bool
) -> None:
    """Ids with one key would make each look-up read all of them."""
    log = tmp_path / "annotations.jsonl"
    log.write_bytes(b'{"type":"line","file_path":"a.py","annotation_id":"id"}\n')
    keys = set()
    for user in ("one", "two"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / user))
        index = LogIndex(log, uses_saved=is_saved)
        index.refresh()
        key = index.key("id")
        assert index.rows("SELECT row FROM record WHERE key = ?", key) == [(1,)]
        keys.add(key)
        index.close()
        if is_saved:
            again = LogIndex(log, uses_saved=True)
            again.refresh()
            assert again.key("id") == key
    assert len(keys) == 2


def test_records_that_wait_follow_those_of_the_log(tmp_path: Path) -> None:
    log, waiting = tmp_path / "annotations.jsonl", tmp_path / "waiting.jsonl"
    record = '{"type":"line","file_path":"a.py","annotation_id":"%s","prompt_hash":"p"}\n'
    log.write_text(record % "first")
    waiting.write_text(record % "second")
    index = LogIndex(log, lambda: [waiting, tmp_path / "absent.jsonl"])
    index.refresh()
    assert [each.id for each in index.annotations_naming("p", 9)] == ["first", "second"]
    with log.open("a") as stream:
        stream.write(record % "third")
    waiting.write_text(record % "fourth")
    index.refresh()
    records = list(index.records(index.lines_about("a.py")))
    assert [each.id for each in records] == ["first", "third", "fourth"]
    assert index.by_id("second") is None
    assert [index.raw(each.line) for each in records[2:]] == [(record % "fourth").strip().encode()]
    assert index.line_count() == 2, "the number of lines is the log's"
