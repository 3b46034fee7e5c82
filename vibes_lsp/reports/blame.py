"""The placements of a file and the kind of each line (`vibes blame`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from vibes_lsp.anchors.location import LineKind, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.line_origins import LineOrigin
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.placements import PlacementReport


@dataclass(frozen=True, slots=True)
class UnrecordedLines:
    """Neighbouring lines that git's blame gives to one commit.

    Attributes:
        first: The first line.
        last: The last line, inclusive.
        commit: The commit.
        author: Its author, as the commit names them; untrusted text.
        moment: The committer's time.
    """

    first: int
    last: int
    commit: str
    author: str
    moment: datetime

    def as_json(self) -> Members:
        """Return the lines and what git says of them."""
        return {
            "lineStart": self.first,
            "lineEnd": self.last,
            "commitHash": self.commit,
            "author": self.author,
            "timestamp": format_timestamp(self.moment),
        }


@dataclass(frozen=True, slots=True)
class Blame:
    """A file with its placements.

    Attributes:
        path: Relative to the project.
        text: The text they are in.
        placements: In document order, owners before history.
        report: Converts them to JSON.
        committed: The lines of which no record says anything, as far as git was asked about them.
    """

    path: str
    text: Text
    placements: tuple[Placement, ...]
    report: PlacementReport
    committed: tuple[UnrecordedLines, ...] = ()

    def as_json(self) -> Members:
        """Return `{filePath, placements, lines, committed}`."""
        return {
            "filePath": self.path,
            "placements": self.report.placements(self.placements),
            "lines": line_kinds(self.placements),
            "committed": [unrecorded.as_json() for unrecorded in self.committed],
        }

    def on_lines(self, first: int, last: int) -> list[Placement]:
        """Return the current edits that own one of these lines; if none does, those around them."""
        edits = [placement for placement in self.placements if placement.is_current_edit]
        owners = [placement for placement in edits if owns_lines(placement, first, last)]
        return owners or [placement for placement in edits if is_on_lines(placement, first, last)]


def blame_file(locator: ProjectLocator, path: str, text: Text, scorer: Scorer) -> Blame:
    """Locate the annotations of a file in a text."""
    locator.resolve_commits_in([path])
    placements, origins = locator.locate_with_origins(path, text)
    return Blame(
        path,
        text,
        tuple(placements),
        PlacementReport(
            locator.trail, text, scorer=scorer, resolved_commits=locator.resolved_commits
        ),
        tuple(_committed(locator, placements, origins)),
    )


def _committed(
    locator: ProjectLocator,
    placements: Sequence[Placement],
    origins: Sequence[LineOrigin | None],
) -> Iterator[UnrecordedLines]:
    """Yield the lines without owner by the commits that brought them."""
    owned = line_owners(placements)
    runs = groupby(
        enumerate(origins, 1),
        lambda numbered: None if numbered[0] in owned or not numbered[1] else numbered[1][::3],
    )
    for brought, run in runs:
        if brought is not None and locator.repository is not None:
            commit = locator.repository.objects.commit(brought[0])
            lines = [line for line, _ in run]
            if commit is not None:
                yield UnrecordedLines(lines[0], lines[-1], commit.id, commit.author, commit.moment)


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Numbers of AI lines by `LineKind`; other lines are not counted.

    Attributes:
        verified: Proven to be as the AI wrote them.
        claimed: Claimed by a record, without proof.
        edited: Proven to be edited since.
    """

    verified: int = 0
    claimed: int = 0
    edited: int = 0

    @classmethod
    def of(cls, kinds: Iterable[LineKind]) -> LineCounts:
        """Count lines of these kinds."""
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
        """Return the share of verified lines among `lines`, 0 to 1."""
        return self.verified / lines if lines else 0.0

    def as_json(self) -> Members:
        """Return the three numbers."""
        return {
            "verifiedLines": self.verified,
            "claimedLines": self.claimed,
            "editedLines": self.edited,
        }

    def words(self) -> str:
        """Return the numbers as text, such as `3 verified, 1 edited`."""
        parts = ((self.claimed, "claimed"), (self.edited, "edited"))
        rest = "".join(f", {count:,} {word}" for count, word in parts if count)
        return f"{self.verified:,} verified{rest}"


def line_owners(placements: Sequence[Placement]) -> dict[int, Placement]:
    """Return the owner of each line that has one, by line number."""
    return {line: placement for placement in placements for line in _lines(placement)}


def line_kinds(placements: Sequence[Placement]) -> list[JsonValue]:
    """Return `{line, annotationId, kind}` for every owned line, in document order."""
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
    """Return `{lineStart, lineEnd, kind}` for the lines that a placement owns, in document order.

    Consecutive lines of one kind are one range.
    """
    groups = groupby(
        enumerate(_lines(placement)),
        key=lambda indexed: (indexed[1] - indexed[0], line_kind(placement, indexed[1]).value),
    )
    ranges: list[JsonValue] = []
    for (_, kind), group in groups:
        lines = [line for _, line in group]
        ranges.append({"lineStart": lines[0], "lineEnd": lines[-1], "kind": kind})
    return ranges


def line_kind(placement: Placement, line: int) -> LineKind:
    """Return the kind of a line that a placement owns."""
    located = placement.located
    if located.sure or not located.kinds or located.start is None:
        return LineKind.AI if located.sure else LineKind.CLAIMED
    kind = located.kinds[line - located.start]
    is_known = located.state == State.EDITED and not located.ambiguous
    return kind if is_known or kind == LineKind.UNRECORDED else LineKind.CLAIMED


def is_on_lines(placement: Placement, first: int, last: int) -> bool:
    """Return whether an annotation is on one of these lines, owned by it or not."""
    start, end = placement.located.start, placement.located.end
    return start is not None and end is not None and start <= last and first <= end


def owns_lines(placement: Placement, first: int, last: int) -> bool:
    """Return whether an annotation owns one of these lines."""
    return any(start <= last and first <= end for start, end in placement.owned_ranges)


def _lines(placement: Placement) -> Iterator[int]:
    for start, end in placement.owned_ranges:
        yield from range(start, end + 1)
