"""Private keys over several lines: PEM, OpenSSH, PGP and PuTTY.

A key is found whole, also where its beginning or its end was cut off.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

KIND: Final = "Private Key"

_LABEL: Final = r"-{4,5} ?%s (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_BEGIN: Final = re.compile(_LABEL % "BEGIN")
_END: Final = re.compile(_LABEL % "END")
_PUTTY: Final = re.compile(r"PuTTY-User-Key-File-[0-9]")
_PUTTY_END: Final = re.compile(r"Private-MAC: ?[0-9a-fA-F]*")
_PUTTY_BODY: Final = re.compile(r"[ 0-9]*(?:\s+[A-Za-z0-9+/=]+)*+")
_MAX_KEY: Final = 64 * 1024
"""Characters of the longest key; what lies further apart does not belong together."""

_MAX_LINE: Final = 1_000
"""Characters of the longest line of a key that has lines."""

_GAP: Final = r"(?:\\[nrt]|[^A-Za-z0-9+/=\\]){0,24}"
_BODY: Final = re.compile(
    rf"(?:\s*+[A-Z][A-Za-z-]{{2,20}}: [^\r\n]{{0,200}}+){{0,8}}+(?:{_GAP}[A-Za-z0-9+/=]{{16,}}+)++"
    r"(?:(?:\\n|\r?\n)[A-Za-z0-9+/=]++)?"
)
"""Lines of base64 behind a beginning without an end, headers of the block before them."""
_LINE: Final = re.compile(r"[^A-Za-z0-9+/=]{0,8}[A-Za-z0-9+/=]+[^A-Za-z0-9+/=]{0,8}")


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Give where private keys are, in order."""
    if "PRIVATE KEY" in text:
        yield from _blocks(text)
    if "PuTTY-User-Key-File-" in text:
        yield from _putty(text)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    marks = sorted(
        [(match.span(), True) for match in _BEGIN.finditer(text)]
        + [(match.span(), False) for match in _END.finditer(text)]
    )
    done = 0
    for number, ((start, end), begins) in enumerate(marks):
        if start < done:
            continue
        if begins:
            after = marks[number + 1] if number + 1 < len(marks) else None
            if after is not None and not after[1] and after[0][0] - end <= _MAX_KEY:
                stop = after[0][1]
            else:
                body = _BODY.match(text, end)
                if body is None:  # somebody writes about keys
                    continue
                stop = body.end()
            yield start, stop
            done = stop
        else:
            begin = _body_before(text, max(done, start - _MAX_KEY), start)
            if begin < start:
                yield begin, end
                done = end


def _body_before(text: str, least: int, end: int) -> int:
    """Return where the lines of base64 before an end without a beginning begin."""
    begin = line_end = end
    while line_end > least:
        bound = max(least, line_end - _MAX_LINE)
        line_start = text.rfind("\n", bound, line_end - 1) + 1
        if line_start == 0 and bound > 0:
            break
        line = text[max(line_start, least) : line_end].strip()
        if line and _LINE.fullmatch(line) is None:
            break
        if line:
            begin = max(line_start, least)
        line_end = line_start
    return begin


def _putty(text: str) -> Iterator[tuple[int, int]]:
    ends = [match.span() for match in _PUTTY_END.finditer(text)]
    starts = [match.start() for match in _PUTTY.finditer(text)]
    done = 0
    for number, start in enumerate(starts):
        if start < done:
            continue
        later = starts[number + 1] if number + 1 < len(starts) else len(text)
        at = bisect_right(ends, (start, start))
        if at < len(ends) and ends[at][0] < later and ends[at][0] - start <= _MAX_KEY:
            done = ends[at][1]
        else:
            lines = text.find("Private-Lines:", start, min(later, start + _MAX_KEY))
            if lines < 0:
                continue
            body = _PUTTY_BODY.match(text, lines + 14)
            done = body.end() if body else lines + 14
        yield start, done
