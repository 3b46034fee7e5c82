"""Fixtures of all on-screen tests. A test that fails leaves its screen in a file.

Editor, browser and server compete with other tests for the CPU: waits are for what they report.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Final, Protocol, TypeVar

import pytest

_TIMEOUTS: Final = {"vscode": 900}
"""Timeout of a test in seconds, by editor. Some tests start VS Code several times."""
_DEFAULT_TIMEOUT: Final = 600
_FAILED: Final = pytest.StashKey[bool]()


class Editor(AbstractContextManager["Editor"], Protocol):
    """A running editor."""

    def picture(self, name: str) -> object:
        """Save the screen to a file."""

    def diagnostics(self) -> str:
        """Return the screen and the logs."""


_Editor = TypeVar("_Editor", bound=Editor)


class Enter(Protocol):
    """Starts an editor that ends with the test."""

    def __call__(self, editor: _Editor, /) -> _Editor: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of each editor: Linux only, and with a timeout."""
    for item in items:
        if Path(__file__).parent in item.path.parent.parents:
            item.add_marker(
                pytest.mark.timeout(_TIMEOUTS.get(item.path.parent.name, _DEFAULT_TIMEOUT))
            )
            item.add_marker(
                pytest.mark.skipif(
                    sys.platform != "linux", reason="the editors are installed on Linux only"
                )
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Store whether a test failed."""
    report = yield
    if call.when != "teardown":
        item.stash[_FAILED] = report.failed
    return report


def has_failed(item: pytest.Item) -> bool:
    """Whether a test failed; for use in fixture teardown."""
    return item.stash.get(_FAILED, False)


@pytest.fixture
def enter(request: pytest.FixtureRequest) -> Iterator[Enter]:
    """Starts editors that end with the test. On failure, saves their screens and logs."""
    entered: list[Editor] = []
    with ExitStack() as stack:

        def start(editor: _Editor) -> _Editor:
            stack.enter_context(editor)
            entered.append(editor)
            return editor

        yield start
        if has_failed(request.node):
            for number, editor in enumerate(entered):
                editor.picture(f"{request.node.name}-{number}")
                request.node.add_report_section(
                    "teardown", f"{type(editor).__name__} {number}", editor.diagnostics()
                )
