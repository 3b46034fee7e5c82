"""`python -m vibes_lsp.index.save_index LOG`: read a log and its manifest, and save their index.

The server runs it, because a thread that reads a large log would delay its answers. It prints how
many bytes of the log were read, one number a line.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from vibes_lsp.index import saved_manifest
from vibes_lsp.index.log_index import LogIndex
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import read_manifest

_NICENESS: Final = 5
_STEP: Final = 1 << 20
"""Bytes between two lines of output."""


def save_index(log: Path) -> bool:
    """Read a log and save its index; return whether what is saved is up to date."""
    printed = 0

    def report(done: int) -> None:
        nonlocal printed
        if done - printed >= _STEP:
            printed = done
            sys.stdout.write(f"{done}\n")
            sys.stdout.flush()

    index = LogIndex(log, uses_saved=True)
    index.refresh(progress=report)
    directory = AuditDir(log.parent)
    manifest = read_manifest(directory, open_saved=saved_manifest.open_saved)
    saved_manifest.save(directory.manifest, manifest)
    return index.save() or index.columns.saved is not None


if __name__ == "__main__":
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(_NICENESS)
    sys.exit(0 if save_index(Path(sys.argv[1])) else 1)
