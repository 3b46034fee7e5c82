"""Results of two processes are those of one, also when the second one fails."""

from __future__ import annotations

import os
import sys

import pytest

from vibes_lsp.checks.forked_work import map_in_order

ITEMS = list(range(9))


def test_results_come_in_order() -> None:
    assert list(map_in_order(lambda item: [item] * 3, ITEMS)) == [[item] * 3 for item in ITEMS]


@pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two processors"
)
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


def test_no_process_is_left_when_the_results_are_not_read() -> None:
    results = map_in_order(lambda item: item, ITEMS)
    assert next(results) == 0
    del results
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
