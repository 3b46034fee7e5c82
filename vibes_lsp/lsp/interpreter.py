"""Interpreter settings of a server process: a frozen heap, short thread switch intervals."""

from __future__ import annotations

import gc
import sys
from typing import Final


def keep_what_is_there() -> None:
    """Have the collector pass over all there is now, which is there to stay: modules, the protocol's types, the index of a trail.

    It would walk through all of it again and again, for some hundredths of a second each time, while somebody waits for an answer.
    What could be thrown away since the last time is not kept; at first there is next to nothing of that, and to look for it would take as long.
    """
    if gc.get_freeze_count():
        gc.collect()
    gc.freeze()


_TURN: Final = 2e-4
"""Seconds that a thread works on while another one waits."""


def keep_turns_short() -> None:
    """Have a thread that works give way soon to the one that answers.

    Whoever answers waits for its turn after every look at the disk, of which there are dozens: with the interpreter's own turns, of 5 ms, an
    answer that takes two milliseconds may take a hundred while something is located or git's history is read.
    """
    sys.setswitchinterval(_TURN)
