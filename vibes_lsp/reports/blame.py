"""A file with its placements, line by line (`vibes blame`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from vibes_lsp.anchors.located import LineKind, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Scorer
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
        return {"filePath": self.path, "placements": self.report.placements(self.placements), "lines": line_kinds(self.placements)}


def blame(places: Places, path: str, text: Text, scorer: Scorer) -> Blame:
    """Return a file's blame against a text."""
    placements = tuple(places.of(path, text))
    return Blame(path, text, placements, PlacementReport(places.trail, text, scorer=scorer, derived=places.derived))


def owners(placements: Sequence[Placement]) -> dict[int, Placement]:
    """Return who owns each line; lines that nobody owns are left out."""
    return {line: placement for placement in placements for line in _lines(placement)}


def line_kinds(placements: Sequence[Placement]) -> list[JsonValue]:
    """Return `{line, annotationId, kind}` for every owned line, down the document; see `kind_of`."""
    owned = owners(placements)
    return [{"line": line, "annotationId": owned[line].current.id, "kind": kind_of(owned[line], line).value} for line in sorted(owned)]


def runs(placement: Placement) -> list[JsonValue]:
    """Return `{lineStart, lineEnd, kind}` for the lines that a placement owns, down the document: lines in a row of one kind together."""
    rows = groupby(enumerate(_lines(placement)), key=lambda each: (each[1] - each[0], kind_of(placement, each[1]).value))
    found: list[JsonValue] = []
    for (_, kind), row in rows:
        lines = [line for _, line in row]
        found.append({"lineStart": lines[0], "lineEnd": lines[-1], "kind": kind})
    return found


def kind_of(placement: Placement, line: int) -> LineKind:
    """Return whose a line of a placement is: the AI's as it was written, edited since, or a person's among the AI's.

    Where the lines cannot be told apart, all of them count as edited, unless the whole stands as it was recorded.
    """
    located = placement.located
    if located.kinds and located.start is not None:
        return located.kinds[line - located.start]
    return LineKind.AI if located.state in {State.EXACT, State.MOVED} else LineKind.EDITED


def _lines(placement: Placement) -> Iterator[int]:
    for start, end in placement.owned:
        yield from range(start, end + 1)
