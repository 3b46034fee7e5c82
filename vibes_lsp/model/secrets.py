"""Finding and masking secrets in texts (RFC 6.4, 13.1).

Detection is the library's (`bc-detect-secrets`): its detectors of known token formats, without those that judge by entropy
or by a variable's name; added here are the formats of a few services that it does not know yet, and keys over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

MASK: Final = "[masked]"
"""What stands in the place of a secret; no detector takes it for one."""

_MAX_LINE: Final = 4_000
"""Longer lines are looked at in pieces: some detectors take seconds for a hostile one."""
_OVERLAP: Final = 400
"""Characters that two pieces share, so that a secret is whole in one of them."""
_ADDED: Final = {
    "Anthropic API Key": re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    "OpenAI API Key": re.compile(r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_]{20,}"),
    "GitLab Token": re.compile(r"\bgl(?:pat|dt|rt|ptt|agent)-[A-Za-z0-9_-]{20,}"),
    "PyPI Token": re.compile(r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    "Private Key": re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    "Google API Key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b"),
}
_PASSED_OVER: Final = frozenset({"Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector"})
_CANDIDATE: Final = re.compile(r"[A-Za-z0-9+/=_-]{16}|://[^/\s]*@|PRIVATE KEY|(?i:secret|token|passw|key)")
"""What every known format has: a long word, credentials in a URL, a key's header, or a telling name."""
_KEY_BLOCK: Final = re.compile(
    _ADDED["Private Key"].pattern + r"(?:.{0,20000}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)", re.DOTALL
)
_PASSWORD_IN_URL: Final = re.compile(r"(?<=://)[^/\s:@]*:([^/\s@\[]+)(?=@)")
_WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Rules:
    """What a project adds to the known formats.

    Attributes:
        mask: Texts that are secrets here; `*` stands for any characters but white space.
        allow: Exact texts that are none. Only what lies within one of them is let through, so that no part of a secret that is not
            known to whoever wrote the rules ever is; private keys are masked all the same.
    """

    mask: Sequence[str] = ()
    allow: Sequence[str] = ()


NO_RULES: Final = Rules()


def secret_kinds(text: str, rules: Rules = NO_RULES) -> set[str]:
    """Return the names of the kinds of secret that a text seems to contain."""
    lines = (_without_allowed(line, rules) for line in text.splitlines())
    return {kind for line in lines for _, piece in _pieces(line) for kind in _kinds_in(piece)}


def mask_secrets(text: str, rules: Rules = NO_RULES) -> tuple[str, int]:
    """Return a text with `MASK` for every secret, and how many there were."""
    text, total = _KEY_BLOCK.subn(MASK, text)
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        masked, count = _mask_line(line, rules)
        lines.append(masked)
        total += count
    return "".join(lines), total


def _mask_line(line: str, rules: Rules) -> tuple[str, int]:
    named = [match.span(1) for match in _PASSWORD_IN_URL.finditer(line)]
    line, first = _replaced(line, _refused(line, [*named, *_own_spans(line, rules)], rules))
    line, second = _replaced(line, _refused(line, _spans_in_line(line), rules))
    if secret_kinds(line, rules):  # known by something that is no pattern: better the whole line than a part of the secret
        kept = len(line.rstrip("\r\n"))
        return MASK + line[kept:], first + second + 1
    return line, first + second


def _replaced(line: str, spans: Iterable[tuple[int, int]]) -> tuple[str, int]:
    """Return a line with `MASK` for each span, those that overlap taken as one, and how many that were."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    for start, end in reversed(merged):
        line = line[:start] + MASK + line[end:]
    return line, len(merged)


def _refused(line: str, spans: Iterable[tuple[int, int]], rules: Rules) -> list[tuple[int, int]]:
    """Return the spans that do not lie within an allowed text."""
    allowed = _allowed(line, rules)
    return [(start, end) for start, end in spans if not any(begin <= start and end <= stop for begin, stop in allowed)]


def _without_allowed(line: str, rules: Rules) -> str:
    if not any(each in line for each in rules.allow):
        return line
    allowed = _allowed(line, rules)
    within = [(start, end) for start, end in _spans_in_line(line) if any(begin <= start and end <= stop for begin, stop in allowed)]
    return _replaced(line, within)[0]


def _allowed(line: str, rules: Rules) -> list[tuple[int, int]]:
    return [place for text in rules.allow for place in _places(text, line)]


def _own_spans(line: str, rules: Rules) -> Iterator[tuple[int, int]]:
    for pattern in rules.mask:
        parts = pattern.split("*")
        if len(parts) == 1:
            yield from _places(pattern, line)
        elif all(part in line for part in parts):
            for word in _WORD.finditer(line):
                yield from _in_word(parts, word[0], word.start())


def _places(text: str, line: str) -> Iterator[tuple[int, int]]:
    start = line.find(text)
    while start >= 0:
        yield start, start + len(text)
        start = line.find(text, start + len(text))


def _in_word(parts: Sequence[str], word: str, offset: int) -> Iterator[tuple[int, int]]:
    """Give where a pattern with `*` fits a word; each part is taken where it comes first, so that time grows with the word and no faster."""
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


def _spans_in_line(line: str) -> list[tuple[int, int]]:
    return [(begin + start, begin + end) for begin, piece in _pieces(line) for start, end in _spans_in(piece)]


def _pieces(line: str) -> Iterator[tuple[int, str]]:
    """Give the pieces of a line that may contain a secret, each with the place that it begins at."""
    for start in range(0, len(line), _MAX_LINE - _OVERLAP):
        piece = line[start : start + _MAX_LINE]
        if _CANDIDATE.search(piece):
            yield start, piece


def _kinds_in(piece: str) -> Iterator[str]:
    yield from (str(detector.secret_type) for detector in _detectors() if any(detector.analyze_string(piece)))
    yield from (kind for kind, pattern in _ADDED.items() if pattern.search(piece))


def _spans_in(piece: str) -> Iterator[tuple[int, int]]:
    """Give where secrets are: the whole of what a detector's pattern matches, whose groups need not be the secret."""
    for detector in _detectors():
        if any(detector.analyze_string(piece)):
            for pattern in getattr(detector, "denylist", ()):
                yield from (match.span() for match in pattern.finditer(piece))
    for pattern in _ADDED.values():
        yield from (match.span() for match in pattern.finditer(piece))


@cache
def _detectors() -> list[Any]:
    """Return the library's detectors; loaded late, because it is slow to import."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # noqa: PLC0415

    classes: list[Any] = list(get_mapping_from_secret_type_to_class().values())
    return [each() for each in classes if each.__name__ not in _PASSED_OVER]
