"""The database that programs share: its size, its locks and its damage."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.store.cache_database import CacheDatabase
from vibes_lsp.trail.index_writer import TRAIL_DATABASE
from vibes_lsp.trail.log_index import LogIndex

LINE = '{"type":"line","file_path":"a.py"}\n'


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "annotations.jsonl"
    path.write_text(LINE)
    return path


def database_of(log: Path) -> Path:
    path = TRAIL_DATABASE.path(log)
    assert path is not None
    return path


def indexed(log: Path) -> LogIndex:
    index = LogIndex(log, uses_saved=True)
    index.refresh()
    assert index.lasts
    return index


def append(log: Path) -> None:
    with log.open("a") as stream:
        stream.write(LINE)


def settle(log: Path) -> None:
    old = log.stat().st_mtime_ns - 3_600_000_000_000
    os.utime(log, ns=(old, old))


def is_emptied(log: Path) -> bool:
    """Whether another program can empty the write-ahead log."""
    connection = sqlite3.connect(database_of(log), isolation_level=None)
    [(is_busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    return not is_busy


def test_the_write_ahead_log_of_programs_that_stay_open_is_bounded(log: Path) -> None:
    indexes = [indexed(log) for _ in range(4)]
    for _ in range(300):
        append(log)
        for index in indexes[1:]:  # the first one never looks again
            index.refresh()
    assert [len(index.lines_about("a.py")) for index in indexes] == [301, 301, 301, 301]
    assert Path(f"{database_of(log)}-wal").stat().st_size < 8 << 20


def test_a_program_that_stays_open_keeps_no_write_ahead_log(log: Path) -> None:
    index = indexed(log)
    append(log)
    indexed(log).close()
    assert index.lines_about("a.py") == [1, 2]
    assert is_emptied(log)


def test_what_is_asked_is_of_the_same_lines_or_outdated(log: Path) -> None:
    index = indexed(log)
    append(log)
    indexed(log).close()
    assert index.lines_about("a.py") == [1, 2]
    log.write_text(LINE.replace("a.py", "b.py"))
    indexed(log).close()
    with pytest.raises(OutdatedIndex):
        index.lines_about("a.py")
    assert index.refresh()
    assert [index.lines_about("a.py"), index.lines_about("b.py")] == [[], [1]]


def test_a_log_that_nobody_changes_becomes_settled_in_the_index(log: Path) -> None:
    indexed(log).close()
    settle(log)
    indexed(log).close()
    connection = sqlite3.connect(database_of(log))
    assert connection.execute("SELECT settled FROM source").fetchall() == [(1,)]
    connection.close()


def test_an_unchanged_log_is_read_while_another_program_indexes(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited,trail-index=0")
    settle(log)
    indexed(log).close()
    other = sqlite3.connect(database_of(log), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert indexed(log).lines_about("a.py") == [1]
    other.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM trail",
        "DROP TABLE source",
        "DROP TABLE trail",
        "UPDATE source SET blocks = x'00'",
        "UPDATE source SET blocks = x''",
        "UPDATE source SET seen = 'x'",
    ],
)
def test_a_half_made_index_is_made_again(log: Path, damage: str) -> None:
    indexed(log).close()
    connection = sqlite3.connect(database_of(log))
    connection.execute(damage)
    connection.commit()
    connection.close()
    index = LogIndex(log, uses_saved=True)
    index.refresh()
    assert index.lines_about("a.py") == [1]
    index.close()
    assert indexed(log).lines_about("a.py") == [1]


def test_a_damaged_index_that_cannot_be_removed_is_not_used(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where another program has it open."""
    indexed(log).close()
    connection = sqlite3.connect(database_of(log))
    connection.execute("DELETE FROM trail")
    connection.commit()
    connection.close()
    monkeypatch.setattr(CacheDatabase, "remove", lambda *_: None)
    index = LogIndex(log, uses_saved=True)
    for _ in range(2):
        index.refresh()
        assert (index.lines_about("a.py"), index.lasts) == ([1], False)


def test_a_query_that_fails_for_another_reason_removes_no_index(log: Path) -> None:
    index = indexed(log)
    error = index.damaged(sqlite3.OperationalError("disk I/O error"))
    assert "removed" not in str(error)
    assert database_of(log).exists()


def test_another_program_may_have_read_what_is_much_to_read(log: Path) -> None:
    index = indexed(log)
    log.write_text(LINE * 9)
    assert index.bytes_to_read() == log.stat().st_size - len(LINE)
    indexed(log)
    assert index.bytes_to_read() == 0
    assert index.refresh(), "lines were added"
    assert not index.refresh()
    assert len(index.lines_about("a.py")) == 9


DATABASE = CacheDatabase("kept", "kept-1", ("CREATE TABLE t (a)",), TRAIL_DATABASE.wait)


def test_the_databases_that_were_opened_last_are_kept(log: Path) -> None:
    for number in range(32):
        DATABASE.open(log.with_name(str(number)))[0].close()
        path = DATABASE.path(log.with_name(str(number)))
        assert path is not None
        os.utime(path, (number, number))
    DATABASE.open(log.with_name("0"))[0].close()
    DATABASE.open(log.with_name("new"))[0].close()
    paths = [DATABASE.path(log.with_name(str(number))) for number in range(2)]
    assert [path is not None and path.exists() for path in paths] == [True, False]


def test_a_power_cut_loses_no_part_of_a_checkpoint(log: Path) -> None:
    connection, _ = DATABASE.open(log)
    assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
    connection.close()


def test_a_removed_database_takes_none_with_it_when_it_is_closed(log: Path) -> None:
    """SQLite removes the write-ahead log by its name: another program's, if the name is one."""
    old = indexed(log)
    TRAIL_DATABASE.remove(log)
    new = indexed(log)
    append(log)
    new.refresh()
    old.close()
    assert indexed(log).numbers("SELECT row FROM record") == [1, 2]
    assert new.lines_about("a.py") == [1, 2]


def test_programs_that_create_a_database_at_once_all_answer(log: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        indexes = list(pool.map(indexed, [log] * 4))
    append(log)
    for index in indexes:
        index.refresh()
        assert (index.lines_about("a.py"), index.lasts) == ([1, 2], True)
