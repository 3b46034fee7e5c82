"""Find and mask secrets in texts (RFC 6.4, 13.1), in time linear in the text.

`secret_formats` finds tokens and private keys by their format, `secret_keywords` finds values by
the keyword or syntax next to them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Final, TypeAlias

from vibes_lsp.model.config import Redaction
from vibes_lsp.model.secret_formats import FORMATS, PATTERNS, PRIVATE_KEY, private_keys
from vibes_lsp.model.secret_keywords import keyword_spans

MASK: Final = "[masked]"
"""The text that replaces a secret; no rule matches it."""

SHORTEST_TOKEN: Final = 15
"""Characters of the shortest token of any format."""
SHORTEST_MATCH: Final = 42
"""Characters of the shortest match of a format without a literal."""
_WORD: Final = re.compile(r"\S+")
_LINE_END: Final = re.compile("[\r\n]")

_Span: TypeAlias = tuple[int, int]


_KNOWN_ONLY: Final = Redaction()


def secret_kinds(text: str, rules: Redaction = _KNOWN_ONLY) -> set[str]:
    """Return the kinds of secret that a text seems to contain."""
    return {kind for kind, _ in _known_secrets(text, rules)}


def mask_secrets(text: str, rules: Redaction = _KNOWN_ONLY) -> tuple[str, int]:
    """Return a text with `MASK` in place of every secret, and the number of secrets.

    Masking the result again changes nothing.
    """
    masked, count = _mask_spans(text, _all_spans(text, rules))
    if not count:
        return text, 0
    left = _all_spans(masked, rules)
    if not left:
        return masked, count
    # A mask made its surroundings look like a secret: mask the whole lines.
    masked, more = _mask_spans(masked, _lines_around(masked, left))
    return masked, count + more


def _all_spans(text: str, rules: Redaction) -> list[_Span]:
    spans = [span for _, span in _known_secrets(text, rules)]
    own = list(_project_spans(text, rules))
    if own:
        excepted = _Spans([*_allowed_spans(text, rules), *_occurrences(MASK, text)])
        spans += [span for span in own if not excepted.contain(span)]
    return sorted(spans)


def _known_secrets(text: str, rules: Redaction) -> Iterator[tuple[str, _Span]]:
    """Yield kind and span of the known secrets of a text that the rules do not allow."""
    allowed = _Spans(_allowed_spans(text, rules))
    for kind, span in chain(_tokens(text), keyword_spans(text)):
        if not allowed.contain(span):
            yield kind, span
    for span in private_keys(text):
        yield PRIVATE_KEY, span


def _tokens(text: str) -> Iterator[tuple[str, _Span]]:
    """Yield kind and span of what has the format of a token. No token contains white space."""
    longest = max(map(len, text.split()), default=0)
    if longest < SHORTEST_TOKEN:
        return
    for token_format in FORMATS:
        for span in token_format.spans(text):
            yield token_format.kind, span
    if longest >= SHORTEST_MATCH:
        for kind, pattern in PATTERNS:
            for match in pattern.finditer(text):
                yield kind, match.span()


def _mask_spans(text: str, spans: Iterable[_Span]) -> tuple[str, int]:
    """Return a text with one `MASK` per group of overlapping spans, and the number of masks."""
    merged: list[_Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    parts: list[str] = []
    done = 0
    for start, end in merged:
        parts += (text[done:start], MASK)
        done = end
    return "".join([*parts, text[done:]]), len(merged)


def _lines_around(text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield the lines that the sorted spans touch, without the final line end of each group.

    Where a span starts on the last of these lines and ends later, its lines are yielded together
    with those before.
    """
    begin, done = 0, -1
    for start, end in spans:
        if end <= done:
            continue
        if start > done:
            before = (text.rfind(line_end, max(done, 0), start) for line_end in "\r\n")
            begin = max(before) + 1
        after = _LINE_END.search(text, end)
        done = after.start() if after else len(text)
        yield begin, done


class _Spans:
    """A set of spans in a text; they may overlap."""

    def __init__(self, places: Iterable[_Span]) -> None:
        ordered = sorted(places)
        self._starts: Final = [start for start, _ in ordered]
        self._furthest: Final = list(accumulate((end for _, end in ordered), max))

    def contain(self, span: _Span) -> bool:
        """Whether one of the spans contains this one."""
        before = bisect_right(self._starts, span[0])
        return before > 0 and self._furthest[before - 1] >= span[1]


def _allowed_spans(text: str, rules: Redaction) -> Iterator[_Span]:
    return (place for allowed in rules.allow for place in _occurrences(allowed, text))


def _project_spans(text: str, rules: Redaction) -> Iterator[_Span]:
    """Yield the spans that match the project's mask patterns."""
    words: list[_Span] | None = None
    for pattern in rules.mask:
        parts = pattern.split("*")
        if not all(part in text for part in parts):
            continue
        if len(parts) == 1:
            yield from _occurrences(pattern, text)
            continue
        words = words or [match.span() for match in _WORD.finditer(text)]
        for start, end in _words_with(max(parts, key=len), text, words):
            yield from _match_in_word(parts, text[start:end], start)


def _words_with(part: str, text: str, words: Sequence[_Span]) -> Iterator[_Span]:
    """Yield the words that contain a part; none if it is empty or has white space."""
    if not _WORD.fullmatch(part):
        return
    at = text.find(part)
    while at >= 0:
        span = words[bisect_right(words, at, key=lambda word: word[0]) - 1]
        yield span
        at = text.find(part, span[1])


def _occurrences(part: str, text: str) -> Iterator[_Span]:
    """Yield the spans of a part, which do not overlap; none if it is empty."""
    start = text.find(part) if part else -1
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + len(part))


def _match_in_word(parts: Sequence[str], word: str, offset: int) -> Iterator[_Span]:
    """Yield the spans of a word that match a pattern with `*`, each part at its first place."""
    end = 0
    while True:
        start = None if parts[0] else end
        for part in filter(None, parts):
            position = word.find(part, end)
            if position < 0:
                return
            start, end = position if start is None else start, position + len(part)
        end = end if parts[-1] else len(word)
        yield offset + (start or 0), offset + end
