"""Work on a list of items in two processes, of which one is forked and shares what was read.

A thread would not help: the work is Python code. The results come in the order of the items, and
are the same in one process, which is all there is where a process cannot be forked safely.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Final, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")
_NONE: Final = object()


def map_in_order(work: Callable[[_T], _R], items: Sequence[_T]) -> Iterator[_R]:
    """Yield the result for each item in order; a forked process computes every second one.

    Args:
        work: A function whose results depend on the item and on what is in memory now; the results
            are pickled.
        items: The items; with less than two, or without a second processor, nothing is forked.
    """
    with results_of_fork(work, items[1::2]) as results:
        for number, item in enumerate(items):
            result: Any = next(results, _NONE) if number % 2 else _NONE
            yield work(item) if result is _NONE else result  # none if it was killed, for example


@contextmanager
def results_of_fork(work: Callable[[_T], _R], items: Sequence[_T]) -> Iterator[Iterator[_R]]:
    """Yield the results for some items in order, which a forked process computes meanwhile.

    There are fewer, perhaps none, where a process cannot be forked safely, or where it is killed.

    Args:
        work: As for `map_in_order`.
        items: The items.
    """
    if not items or not _can_fork():
        yield iter(())
        return
    try:
        reading, writing = os.pipe()
    except OSError:  # no more files may be open
        yield iter(())
        return
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    try:
        child = os.fork()
        if child == 0:
            _write_results(work, items, reading, writing)
    except OSError:  # no more processes are allowed
        os.close(reading)
        os.close(writing)
        yield iter(())
        return
    finally:
        if os.getpid() != parent:  # interrupted before it began: nothing of the caller may run
            os._exit(1)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            yield _read_results(stream)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _read_results(stream: BinaryIO) -> Iterator[Any]:
    while True:
        try:
            result = pickle.load(stream)  # noqa: S301  # written by our own process
        except (EOFError, OSError, pickle.UnpicklingError):
            return
        yield result


def _write_results(
    work: Callable[[_T], _R], items: Sequence[_T], reading: int, writing: int
) -> None:
    """Compute and write results in the forked process, and end it."""
    try:
        os.close(reading)
        gc.freeze()  # a collection would copy the memory that both processes share
        with os.fdopen(writing, "wb") as results:
            for item in items:
                pickle.dump(work(item), results, protocol=pickle.HIGHEST_PROTOCOL)
                results.flush()
        os._exit(0)
    except BaseException:  # noqa: BLE001  # the other process computes the result
        os._exit(1)


def _can_fork() -> bool:
    """Whether there is a second processor, and no thread whose locks a child would inherit."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1 and _thread_count() == 1


def _thread_count() -> int:
    """Return the number of threads, also of those that libraries started."""
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208  # names only
    except OSError:  # not mounted: they cannot be counted
        return sys.maxsize
