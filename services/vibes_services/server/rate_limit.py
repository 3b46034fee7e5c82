"""How many requests each token may make: the generic cell rate algorithm, one number per token."""

from __future__ import annotations


class RateLimit:
    """Allows each key a number of requests a minute, which it may use all at once.

    The server runs as one process, so the state is a dictionary; tokens bound its size.

    Args:
        per_minute: Requests that a key may make in a minute.
    """

    def __init__(self, per_minute: int) -> None:
        self._interval = 60.0 / per_minute
        self._burst = 60.0 - self._interval
        self._next: dict[str, float] = {}

    def wait(self, key: str, now: float) -> float:
        """Count a request and return 0, or return the seconds until one is allowed.

        Args:
            key: Whose request it is.
            now: A clock that never goes back, in seconds.
        """
        start = max(self._next.get(key, 0.0), now)
        if start - now > self._burst:
            return start - now - self._burst
        self._next[key] = start + self._interval
        return 0.0
