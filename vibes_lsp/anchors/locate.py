"""Locate recorded ranges in a text (RFC 7.3.1, R15, R16).

It tries, in this order: the file hash, anchors that match at one place, and the likeliest place of
what is left of a range. The last is never sure.
"""

from __future__ import annotations

from collections.abc import Sequence

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.likely_places import LikelyPlaces
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.anchors.verbatim import SureMatches, find_verbatim


def locate(ranges: Sequence[AnchoredRange], text: Text) -> list[LocatedRange]:
    """Return where each range is in a text, in the same order."""
    return [located for located in _locate(ranges, text, only_sure=False) if located is not None]


def locate_sure(ranges: Sequence[AnchoredRange], text: Text) -> list[LocatedRange | None]:
    """Return the sure places that `locate` finds; None for all other ranges."""
    return _locate(ranges, text, only_sure=True)


def _locate(
    ranges: Sequence[AnchoredRange], text: Text, *, only_sure: bool
) -> list[LocatedRange | None]:
    places = [_in_unchanged_file(recorded, text) for recorded in ranges]
    numbers = [number for number, place in enumerate(places) if place is None]
    matches = find_verbatim([ranges[number] for number in numbers], text)
    own = [recorded for recorded, place in zip(ranges, places, strict=True) if place is not None]
    sure = SureMatches(matches, own, text)
    likely = LikelyPlaces(matches, sure.pairs, text)
    for number, match in zip(numbers, matches, strict=True):
        places[number] = sure.match(match)
        if places[number] is None and not only_sure:
            places[number] = likely.find(match) or _without_evidence(match.range, text)
    return places


def _in_unchanged_file(recorded: AnchoredRange, text: Text) -> LocatedRange | None:
    """Return the recorded place of a range whose file hash matches.

    None where a record contradicts itself: the range is out of bounds or has another hash.
    """
    is_same = (
        recorded.anchors.file_hash in text.file_hashes
        and recorded.end <= len(text.lines)
        and (recorded.anchors.hash is None or recorded.matches_at(text.lines, recorded.start))
    )
    place = recorded.start, recorded.end, State.EXACT, Method.FILE_HASH, 1.0
    return LocatedRange(*place, intact=recorded.length) if is_same else None


def _without_evidence(recorded: AnchoredRange, text: Text) -> LocatedRange:
    if recorded.anchors != Anchors():
        return LocatedRange(None, None, State.LOST, Method.CONTEXT, 0.0)
    if recorded.start > len(text.lines):
        return LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)
    end = min(recorded.end, len(text.lines))
    return LocatedRange(recorded.start, end, State.UNVERIFIED, Method.RECORDED, 0.3)
