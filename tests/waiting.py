"""Polls for a condition, with a report on timeout; the limit of every wait of a test."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

TIMEOUT: Final = 300.0
"""Seconds before a wait fails: more than any editor takes on a busy machine."""
_INTERVAL: Final = 0.05
"""Seconds between two polls."""
_T = TypeVar("_T")


def until(ask: Callable[[], _T | None], what: str, account: Callable[[], str]) -> _T:
    """Call `ask` until its result is truthy, and return that.

    Args:
        ask: Returns the result, or a falsy value if it is not there yet.
        what: Description for the error message.
        account: Returns the current state for the error message.

    Raises:
        AssertionError: The timeout has passed.
    """
    deadline = time.monotonic() + TIMEOUT
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"timeout while waiting for {what}; state:\n{account()}")
        time.sleep(_INTERVAL)
