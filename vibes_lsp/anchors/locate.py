"""Locating ranges (RFC 7.3.1, R15, R16): file hash, anchors that leave no doubt, the text of then, then what anchors still tell.

A hash counts before a text, the nearest place before the first, and ranges keep their order: those that can be in one place
only tell where the others are to be expected.
"""

from __future__ import annotations

from collections.abc import Sequence

from vibes_lsp.anchors.approximate_match import ApproximateMatches
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.exact_match import ExactMatches
from vibes_lsp.anchors.history_mapping import trace
from vibes_lsp.anchors.line_map import LineMaps
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, OriginalText, State
from vibes_lsp.anchors.text import Text


def locate(
    ranges: Sequence[AnchoredRange], text: Text, origins: Sequence[OriginalText | None] = ()
) -> list[LocatedRange]:
    """Return where each range is in the text, in the order asked.

    Args:
        ranges: What to look for.
        text: Where to look.
        origins: For each range the text that it was made in, None where history has none; empty without history.
    """
    hashes = text.file_hashes
    unchanged = [
        _unchanged(each, text) if each.anchors.file_hash in hashes else None for each in ranges
    ]
    settled = [each for each in unchanged if each is not None]
    if len(settled) == len(ranges) and not any(
        origin.before_edit for origin in origins if origin is not None
    ):
        return settled
    known = origins or [None] * len(ranges)
    exact = ExactMatches(ranges, text)
    approximate = ApproximateMatches(exact)
    maps = LineMaps(text)
    found = []
    for number, (each, origin) in enumerate(zip(ranges, known, strict=True)):
        located = unchanged[number] or exact.matches[number]
        if origin is not None and not _is_settled(located, origin):
            located = trace(origin, maps.from_text(origin.text, origin.later), each.start)
        elif located is None or not located.sure:
            located = approximate.find(number)
        found.append(located or _without_proof(each, text))
    return found


def locate_sure(ranges: Sequence[AnchoredRange], text: Text) -> list[LocatedRange | None]:
    """Return where each range stands for sure; None for those of which `locate`, without the text of then, could only say where they may be."""
    hashes = text.file_hashes
    found = [
        _unchanged(each, text) if each.anchors.file_hash in hashes else None for each in ranges
    ]
    if None in found:
        whole = ExactMatches(ranges, text).matches
        found = [
            each or (other if other is not None and other.sure else None)
            for each, other in zip(found, whole, strict=True)
        ]
    return found


def _is_settled(located: LocatedRange | None, origin: OriginalText) -> bool:
    """Whether the text of then can add nothing: the range was found, and had no copy then for which what stands now may be taken."""
    if located is None or not located.sure or origin.before_edit:
        return False
    if located.method == Method.FILE_HASH:
        return True
    return 1 in map(
        origin.text.line_counts.__getitem__, origin.text.lines[origin.start - 1 : origin.end]
    )


def _unchanged(each: AnchoredRange, text: Text) -> LocatedRange | None:
    """Return the range where it was recorded, in a file that is as it was then; None when its record contradicts itself."""
    if each.end > len(text.lines) or (
        each.anchors.hash is not None and not each.matches_at(text.lines, each.start)
    ):
        return None
    return LocatedRange(
        each.start, each.end, State.EXACT, Method.FILE_HASH, 1.0, intact=each.length
    )


def _without_proof(each: AnchoredRange, text: Text) -> LocatedRange:
    if each.anchors != Anchors():
        return LocatedRange(None, None, State.LOST, Method.CONTEXT, 0.0)
    if each.start > len(text.lines):
        return LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)
    return LocatedRange(
        each.start, min(each.end, len(text.lines)), State.UNVERIFIED, Method.RECORDED, 0.3
    )
