"""What all tests on a screen share: a run that fails is tried again, and the summary says so.

An editor, a browser and a server share two cores that are busy with other tests, and none of the three is ours to make wait for us.
"""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)  # after the folders below have said which are slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow two more tries for each test that starts an editor."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.flaky(reruns=2))
