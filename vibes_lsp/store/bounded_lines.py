"""Read the lines of a log one by one, however long they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import IO, Final

MAX_LINE: Final = 8 << 20
"""Longest line in bytes that is read as a record; real ones are below 2 kB."""
CHUNK: Final = 1 << 18
"""Bytes that are read at once."""


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file with their ends; of one that is too long the start and a hash.

    So no line takes much memory, different lines differ, and a line over `MAX_LINE` is no record.
    """
    while line := file.readline(MAX_LINE + 1):
        if len(line) <= MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        rest = hashlib.sha256()
        while part := file.readline(CHUNK):
            rest.update(part.replace(b"\r", b"").removesuffix(b"\n"))  # line ends may differ
            if part.endswith(b"\n"):
                break
        yield b"%b %b\n" % (line, rest.hexdigest().encode())
