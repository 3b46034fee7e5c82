"""Git's union merge of two versions of a file that only had lines added."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

_JOINED_ACROSS: Final = 3


def merge_logs(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Merge as git does for a path with `merge=union`, if both sides added lines at one place.

    A log grows at its end, a manifest in the form of R10 before its last line. Lines that both
    sides added appear once where git aligns them, and twice where they are part of a conflict.

    Raises:
        ValueError: A side did something else than add lines at the same place.
    """
    base_lines, our_lines, their_lines = (_lines(text) for text in (base, ours, theirs))
    head = _grown_at(base_lines, our_lines, their_lines)
    if head is None:
        raise ValueError("both sides must only have added lines, at one and the same place")
    foot = len(base_lines) - head
    merged = base_lines[:head]
    merged += _union(
        our_lines[head : len(our_lines) - foot], their_lines[head : len(their_lines) - foot]
    )
    return b"".join(merged + base_lines[head:])


def _lines(text: bytes) -> list[bytes]:
    """Split at LF only, and keep it."""
    return [line + b"\n" for line in text.split(b"\n")[:-1]] + (
        [last] if (last := text.rpartition(b"\n")[2]) else []
    )


def _grown_at(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> int | None:
    """Return how many lines of the base are before the added ones, as many as possible."""
    for head in range(len(base), -1, -1):
        foot = base[head:]
        if all(
            len(side) >= len(base)
            and side[:head] == base[:head]
            and side[len(side) - len(foot) :] == foot
            for side in (ours, theirs)
        ):
            return head
    return None


def _union(ours: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """Return common lines once, and for each conflict our lines before theirs.

    Like git, join conflicts that are at most three common lines apart.
    """
    if not ours or not theirs:
        return ours + theirs
    blocks = [
        block
        for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
        if block.size
    ]
    merged: list[bytes] = []
    our_next = their_next = 0
    for position, (our_start, their_start, size) in enumerate(blocks):
        opens = position == 0 and our_start == 0 and their_start == 0
        closes = our_start + size == len(ours) and their_start + size == len(theirs)
        if size <= _JOINED_ACROSS and not opens and not closes:
            continue
        merged += (
            ours[our_next:our_start]
            + theirs[their_next:their_start]
            + ours[our_start : our_start + size]
        )
        our_next, their_next = our_start + size, their_start + size
    return merged + ours[our_next:] + theirs[their_next:]
