"""A log that is read in parts, by two processes, gives the index of one read."""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.logs import logs
from tests.properties.test_log_follower import append, knowledge, new_log
from tests.properties.test_saved_index import new_project
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index import forked_work, id_keys, read_parts
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.store.log_follower import LogFollower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from vibes_lsp.store.log_batches import LogPart


@pytest.fixture
def new_secret() -> Iterator[None]:
    """Begin without a secret, as a new process does, and go on with the one before."""
    cached = id_keys._secret, id_keys._multipliers
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


LONG_LOGS = st.lists(logs(), min_size=1, max_size=6).map(b"".join)
PART_SIZES = st.integers(1, 300)


def in_parts(path: Path, size: int, between: Callable[[], object] = lambda: None) -> LogIndex:
    """Return the index of a log that another process seems to read half of, in parts.

    Args:
        path: The log.
        size: Bytes of a part.
        between: Called before each part that the other process reads.
    """

    @contextmanager
    def results(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Iterator[Any]]:
        def handed_over() -> Iterator[Any]:
            with suppress(UnreadableFile):  # such a process ends
                for item in items:
                    between()
                    yield pickle.loads(pickle.dumps(work(item)))

        yield handed_over()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_parts, "_PART", size)
        patch.setattr(read_parts, "_MIN_PARTS", 1)
        patch.setattr(read_parts, "results_of_fork", results)
        index = LogIndex(path, now_ns=lambda: 1 << 62)
        index.refresh()
    return index


def in_one(path: Path) -> LogIndex:
    index = LogIndex(path, now_ns=lambda: 1 << 62)
    index.refresh()
    return index


@given(LONG_LOGS, PART_SIZES, st.booleans(), logs())
def test_parts_give_the_index_of_one_read(log: bytes, size: int, small: bool, more: bytes) -> None:
    with new_log(small=small) as path:
        path.write_bytes(log)
        index, other = in_parts(path, size), in_one(path)
        assert knowledge(index) == knowledge(other)
        assert index._follower.is_level_with(other._follower)
        append(path, more)
        index.refresh()
        other.refresh()
        assert knowledge(index) == knowledge(other) == knowledge(in_one(path))


@given(LONG_LOGS, PART_SIZES, st.integers(0, 3), st.integers(0, 1 << 16), st.data())
def test_a_log_that_changes_while_it_is_read_gives_its_index_in_the_end(
    log: bytes, size: int, when: int, place: int, data: st.DataObject
) -> None:
    way = data.draw(st.sampled_from(["truncate", "rewrite", "append", "replace", "remove"]))
    steps = 0
    with new_log() as path:
        path.write_bytes(log)

        def change() -> None:
            nonlocal steps
            steps += 1
            if steps != when + 1:
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

        index = in_parts(path, size, change)
        index.refresh(thorough=True)
        assert knowledge(index) == knowledge(in_one(path))


@pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors"
)
@settings(max_examples=20)
@given(LONG_LOGS, st.integers(20, 300))
def test_a_forked_process_reads_half_of_the_parts(log: bytes, size: int) -> None:
    children: list[int] = []
    found: list[int] = []
    fork, find = os.fork, LogFollower.parts_to_read

    def noted_parts(follower: LogFollower, size: int) -> list[LogPart]:
        parts = find(follower, size)
        found.append(len(parts))
        return parts

    def noted() -> int:
        children.append(fork())
        return children[-1]

    with new_log(small=False) as path, pytest.MonkeyPatch.context() as patch:
        path.write_bytes(log)
        expected = knowledge(in_one(path))
        patch.setattr(read_parts, "_PART", size)
        patch.setattr(read_parts, "_MIN_PARTS", 2)
        patch.setattr(forked_work, "_thread_count", lambda: 1)
        patch.setattr(os, "fork", noted)
        patch.setattr(LogFollower, "parts_to_read", noted_parts)
        assert knowledge(in_one(path)) == expected
        assert len(children) == (sum(found) >= 2)


@pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors"
)
@pytest.mark.usefixtures("new_secret")
def test_keys_of_both_processes_have_one_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifiers = [f"{number:064x}" for number in range(100)]
    path = tmp_path / "annotations.jsonl"
    path.write_text("".join(f'{{"annotation_id":"{each}"}}\n' for each in identifiers))
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))  # no folder: the secret is kept nowhere
    monkeypatch.setattr(read_parts, "_PART", 1_000)
    monkeypatch.setattr(read_parts, "_MIN_PARTS", 2)
    monkeypatch.setattr(forked_work, "_thread_count", lambda: 1)
    assert list(in_one(path).columns.keys) == list(map(id_keys.id_key, identifiers))


@pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors"
)
@settings(max_examples=10)
@given(LONG_LOGS)
def test_an_index_that_two_processes_make_is_that_of_one(log: bytes) -> None:
    with new_project(small=False) as (path, folder), pytest.MonkeyPatch.context() as patch:
        path.write_bytes(log + b"\n")
        written = []
        for count in (1, 2):  # more threads forbid to fork
            patch.setattr(forked_work, "_thread_count", lambda count=count: count)
            index = LogIndex(path, uses_saved=True)
            index.refresh()
            assert index.save()
            (saved,) = folder.iterdir()
            written.append(saved.read_bytes())
            saved.unlink()
        assert written[0] == written[1]
