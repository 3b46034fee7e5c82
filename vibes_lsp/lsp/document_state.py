"""The state of one open document: its placements, which follow the edits, and the last snapshot.

Only the event loop may touch it. A thread gets a `LocateRequest`, which nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.live_edits import Edits
from vibes_lsp.anchors.location import Method
from vibes_lsp.lsp.documents import Document
from vibes_lsp.lsp.followed_lines import follow
from vibes_lsp.lsp.snapshots import DocumentSnapshot, TrailSnapshot, snapshot_of_document
from vibes_lsp.placing.claims import RecordClaim, claims_of
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, place_again


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

    def update(self, trail: TrailSnapshot) -> None:
        """Place the annotations again after a save, and after a change of the trail."""
        if not self.is_current(trail):
            self._place(trail, self.placements() if self.document.has_changes else ())

    def snapshot(self, trail: TrailSnapshot, *, is_provisional: bool) -> DocumentSnapshot:
        """Return the document, updated before; the last snapshot if nothing has changed."""
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
            moved = [follow(each, self._edits, self.document) for each in self._base]
            followed = [each for each in moved if each is not None]
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

    def accept(self, request: LocateRequest, found: Sequence[Placement]) -> bool:
        """Use the result of a request, unless the document or the trail has changed since.

        Returns:
            Whether it changes answers.
        """
        if self.document.revision != request.revision or self._edits is not request.edits:
            return False
        before, was_told = self._placements, self._is_told
        self._reset(_with_followed(found, self.placements()))
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
            self._claims = claims_of(self._trail.trail, (each.lineage for each in self._base))
        work = partial(place_again, self.document.text, self._base, self._known, self._claims)
        return LocateRequest(self.document.revision, self._edits, work)

    def _must_compare(self, followed: Sequence[Placement]) -> bool:
        """Whether so much was inserted that it may be text of an annotation."""
        is_announced = self.document.take_expected_text()
        is_large = self._edits.largest >= CONTEXT_LINES
        return (is_announced or is_large) and any(
            each.located.start is None or each.located.kinds != base.located.kinds
            for each, base in zip(followed, self._base, strict=True)
        )


def _with_followed(found: Sequence[Placement], followed: Iterable[Placement]) -> list[Placement]:
    """Return placements, those with only recorded lines where the edits took them."""
    known = {
        each.lineage.ids: each
        for each in followed
        if each.located.method == Method.RECORDED and each.located.start is not None
    }
    return [
        known.get(each.lineage.ids, each) if each.located.method == Method.RECORDED else each
        for each in found
    ]
