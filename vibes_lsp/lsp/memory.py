"""What the garbage collector need not look at."""

from __future__ import annotations

import gc


def keep_what_is_there() -> None:
    """Have the collector pass over all there is now, which is there to stay: modules, the protocol's types, the index of a trail.

    It would walk through all of it again and again, for some hundredths of a second each time, while somebody waits for an answer.
    What could be thrown away since the last time is not kept; at first there is next to nothing of that, and to look for it would take as long.
    """
    if gc.get_freeze_count():
        gc.collect()
    gc.freeze()
