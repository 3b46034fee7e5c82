"""What all tests on a screen share: a run that fails is tried again, the summary says so, and what was to see is left in a file.

An editor, a browser and a server share two cores that are busy with other tests, and none of the three is ours to make wait for us.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Final, Protocol, TypeVar

import pytest

_TIME: Final = {"vscode": 900}
"""Seconds that a test in an editor may take: VS Code is started several times in some."""
_TIME_OF_OTHERS: Final = 300
_FAILED: Final = pytest.StashKey[bool]()


class Editor(AbstractContextManager["Editor"], Protocol):
    """Something that runs, and can be looked at."""

    def picture(self, name: str) -> object:
        """Leave what is on the screen in a file."""

    def account(self) -> str:
        """Return what there is to see, and what was said."""


_Editor = TypeVar("_Editor", bound=Editor)


class Enter(Protocol):
    """Starts an editor that ends with the test."""

    def __call__(self, editor: _Editor, /) -> _Editor: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in an editor's own folder: they are slow, they may be tried twice more, and only Linux has all that they take."""
    for item in items:
        if Path(__file__).parent in item.path.parent.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(_TIME.get(item.path.parent.name, _TIME_OF_OTHERS)))
            item.add_marker(
                pytest.mark.skipif(
                    sys.platform != "linux", reason="the editors are installed on Linux only"
                )
            )
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether the run that ends failed: the session counts it only when no more tries are left, and after the fixtures are gone."""
    report = yield
    if call.when != "teardown":
        item.stash[_FAILED] = report.failed
    return report


def went_wrong(item: pytest.Item) -> bool:
    """Whether this run of a test failed, asked by fixtures as they end."""
    return item.stash.get(_FAILED, False)


@pytest.fixture
def enter(request: pytest.FixtureRequest) -> Iterator[Enter]:
    """Starts editors that end with the test; when it fails, each leaves a picture and an account."""
    entered: list[Editor] = []
    with ExitStack() as stack:

        def starts(editor: _Editor) -> _Editor:
            stack.enter_context(editor)
            entered.append(editor)
            return editor

        yield starts
        if went_wrong(request.node):
            for number, editor in enumerate(entered):
                editor.picture(f"{request.node.name}-{number}")
                request.node.add_report_section(
                    "teardown", f"{type(editor).__name__} {number}", editor.account()
                )
