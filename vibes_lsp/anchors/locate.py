"""Locate recorded ranges in a text (RFC 7.3.1, R15, R16).

It tries, in this order: the file hash, anchors that match at one place, the original text from
git, and approximate matches inferred from all records of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from vibes_lsp.anchors.approximate_match import ApproximateMatches
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.exact_match import ExactMatches
from vibes_lsp.anchors.history_mapping import map_range
from vibes_lsp.anchors.line_map import LineMaps
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, OriginalText, State
from vibes_lsp.anchors.text import Text


def locate(
    ranges: Sequence[AnchoredRange], text: Text, originals: Sequence[OriginalText | None] = ()
) -> list[LocatedRange]:
    """Return where each range is in a text, in the same order.

    Args:
        ranges: The ranges.
        text: The text.
        originals: The original text of each range, None where history has none. Empty without
            history.
    """
    unchanged = in_unchanged_file(ranges, text)
    if None not in unchanged:
        return [each for each in unchanged if each is not None]
    exact, numbers = _match_others(ranges, unchanged, text)
    approximate = ApproximateMatches(exact)
    maps = LineMaps(text)
    found = []
    for each, same, number, original in zip(
        ranges, unchanged, numbers, originals or [None] * len(ranges), strict=True
    ):
        located = same or exact.matches[number]
        if original is not None and not _is_settled(located, original):
            line_map = maps.from_text(original.text, original.later)
            located = map_range(original, line_map, each.start)
        elif located is None or not located.sure:
            located = approximate.find(number)
        found.append(located or _without_evidence(each, text))
    return found


def locate_sure(ranges: Sequence[AnchoredRange], text: Text) -> list[LocatedRange | None]:
    """Return the sure places that `locate` finds without history; None for all other ranges."""
    found = in_unchanged_file(ranges, text)
    if None not in found:
        return found
    exact, numbers = _match_others(ranges, found, text)
    return [
        each or (match if (match := exact.matches[number]) is not None and match.sure else None)
        for each, number in zip(found, numbers, strict=True)
    ]


def _match_others(
    ranges: Sequence[AnchoredRange], unchanged: Sequence[LocatedRange | None], text: Text
) -> tuple[ExactMatches, list[int]]:
    """Match the ranges of other texts, together; return the matches and the number of each range.

    Those recorded in this very text do not show how far the lines of other versions moved.
    """
    pairs = list(zip(ranges, unchanged, strict=True))
    others = [each for each, same in pairs if same is None]
    own = [each for each, same in pairs if same is not None]
    numbers = count()
    return ExactMatches(others, text, own), [
        next(numbers) if same is None else -1 for same in unchanged
    ]


def in_unchanged_file(ranges: Sequence[AnchoredRange], text: Text) -> list[LocatedRange | None]:
    """Return the recorded place of each range whose file hash matches, None for the others.

    Also None where a record contradicts itself: the range is out of bounds or has another hash.
    """
    hashes = text.file_hashes
    return [
        LocatedRange(each.start, each.end, State.EXACT, Method.FILE_HASH, 1.0, intact=each.length)
        if each.anchors.file_hash in hashes
        and each.end <= len(text.lines)
        and (each.anchors.hash is None or each.matches_at(text.lines, each.start))
        else None
        for each in ranges
    ]


def _is_settled(located: LocatedRange | None, original: OriginalText) -> bool:
    """Whether the original text adds nothing: the match is sure, and the range had no copy."""
    if located is None or not located.sure:
        return False
    if located.method == Method.FILE_HASH:
        return True
    lines = original.text.lines[original.start - 1 : original.end]
    return 1 in map(original.text.line_counts.__getitem__, lines)


def _without_evidence(each: AnchoredRange, text: Text) -> LocatedRange:
    if each.anchors != Anchors():
        return LocatedRange(None, None, State.LOST, Method.CONTEXT, 0.0)
    if each.start > len(text.lines):
        return LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)
    return LocatedRange(
        each.start, min(each.end, len(text.lines)), State.UNVERIFIED, Method.RECORDED, 0.3
    )
