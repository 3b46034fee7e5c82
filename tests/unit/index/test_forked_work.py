"""Results of two processes are those of one, also when the second one fails."""

from __future__ import annotations

import _thread
import errno
import os
import sys
import threading
from pathlib import Path

import pytest

from vibes_lsp.index import forked_work
from vibes_lsp.index.forked_work import map_in_order

ITEMS = list(range(9))
needs_two_processors = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors"
)


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not count the threads of the program that runs the tests."""
    own = forked_work._thread_count()
    count = forked_work._thread_count
    monkeypatch.setattr(forked_work, "_thread_count", lambda: count() - own + 1)


def _descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def test_results_come_in_order() -> None:
    assert list(map_in_order(lambda item: [item] * 3, ITEMS)) == [[item] * 3 for item in ITEMS]


@needs_two_processors
def test_a_second_process_does_half_of_the_work() -> None:
    assert len(set(map_in_order(lambda _: os.getpid(), ITEMS))) == 2


def test_a_killed_process_loses_nothing() -> None:
    parent = os.getpid()

    def work(item: int) -> int:
        if item > 3 and os.getpid() != parent:
            os._exit(9)
        return item * 2

    assert list(map_in_order(work, ITEMS)) == [item * 2 for item in ITEMS]


def test_an_error_of_the_work_is_raised() -> None:
    def work(item: int) -> int:
        return 1 // (5 - item)

    with pytest.raises(ZeroDivisionError):
        list(map_in_order(work, ITEMS))


@needs_two_processors
def test_no_process_is_left_when_the_results_are_not_read(children: list[int]) -> None:
    results = map_in_order(lambda item: item, ITEMS)
    assert next(results) == 0
    del results
    (child,) = children
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


@needs_two_processors
@pytest.mark.parametrize("name", ["fork", "pipe"])
def test_where_no_process_can_be_forked_this_one_does_the_work(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refused() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, name, refused)
    before = _descriptors()
    assert list(map_in_order(lambda item: item * 2, ITEMS)) == [item * 2 for item in ITEMS]
    assert _descriptors() == before


@needs_two_processors
def test_an_interrupted_second_process_runs_nothing_of_the_caller(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fork = os.fork
    ended = tmp_path / "ended"

    def interrupted() -> int:
        child = fork()
        if child == 0:
            raise KeyboardInterrupt
        return child

    monkeypatch.setattr(os, "fork", interrupted)
    parent = os.getpid()
    try:
        assert list(map_in_order(lambda item: item, ITEMS)) == ITEMS
    finally:
        with ended.open("a") as stream:
            stream.write("once\n")
        if os.getpid() != parent:
            os._exit(0)
    assert ended.read_text() == "once\n"


@needs_two_processors
def test_nothing_is_forked_beside_a_thread_that_python_did_not_start() -> None:
    release = threading.Event()
    _thread.start_new_thread(release.wait, ())
    try:
        assert set(map_in_order(lambda _: os.getpid(), ITEMS)) == {os.getpid()}
    finally:
        release.set()
        while forked_work._thread_count() > 1:
            os.sched_yield()
