"""The state of one open document: its placements in the current text, and the last snapshot.

Only the event loop may touch it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.known_text import locate_from
from vibes_lsp.anchors.location import AnchoredRange, Method
from vibes_lsp.anchors.text import Text
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, TrailSnapshot, snapshot_of_document
from vibes_lsp.placing.claims import RecordClaim, claims_of
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, place_again


class DocumentState:
    """The placements and the last snapshot of one open document.

    The annotations are placed by the trail after each change of it and each save. While the user
    types, the same annotations are placed in the new text, which reads no file.

    Attributes:
        path: The path of the document in its project.
        document: The document.
        last: The last snapshot.

    Args:
        path: The path of the document in its project.
        document: The document. One that is opened again is another, with a state of its own.
    """

    def __init__(self, path: str, document: Document) -> None:
        self.path = path
        self.document = document
        self.last: DocumentSnapshot | None = None
        self._known = KnownFile()
        self._claims: Sequence[RecordClaim] = ()
        self._saved_revision = self._revision = -1

    @property
    def is_provisional(self) -> bool:
        """Whether the last snapshot is provisional."""
        return self.last is None or self.last.is_provisional

    def is_of(self, path: str, document: Document) -> bool:
        """Whether it is that of a document and its path, which changes as a link becomes a file."""
        return (path, document) == (self.path, self.document)

    def snapshot(self, trail: TrailSnapshot, *, is_provisional: bool) -> DocumentSnapshot:
        """Return the document; the last snapshot if nothing has changed."""
        document, last = self.document, self.last
        if not self._is_placed_by(trail) or last is None:
            placements = self._place(trail)
        elif self._revision != document.revision:
            placements = place_again(document.text, last.placements, self._known, self._claims)
            placements = _moved(placements, document.saved, document.text)
        elif last.is_provisional != is_provisional:
            placements = list(last.placements)
        else:
            return last
        self._revision = document.revision
        self.last = snapshot_of_document(
            trail, self.path, document, tuple(placements), is_provisional=is_provisional
        )
        return self.last

    def _is_placed_by(self, trail: TrailSnapshot) -> bool:
        """Whether only changes of the text lie between the last snapshot and a trail."""
        generation = None if self.last is None else self.last.trail.generation
        place = generation, self._saved_revision
        return place == (trail.generation, self.document.saved_revision)

    def _place(self, trail: TrailSnapshot) -> list[Placement]:
        text, saved = self.document.text, self.document.saved
        self._known = trail.looked_up(self.path).known
        self._saved_revision = self.document.saved_revision
        placements = trail.place(self.path, text, self._known)
        lineages = (placement.lineage for placement in placements)
        self._claims = claims_of(trail.trail, lineages)
        return _moved(placements, saved, text)


def _moved(placements: list[Placement], saved: Text, text: Text) -> list[Placement]:
    """Return placements, those with only recorded lines where edits since the save moved them."""
    recorded = [
        (number, AnchoredRange(located.start, located.end, Anchors()))
        for number, placement in enumerate(placements)
        if (located := placement.located).method == Method.RECORDED
        and located.start is not None
        and located.end is not None
    ]
    if not recorded or text is saved:
        return placements
    moved = list(placements)
    places = locate_from(saved, [lines for _, lines in recorded], text)
    for (number, _), place in zip(recorded, places, strict=True):
        if place.start is not None and place.end is not None:
            placement = placements[number]
            located = replace(placement.located, start=place.start, end=place.end, kinds=())
            owned = ((place.start, place.end),) if placement.owned_ranges else ()
            moved[number] = replace(placement, located=located, owned_ranges=owned)
    return moved
