"""A file with its placements, line by line (`vibes blame`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.reports.placements import PlacementReport


@dataclass(frozen=True, slots=True)
class Blame:
    """A file of the project and where its annotations are.

    Attributes:
        path: Relative to the project.
        text: What was looked at.
        placements: In document order, history after owners.
        report: Turns them into JSON.
    """

    path: str
    text: Text
    placements: tuple[Placement, ...]
    report: PlacementReport

    def as_json(self) -> Members:
        """Return `{filePath, placements, lines}`."""
        return {
            "filePath": self.path,
            "placements": self.report.placements(self.placements),
            "lines": line_kinds(self.placements),
        }


def blame_file(locator: ProjectLocator, path: str, text: Text, scorer: Scorer) -> Blame:
    """Return a file's blame against a text."""
    placements = tuple(locator.locate(path, text))
    return Blame(
        path,
        text,
        placements,
        PlacementReport(locator.trail, text, scorer=scorer, derived=locator.resolved_commits),
    )


@dataclass(frozen=True, slots=True)
class LineCounts:
    """How many lines are an AI's, in three parts; a person's lines count in none.

    Attributes:
        verified: As the AI wrote them, at a sure place.
        claimed: Said to be an AI's, without proof.
        edited: Known to be edited since.
    """

    verified: int = 0
    claimed: int = 0
    edited: int = 0

    @classmethod
    def of(cls, kinds: Iterable[LineKind]) -> LineCounts:
        """Return the counts of some lines."""
        counts = Counter(kinds)
        return cls(counts[LineKind.AI], counts[LineKind.CLAIMED], counts[LineKind.EDITED])

    def __add__(self, other: LineCounts) -> LineCounts:
        return LineCounts(
            self.verified + other.verified,
            self.claimed + other.claimed,
            self.edited + other.edited,
        )

    def __bool__(self) -> bool:
        return bool(self.verified or self.claimed or self.edited)

    def share(self, lines: int) -> float:
        """Return the part of some lines that is verified, 0 to 1."""
        return self.verified / lines if lines else 0.0

    def as_json(self) -> Members:
        """Return the three numbers."""
        return {
            "verifiedLines": self.verified,
            "claimedLines": self.claimed,
            "editedLines": self.edited,
        }

    def words(self) -> str:
        """Return the numbers for people."""
        parts = ((self.claimed, "claimed"), (self.edited, "edited"))
        rest = "".join(f", {count:,} {word}" for count, word in parts if count)
        return f"{self.verified:,} verified{rest}"


def line_owners(placements: Sequence[Placement]) -> dict[int, Placement]:
    """Return who owns each line; lines that nobody owns are left out."""
    return {line: placement for placement in placements for line in _lines(placement)}


def line_kinds(placements: Sequence[Placement]) -> list[JsonValue]:
    """Return `{line, annotationId, kind}` for every owned line, down the document; see `line_kind`."""
    owned = line_owners(placements)
    return [
        {
            "line": line,
            "annotationId": owned[line].current.id,
            "kind": line_kind(owned[line], line).value,
        }
        for line in sorted(owned)
    ]


def ranges_by_kind(placement: Placement) -> list[JsonValue]:
    """Return `{lineStart, lineEnd, kind}` for the lines that a placement owns, down the document: lines in a row of one kind together."""
    rows = groupby(
        enumerate(_lines(placement)),
        key=lambda each: (each[1] - each[0], line_kind(placement, each[1]).value),
    )
    found: list[JsonValue] = []
    for (_, kind), row in rows:
        lines = [line for _, line in row]
        found.append({"lineStart": lines[0], "lineEnd": lines[-1], "kind": kind})
    return found


def line_kind(placement: Placement, line: int) -> LineKind:
    """Return whose a line of a placement is.

    A line counts as the AI's or as edited only where that is proven. Without proof it is claimed,
    unless it seems to be a person's: less is never claimed without reason.
    """
    located = placement.located
    if located.sure or not located.kinds or located.start is None:
        return LineKind.AI if located.sure else LineKind.CLAIMED
    kind = located.kinds[line - located.start]
    return kind if located.is_proven or kind == LineKind.HUMAN else LineKind.CLAIMED


def _lines(placement: Placement) -> Iterator[int]:
    for start, end in placement.owned_ranges:
        yield from range(start, end + 1)
