"""Which files are not on disk as the index knows them.

No file's content is read: git would run the programs that a repository names as filters to compare it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git

_ENTRY: Final = re.compile(
    rb"(?P<known>  ctime: \d+:\d+\n  mtime: (?P<seconds>\d+):(?P<nanoseconds>\d+)\n  [^\n]*\n  [^\n]*\n  size: (?P<size>\d+)\t[^\n]*\n)?"
    rb"(?P<tag>[A-Z?]) (?P<name>.*)",
    re.DOTALL,
)
"""What `git ls-files -z -t --debug` prints up to a NUL: how the file before looked when it was added, then a tag and a name."""


def changed_on_disk(folder: Path) -> frozenset[str]:
    """Return the files in a folder that are not as git last saw them, relative to it: changed, new and not ignored, or deleted.

    A file that was only touched counts, and so does one that is no older than the index: what was written while git looked may be of the same time
    and size. Whoever compares contents finds no change in these. Nothing where git cannot answer.
    """
    try:
        index = folder / os.fsdecode(run_git(folder, "rev-parse", "--git-path", "index").rstrip(b"\n"))
        listed = run_git(folder, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard", "--debug", "--", ".")
    except HistoryUnavailable:
        return frozenset()
    return frozenset(_changed(folder, listed, _written(index)))


def _written(index: Path) -> int:
    """Return when the index was written, in nanoseconds; 0 when that is not known, so that all files count as changed."""
    try:
        return index.stat().st_mtime_ns
    except OSError:
        return 0


def _changed(folder: Path, listed: bytes, written: int) -> Iterator[str]:
    before: str | None = None
    for part in [*listed.split(b"\0")[:-1], listed.rpartition(b"\0")[2] + b"H "]:
        entry = _ENTRY.fullmatch(part)
        if entry is None:  # another git prints this otherwise
            return
        if before is not None and entry["known"] is not None:
            seen = int(entry["seconds"]), int(entry["nanoseconds"]), int(entry["size"])
            if not _is_as_seen(folder / before, *seen, written):
                yield before
        name = entry["name"].decode("utf-8", "surrogateescape")
        if entry["tag"] == b"?" and not name.endswith("/"):  # a folder: another repository
            yield name
        before = name if entry["tag"] == b"H" else None


def _is_as_seen(path: Path, seconds: int, nanoseconds: int, size: int, written: int) -> bool:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    if stat.S_ISDIR(found.st_mode):  # a submodule
        return True
    whole, rest = divmod(found.st_mtime_ns, 1_000_000_000)
    if found.st_mtime_ns >= written:
        return False
    return (whole & 0xFFFFFFFF, found.st_size & 0xFFFFFFFF) == (seconds, size) and nanoseconds in {0, rest}
