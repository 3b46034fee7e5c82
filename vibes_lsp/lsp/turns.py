"""How the threads of the server take turns."""

from __future__ import annotations

import sys
from typing import Final

_TURN: Final = 2e-4
"""Seconds that a thread works on while another one waits."""


def keep_turns_short() -> None:
    """Have a thread that works give way soon to the one that answers.

    Whoever answers waits for its turn after every look at the disk, of which there are dozens: with the interpreter's own turns, of 5 ms, an
    answer that takes two milliseconds may take a hundred while something is located or git's history is read.
    """
    sys.setswitchinterval(_TURN)
