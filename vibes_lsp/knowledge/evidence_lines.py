"""The lines that evidence names, what proves them, and where they are in a text (vouch 2.2).

The captured bytes of the source prove the lines; a quote must be the text of these lines. They are
placed by the locator of annotations. Pure functions; imports nothing slow.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from vibes_lsp.anchors.create_anchors import Anchors, create_anchors, make_context, range_hash
from vibes_lsp.anchors.known_text import locate_from
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.paths import MAX_PATH, can_be_in_project, normal_path

_MAX_LOCATOR: Final = MAX_PATH + 64
_LINES: Final = re.compile(r"L([0-9]{1,9})(?:-L?([0-9]{1,9}))?")
_BYTES: Final = re.compile(r"b([0-9]{1,12})-([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class LineLocator:
    """A locator that names lines: `L10`, `L10-L20`, `L10-20`, each also after `path#`.

    Or bytes, `b120-460`, as the reference implementation writes since 1.0.

    Attributes:
        path: The path before `#`; None without one.
        start: First line, 1-based; for bytes the first byte, from 0.
        end: Last line, inclusive; for bytes the one after the last.
        counts_bytes: Whether it names bytes.
    """

    path: str | None
    start: int
    end: int
    counts_bytes: bool = False

    def lines(self, content: bytes | None) -> tuple[int, int] | None:
        """Return the first and last line; None for bytes of unknown or shorter content."""
        if not self.counts_bytes:
            return self.start, self.end
        if content is None or self.end > len(content):
            return None
        first = content.count(b"\n", 0, self.start) + 1
        return first, first + content.count(b"\n", self.start, self.end - 1)


def parse_locator(locator: str) -> LineLocator | None:
    """Return the lines that a locator names; None for a locator of another kind."""
    if len(locator) > _MAX_LOCATOR:
        return None
    path, separator, lines = locator.rpartition("#")
    if separator and not can_be_in_project(path):
        return None
    counts_bytes = False
    locator_match = _LINES.fullmatch(lines)
    if locator_match is None:
        locator_match, counts_bytes = _BYTES.fullmatch(lines), True
    if locator_match is None:
        return None
    start, end = int(locator_match[1]), int(locator_match[2] or locator_match[1])
    if end < start or (start == end if counts_bytes else start == 0):
        return None
    return LineLocator(normal_path(path) if separator else None, start, end, counts_bytes)


def format_lines(start: int, end: int) -> str:
    """Return the locator of lines, 1-based and inclusive."""
    return f"L{start}" if start == end else f"L{start}-L{end}"


@dataclass(frozen=True, slots=True)
class EvidenceLines:
    """The lines that evidence names.

    Attributes:
        recorded: The lines in the source, with anchors of their text if that is known.
        original: The source as it was captured; None if nothing proves the lines.
    """

    recorded: AnchoredRange
    original: Text | None

    @property
    def is_proven(self) -> bool:
        """Whether the captured source has the lines, and they are the quote."""
        return self.original is not None


@dataclass(frozen=True, slots=True)
class CapturedSource:
    """The captured bytes of a source, whose hash is its id.

    Attributes:
        content: The bytes.
        text: The same as a text.
    """

    content: bytes
    text: Text


def captured_source(source_id: str, content: bytes | None) -> CapturedSource | None:
    """Return the captured bytes of a source; None if their hash is not its id (vouch 3.3)."""
    if content is None or hashlib.sha256(content).hexdigest() != source_id:
        return None
    return CapturedSource(content, Text.from_bytes(content))


def evidence_lines(
    locator: LineLocator, quote: str | None, quote_hash: str | None, source: CapturedSource | None
) -> EvidenceLines | None:
    """Return the lines of evidence, with what proves them.

    Args:
        locator: Its locator.
        quote: Its quote.
        quote_hash: Its hash, which must be that of the quote if there are both.
        source: The captured source; None if its bytes are gone or changed.

    Returns:
        The lines; None if the locator names bytes that cannot be counted.
    """
    lines = locator.lines(None if source is None else source.content)
    if lines is None:
        return None
    start, end = lines
    is_sound = quote is None or quote_hash is None or quote_hash == _hash(quote)
    if source is not None:
        named = source.text.utf8_lines[start - 1 : end]  # a quote has no invalid UTF-8
        if is_sound and end <= len(source.text.lines) and _is_quote_of(quote, named):
            recorded = AnchoredRange(start, end, create_anchors(source.text, start, end))
            return EvidenceLines(recorded, source.text)
    elif is_sound and quote is not None:
        for quoted in _readings(quote):
            if len(quoted) == end - start + 1:
                anchors = Anchors(make_context(quoted), range_hash(quoted), None)
                return EvidenceLines(AnchoredRange(start, end, anchors), None)
    return EvidenceLines(AnchoredRange(start, end, Anchors()), None)


def place_evidence(evidence: Sequence[EvidenceLines], text: Text) -> list[LocatedRange]:
    """Return where the lines of evidence are in a text, in the same order.

    A place is exact or moved only where the captured source proves the lines; others that are
    found are unverified.
    """
    places: list[LocatedRange | None] = [None] * len(evidence)
    for numbers in _by_source(evidence):
        chosen = [evidence[number] for number in numbers]
        located = locate_from(chosen[0].original, [lines.recorded for lines in chosen], text)
        for number, lines, where in zip(numbers, chosen, located, strict=True):
            is_known = lines.is_proven or where.start is None
            places[number] = where if is_known else _unverified(where)
    return [where for where in places if where is not None]


def _by_source(evidence: Sequence[EvidenceLines]) -> list[list[int]]:
    """Group evidence by its source: line numbers compare only within one version of a file."""
    groups: dict[int | None, list[int]] = {}
    for number, lines in enumerate(evidence):
        key = None if lines.original is None else id(lines.original)
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def _unverified(where: LocatedRange) -> LocatedRange:
    return replace(where, state=State.UNVERIFIED, intact=None, kinds=())


def _is_quote_of(quote: str | None, named: list[str]) -> bool:
    """Return whether a quote is the named lines, or a part of them; no quote is."""
    if quote is None or named in _readings(quote):
        return True
    part = "\n".join(Text(quote).lines)
    return part.strip() != "" and part in "\n".join(named)


def _readings(quote: str) -> tuple[list[str], list[str]]:
    """Return the lines of a quote: as written here, and as of a text that ends its last line."""
    return quote.split("\n"), Text(quote).lines


def _hash(quote: str) -> str:
    return hashlib.sha256(quote.encode("utf-8", "surrogatepass")).hexdigest()
