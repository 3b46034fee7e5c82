"""Whose each line of a text is: HEAD's lines by git, the others by replay of what waits.

Every surface uses this one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from vibes_lsp.anchors.align import beside_copies, came_from
from vibes_lsp.anchors.line_hashes import is_long, line_hash
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.reformatting import reformatted
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.line_origins import LineOrigin
from vibes_lsp.placing.committed_lines import CommittedOwners
from vibes_lsp.placing.hash_placement import HashedText, consecutive
from vibes_lsp.placing.hunk_records import HunkRecord, LineOwner
from vibes_lsp.placing.moved_blocks import MIN_MOVED, PlacedLines, moved_lines
from vibes_lsp.placing.standing import CandidateEdits, standing_lines

_SECOND: Final = timedelta(seconds=1)
"""What git cuts off the time of a commit."""
_LATE_RECORD: Final = timedelta(minutes=10)
"""How much later than its commit an edit may be recorded (R14)."""

Elsewhere = Callable[[], Iterable[PlacedLines]]
"""Returns the lines of HEAD that other files of the work tree have lost."""


class OwnedLine(NamedTuple):
    """Whose a line is.

    Attributes:
        kind: What is known of it.
        owner: What says so; None if nothing does.
        origin: The line of the commit that brought it; None for lines that are not committed, or
            older than all records.
    """

    kind: LineKind
    owner: LineOwner | None
    origin: LineOrigin | None


@dataclass(frozen=True, slots=True)
class HeadFile:
    """A file as HEAD has it.

    Attributes:
        commit: The commit of HEAD.
        path: The file, relative to the project.
        lines: Whose the lines of commits are.
    """

    commit: str
    path: str
    lines: CommittedOwners


def line_owners(
    text: Text,
    head: HeadFile | None,
    waiting: CandidateEdits,
    records: Sequence[HunkRecord] = (),
    elsewhere: Elsewhere = tuple,
) -> list[OwnedLine]:
    """Return whose each line of a text is.

    Args:
        text: The text on screen, or on disk.
        head: The file in HEAD; None without git, and before the first commit.
        waiting: The edits that lines may be of which no commit has.
        records: The records of the file in the log.
        elsewhere: What other files have lost; asked only if a block here may come from there.

    Raises:
        HistoryUnavailable: Git fails.
    """
    screen = _Screen(text, head)
    screen.replay(waiting)
    screen.follow_moves(elsewhere)
    screen.see_through_formatters()
    screen.claim(record for record in records if not record.hashes)
    return [
        OwnedLine(_kind(owner, line), owner, origin)
        for line, owner, origin in zip(text.lines, screen.owners, screen.origins, strict=True)
    ]


def _kind(owner: LineOwner | None, line: str) -> LineKind:
    """Return what is known of a line with an owner."""
    if owner is None:
        return LineKind.UNRECORDED
    if not owner.is_sure:
        return LineKind.CLAIMED
    return LineKind.AI if owner.hash == line_hash(line) else LineKind.EDITED


class _Screen:
    """A text, and what is known so far of its lines.

    Attributes:
        owners: What says whose each line is.
        origins: Where each line comes from.
        new: The lines that HEAD does not have.
    """

    def __init__(self, text: Text, head: HeadFile | None) -> None:
        self._text, self._head = text, head
        self._hashed = HashedText(text.lines)
        self.owners: list[LineOwner | None] = [None] * len(text.lines)
        self.origins: list[LineOrigin | None] = [None] * len(text.lines)
        self._committed: Sequence[LineOwner | None] = ()
        self._head_lines: Sequence[str] = ()
        self._from_head: list[int] = [-1] * len(text.lines)
        self._doubtful: set[int] = set()
        if head is not None:
            self._read_head(head)
        self.new = {number for number, origin in enumerate(self._from_head) if origin < 0}

    def _read_head(self, head: HeadFile) -> None:
        blob = head.lines.file(head.commit, head.path)
        if not blob.data:
            return
        self._head_lines = blob.text.lines
        self._committed = head.lines.owners(head.commit, head.path)
        origins = head.lines.origins(head.commit, head.path)
        self._from_head = came_from(self._head_lines, self._text.lines)
        self._doubtful = beside_copies(self._text.lines, self._from_head, len(self._head_lines))
        for number in self._doubtful:
            self._from_head[number] = -1
        for number, place in enumerate(self._from_head):
            if place >= 0:
                self.owners[number], self.origins[number] = self._committed[place], origins[place]

    def replay(self, waiting: CandidateEdits) -> None:
        """Give new lines to the edits that wait, and committed ones to those that are late."""
        late = {
            number
            for number, origin in enumerate(self.origins)
            if origin is not None and self.owners[number] is None
        }
        for number, line in standing_lines(waiting, self._hashed, self.new | late).items():
            edit, origin = line.edit, self.origins[number]
            if origin is None or (
                edit.id not in waiting.logged and origin.moment + _SECOND >= edit.moment
            ):
                self.owners[number] = LineOwner(
                    edit.id, edit.id, edit.hashes[line.number], line.is_sure
                )

    def follow_moves(self, elsewhere: Elsewhere) -> None:
        """Give new blocks the owners of the lines that the file, or another one, has lost."""
        left = [number for number in sorted(self.new) if self.owners[number] is None]
        blocks = [
            PlacedLines(_HERE, block.start, self._text.lines[block.start : block.stop])
            for block in consecutive(left)
            if len(block) >= MIN_MOVED
        ]
        if self._head is None or not any(is_long(line) for block in blocks for line in block.lines):
            return
        kept = set(self._from_head)
        gone = [number for number in range(len(self._head_lines)) if number not in kept]
        removed = [
            PlacedLines(self._head.path, block.start, self._head_lines[block.start : block.stop])
            for block in consecutive(gone)
        ]
        for (_, number), (path, there) in moved_lines([*removed, *elsewhere()], blocks).items():
            before = self._head.lines.owners(self._head.commit, path)
            self.owners[number] = before[there] if there < len(before) else None

    def see_through_formatters(self) -> None:
        """Give new lines the owner of the lines of HEAD that a formatter made them from."""
        kept = set(self._from_head)
        if all(owner is None or number in kept for number, owner in enumerate(self._committed)):
            return
        places = reformatted(self._head_lines, self._text.lines, self._from_head)
        for number in self.new - self._doubtful:
            if self.owners[number] is None and places[number] >= 0:
                self.owners[number] = self._committed[places[number]]

    def claim(self, records: Iterable[HunkRecord]) -> None:
        """Give lines without owner to records that have no hashes, where git does not contradict.

        Sure only where nothing of them is committed and their anchors fit, once.
        """
        known = {owner.record for owner in self.owners if owner is not None}
        others = sorted(
            (record for record in records if record.id not in known),
            key=lambda record: record.moment,
            reverse=True,
        )
        located = locate([record.range for record in others], self._text)
        for record, place in zip(others, located, strict=True):
            if place.start is None or place.end is None or not place.may_own:
                continue
            numbers = range(place.start - 1, place.end)
            is_sure = place.sure and self.new.issuperset(numbers)
            for number in numbers:
                if self.owners[number] is None and self._may_be(record, number):
                    known_hash = self._hashed.hashes[number] if is_sure else ""
                    self.owners[number] = record.owner(known_hash, is_sure=is_sure)

    def _may_be(self, record: HunkRecord, number: int) -> bool:
        """Whether git does not say that a line is older than an edit."""
        if number in self.new:
            return True
        origin = self.origins[number]
        return origin is not None and origin.moment + _LATE_RECORD >= record.moment


_HERE: Final = ""
"""The path of the text in comparisons."""
