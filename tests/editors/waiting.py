"""Waiting for what was promised, with an account of what there was instead."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

PATIENCE: Final = 60.0
"""Seconds after which something that was promised counts as never coming; no test waits for them to pass."""
_PACE: Final = 0.05
"""Seconds between two looks at what may have changed."""
_T = TypeVar("_T")


def until(
    ask: Callable[[], _T | None], what: str, account: Callable[[], str], patience: float = PATIENCE
) -> _T:
    """Return the first answer that is something.

    Args:
        ask: Looks.
        what: What is waited for, in words.
        account: Says what there is instead, when it does not come.
        patience: Seconds.

    Raises:
        AssertionError: It did not come.
    """
    deadline = time.monotonic() + patience
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}; there was:\n{account()}")
        time.sleep(_PACE)
