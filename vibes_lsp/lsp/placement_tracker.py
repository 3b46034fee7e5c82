"""The placements of an open document while it is typed in: they follow each change at once, and are located anew in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from vibes_lsp.anchors.create_anchors import CONTEXT_LINES
from vibes_lsp.anchors.live_edits import Edits, followed
from vibes_lsp.anchors.located import AnchoredRange, LineKind, Located, Method, OriginalText, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.file_history import NO_HISTORY, FileHistory
from vibes_lsp.index.locate_annotations import LocationsByLineage, relocate, with_locations
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.documents import Document
from vibes_lsp.model.vocabulary import Action


@dataclass(frozen=True, slots=True)
class LocateRequest:
    """What it takes to locate a document anew, which may be done in a thread: nothing in it changes.

    Attributes:
        revision: Of the document.
        text: The document then.
        placements: What is placed.
        followed: Where each was taken by the edits; None where other lines stand instead of its own.
        past: What is known of the annotations, the texts in which they were last seen whole included.
    """

    revision: int
    text: Text
    placements: Sequence[Placement]
    followed: Sequence[Located | None]
    past: FileHistory

    def locate(self) -> list[Placement]:
        """Return the placements by everything that the locator knows."""
        found = relocate(self.text, self.placements, self.past)
        return with_locations(
            self.placements, list(map(_settled, found, self.followed)), len(self.text.lines)
        )


class PlacementTracker:
    """Keeps the placements of a document up to date.

    Args:
        document: The document.
        placements: Where its annotations are now.
        past: What is known of them.
        before: What followed it until the trail changed; the texts in which annotations were seen whole are remembered.
        is_news: Whether the document is to be located anew, though it does not change any more.
    """

    def __init__(
        self,
        document: Document,
        placements: Sequence[Placement],
        past: FileHistory = NO_HISTORY,
        before: PlacementTracker | None = None,
        *,
        is_news: bool = False,
    ) -> None:
        self.document = document
        self._past = past
        self._is_news = is_news
        self._seen: dict[str, OriginalText] = dict(before.origins) if before is not None else {}
        self.rest(placements)

    @property
    def origins(self) -> Mapping[str, OriginalText]:
        """The texts in which annotations were last seen whole, by the id of their first record."""
        return self._seen

    def rest(self, placements: Sequence[Placement]) -> None:
        """Take over placements that were located in the document as it is now."""
        self._base = self._now = tuple(placements)
        self._where = [each.located for each in self._base]
        self._recorded = [each.lineage.recorded_range for each in self._base]
        self._revision = self.document.revision
        self._edits = self.document.edits = Edits()
        for each in self._base:
            start, end = each.located.start, each.located.end
            if each.located.sure and start is not None and end is not None:
                self._seen[each.lineage.first.id] = OriginalText(self.document.text, start, end)

    @property
    def keeps_up(self) -> bool:
        """Whether every edit was gathered; else the document has to be placed anew."""
        return self.document.edits is self._edits

    def placements(self) -> tuple[Placement, ...]:
        """Return the placements in the document as it is now, which they have kept up with."""
        if self._revision != self.document.revision:
            where = self._follow()
            settled = [each for each in where if each is not None]
            if len(settled) < len(where) or self._may_be_back(
                settled
            ):  # as after a formatter: what stands there now may be theirs
                self.rest(self._snapshot(where).locate())
                self._is_news = True
            elif settled != self._where:
                self._where, self._now = (
                    settled,
                    tuple(with_locations(self._base, settled, self.document.length)),
                )
            self._revision = self.document.revision
        return self._now

    def _may_be_back(self, where: Sequence[Located]) -> bool:
        """Whether so much was put in at once, as by pasting or by undoing, that what was lost may be in it; or it was announced."""
        is_announced, self.document.awaits_text = self.document.awaits_text, False
        return (is_announced or self._edits.largest >= CONTEXT_LINES) and any(
            each.start is None for each in where
        )

    def known(self) -> LocationsByLineage:
        """Return where annotations are in the document as it is now, as far as that was kept up with."""
        return (
            {each.lineage.ids: each.located for each in self.placements()} if self.keeps_up else {}
        )

    def snapshot(self) -> LocateRequest | None:
        """Return what it takes to locate the document anew; None when it is as it was when that was done."""
        return (
            self._snapshot(self._follow())
            if (self._edits or self._is_news) and self.keeps_up
            else None
        )

    def take(self, snapshot: LocateRequest, found: Sequence[Placement]) -> bool:
        """Take over what was located in a snapshot, unless the document has changed since; say whether answers are others now."""
        if self.document.revision != snapshot.revision or not self.keeps_up:
            return False
        answered, was_news = self._now, self._is_news
        self.rest(found)
        self._is_news = False
        return was_news or self._now != answered

    def _snapshot(self, where: Sequence[Located | None]) -> LocateRequest:
        return LocateRequest(
            self.document.revision,
            self.document.text,
            self._base,
            where,
            replace(self._past, original_texts=newest(self._seen, self._past.original_texts)),
        )

    def carried(self, placements: Sequence[Placement]) -> Sequence[Placement]:
        """Return placements that were placed anew, as after a change of the trail: what has only its recorded lines stays where it is."""
        if not self.keeps_up:
            return placements
        where = {each.current.id: each.located for each in self.placements()}
        located = [_settled(each.located, where.get(each.current.id)) for each in placements]
        return with_locations(placements, located, self.document.length)

    def _follow(self) -> list[Located | None]:
        """Return where each annotation was taken by the edits; None where other lines stand instead of its own."""
        length = self.document.length
        return [
            self._followed(each, recorded, length)
            for each, recorded in zip(self._base, self._recorded, strict=True)
        ]

    def _followed(
        self, placement: Placement, recorded: AnchoredRange | None, length: int
    ) -> Located | None:
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
            return followed(base, recorded, span, ())
        lines = self.document.lines(span.start, span.end)
        kinds: tuple[LineKind, ...] = ()
        if base.is_proven:
            whose = base.kinds or (LineKind.AI,) * (end - start + 1)
            kinds = self._edits.kinds(start, end, whose)[: len(lines)]
        return followed(base, recorded, span, lines, kinds)


def newest(
    seen: Mapping[str, OriginalText], committed: Mapping[str, OriginalText]
) -> dict[str, OriginalText]:
    """Return the text that each annotation was last known to be whole in: in the editor rather than in a commit, unless anchors prove nothing."""
    disproved = {
        identifier: origin for identifier, origin in committed.items() if origin.before_edit
    }
    return {**committed, **seen, **disproved}


def _settled(found: Located, followed: Located | None) -> Located:
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
