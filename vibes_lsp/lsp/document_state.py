"""The state of one open document: placements, the last snapshot, and the key that validates both.

Only the event loop may touch it. A thread gets a `LocateRequest`, which nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

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
from vibes_lsp.index.placed_file import PlacedFile
from vibes_lsp.index.placement_dependencies import PlacementDependencies
from vibes_lsp.lsp.documents import Document
from vibes_lsp.lsp.snapshots import DocumentSnapshot, TrailSnapshot, snapshot_of_document
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.placements import Placement


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
        self._history = NO_HISTORY
        self._has_pending = False
        self._placed: PlacedFile | None = None
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
            placed = self._placed
            is_followed = placed is not None and placed.placements is placements
            self._snapshot = snapshot_of_document(
                trail,
                self.path,
                self._document,
                placements,
                placed.by_line if placed is not None and is_followed else None,
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
                or not self._dependencies.are_unchanged()
            ):
                return trail.generation
            self._checked = trail.generation
        return self._key.generation

    def _place(self, trail: TrailSnapshot, before: PlacementTracker | None) -> None:
        history = trail.file_history(self.path, is_open=True)
        has_pending = bool(trail.pending.lineages_in(self.path))
        tracker = None
        if before is not None and self._is_same_save and history == self._history:
            tracker = None if has_pending or self._has_pending else self._follow_records(before)
        if tracker is None:
            if before is not None and self._document.has_changes and self._is_same_save:
                tracker = self._place_again(trail, history, before)
            else:  # as a server that has just started does
                placements = trail.place(self.path, self._document.text, history)
                tracker = PlacementTracker(self._document, placements, history)
            self._dependencies = PlacementDependencies(trail.trail, self.path, history)
            self._placed = None
        self._tracker = tracker
        self._trail, self._history, self._has_pending = trail, history, has_pending
        self._checked = trail.generation
        self._snapshot = None
        self._key = DocumentKey(
            trail.generation,
            self._document.saved_revision,
            self._document.revision,
            tracker.location,
            is_provisional=True,
        )

    def _follow_records(self, before: PlacementTracker) -> PlacementTracker | None:
        """Add what was recorded since to the placements of the same text.

        None if the document has to be placed again.
        """
        dependencies, document = self._dependencies, self._document
        if not (before.has_all_edits and dependencies.has_same_log):
            return None
        placements, placed = before.placements(), self._placed
        # An edit that moves no annotation leaves the placements as they are, but not the text.
        is_placed = (
            placed is not None and placed.text is document.text and placed.placements is placements
        )
        if placed is None or not is_placed:
            history = self._history
            if document.has_changes:
                texts = newest_texts(before.original_texts, history.original_texts)
                history = replace(history, original_texts=texts)
            lineages = dependencies.lineages
            placed = PlacedFile(self.path, document.text, history, lineages, placements)
        lineages = dependencies.current_lineages()
        added = placed.update(lineages)
        if added is None:
            return None
        dependencies.renew(lineages, added)
        self._placed = placed
        return before if placed.placements is placements else before.extended(placed.placements)

    @property
    def _is_same_save(self) -> bool:
        return self._key.saved_revision == self._document.saved_revision

    def _place_again(
        self, trail: TrailSnapshot, history: FileHistory, before: PlacementTracker
    ) -> PlacementTracker:
        """Place an unsaved text after a change of the trail.

        Placements stay where the edits took them, unless paths or the git history changed too.
        """
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
    """A request to locate the annotations of a document in a thread. Nothing in it changes.

    Attributes:
        revision: The revision of the document.
        text: The text at that revision.
        placements: The placements to locate.
        edited: Each range after the edits; None where other lines replaced its own.
        history: The history of the file, with the texts in which annotations were last unchanged.
    """

    revision: int
    text: Text
    placements: Sequence[Placement]
    edited: Sequence[LocatedRange | None]
    history: FileHistory

    def locate(self) -> list[Placement]:
        """Return the placements, located in the text."""
        found = relocate(self.text, self.placements, self.history)
        ranges = list(map(_choose_range, found, self.edited))
        return with_locations(self.placements, ranges, len(self.text.lines))


class PlacementTracker:
    """Follows the edits of a document, so that placements stay right while the user types.

    Args:
        document: The document.
        placements: The placements in its current text.
        history: The history of the file.
        before: The tracker until the trail changed; its original texts are taken over.
        needs_locating: Whether to locate in the next pause even if there are no more edits.
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
        self._revision: int
        self._base: tuple[Placement, ...]  # as located
        self._placements: tuple[Placement, ...]  # after the edits
        self._ranges: list[LocatedRange] | None  # after the edits; None while as located
        self._needs_locating = needs_locating
        self._original_texts: dict[str, OriginalText] = (
            dict(before.original_texts) if before is not None else {}
        )
        self._located_in: tuple[Text, Sequence[Placement]] | None = None
        self._reset(placements)

    @property
    def location(self) -> int:
        """Counts how often the annotations were located."""
        return self._location

    @property
    def original_texts(self) -> Mapping[str, OriginalText]:
        """The texts in which annotations were last unchanged, by the id of their first record."""
        self._add_original_texts()
        return self._original_texts

    @property
    def has_all_edits(self) -> bool:
        """Whether every edit was collected; otherwise the document has to be placed again."""
        return self._document.edits is self._edits

    def placements(self) -> tuple[Placement, ...]:
        """Return the placements in the current text."""
        if self._revision != self._document.revision:
            edited = self._apply_edits()
            ranges = [each for each in edited if each is not None]
            # Replaced lines may be the same after all, as after a formatter: locate at once.
            if len(ranges) < len(edited) or self._may_restore_lost(ranges):
                self._reset(self._request(edited).locate())
                self._needs_locating = True
            elif ranges != (self._ranges or [each.located for each in self._base]):
                self._ranges = ranges
                self._placements = tuple(with_locations(self._base, ranges, self._document.length))
            self._revision = self._document.revision
        return self._placements

    def known(self) -> LocationsByLineage:
        """Return where annotations are in the current text; nothing if edits are missing."""
        if not self.has_all_edits:
            return {}
        return {each.lineage.ids: each.located for each in self.placements()}

    def locate_request(self) -> LocateRequest | None:
        """Return a request for a thread; None if nothing has changed since the last location."""
        if not self.has_all_edits or not (self._edits or self._needs_locating):
            return None
        return self._request(self._apply_edits())

    def accept(self, request: LocateRequest, found: Sequence[Placement]) -> bool:
        """Use the result of a request, unless the document has changed since.

        Returns:
            Whether it changes answers.
        """
        if self._document.revision != request.revision or not self.has_all_edits:
            return False
        before, needed_locating = self._placements, self._needs_locating
        self._reset(found)
        self._needs_locating = False
        return needed_locating or self._placements != before

    def carry_over(self, placements: Sequence[Placement]) -> Sequence[Placement]:
        """Return new placements, those with only recorded lines where the edits took them."""
        if not self.has_all_edits:
            return placements
        edited = {each.current.id: each.located for each in self.placements()}
        ranges = [_choose_range(each.located, edited.get(each.current.id)) for each in placements]
        return with_locations(placements, ranges, self._document.length)

    def extended(self, placements: Sequence[Placement]) -> PlacementTracker:
        """Return a tracker of more placements in the current text: those of this one, and new ones.

        This one ends.
        """
        document = self._document
        if self._located_in is not None and self._located_in[0] is document.text:
            self._located_in = None  # the new tracker has the same text for each of them
        needs_locating = document.has_changes and document.is_typing
        return PlacementTracker(
            document, placements, self._history, self, needs_locating=needs_locating
        )

    def _reset(self, placements: Sequence[Placement]) -> None:
        """Follow placements that were located in the current text."""
        self._add_original_texts()
        self._base = self._placements = tuple(placements)
        self._ranges = None
        vars(self).pop("_recorded", None)
        self._revision = self._document.revision
        self._edits = self._document.collect_edits()
        self._location += 1
        self._located_in = self._document.text, self._base

    def _add_original_texts(self) -> None:
        """Keep the text in which annotations were located, once another one comes, or it is asked.

        Most are placed again before anything asks.
        """
        if self._located_in is None:
            return
        (text, placements), self._located_in = self._located_in, None
        for each in placements:
            start, end = each.located.start, each.located.end
            if each.located.sure and start is not None and end is not None:
                self._original_texts[each.lineage.first.id] = OriginalText(text, start, end)

    @cached_property
    def _recorded(self) -> list[AnchoredRange | None]:
        """The recorded range of each placement."""
        return [each.lineage.recorded_range for each in self._base]

    def _may_restore_lost(self, ranges: Sequence[LocatedRange]) -> bool:
        """Whether a lost annotation may be in inserted text: much was pasted, or text announced."""
        is_announced = self._document.take_expected_text()
        is_large = self._edits.largest >= CONTEXT_LINES
        return (is_announced or is_large) and any(each.start is None for each in ranges)

    def _request(self, edited: Sequence[LocatedRange | None]) -> LocateRequest:
        texts = newest_texts(self.original_texts, self._history.original_texts)
        return LocateRequest(
            self._document.revision,
            self._document.text,
            self._base,
            edited,
            replace(self._history, original_texts=texts),
        )

    def _apply_edits(self) -> list[LocatedRange | None]:
        """Return each range after the edits; None where other lines replaced its own."""
        length = self._document.length
        return [
            self._edited(each, recorded, length)
            for each, recorded in zip(self._base, self._recorded, strict=True)
        ]

    def _edited(
        self, placement: Placement, recorded: AnchoredRange | None, length: int
    ) -> LocatedRange | None:
        base = placement.located
        if base.start is None or base.end is None:
            return base
        start, end = base.start, base.end
        span = self._edits.follow(start, end)
        if placement.lineage.action == Action.DELETE:  # between two lines, shown at one of them
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
            before = base.kinds or (LineKind.AI,) * (end - start + 1)
            kinds = self._edits.kinds(start, end, before)[: len(lines)]
        return apply_edits(base, recorded, span, lines, kinds)


def newest_texts(
    seen: Mapping[str, OriginalText], committed: Mapping[str, OriginalText]
) -> dict[str, OriginalText]:
    """Return the text in which each annotation was last unchanged.

    A text of the editor comes before a committed one, unless that disproves the record.
    """
    disproved = {
        identifier: original for identifier, original in committed.items() if original.before_edit
    }
    return {**committed, **seen, **disproved}


def _choose_range(found: LocatedRange, edited: LocatedRange | None) -> LocatedRange:
    """Return the range that the edits led to if the locator knows only recorded lines.

    So do lines that a person gave, until their text is found.
    """
    if edited is None:
        return found
    if found.method == Method.OLDER_THAN_EDIT and (found.start, found.end) == (
        edited.start,
        edited.end,
    ):
        return found
    is_given = (
        (edited.method, edited.state) == (Method.FILE_HASH, State.EDITED)
        and edited.start is not None
        and not found.sure
    )
    has_recorded_lines = found.method == Method.RECORDED or (
        found.method == Method.OLDER_THAN_EDIT
        and edited.method in {Method.RECORDED, Method.OLDER_THAN_EDIT}
    )
    return edited if has_recorded_lines or is_given else found
