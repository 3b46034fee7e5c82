"""Show untrusted text: on one line, marked lines, as Markdown code, or as a Markdown quotation.

It becomes no link, image, mention, command, HTML or heading. Renderers do not interpret code, which
needs no escapes, so it also reads well where Markdown is not rendered. In a quotation every
character that could have a meaning is escaped, and every line begins with the mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters and those that reverse the writing direction.

Controls, line separators, lone surrogates and everything that Unicode lets renderers ignore.
Variation selectors are included, even harmless ones: a row of them can hide any text.
"""
_PIPELINE_COMMAND: Final = re.compile(
    r"##(?=[a-z]*\[)|(?<!\w)::(?=(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group"
    r"|notice|remove-matcher|save-state|set-env|set-output|stop-commands|warning)\b)",
    re.IGNORECASE,
)
"""The beginning of what hosts of pipelines execute where a program prints it.

Azure Pipelines reads `##vso[` and `##[`, GitHub `::error` and its like, and `##[` of old.
"""
LINE_MARK: Final = "| "
"""What each line of `marked_lines` begins with."""
_BACKTICKS: Final = re.compile("`+")
_LINE_END: Final = re.compile("\r\n|\r|\n")
_ANYWHERE: Final = re.compile(
    r"[\\`*\[\]<~|$@]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w])"
    r"|:(?=/)|(?<![:/])/(?=/[^\s/])|(?<=[Ww]{3})\."
)
"""What can begin or end emphasis, code, a link, HTML, an entity, a formula or a table cell.

A colon before a slash, two slashes, an at sign and the point of `www.` make links of bare text.
Within a word an underscore means nothing.
"""
_AT_START: Final = re.compile(r"[#+\-=>:]|[0-9]{1,9}(?=[.)])")
"""What can make a line a heading, an item, an underline, a quotation or a row of a table."""


def single_line(value: object, limit: int) -> str:
    """Return untrusted text on one line, cut to `limit` characters, `INVISIBLE` ones as codes."""
    whole = str(value).strip()
    text = " ".join(whole[: 4 * limit].split())
    text = INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    is_cut = len(whole) > 4 * limit or len(text) > limit
    return text[: limit - 1] + "…" if is_cut else text


def without_invisible(line: str) -> str:
    """Return untrusted text on one line, unchanged but for `INVISIBLE` characters as codes.

    Tabs are kept.
    """
    return INVISIBLE.sub(
        lambda match: match[0] if match[0] == "\t" else f"\\u{ord(match[0]):04x}", line
    )


def without_pipeline_commands(text: str) -> str:
    """Return text in which a host's commands to a pipeline begin with an escape."""
    return _PIPELINE_COMMAND.sub(lambda match: f"\\u{ord(match[0][0]):04x}{match[0][1]}", text)


def marked_lines(text: str, limit: int) -> str:
    """Return untrusted text for an AI to read as data: each line begins with `LINE_MARK`.

    The mark shows on every line where the text comes from, so no line of it can look like one of
    ours; no closing mark exists that the text could contain. Studies of indirect prompt injection
    call this datamarking, and find it far stronger than delimiters around the text.

    Args:
        text: The text; `INVISIBLE` characters but tabs become codes.
        limit: How many of its characters are kept.
    """
    return "\n".join(
        f"{LINE_MARK}{without_invisible(line)}" for line in _LINE_END.split(text[:limit])
    )


def code_span(value: object, limit: int) -> str:
    """Return untrusted text as a Markdown code span, on one line and cut to `limit` characters."""
    text = single_line(value, limit)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    padding = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def code_block(lines: Iterable[str], language: str = "") -> str:
    """Return untrusted lines as a Markdown code block, `INVISIBLE` characters but tabs as codes."""
    safe = [without_invisible(line) for line in lines]
    fence = "`" * max(
        3, 1 + max((len(run) for line in safe for run in _BACKTICKS.findall(line)), default=0)
    )
    return "\n".join([f"{fence}{language}", *safe, fence])


def escape_markdown(value: object, limit: int) -> str:
    """Return untrusted text as inert Markdown, on one line and cut to `limit` characters."""
    return _escape(single_line(value, limit))


def quotation(text: str, limit: int, lines: int) -> str:
    """Return untrusted text as a Markdown quotation; empty for a blank text.

    Args:
        text: The text; each of its lines stays one, blank ones are left out.
        limit: How many of its characters are kept.
        lines: How many of its lines are kept.
    """
    return "  \n".join(f"> {_escape(line)}" for line in cut_lines(text, limit, lines))


def cut_lines(text: str, limit: int, lines: int) -> list[str]:
    """Return the lines of untrusted text that are not blank, cut, with `INVISIBLE` ones as codes.

    Arguments as for `quotation`.
    """
    if limit < 1 or lines < 1:
        return []
    whole = text.strip()
    is_cut = len(whole) > 4 * limit
    kept: list[str] = []
    for line in filter(str.strip, _LINE_END.split(whole[: 4 * limit])):
        if len(kept) == lines or (kept and limit <= 1):
            is_cut = True
            break
        kept.append(single_line(line, limit))
        limit -= len(kept[-1])
    if is_cut and not kept[-1].endswith("…"):
        last = kept[-1] if limit else kept[-1][:-1]
        kept[-1] = f"{last}…"
    return kept


def _escape(line: str) -> str:
    escaped = _ANYWHERE.sub(r"\\\g<0>", line)
    if begin := _AT_START.match(escaped):  # not where the first character has an escape already
        mark = begin.end() if escaped[0].isdigit() else 0
        return f"{escaped[:mark]}\\{escaped[mark:]}"
    return escaped
