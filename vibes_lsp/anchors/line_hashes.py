"""Short hashes of the lines that an edit wrote, and which lines are more than boilerplate (R32)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

from vibes_lsp.anchors.text import compact, encode

MASKED: Final = "0" * 8
"""Stands for a line in which a secret is masked; it fits no line."""

_DIGITS: Final = 8
_LONG: Final = 12
"""Characters of a line, white space not counted, that a person seldom repeats by chance."""
_MAX_LINES: Final = 1 << 17
"""Most lines of a record, each of which every reader compares."""
MIN_DISTINCTIVE: Final = 3
"""Different distinctive lines that a block must have to stand somewhere not by chance (R16)."""
_MIN_CHARACTERS: Final = 4
"""Characters that a distinctive line must have."""
_HASHES: Final = re.compile(r"(?:[0-9a-f]{8})+")


@lru_cache(1 << 15)
def line_hash(line: str) -> str:
    """Return the hash of a line as `line_hashes` holds it; its line end does not count.

    While a user types, all other lines of the text are hashed again and again.
    """
    digest = hashlib.sha256(encode(line.removesuffix("\n").removesuffix("\r")))
    return digest.hexdigest()[:_DIGITS]


def join_hashes(lines: Iterable[str], masked: Collection[int] = ()) -> str:
    """Return the member `line_hashes` for the lines of a range.

    Args:
        lines: The lines as the edit wrote them.
        masked: The 0-based numbers of those with a masked secret.
    """
    return "".join(
        MASKED if number in masked else line_hash(line) for number, line in enumerate(lines)
    )


def split_hashes(joined: object) -> tuple[str, ...]:
    """Return the hashes in a member `line_hashes`; none if it is absent, malformed or too long."""
    if not isinstance(joined, str) or len(joined) > _MAX_LINES * _DIGITS:
        return ()
    if not _HASHES.fullmatch(joined):
        return ()
    return tuple(joined[start : start + _DIGITS] for start in range(0, len(joined), _DIGITS))


def is_long(line: str) -> bool:
    """Whether a line has 12 characters or more, white space not counted."""
    return len(line) >= _LONG and len(compact(line)) >= _LONG


def distinctive_numbers(lines: Sequence[str]) -> frozenset[int]:
    """Return the 0-based numbers of the distinctive lines of a file: long, and there only once."""
    compacted = compact("\n".join(lines)).split("\n") if lines else []
    counts = Counter(compacted)
    return frozenset(
        number for number, line in enumerate(compacted) if len(line) >= _LONG and counts[line] == 1
    )


def is_distinctive(line: str) -> bool:
    """Whether a line is more than a brace (R16)."""
    return len(line.strip()) >= _MIN_CHARACTERS


def count_distinctive(lines: Iterable[str]) -> int:
    """Return how many different distinctive lines there are, up to `MIN_DISTINCTIVE`."""
    distinctive: set[str] = set()
    for line in lines:
        if is_distinctive(line):
            distinctive.add(line.strip())
            if len(distinctive) == MIN_DISTINCTIVE:
                break
    return len(distinctive)
