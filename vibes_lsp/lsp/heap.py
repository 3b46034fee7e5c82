"""Give memory back to the system after a search that needed much for a moment.

What is freed between objects that stay is kept by the allocator of C: 15 MB after a day of editing,
more each hour. It takes some milliseconds to look for whole free pages, in a thread.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Final

_PAUSE: Final = 60.0
"""Seconds between two looks."""
_is_looking: Final = threading.Lock()
_looked_at: float = float("-inf")


def trim_heap(now: Callable[[], float] = time.monotonic) -> bool:
    """Return free memory to the system, at most once a minute; return whether it was tried."""
    global _looked_at  # noqa: PLW0603  # there is one heap
    trim = _malloc_trim()
    if trim is None or now() - _looked_at < _PAUSE or not _is_looking.acquire(blocking=False):
        return False
    try:
        trim(0)
        _looked_at = now()
    finally:
        _is_looking.release()
    return True


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    """Return the function of glibc; None where there is another allocator."""
    if not sys.platform.startswith("linux"):
        return None
    # Imported late: a server starts without it.
    import ctypes  # noqa: PLC0415

    return getattr(ctypes.CDLL(None), "malloc_trim", None)
