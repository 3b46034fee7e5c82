"""The process that `vibes hook` starts: record the events of one trail, then end after a pause.

It needs no care: killed at any time, it loses nothing, and the next hook starts another one. It
prints nothing; what it cannot record goes on waiting.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import Final

from vibes_lsp.errors import VibesError
from vibes_lsp.ingest.fold_events import fold_events
from vibes_lsp.ingest.hook_spool import has_waiting_events, is_marked_by, mark_folding
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.locks import LOCK_TIMEOUT

_logger = logging.getLogger(__name__)

LINGER: Final = 2.0
"""Seconds to wait for another event: agents send several in a row, and a start costs more."""
_INTERVAL: Final = 0.05
"""Seconds between two looks at the folder of events."""


def fold_in_background(directory: AuditDir) -> None:
    """Record what waits and what comes soon after; nothing happens if another process does.

    Raises:
        VibesError: The trail cannot be read or written.
        OSError: The marker cannot be created.
    """
    waiting = str(directory.waiting_events)
    while has_waiting_events(waiting):
        marker = mark_folding(str(directory.spool))
        if marker is None:
            return
        try:
            is_progress = _fold_until_quiet(directory, marker)
        finally:
            os.close(marker)
        if not is_progress:
            return


def _fold_until_quiet(directory: AuditDir, marker: int) -> bool:
    """Record until nothing has come for a while; return whether anything was recorded."""
    is_progress = False
    last = time.monotonic()
    while is_marked_by(marker, str(directory.spool)):
        if fold_events(directory, patience=LOCK_TIMEOUT):
            is_progress, last = True, time.monotonic()
        elif not is_progress or time.monotonic() - last > LINGER:
            break
        else:
            time.sleep(_INTERVAL)
    return is_progress


def main() -> None:
    """Fold the trail that the only argument names."""
    try:
        fold_in_background(AuditDir(Path(sys.argv[1])))
    except (OSError, VibesError) as error:
        _logger.info("events are not recorded in the background: %s", error)


if __name__ == "__main__":
    main()
