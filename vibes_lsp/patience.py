"""How long this program waits for something else: every such limit by the clock.

The limits are for other programs, disks and services. Bounds against hostile input are elsewhere:
they count CPU time, steps or bytes, which do not depend on what else the machine does.

`VIBES_PATIENCE` changes the limits, for tests: `docs/plugin-authors.md` describes it.
`vibes hook` uses this module, so it imports only what Python has loaded to start.
"""

from __future__ import annotations

import os

VARIABLE = "VIBES_PATIENCE"
_WEEK = 7 * 24 * 3600.0
"""Without a limit: a number of seconds that every timer takes."""


class Wait:
    """A wait that ends without what it is for, after a limit.

    Args:
        name: Its name in `VIBES_PATIENCE`.
        seconds: The limit, unless `VIBES_PATIENCE` gives another one.
    """

    __slots__ = ("name", "seconds")

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.seconds = seconds

    @property
    def limit(self) -> float:
        """The limit that holds now, in seconds; 0 to give up at once."""
        limit = self.seconds
        for item in os.environ.get(VARIABLE, "").split(","):
            name, _, value = item.strip().rpartition("=")
            if name in {"", self.name}:
                limit = _seconds(value, limit)
        return limit


def _seconds(value: str, otherwise: float) -> float:
    if value == "unlimited":
        return _WEEK
    try:
        return min(_WEEK, max(0.0, float(value)))
    except ValueError:
        return otherwise


LOCK = Wait("lock", 10.0)
"""For one holder of a lock. Most take microseconds, folding a large manifest up to a second."""
REQUEST_LOCK = Wait("request-lock", 60.0)
"""For the lock of requests, whose holder may itself wait for the log's, behind others."""
READER = Wait("reader", 2.0)
"""Of a command that only shows something, for another program that records agents' events."""
SAVING = Wait("saving", 1.0)
"""From an event until its agent has saved the file that it reports, or its session file."""
HOOK_INPUT = Wait("hook-input", 5.0)
"""Of `vibes hook`, for the end of standard input."""
GIT = Wait("git", 60.0)
"""For a git command."""
FILE_HISTORY = Wait("file-history", 20.0)
"""For git's log of a file; without it, lines are not attributed to commits."""
BLAME = Wait("blame", 5.0)
"""For the blame of a file; without it, no line counts as older than an edit."""
TRAIL_INDEX = Wait("trail-index", 10.0)
"""For another program that writes to the index of a trail; else it is built in memory."""
GIT_FACTS = Wait("git-facts", 1.0)
"""For another program that writes what git answered; else git is asked."""
KNOWLEDGE_BASE = Wait("knowledge-base", 0.5)
"""Of an answer of the server, for a knowledge base; the client is told when it was read."""
INLAY_HINTS = Wait("inlay-hints", 5.0)
"""For git's history, of inlay hints for a client that cannot be told to ask again."""
PROGRESS = Wait("progress", 2.0)
"""For a client that is asked to show progress; without its answer none is shown."""
ATTESTATION = Wait("attestation", 600.0)
"""Of the server, for `vibes verify`, `vibes attest` and `vibes check`."""
ENDED_PROCESS = Wait("ended-process", 5.0)
"""For the pipes of a process that was killed: another process may have inherited them."""
SERVICE = Wait("service", 15.0)
"""For a whole HTTP request, from the name's resolution to the last byte."""
