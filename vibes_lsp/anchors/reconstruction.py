"""Undoing, on trial, what may have been done to a range: where its digest comes out again, the edit is known to the line.

Nothing but the digest of the old text is needed, so this works where there is no history: lines put in at one place, and a
change of indentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate, takewhile
from operator import add
from typing import Final

from vibes_lsp.anchors.located import LineKind, Recorded
from vibes_lsp.anchors.making import CONTEXT_LINES
from vibes_lsp.anchors.text import Text, encode

_MAX_INSERTED: Final = 12
MAX_TRIALS: Final = 300
"""Digests that are tried for one range, unless many ranges share the time."""

_MAX_BYTES: Final = 1 << 20

Undone = tuple[int, tuple[LineKind, ...]]
"""The last line of the range now, and whose each line is from the first to the last."""


def undone(each: Recorded, text: Text, start: int, added: Sequence[int], trials: int = MAX_TRIALS) -> Undone | None:
    """Return the edit that made of a range what stands at a line now; None when it is none of those that can be undone.

    Args:
        each: The range.
        text: The text of now.
        start: The line at which its context stands, indented anew or not.
        added: How many lines may have been put in, as far as the neighbours tell.
        trials: How many digests to try for lines put in.
    """
    if each.anchors.hash is None or each.anchors.context is None:
        return None
    if each.anchors.context.split("\n")[0] != text.lines[start - 1]:
        return _indented(each, text.lines, start)
    return _inserted(each, text, start, added, trials)


def _inserted(each: Recorded, text: Text, start: int, added: Sequence[int], trials: int) -> Undone | None:
    """Try to take out one run of lines behind what stands whole of the context."""
    length, wanted, lines = each.length, _digest(each.anchors.hash), text.lines
    pairs = zip((each.anchors.context or "").split("\n"), lines[start - 1 : start - 1 + CONTEXT_LINES], strict=False)
    least = max(1, min(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)), length - 1))
    near = _encoded(lines[start - 1 : start - 1 + length + _MAX_INSERTED])
    for count in dict.fromkeys(count for count in (*added, *range(1, _MAX_INSERTED + 1)) if count > 0):
        last = start - 1 + length + count
        trials -= length - least
        if last > len(lines) or trials < 0:
            continue
        (block, begins), out = near, count
        if count > _MAX_INSERTED:  # most of what lies between need not be read
            out = length - least
            block, begins = _encoded([*lines[start - 1 : start - 1 + length], *lines[last - out : last]])
        end = begins[length + out] - 1
        if end * length > _MAX_BYTES:
            return None
        for kept in range(least, length):
            if sha256(block[: begins[kept]] + block[begins[kept + out] : end]).digest() == wanted:
                return last, (LineKind.AI,) * kept + (LineKind.HUMAN,) * count + (LineKind.AI,) * (length - kept)
    return None


def _encoded(lines: Sequence[str]) -> tuple[bytes, list[int]]:
    """Return the bytes of some lines, where each begins in them, and where one after the last would."""
    block = encode("\n".join(lines))
    return block, list(map(add, accumulate(map(len, block.split(b"\n")), initial=0), range(len(lines) + 1)))


def _indented(each: Recorded, lines: Sequence[str], start: int) -> Undone | None:
    end = start - 1 + each.length
    context = (each.anchors.context or "").split("\n")
    if end > len(lines):
        return None
    was, now = _indentation(context[0]), _indentation(lines[start - 1])
    if was == now or not context[0].strip():
        return None
    block = lines[start - 1 : end]
    if not all(line.startswith(now) or not line.strip() for line in block):
        return None
    before = [was + line[len(now) :] if line.strip() else line for line in block]
    if sha256(encode("\n".join(before))).hexdigest() != each.anchors.hash:
        return None
    return end, tuple(LineKind.EDITED if line != old else LineKind.AI for line, old in zip(block, before, strict=True))


def _digest(name: str | None) -> bytes | None:
    try:
        return bytes.fromhex(name or "")
    except ValueError:
        return None


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
