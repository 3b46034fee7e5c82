"""The state of one open document: its placements, the last snapshot, and the key that says whether both are still valid.

Only the event loop may touch it. A thread gets a `LocateRequest`, which nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.live_edits import apply_edits
from vibes_lsp.anchors.location import (
    AnchoredRange,
    LineKind,
    LocatedRange,
    Method,
    OriginalText,
    State,
)
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.file_history import NO_HISTORY, FileHistory
from vibes_lsp.index.locate_annotations import LocationsByLineage, relocate, with_locations
from vibes_lsp.index.placements import Placement, PlacementDependencies
from vibes_lsp.lsp.documents import Document
from vibes_lsp.lsp.snapshots import DocumentSnapshot, TrailSnapshot, snapshot_of_document
from vibes_lsp.model.vocabulary import Action


@dataclass(frozen=True, slots=True)
class DocumentKey:
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
                trail, self.path, self._document, placements, is_provisional=is_provisional
            )
        return self._snapshot

    def tracker(self, trail: TrailSnapshot) -> PlacementTracker | None:
        """Return the placements that follow the document; None when they have to be placed again.

        That is so after a save, after a change of the trail that concerns the document, and when
        edits could not be followed.
        """
        key = self._current_key(trail, is_provisional=self._key.is_provisional)
        is_valid = self._tracker.keeps_up and key.has_same_base(self._key)
        return self._tracker if is_valid else None

    def is_outdated(self, trail: TrailSnapshot, published: int) -> bool:
        """Whether answers that the client got at a generation, `published`, may be wrong now."""
        return self._key.generation > published or self._generation(trail) != self._key.generation

    def known(self) -> LocationsByLineage:
        """Return where annotations are in the text as it is now, whatever was recorded since."""
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
        """Return the last generation that concerns the document: that of its key, while nothing that it depends on has changed."""
        if trail.generation != self._checked:
            if (
                trail.shared_generation > self._key.generation
                or not self._dependencies.are_unchanged()
            ):
                return trail.generation
            self._checked = trail.generation
        return self._key.generation

    def _place(self, trail: TrailSnapshot, before: PlacementTracker | None) -> None:
        history = trail.file_history(self.path, is_open=True)
        if before is not None and self._document.has_changes and self._is_same_save:
            tracker = self._replaced(trail, history, before)
        else:  # as a process that has just begun locator it
            placements = trail.place(self.path, self._document.text, history)
            tracker = PlacementTracker(self._document, placements, history)
        self._tracker = tracker
        self._trail = trail
        self._dependencies = PlacementDependencies(trail.trail, self.path, history)
        self._checked = trail.generation
        self._snapshot = None
        self._key = DocumentKey(
            trail.generation,
            self._document.saved_revision,
            self._document.revision,
            tracker.location,
            is_provisional=True,
        )

    @property
    def _is_same_save(self) -> bool:
        return self._key.saved_revision == self._document.saved_revision

    def _replaced(
        self, trail: TrailSnapshot, history: FileHistory, before: PlacementTracker
    ) -> PlacementTracker:
        """Place an unsaved text after a change of the trail: what was followed stays where it is, unless paths or the git history changed too."""
        history = replace(
            history, original_texts=newest_texts(before.original_texts, history.original_texts)
        )
        is_same = self._trail.history is trail.history and self._trail.renamed is trail.renamed
        known = before.known() if is_same else {}
        is_typing = self._document.is_typing
        placements = trail.place(
            self.path, self._document.text, history, known, is_typing=is_typing
        )
        return PlacementTracker(
            self._document,
            placements if known else before.carry_over(placements),
            history,
            before,
            needs_locating=bool(known) and is_typing,
        )


@dataclass(frozen=True, slots=True)
class LocateRequest:
    """What it takes to locate a document anew, which may be done in a thread: nothing in it changes.

    Attributes:
        revision: Of the document.
        text: The document then.
        placements: What is placed.
        followed: Where each was taken by the edits; None where other lines stand instead of its own.
        history: What is known of the annotations, the texts in which they were last seen whole included.
    """

    revision: int
    text: Text
    placements: Sequence[Placement]
    followed: Sequence[LocatedRange | None]
    history: FileHistory

    def locate(self) -> list[Placement]:
        """Return the placements by everything that the locator knows."""
        found = relocate(self.text, self.placements, self.history)
        return with_locations(
            self.placements, list(map(_settled, found, self.followed)), len(self.text.lines)
        )


class PlacementTracker:
    """Keeps the placements of a document up to date.

    Args:
        document: The document.
        placements: Where its annotations are now.
        history: What is known of them.
        before: What followed it until the trail changed; the texts in which annotations were seen whole are remembered.
        needs_locating: Whether the document is to be located anew, though it does not change any more.
    """

    def __init__(
        self,
        document: Document,
        placements: Sequence[Placement],
        history: FileHistory = NO_HISTORY,
        before: PlacementTracker | None = None,
        *,
        needs_locating: bool = False,
    ) -> None:
        self._document = document
        self._history = history
        self._location = 0
        self._needs_locating = needs_locating
        self._original_texts: dict[str, OriginalText] = (
            dict(before.original_texts) if before is not None else {}
        )
        self.reset(placements)

    @property
    def location(self) -> int:
        """Counts how often the annotations were located."""
        return self._location

    @property
    def original_texts(self) -> Mapping[str, OriginalText]:
        """The texts in which annotations were last seen whole, by the id of their first record."""
        return self._original_texts

    def reset(self, placements: Sequence[Placement]) -> None:
        """Take over placements that were located in the document as it is now."""
        self._base = self._now = tuple(placements)
        self._where = [each.located for each in self._base]
        self._recorded = [each.lineage.recorded_range for each in self._base]
        self._revision = self._document.revision
        self._edits = self._document.collect_edits()
        self._location += 1
        for each in self._base:
            start, end = each.located.start, each.located.end
            if each.located.sure and start is not None and end is not None:
                self._original_texts[each.lineage.first.id] = OriginalText(
                    self._document.text, start, end
                )

    @property
    def keeps_up(self) -> bool:
        """Whether every edit was gathered; else the document has to be placed anew."""
        return self._document.edits is self._edits

    def placements(self) -> tuple[Placement, ...]:
        """Return the placements in the document as it is now, which they have kept up with."""
        if self._revision != self._document.revision:
            where = self._follow()
            settled = [each for each in where if each is not None]
            if len(settled) < len(where) or self._may_be_back(
                settled
            ):  # as after a formatter: what stands there now may be theirs
                self.reset(self._request(where).locate())
                self._needs_locating = True
            elif settled != self._where:
                self._where, self._now = (
                    settled,
                    tuple(with_locations(self._base, settled, self._document.length)),
                )
            self._revision = self._document.revision
        return self._now

    def _may_be_back(self, where: Sequence[LocatedRange]) -> bool:
        """Whether so much was put in at once, as by pasting or by undoing, that what was lost may be in it; or it was announced."""
        is_announced = self._document.take_expected_text()
        return (is_announced or self._edits.largest >= CONTEXT_LINES) and any(
            each.start is None for each in where
        )

    def known(self) -> LocationsByLineage:
        """Return where annotations are in the document as it is now, as far as that was kept up with."""
        return (
            {each.lineage.ids: each.located for each in self.placements()} if self.keeps_up else {}
        )

    def locate_request(self) -> LocateRequest | None:
        """Return what it takes to locate the document anew; None when it is as it was when that was done."""
        return (
            self._request(self._follow())
            if (self._edits or self._needs_locating) and self.keeps_up
            else None
        )

    def accept(self, request: LocateRequest, found: Sequence[Placement]) -> bool:
        """Take over what was located in a snapshot, unless the document has changed since; say whether answers are others now."""
        if self._document.revision != request.revision or not self.keeps_up:
            return False
        answered, was_news = self._now, self._needs_locating
        self.reset(found)
        self._needs_locating = False
        return was_news or self._now != answered

    def _request(self, where: Sequence[LocatedRange | None]) -> LocateRequest:
        return LocateRequest(
            self._document.revision,
            self._document.text,
            self._base,
            where,
            replace(
                self._history,
                original_texts=newest_texts(self._original_texts, self._history.original_texts),
            ),
        )

    def carry_over(self, placements: Sequence[Placement]) -> Sequence[Placement]:
        """Return placements that were placed anew, as after a change of the trail: what has only its recorded lines stays where it is."""
        if not self.keeps_up:
            return placements
        where = {each.current.id: each.located for each in self.placements()}
        located = [_settled(each.located, where.get(each.current.id)) for each in placements]
        return with_locations(placements, located, self._document.length)

    def _follow(self) -> list[LocatedRange | None]:
        """Return where each annotation was taken by the edits; None where other lines stand instead of its own."""
        length = self._document.length
        return [
            self._followed(each, recorded, length)
            for each, recorded in zip(self._base, self._recorded, strict=True)
        ]

    def _followed(
        self, placement: Placement, recorded: AnchoredRange | None, length: int
    ) -> LocatedRange | None:
        base = placement.located
        if base.start is None or base.end is None:
            return base
        start, end = base.start, base.end
        span = self._edits.follow(start, end)
        if placement.lineage.action == Action.DELETE:  # a place between lines, shown at one of them
            line = max(1, min(span.start, length))
            return structs.replace(base, start=line, end=line)
        if span.replaced:
            return None
        span = span.within(length)
        if not span.touched:
            return apply_edits(base, recorded, span, ())
        lines = self._document.lines(span.start, span.end)
        kinds: tuple[LineKind, ...] = ()
        if base.is_proven:
            whose = base.kinds or (LineKind.AI,) * (end - start + 1)
            kinds = self._edits.kinds(start, end, whose)[: len(lines)]
        return apply_edits(base, recorded, span, lines, kinds)


def newest_texts(
    seen: Mapping[str, OriginalText], committed: Mapping[str, OriginalText]
) -> dict[str, OriginalText]:
    """Return the text that each annotation was last known to be whole in: in the editor rather than in a commit, unless anchors prove nothing."""
    disproved = {
        identifier: origin for identifier, origin in committed.items() if origin.before_edit
    }
    return {**committed, **seen, **disproved}


def _settled(found: LocatedRange, followed: LocatedRange | None) -> LocatedRange:
    """What has nothing but its recorded lines stays where the edits took it; so do lines that a person gave, until the text is found."""
    if followed is None:
        return found
    if found.method == Method.OLDER_THAN_EDIT and (found.start, found.end) == (
        followed.start,
        followed.end,
    ):
        return found
    is_given = (
        (followed.method, followed.state) == (Method.FILE_HASH, State.EDITED)
        and followed.start is not None
        and not found.sure
    )
    has_recorded_lines = found.method == Method.RECORDED or (
        found.method == Method.OLDER_THAN_EDIT
        and followed.method in {Method.RECORDED, Method.OLDER_THAN_EDIT}
    )
    return followed if has_recorded_lines or is_given else found
