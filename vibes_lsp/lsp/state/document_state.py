"""The state of one open document: its placements, which follow the edits, and the last snapshot.

Only the event loop may touch it. A thread gets a `LocateRequest`, which nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.line_hashes import line_hash
from vibes_lsp.anchors.live_edits import Edits, ShiftedRange
from vibes_lsp.anchors.location import LineKind, LocatedRange, Method, State
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, TrailSnapshot, snapshot_of_document
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.claims import RecordClaim, claims_of
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, place_again
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import recorded_lines


class LocateRequest(NamedTuple):
    """A request to compare a document in a thread. Nothing in it changes.

    Attributes:
        revision: The revision of the document.
        edits: What collects the edits since it was last compared.
        locate: Returns the placements in the text at that revision.
    """

    revision: int
    edits: Edits
    locate: Callable[[], list[Placement]]


class DocumentState:
    """The placements and the last snapshot of one open document.

    The placements follow the edits. Edits elsewhere move them, and an edit of their lines takes
    these away, until the text is compared again: in the next pause, and at once where many lines
    changed or some came back. They are placed again after a save and each change of the trail.

    Attributes:
        path: The path of the document in its project.
        document: The document.

    Args:
        path: The path of the document in its project.
        document: The document. One that is opened again is another, with a state of its own.
        trail: The trail.
    """

    def __init__(self, path: str, document: Document, trail: TrailSnapshot) -> None:
        self.path = path
        self.document = document
        self._saved_revision: int
        self._known: KnownFile
        self._trail: TrailSnapshot
        self._claims: Sequence[RecordClaim] | None
        self._base: tuple[Placement, ...]  # in the text that was last compared
        self._edits: Edits  # since
        self._placements: tuple[Placement, ...]
        self._revision: int  # of the text that they are in
        self._is_told: bool  # whether the client knows what the last comparison found
        self._snapshot: DocumentSnapshot | None = None
        self._place(trail, ())

    @property
    def is_provisional(self) -> bool:
        """Whether the last snapshot is provisional."""
        return self._snapshot is None or self._snapshot.is_provisional

    def is_current(self, trail: TrailSnapshot) -> bool:
        """Whether only edits lie between the placements and a trail, which they follow."""
        return (self._trail.generation, self._saved_revision) == (
            trail.generation,
            self.document.saved_revision,
        )

    def snapshot(self, trail: TrailSnapshot, *, is_provisional: bool) -> DocumentSnapshot:
        """Return the document; the last snapshot if nothing has changed.

        After a save, and after a change of the trail, the annotations are placed again.
        """
        if not self.is_current(trail):
            self._place(trail, self.placements() if self.document.has_changes else ())
        placements, last = self.placements(), self._snapshot
        if (
            last is None
            or last.placements is not placements
            or last.text is not self.document.text
            or last.is_provisional != is_provisional
        ):
            self._snapshot = snapshot_of_document(
                trail, self.path, self.document, placements, is_provisional=is_provisional
            )
            return self._snapshot
        return last

    def placements(self) -> tuple[Placement, ...]:
        """Return the placements in the current text."""
        if self._revision != self.document.revision:
            moved = [follow(placement, self._edits, self.document) for placement in self._base]
            followed = [placement for placement in moved if placement is not None]
            if len(followed) < len(moved) or self._must_compare(followed):
                self._reset(_with_followed(self._request().locate(), followed))
                self._is_told = False
            else:
                self._placements = tuple(followed)
                self._revision = self.document.revision
        return self._placements

    def locate_request(self) -> LocateRequest | None:
        """Return a request for a thread; None if nothing has changed since the last location."""
        return self._request() if self._edits or not self._is_told else None

    def accept(self, request: LocateRequest, placements: Sequence[Placement]) -> bool:
        """Use the result of a request, unless the document or the trail has changed since.

        Returns:
            Whether it changes answers.
        """
        if self.document.revision != request.revision or self._edits is not request.edits:
            return False
        before, was_told = self._placements, self._is_told
        self._reset(_with_followed(placements, self.placements()))
        return not was_told or self._placements != before

    def _place(self, trail: TrailSnapshot, followed: Sequence[Placement]) -> None:
        """Place the annotations, those with only recorded lines where the edits took them."""
        self._trail, self._saved_revision = trail, self.document.saved_revision
        self._known = trail.looked_up(self.path).known
        placements = trail.place(self.path, self.document.text, self._known, is_open=True)
        self._claims = None
        self._snapshot = None
        self._reset(_with_followed(placements, followed))

    def _reset(self, placements: Sequence[Placement]) -> None:
        """Follow placements that were located in the current text."""
        self._base = self._placements = tuple(placements)
        self._revision, self._edits = self.document.revision, self.document.collect_edits()
        self._is_told = True

    def _request(self) -> LocateRequest:
        if self._claims is None:
            self._claims = claims_of(
                self._trail.trail, (placement.lineage for placement in self._base)
            )
        work = partial(place_again, self.document.text, self._base, self._known, self._claims)
        return LocateRequest(self.document.revision, self._edits, work)

    def _must_compare(self, followed: Sequence[Placement]) -> bool:
        """Whether so much was inserted that it may be text of an annotation."""
        is_announced = self.document.take_expected_text()
        is_large = self._edits.largest >= CONTEXT_LINES
        return (is_announced or is_large) and any(
            placement.located.start is None or placement.located.kinds != base.located.kinds
            for placement, base in zip(followed, self._base, strict=True)
        )


def _with_followed(
    placements: Sequence[Placement], followed: Iterable[Placement]
) -> list[Placement]:
    """Return placements, those with only recorded lines where the edits took them."""
    known = {
        placement.lineage.ids: placement
        for placement in followed
        if placement.located.method == Method.RECORDED and placement.located.start is not None
    }
    return [
        known.get(placement.lineage.ids, placement)
        if placement.located.method == Method.RECORDED
        else placement
        for placement in placements
    ]


def follow(placement: Placement, edits: Edits, document: Document) -> Placement | None:
    """Return where a placement is after edits; None if the whole text must be compared.

    That is so if its lines may be as recorded again, as when an edit was undone, and if few are
    left.

    Args:
        placement: Where it was.
        edits: The edits since.
        document: The document now.
    """
    located, length = placement.located, document.length
    if located.start is None or located.end is None:
        return placement
    if not placement.owned_ranges or located.method == Method.RECORDED:
        is_deletion = placement.lineage.action == Action.DELETE
        now = (_removed_lines if is_deletion else follow_range)(located, edits, length)
        owned = placement.owned_ranges and now.start is not None and now.end is not None
        ranges = ((now.start or 0, now.end or 0),) if owned else ()
        return replace(placement, located=now, owned_ranges=ranges)
    span = edits.follow(located.start, located.end).within(length)
    if span.touched:
        return _touched(placement, edits, span, document)
    shift = span.start - located.start
    if not shift:
        return placement
    moved = tuple((start + shift, end + shift) for start, end in placement.owned_ranges)
    state = located.state
    if located.sure:
        is_exact = _is_as_recorded(placement.lineage, span, moved)
        state = State.EXACT if is_exact else State.MOVED
    method, confidence = located.method, located.confidence
    if method == Method.FILE_HASH:  # the file has changed
        method, confidence = Method.ANCHOR_HASH, min(confidence, 0.99)
    now = replace(
        located, start=span.start, end=span.end, state=state, method=method, confidence=confidence
    )
    return replace(placement, located=now, owned_ranges=moved)


def _is_as_recorded(
    lineage: Lineage, span: ShiftedRange, ranges: Sequence[tuple[int, int]]
) -> bool:
    """Whether an annotation is at its recorded lines."""
    hashes, spans = lineage.written
    if not hashes:
        return recorded_lines(lineage.current) == (span.start, span.end)
    return spans == tuple(ranges)


def _touched(
    placement: Placement, edits: Edits, span: ShiftedRange, document: Document
) -> Placement | None:
    """Return a placement with the lines that are left of it; as `follow`."""
    located, lineage = placement.located, placement.lineage
    origins = edits.origins(located.start or 0, located.end or 0)
    origins = origins[: max(0, span.end - span.start + 1)]
    lines = document.lines(span.start, span.end)
    kinds = [
        located.kinds[origin - (located.start or 0)] if origin else LineKind.UNRECORDED
        for origin in origins
    ]
    left = [number for number, kind in enumerate(kinds) if kind != LineKind.UNRECORDED]
    if _must_compare(lineage, lines, origins, len(left)) or _is_whole(lineage, span, document):
        return None
    if not left:
        lost = replace(located, start=None, end=None, state=State.LOST, intact=0, kinds=())
        return replace(placement, located=lost, owned_ranges=())
    if not lineage.has_hashes:
        others = {number for number, origin in enumerate(origins) if origin} - set(left)
        return _claimed(placement, span, others)
    has_lost = len(left) < len(located.kinds) - located.kinds.count(LineKind.UNRECORDED)
    kinds = kinds[left[0] : left[-1] + 1]
    now = replace(
        located,
        start=span.start + left[0],
        end=span.start + left[-1],
        state=State.EDITED if located.sure and has_lost else located.state,
        intact=kinds.count(LineKind.AI),
        kinds=tuple(kinds),
    )
    ranges = _ranges(kinds, span.start + left[0])
    if now.sure:
        is_exact = _is_as_recorded(lineage, span, ranges)
        now = replace(now, state=State.EXACT if is_exact else State.MOVED)
    return replace(placement, located=now, owned_ranges=ranges)


def _must_compare(
    lineage: Lineage, lines: Sequence[str], origins: Sequence[int], left: int
) -> bool:
    """Whether lines of its own may be back, or too few are left to recognise an edit by."""
    hashes, _ = lineage.written
    if hashes:
        new = (line_hash(line) for line, origin in zip(lines, origins, strict=True) if not origin)
        is_part = 0 < 2 * left < len(hashes)
        return is_part or (left < len(hashes) and not frozenset(hashes).isdisjoint(new))
    return False


def _is_whole(lineage: Lineage, span: ShiftedRange, document: Document) -> bool:
    """Whether the recorded lines of an annotation without hashes stand where it begins."""
    recorded = None if lineage.has_hashes else lineage.recorded_range
    if recorded is None:
        return False
    return recorded.matches_at(document.lines(span.start, span.start + recorded.length - 1), 1)


def _claimed(placement: Placement, span: ShiftedRange, others: AbstractSet[int]) -> Placement:
    """Return an annotation without line hashes, which claims its range except lines of others."""
    located = placement.located
    claimed = [
        LineKind.UNRECORDED if number in others else LineKind.CLAIMED
        for number in range(span.end - span.start + 1)
    ]
    now = replace(
        located,
        start=span.start,
        end=span.end,
        state=State.EDITED if located.sure else located.state,
        method=Method.CONTEXT,
        confidence=min(located.confidence, 0.9),
        intact=None,
        kinds=tuple(claimed),
    )
    return replace(placement, located=now, owned_ranges=_ranges(claimed, span.start))


def _ranges(kinds: list[LineKind], first: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges of lines that have an owner."""
    ranges: list[tuple[int, int]] = []
    for is_owned, run in groupby(kinds, lambda kind: kind != LineKind.UNRECORDED):
        following = first + len(list(run))
        if is_owned:
            ranges.append((first, following - 1))
        first = following
    return tuple(ranges)


def follow_range(located: LocatedRange, edits: Edits, length: int) -> LocatedRange:
    """Return where a range is after edits; edited lines are not compared with what they were.

    Args:
        located: Where it was.
        edits: The edits since.
        length: How many lines the text has now.
    """
    if located.start is None or located.end is None:
        return located
    span = edits.follow(located.start, located.end).within(length)
    if not span.touched and span.start == located.start:
        return located
    if span.is_empty:
        return LocatedRange(None, None, State.LOST, located.method, 0.0)
    state = located.state
    if located.sure:
        state = State.EDITED if span.touched else State.MOVED
    return replace(located, start=span.start, end=span.end, state=state, intact=None, kinds=())


def _removed_lines(located: LocatedRange, edits: Edits, length: int) -> LocatedRange:
    """Return where removed lines were: between two lines, shown at one of them."""
    span = edits.follow(located.start or 1, located.end or 1)
    line = max(1, min(span.start, length))
    return replace(located, start=line, end=line)
