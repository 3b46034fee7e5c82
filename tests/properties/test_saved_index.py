"""A saved index gives the same answers as reading the log, whatever became of either file."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.logs import logs
from tests.properties.test_log_follower import append, knowledge, new_log
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.index import saved_log
from vibes_lsp.index.log_index import LogIndex

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def new_project(*, small: bool) -> Iterator[tuple[Path, Path]]:
    """Yield a path for a log and the folder of saved indexes; every log is worth saving."""
    with (
        new_log(small=small) as path,
        tempfile.TemporaryDirectory() as cache,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_CACHE_HOME", cache)
        patch.setattr(saved_log, "MIN_LOG", 0)
        patch.setattr(saved_log, "_MIN_ADDED", 1)
        yield path, Path(cache, "vibes-lsp/large")


def ask(index: LogIndex) -> tuple[object, ...]:
    """Ask an index about everything; again, when it says that it is outdated."""
    for _ in range(3):
        index.refresh()
        try:
            return knowledge(index)
        except OutdatedIndex:
            continue
    raise AssertionError("still outdated")


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
        st.tuples(CHANGES, logs(), st.integers(0, 1 << 16), st.booleans(), st.booleans()),
        max_size=5,
    ),
    st.booleans(),
)
def test_any_changes_of_the_log_give_its_answers(
    first: bytes, steps: list[tuple[str, bytes, int, bool, bool]], small: bool
) -> None:
    with new_project(small=small) as (path, _):
        path.write_bytes(first)
        index = LogIndex(path, uses_saved=True)
        assert ask(index) == answers_of_the_log(path)
        index.save()
        for change, data, place, is_restarted, is_saved in steps:
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
            elif change == "edit and append":  # only noticed where lines are read again
                index.refresh(thorough=True)
            assert ask(index) == answers_of_the_log(path)
            if is_saved:
                index.save()
                assert ask(index) == answers_of_the_log(path)


@settings(max_examples=60)
@given(
    logs(),
    logs(),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 255)), max_size=3),
    st.sampled_from(["whole", "half", "empty", "of another log", "a folder", "a link"]),
)
def test_any_damage_of_the_saved_index_gives_the_answers_of_the_log(
    log: bytes, other: bytes, flips: list[tuple[int, int]], state: str
) -> None:
    with new_project(small=False) as (path, folder):
        path.write_bytes(log + b"\n")
        index = LogIndex(path, uses_saved=True)
        index.refresh()
        assert index.save()
        (saved,) = folder.iterdir()
        data = bytearray(saved.read_bytes())
        for place, difference in flips:
            data[place % len(data)] ^= difference
        saved.unlink()
        match state:
            case "half":
                saved.write_bytes(data[: len(data) // 2])
            case "empty":
                saved.write_bytes(b"")
            case "of another log":
                replace(path, other)
                saved.write_bytes(data)
            case "a folder":
                saved.mkdir()
            case "a link":
                saved.with_name("elsewhere").write_bytes(data)
                saved.symlink_to("elsewhere")
            case _:
                saved.write_bytes(data)
        index = LogIndex(path, uses_saved=True)
        assert ask(index) == answers_of_the_log(path)
        append(path, b'{"type":"line","file_path":"a.py"}\n')
        assert ask(index) == answers_of_the_log(path)
        shutil.rmtree(folder)
        assert ask(index) == answers_of_the_log(path)


def test_a_saved_index_is_used() -> None:
    with new_project(small=False) as (path, _):
        append(path, b'{"type":"line","file_path":"a.py"}\n' * 3)
        index = LogIndex(path, uses_saved=True)
        index.refresh()
        assert index.save()
        assert not index.save(), "nothing was added"
        append(path, b'{"type":"line","file_path":"b.py"}\n')
        again = LogIndex(path, uses_saved=True)
        again.refresh()
        assert [again.columns.kinds.split, len(again.columns)] == [3, 4]
        assert dict(again.columns.annotations) == {"a.py": [1, 2, 3], "b.py": [4]}


@pytest.mark.parametrize("is_there", [False, True], ids=["no folder", "folder without access"])
def test_nothing_is_prepared_that_cannot_be_saved(
    monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    with new_project(small=False) as (path, folder):
        path.write_bytes(b'{"type":"line","file_path":"a.py"}\n')
        if is_there:
            folder.mkdir(parents=True, mode=0o700)
            monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", str(path))
        index = LogIndex(path, uses_saved=True)
        index.refresh()
        assert not index.save()
        assert index.columns.resolved == 0
