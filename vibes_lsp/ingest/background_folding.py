"""The process that `vibes hook` starts: record the events of one trail, then end after a pause.

It needs no care: killed at any time, it loses nothing, and the next hook starts another one. It
prints nothing; what it cannot record goes on waiting. It is marked as active before it imports what
takes long: hooks that run at the same time would all start one.
"""

from __future__ import annotations

import os
import sys
import time

from vibes_lsp.ingest.hook import has_waiting_events, is_marked_by, mark_folding

LINGER = 2.0
"""Seconds to wait for another event: agents send several in a row, and a start costs more."""
_INTERVAL = 0.05
"""Seconds between two looks at the folder of events."""


def fold_in_background(folder: str) -> None:
    """Record what waits and what comes soon after; nothing happens if another process does.

    Args:
        folder: The audit directory.

    Raises:
        VibesError: The trail cannot be read or written.
        OSError: The marker cannot be created.
    """
    spool = os.path.join(folder, "spool")
    while has_waiting_events(os.path.join(spool, "events")):
        marker = mark_folding(spool)
        if marker is None:
            return
        try:
            is_progress = _fold_until_quiet(folder, spool, marker)
        finally:
            os.close(marker)
        if not is_progress:
            return


def _fold_until_quiet(folder: str, spool: str, marker: int) -> bool:
    """Record until nothing has come for a while; return whether anything was recorded."""
    # Imported late: see the docstring of the module.
    from pathlib import Path  # noqa: PLC0415

    from vibes_lsp.ingest.fold import fold_events  # noqa: PLC0415
    from vibes_lsp.store.audit_dir import AuditDir  # noqa: PLC0415

    directory = AuditDir(Path(folder))
    is_progress = False
    last = time.monotonic()
    while is_marked_by(marker, spool):
        folded = fold_events(directory)
        if folded:
            is_progress, last = True, time.monotonic()
        elif folded is None:  # another program records, and may not see the newest event
            time.sleep(_INTERVAL)
        elif not is_progress or time.monotonic() - last > LINGER:
            break
        else:
            time.sleep(_INTERVAL)
    return is_progress


def main() -> None:
    """Fold the trail that the only argument names, and end the process."""
    try:
        fold_in_background(sys.argv[1])
    except Exception:  # noqa: BLE001  # there is no one to tell; the events go on waiting
        sys.exit(1)


if __name__ == "__main__":
    main()
