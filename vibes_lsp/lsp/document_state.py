"""The state of one open document: placements, the last snapshot, and the key that validates both.

Only the event loop may touch it. A thread gets a `LocateRequest`, which nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.live_edits import Edits
from vibes_lsp.anchors.location import Method
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.locate_annotations import LocationsByLineage
from vibes_lsp.index.placement_dependencies import PlacementDependencies
from vibes_lsp.lsp.documents import Document
from vibes_lsp.lsp.followed_lines import follow
from vibes_lsp.lsp.snapshots import DocumentSnapshot, TrailSnapshot, snapshot_of_document
from vibes_lsp.placing.claims import RecordClaim, claims_of
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, place_again


class DocumentKey(NamedTuple):
    """Everything that the snapshot of an open document depends on: equal keys, equal snapshots.

    Attributes:
        generation: The last generation of the trail that concerns the document.
        saved_revision: The revision of the text that was last opened or saved.
        revision: The revision of the text.
        location: Counts how often the annotations were located.
        is_provisional: Whether git history has still to be looked up.
    """

    generation: int
    saved_revision: int
    revision: int
    location: int
    is_provisional: bool

    def has_same_base(self, other: DocumentKey) -> bool:
        """Whether only typing lies between two keys, which the placements follow."""
        return (self.generation, self.saved_revision) == (other.generation, other.saved_revision)


class DocumentState:
    """The placements and the last snapshot of one open document.

    Attributes:
        path: The path of the document in its project.

    Args:
        path: The path of the document in its project.
        document: The document. One that is opened again is another, with a state of its own.
        trail: The trail.
    """

    def __init__(self, path: str, document: Document, trail: TrailSnapshot) -> None:
        self.path = path
        self._document = document
        self._key: DocumentKey
        self._snapshot: DocumentSnapshot | None
        self._checked: int  # the generation up to which the key is known to be valid
        self._dependencies: PlacementDependencies
        self._place(trail, None)

    def is_of(self, document: Document) -> bool:
        """Whether this is the state of a document."""
        return self._document is document

    @property
    def is_provisional(self) -> bool:
        """Whether the last snapshot is provisional."""
        return self._key.is_provisional

    def update(self, trail: TrailSnapshot) -> None:
        """Place the annotations again, if the placements cannot follow the document any more."""
        if self.tracker(trail) is None:
            self._place(trail, self._tracker)

    def snapshot(self, trail: TrailSnapshot, *, is_provisional: bool) -> DocumentSnapshot:
        """Return the updated document; the last snapshot while the key is unchanged.

        Args:
            trail: As given to `update`.
            is_provisional: Asked after `update`, which may find commits that git has to compare.
        """
        placements = self._tracker.placements()  # which may locate
        key = self._current_key(trail, is_provisional=is_provisional)
        if self._snapshot is None or key != self._key:
            self._key = key
            self._snapshot = snapshot_of_document(
                trail,
                self.path,
                self._document,
                placements,
                is_provisional=is_provisional,
            )
        return self._snapshot

    def tracker(self, trail: TrailSnapshot) -> PlacementTracker | None:
        """Return the placements that follow the document; None when they have to be placed again.

        That is so after a save, after a change of the trail that concerns the document, and when
        edits could not be followed.
        """
        key = self._current_key(trail, is_provisional=self._key.is_provisional)
        is_valid = self._tracker.has_all_edits and key.has_same_base(self._key)
        return self._tracker if is_valid else None

    def is_outdated(self, trail: TrailSnapshot, published: int) -> bool:
        """Whether answers that the client got at a generation, `published`, may be wrong now."""
        return self._key.generation > published or self._generation(trail) != self._key.generation

    def known(self) -> LocationsByLineage:
        """Return where annotations are in the current text, without those recorded since."""
        return self._tracker.known()

    def _current_key(self, trail: TrailSnapshot, *, is_provisional: bool) -> DocumentKey:
        return DocumentKey(
            self._generation(trail),
            self._document.saved_revision,
            self._document.revision,
            self._tracker.location,
            is_provisional,
        )

    def _generation(self, trail: TrailSnapshot) -> int:
        """Return the last generation that concerns the document.

        That is the one in its key until something that the placements depend on changes.
        """
        if trail.generation != self._checked:
            if (
                trail.shared_generation > self._key.generation
                or trail.known_file(self.path) is not self._known
                or not self._dependencies.are_unchanged()
            ):
                return trail.generation
            self._checked = trail.generation
        return self._key.generation

    def _place(self, trail: TrailSnapshot, before: PlacementTracker | None) -> None:
        known = self._known = trail.known_file(self.path)
        placements = trail.place(self.path, self._document.text, known, is_open=True)
        if before is not None and self._document.has_changes and before.has_all_edits:
            placements = _with_followed(placements, before.placements())
        claims = claims_of(trail.trail, (each.lineage for each in placements))
        self._dependencies = PlacementDependencies(
            trail.trail, trail.names_of(self.path, is_open=True), placements
        )
        location = 0 if before is None else before.location
        self._tracker = PlacementTracker(self._document, placements, known, claims, location)
        self._checked = trail.generation
        self._snapshot = None
        self._key = DocumentKey(
            trail.generation,
            self._document.saved_revision,
            self._document.revision,
            self._tracker.location,
            is_provisional=True,
        )


@dataclass(frozen=True, slots=True)
class LocateRequest:
    """A request to locate the annotations of a document in a thread. Nothing in it changes.

    Attributes:
        revision: The revision of the document.
        text: The text at that revision.
        placements: The placements to locate.
        known: What is known of the file.
        claims: Those of the annotations that have no line hashes.
    """

    revision: int
    text: Text
    placements: Sequence[Placement]
    known: KnownFile
    claims: Sequence[RecordClaim]

    def locate(self) -> list[Placement]:
        """Return the placements, located in the text."""
        return place_again(self.text, self.placements, self.known, self.claims)


class PlacementTracker:
    """Follows the edits of a document, so that placements stay right while the user types.

    Edits elsewhere move them, and an edit of their lines takes these away, until the file is
    compared again: in the next pause, and at once where many lines changed or some came back.

    Args:
        document: The document.
        placements: The placements in its current text.
        known: What is known of the file.
        claims: Those of the annotations that have no line hashes.
        location: How often its annotations were located before.
    """

    def __init__(
        self,
        document: Document,
        placements: Sequence[Placement],
        known: KnownFile,
        claims: Sequence[RecordClaim] = (),
        location: int = 0,
    ) -> None:
        self._document, self._known, self._claims = document, known, claims
        self._location = location
        self._revision: int
        self._base: tuple[Placement, ...]
        self._edits: Edits
        self._reset(placements)

    @property
    def location(self) -> int:
        """Counts how often the annotations were located."""
        return self._location

    @property
    def has_all_edits(self) -> bool:
        """Whether every edit was collected; otherwise the document has to be placed again."""
        return self._document.edits is self._edits

    def placements(self) -> tuple[Placement, ...]:
        """Return the placements in the current text."""
        if self._revision != self._document.revision:
            moved = [follow(each, self._edits, self._document) for each in self._base]
            followed = [each for each in moved if each is not None]
            if len(followed) < len(moved) or self._must_compare(followed):
                self._reset(_with_followed(self._request().locate(), followed))
                self._is_told = False
            else:
                self._placements = tuple(followed)
            self._revision = self._document.revision
        return self._placements

    def known(self) -> LocationsByLineage:
        """Return where annotations are in the current text; nothing if edits are missing."""
        if not self.has_all_edits:
            return {}
        return {each.lineage.ids: each.located for each in self.placements()}

    def locate_request(self) -> LocateRequest | None:
        """Return a request for a thread; None if nothing has changed since the last location."""
        is_needed = bool(self._edits) or not self._is_told
        return self._request() if self.has_all_edits and is_needed else None

    def accept(self, request: LocateRequest, found: Sequence[Placement]) -> bool:
        """Use the result of a request, unless the document has changed since.

        Returns:
            Whether it changes answers.
        """
        if self._document.revision != request.revision or not self.has_all_edits:
            return False
        before, was_told = self._placements, self._is_told
        self._reset(_with_followed(found, self.placements()))
        self._is_told = True
        return not was_told or self._placements != before

    def _reset(self, placements: Sequence[Placement]) -> None:
        """Follow placements that were located in the current text."""
        self._base = self._placements = tuple(placements)
        self._revision = self._document.revision
        self._edits = self._document.collect_edits()
        self._location += 1
        self._is_told = True  # whether the client knows it

    def _request(self) -> LocateRequest:
        return LocateRequest(
            self._document.revision,
            self._document.text,
            self._base,
            self._known,
            self._claims,
        )

    def _must_compare(self, followed: Sequence[Placement]) -> bool:
        """Whether so much was inserted that it may be text of an annotation."""
        is_announced = self._document.take_expected_text()
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
