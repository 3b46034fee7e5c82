"""Whose each line of a text is: HEAD's lines by git, the others by replay of what waits.

Every surface uses this one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from vibes_lsp.anchors.align import beside_copies, came_from
from vibes_lsp.anchors.line_hashes import is_long, line_hash
from vibes_lsp.anchors.location import DatedCommit, LineKind, LocatedRange, Method, State
from vibes_lsp.anchors.reformatting import reformatted
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.line_origins import LineOrigin
from vibes_lsp.placing.claims import RecordClaim, locate_ranges
from vibes_lsp.placing.committed_lines import FileInHead, line_kind
from vibes_lsp.placing.edits import LineOwner
from vibes_lsp.placing.hash_placement import HashedText, consecutive
from vibes_lsp.placing.lost_lines import LostBlocks
from vibes_lsp.placing.moved_blocks import MIN_MOVED, PlacedLines, moved_lines
from vibes_lsp.placing.standing import CandidateEdits, standing_lines

_SECOND: Final = timedelta(seconds=1)
"""What git cuts off the time of a commit."""


@dataclass(frozen=True, slots=True)
class TextOwners:
    """Whose each line of a text is.

    Attributes:
        kinds: What is known of each line.
        owners: What says so; None if nothing does.
        origins: The line of the commit that brought it; None for lines that are not committed, or
            older than all records.
        claims: Where annotations without hashes are by their anchors, by their current records. Of
            lines that git has since before the edit they are contradicted (R15).
    """

    kinds: Sequence[LineKind] = ()
    owners: Sequence[LineOwner | None] = ()
    origins: Sequence[LineOrigin | None] = ()
    claims: Mapping[str, LocatedRange] = field(default_factory=dict)


def owned_text(
    text: Text,
    head: FileInHead | None,
    waiting: CandidateEdits,
    claims: Sequence[RecordClaim] = (),
    elsewhere: LostBlocks | None = None,
) -> TextOwners:
    """Return whose each line of a text is.

    Args:
        text: The text on screen, or on disk.
        head: The file in HEAD; None without git, before the first commit, and until git answered.
        waiting: The edits that lines may be of which no commit has.
        claims: The annotations of the file without line hashes, in the order of rank.
        elsewhere: What other files have lost.
    """
    screen = _Screen(text, head)
    screen.replay(waiting)
    screen.follow_moves(elsewhere or LostBlocks())
    screen.see_through_formatters()
    screen.claim(claims)
    return TextOwners(screen.kinds(), screen.owners, screen.origins, screen.claims)


class _Screen:
    """A text, and what is known so far of its lines.

    Attributes:
        owners: What says whose each line is.
        origins: Where each line comes from.
        new: The lines that HEAD does not have.
    """

    def __init__(self, text: Text, head: FileInHead | None) -> None:
        self._text, self._head = text, head or FileInHead("")
        self._hashed = HashedText(text.lines)
        self.claims: dict[str, LocatedRange] = {}
        self._from_head = came_from(self._head.lines, text.lines)
        self._doubtful = beside_copies(text.lines, self._from_head, len(self._head.lines))
        for number in self._doubtful:
            self._from_head[number] = -1
        owners, origins = [*self._head.owners, None], [*self._head.origins, None]  # for -1
        self.owners = [owners[place] for place in self._from_head]
        self.origins = [origins[place] for place in self._from_head]
        self.new = {number for number, place in enumerate(self._from_head) if place < 0}

    def kinds(self) -> list[LineKind]:
        """Return what is known of each line."""
        owners, kinds = [*self._head.owners, None], [*self._head.kinds, LineKind.UNRECORDED]
        line_kinds = [kinds[place] for place in self._from_head]
        for number, (owner, place) in enumerate(zip(self.owners, self._from_head, strict=True)):
            if owner is not owners[place]:
                line_kinds[number] = line_kind(owner, self._text.lines[number])
        return line_kinds

    def replay(self, waiting: CandidateEdits) -> None:
        """Give new lines to the edits that wait, and committed ones to those that are late."""
        if not waiting:
            return
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
                is_sure = line.is_sure and self._may_be_sure(edit.content)
                self.owners[number] = LineOwner(edit.id, edit.id, edit.hashes[line.number], is_sure)

    def follow_moves(self, elsewhere: LostBlocks) -> None:
        """Give new blocks the owners of the lines that the file, or another one, has lost."""
        if not (self._head.lines or elsewhere.blocks):
            return
        left = [number for number in sorted(self.new) if self.owners[number] is None]
        blocks = [
            PlacedLines(_HERE, block.start, self._text.lines[block.start : block.stop])
            for block in consecutive(left)
            if len(block) >= MIN_MOVED
        ]
        if not any(is_long(line) for block in blocks for line in block.lines):
            return
        kept, before = set(self._from_head), self._head
        gone = [number for number in range(len(before.lines)) if number not in kept]
        removed = [
            PlacedLines(before.path, block.start, before.lines[block.start : block.stop])
            for block in consecutive(gone)
        ]
        files = {**elsewhere.files, before.path: before}
        moves = moved_lines([*removed, *elsewhere.blocks], blocks, lambda path: files[path].lines)
        for (_, number), (path, there) in moves.items():
            self.owners[number] = files[path].owners[there]

    def see_through_formatters(self) -> None:
        """Give new lines the owner of the lines of HEAD that a formatter made them from."""
        kept = set(self._from_head)
        if all(owner is None or number in kept for number, owner in enumerate(self._head.owners)):
            return
        places = reformatted(self._head.lines, self._text.lines, self._from_head)
        for number in self.new - self._doubtful:
            if self.owners[number] is None and places[number] >= 0:
                self.owners[number] = self._head.owners[places[number]]

    def claim(self, claims: Sequence[RecordClaim]) -> None:
        """Give lines to annotations without hashes, where git does not contradict.

        Sure only where their anchors fit, once, and no later commit brought the lines; then an
        owner that is not sure gives way.
        """
        known = {owner.record for owner in self.owners if owner is not None}
        candidates = [
            claim
            for claim in claims
            if known.isdisjoint(claim.ids)
            and (not claim.only_by_file or claim.range.anchors.file_hash in self._text.file_hashes)
        ]
        located = locate_ranges([claim.range for claim in candidates], self._text)
        ranked: list[tuple[RecordClaim, Mapping[int, LineKind]]] = []
        for claim, place in zip(candidates, located, strict=True):
            self.claims[claim.record], kinds = self._judge(claim, place)
            ranked.append((claim, kinds))
        for claim, kinds in reversed(ranked):
            for number, kind in kinds.items():
                owner, is_sure = self.owners[number], kind != LineKind.CLAIMED
                if owner is None or (is_sure and not owner.is_sure):  # evidence before rank (R7)
                    known_hash = line_hash(self._text.lines[number]) if is_sure else ""
                    self.owners[number] = claim.owner(known_hash, is_sure=is_sure)

    def _judge(
        self, claim: RecordClaim, place: LocatedRange
    ) -> tuple[LocatedRange, Mapping[int, LineKind]]:
        """Return where a claim is after git was asked, and what is known of the lines it gets."""
        if not (claim.may_own and place.may_own):  # the lines of a review are older than it
            return place, {}
        written = range((place.start or 1) - 1, place.end or 0)
        numbers = [number for number in written if self._may_be(claim, number)]
        if not numbers:
            return (self._contradiction(place, written) if written else place), {}
        if (
            place.sure
            and self._head.is_asked
            and claim.may_be_sure
            and self._may_be_sure(claim.range.anchors.file_hash)
            and all(self._is_of_edit(claim, number) for number in numbers)
        ):
            return place, dict.fromkeys(numbers, LineKind.AI)
        if place.sure:
            place = replace(place, state=State.UNVERIFIED, confidence=0.5)
        return place, dict.fromkeys(numbers, LineKind.CLAIMED)

    def _may_be_sure(self, content: str | None) -> bool:
        """Whether no commit that is not asked can have taken away what was recorded with a text."""
        if self._head.is_unread:
            return False
        return not self._head.is_nested or content in self._text.file_hashes

    def _contradiction(self, place: LocatedRange, numbers: Iterable[int]) -> LocatedRange:
        """Return a place whose lines git has since before the edit, with the latest commit."""
        known = [origin for number in numbers if (origin := self.origins[number]) is not None]
        latest = max(known, key=lambda origin: origin.moment, default=None)
        commit = None if latest is None else DatedCommit(latest.commit, latest.moment)
        method = Method.ANCHOR_BEFORE_EDIT if place.sure else Method.OLDER_THAN_EDIT
        return LocatedRange(
            place.start, place.end, State.UNVERIFIED, method, 0.0, older_commit=commit
        )

    def _may_be(self, claim: RecordClaim, number: int) -> bool:
        """Whether git does not say that a line is older than an edit."""
        if number in self.new or not self._head.is_asked:
            return True
        origin, since = self.origins[number], self._head.since
        if origin is None:  # an edit from before all that were known when git was asked
            return since is not None and claim.begin < since
        return origin.moment >= claim.begin or claim.is_of(origin.commit)

    def _is_of_edit(self, claim: RecordClaim, number: int) -> bool:
        """Whether a line was there when an edit was recorded, and not before the edit."""
        origin = self.origins[number]
        return number in self.new or (
            origin is not None
            and (
                claim.is_of(origin.commit) or claim.begin <= origin.moment < claim.moment + _SECOND
            )
        )


_HERE: Final = ""
"""The path of the text in comparisons."""
