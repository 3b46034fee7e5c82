"""What all tests on a screen share: a run that fails is tried again, and the summary says so.

An editor, a browser and a server share two cores that are busy with other tests, and none of the three is ours to make wait for us.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

_FAILED: Final = pytest.StashKey[bool]()


@pytest.hookimpl(trylast=True)  # after the folders below have said which are slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow two more tries for each test that starts an editor."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether the run that ends failed: the session counts it only when no more tries are left, and after the fixtures are gone."""
    report = yield
    if call.when != "teardown":
        item.stash[_FAILED] = report.failed
    return report


def went_wrong(item: pytest.Item) -> bool:
    """Whether this run of a test failed, asked by fixtures as they end."""
    return item.stash.get(_FAILED, False)
