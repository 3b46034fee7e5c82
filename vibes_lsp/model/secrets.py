"""Finding and masking secrets in texts (RFC 6.4, 13.1).

Three modules find them: formats of tokens (`secret_formats`), what stands around a secret
(`secret_contexts`) and keys over several lines (`private_keys`). Time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from vibes_lsp.model import secret_formats
from vibes_lsp.model.secret_formats import FORMATS, PATTERNS
from vibes_lsp.model.secret_keywords import keyword_spans

MASK: Final = "[masked]"
"""What stands in the place of a secret; no rule takes it for one."""

_WORD: Final = re.compile(r"\S+")

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MaskingRules:
    """What a project adds to the known formats.

    Attributes:
        mask: Texts that are secrets here; `*` stands for any characters but white space.
        allow: Exact texts that are none. Only what lies within one of them is let through, so that no part of a secret that is not
            known to whoever wrote the rules ever is; private keys are masked all the same.
    """

    mask: Sequence[str] = ()
    allow: Sequence[str] = ()


NO_MASKING_RULES: Final = MaskingRules()


def secret_kinds(text: str, rules: MaskingRules = NO_MASKING_RULES) -> set[str]:
    """Return the names of the kinds of secret that a text seems to contain."""
    return {kind for kind, _ in _found(text, rules)}


def mask_secrets(text: str, rules: MaskingRules = NO_MASKING_RULES) -> tuple[str, int]:
    """Return a text with `MASK` for every secret, and how many there were.

    What is masked stays as it is when it is masked again.
    """
    masked, count = _replaced(text, _all_spans(text, rules))
    if not count:
        return text, 0
    left = _all_spans(masked, rules)
    if not left:
        return masked, count
    # A mask made something look like a secret: better the whole lines than a part of one.
    masked, more = _replaced(masked, _lines_of(masked, left))
    return masked, count + more


def _all_spans(text: str, rules: MaskingRules) -> list[_Span]:
    spans = [span for _, span in _found(text, rules)]
    own = list(_own_spans(text, rules))
    if own:
        excepted = _Cover([*_allowed(text, rules), *_places(MASK, text)])
        spans += [span for span in own if not excepted.holds(span)]
    return sorted(spans)


def _found(text: str, rules: MaskingRules) -> list[tuple[str, _Span]]:
    """Return the secrets of known kinds that a text contains and the rules do not allow."""
    found = [(each.kind, span) for each in FORMATS for span in each.spans(text)]
    found += [(kind, match.span()) for kind, each in PATTERNS for match in each.finditer(text)]
    found += keyword_spans(text)
    if found and rules.allow:
        allowed = _Cover(_allowed(text, rules))
        found = [(kind, span) for kind, span in found if not allowed.holds(span)]
    return found + [
        (secret_formats.PRIVATE_KEY, span) for span in secret_formats.private_keys(text)
    ]


def _replaced(text: str, spans: Iterable[_Span]) -> tuple[str, int]:
    """Return a text with one `MASK` for spans that overlap, and how many masks that are."""
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


def _lines_of(text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
    """Give the lines that spans touch, without the ends of the last ones; the spans are in order."""
    done = -1
    for start, end in spans:
        if end <= done:
            continue
        begin = max(text.rfind(each, max(done, 0), start) for each in "\r\n") + 1
        ends = (text.find(each, end) for each in "\r\n")
        done = min((at for at in ends if at >= 0), default=len(text))
        yield begin, done


class _Cover:
    """Places in a text, some of which may overlap."""

    def __init__(self, places: Iterable[_Span]) -> None:
        ordered = sorted(places)
        self._starts: Final = [start for start, _ in ordered]
        self._furthest: Final = list(accumulate((end for _, end in ordered), max))

    def holds(self, span: _Span) -> bool:
        """Return whether a span lies within one place."""
        before = bisect_right(self._starts, span[0])
        return before > 0 and self._furthest[before - 1] >= span[1]


def _allowed(text: str, rules: MaskingRules) -> Iterator[_Span]:
    return (place for allowed in rules.allow for place in _places(allowed, text))


def _own_spans(text: str, rules: MaskingRules) -> Iterator[_Span]:
    """Give where the project's own texts are."""
    words: list[_Span] | None = None
    for pattern in rules.mask:
        parts = pattern.split("*")
        if not all(part in text for part in parts):
            continue
        if len(parts) == 1:
            yield from _places(pattern, text)
            continue
        words = words or [match.span() for match in _WORD.finditer(text)]
        for start, end in _words_with(max(parts, key=len), text, words):
            yield from _in_word(parts, text[start:end], start)


def _words_with(part: str, text: str, words: Sequence[_Span]) -> Iterator[_Span]:
    at = text.find(part)
    while at >= 0:
        span = words[bisect_right(words, at, key=lambda each: each[0]) - 1]
        yield span
        at = text.find(part, span[1])


def _places(part: str, text: str) -> Iterator[_Span]:
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + len(part))


def _in_word(parts: Sequence[str], word: str, offset: int) -> Iterator[_Span]:
    """Give where a pattern with `*` fits a word; each part is taken where it comes first."""
    end = 0
    while True:
        start = None if parts[0] else end
        for part in filter(None, parts):
            found = word.find(part, end)
            if found < 0:
                return
            start, end = found if start is None else start, found + len(part)
        end = end if parts[-1] else len(word)
        yield offset + (start or 0), offset + end
