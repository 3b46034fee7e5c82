"""Untrusted text as Markdown that nothing in it can change: in code spans and blocks, whose content no renderer interprets.

No link, image, mention, command, HTML, heading or fence can come of it, and where Markdown shows unrendered there are no escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What nobody can see, or what turns writing around: controls, line separators, halves of characters, and all that Unicode has renderers leave out.

Selectors of variants are among them, though they may do no more than colour a sign: any text can be hidden in a row of them.
"""
_TICKS: Final = re.compile("`+")


def single_line(value: object, limit: int) -> str:
    """Return untrusted text as one line, cut to `limit` characters; what nobody can see or what turns writing around shows as its code."""
    text = str(value)[: 4 * limit]
    text = INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", " ".join(text.split()))
    return text[: limit - 1] + "…" if len(text) > limit else text


def code_span(value: object, limit: int) -> str:
    """Return untrusted text as a code span on one line, cut to `limit` characters."""
    text = single_line(value, limit)
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    padding = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def code_block(lines: Iterable[str], language: str = "") -> str:
    """Return untrusted lines as a block of Markdown that nothing in them ends; what nobody can see shows as its code, but for tabs."""
    safe = [
        INVISIBLE.sub(
            lambda match: match[0] if match[0] == "\t" else f"\\u{ord(match[0]):04x}", line
        )
        for line in lines
    ]
    fence = "`" * max(
        3, 1 + max((len(run) for line in safe for run in _TICKS.findall(line)), default=0)
    )
    return "\n".join([f"{fence}{language}", *safe, fence])
