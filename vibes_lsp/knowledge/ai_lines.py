"""How many of some lines an AI wrote, and whether a person approved them. Imports nothing slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.blame import line_kind

_AI: Final = frozenset({LineKind.AI, LineKind.CLAIMED})


@dataclass(frozen=True, slots=True)
class AiLines:
    """The lines of a range that an AI wrote, by the word of the audit trail.

    Attributes:
        total: All lines of the range.
        verified: Those that are proven to be as an AI wrote them.
        claimed: Those that a record claims for an AI, without proof.
        unreviewed: Of both, those that no person has approved as they are now.
        annotations: The ids of the annotations that own these lines.
    """

    total: int = 0
    verified: int = 0
    claimed: int = 0
    unreviewed: int = 0
    annotations: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.verified or self.claimed)

    def words(self) -> str:
        """Return who wrote the lines, and whether that is reviewed; empty if no AI did."""
        written = self.verified + self.claimed
        if not written:
            return ""
        author = "written by an AI" if written == self.total else "partly written by an AI"
        if self.unreviewed == 0:
            return f"{author}, approved by a person"
        return f"{author}, {'not' if self.unreviewed == written else 'partly'} reviewed"

    def as_json(self) -> Members:
        """Return the object of `vibes.kbAt`."""
        annotations: list[JsonValue] = list(self.annotations)
        return {
            "verifiedLines": self.verified,
            "claimedLines": self.claimed,
            "unreviewedLines": self.unreviewed,
            "annotationIds": annotations,
        }


CountAiLines: TypeAlias = Callable[[int, int], AiLines]
"""Counts the lines of one text that an AI wrote, from a first to a last one."""


def no_ai_lines(first: int, last: int) -> AiLines:
    """Count the AI lines of a text that no audit trail says anything about."""
    return AiLines(last - first + 1)


def count_ai_lines(
    placements: Iterable[Placement],
    first: int,
    last: int,
    is_reviewed: Callable[[Placement], bool],
) -> AiLines:
    """Count the lines from `first` to `last` that an AI wrote.

    Args:
        placements: The annotations of the file in its text.
        first: First line, 1-based.
        last: Last line, inclusive.
        is_reviewed: Whether a person approved an annotation as it is now.
    """
    verified = claimed = unreviewed = 0
    annotations: list[str] = []
    for placement in placements:
        kinds = [
            kind
            for start, end in placement.owned_ranges
            for line in range(max(start, first), min(end, last) + 1)
            if (kind := line_kind(placement, line)) in _AI
        ]
        if not kinds:
            continue
        verified += kinds.count(LineKind.AI)
        claimed += kinds.count(LineKind.CLAIMED)
        unreviewed += 0 if is_reviewed(placement) else len(kinds)
        annotations.append(placement.current.id)
    return AiLines(last - first + 1, verified, claimed, unreviewed, tuple(annotations))
