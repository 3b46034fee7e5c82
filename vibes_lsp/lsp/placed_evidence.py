"""Where the evidence of a document is: placed once, then following the edits in memory.

Only the event loop may touch it; locating runs in a thread on a text that does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.anchors.live_edits import Edits, apply_edits
from vibes_lsp.anchors.location import LocatedRange, State
from vibes_lsp.knowledge.evidence_lines import EvidenceLines, place_evidence
from vibes_lsp.lsp.documents import EVIDENCE, Document

if TYPE_CHECKING:
    from vibes_lsp.knowledge.citations import Citation, KnowledgeSnapshot

KNOWLEDGE_DIR: Final = ".vouch"


@dataclass(frozen=True, slots=True)
class PlacedCitation:
    """Evidence of a file, with what cites it, and where its lines are.

    Attributes:
        citation: The evidence.
        lines: The lines that it names.
        located: Where they are now.
    """

    citation: Citation
    lines: EvidenceLines
    located: LocatedRange

    @property
    def is_stale(self) -> bool:
        """Whether the lines are not as they were quoted: edited, or not found."""
        return self.located.state in {State.EDITED, State.LOST}

    @property
    def is_as_quoted(self) -> bool:
        """Whether the lines are proven to be those that were quoted."""
        return self.located.sure

    def is_on(self, first: int, last: int) -> bool:
        """Whether it has one of some lines, 1-based and inclusive."""
        start, end = self.located.start, self.located.end
        return start is not None and end is not None and start <= last and first <= end


@dataclass(frozen=True, slots=True)
class DocumentKnowledge:
    """What a knowledge base says about one version of a file.

    Attributes:
        snapshot: The knowledge base.
        path: The file, relative to the project of the knowledge base.
        uri: Its URI.
        version: The client's version; None for a file that is not open.
        placed: The evidence for its lines in document order, what is lost at the end.
    """

    snapshot: KnowledgeSnapshot
    path: str
    uri: str
    version: int | None
    placed: tuple[PlacedCitation, ...] = ()

    @property
    def project(self) -> Path:
        """The project of the knowledge base."""
        return self.snapshot.path.parent

    @property
    def is_of_knowledge_base(self) -> bool:
        """Whether the file is one of the knowledge base itself."""
        return self.path.split("/", 1)[0] == KNOWLEDGE_DIR

    def at(self, first: int, last: int) -> list[PlacedCitation]:
        """Return the evidence on some lines, 1-based and inclusive."""
        return [each for each in self.placed if each.is_on(first, last)]


class EvidenceFollower:
    """Follows the edits of a document, so that evidence stays placed while the user types."""

    def __init__(
        self,
        document: Document,
        snapshot: KnowledgeSnapshot,
        path: str,
        cited: Sequence[tuple[Citation, EvidenceLines]],
    ) -> None:
        self.document = document
        self.snapshot = snapshot
        self.path = path
        self._cited = cited
        self._base: Sequence[LocatedRange] = ()
        self._located: Sequence[LocatedRange] = ()
        self._revision = -1
        self._edits: Edits | None = None

    @property
    def has_lines(self) -> bool:
        """Whether any evidence names lines of the document."""
        return bool(self._cited)

    @property
    def is_located(self) -> bool:
        """Whether all evidence was located in the current text, and not only moved with edits."""
        return not self._cited or (self._follows and not self._edits)

    @property
    def _follows(self) -> bool:
        return self._edits is not None and self.document.edits_for(EVIDENCE) is self._edits

    def begin(self) -> tuple[Edits, int, Callable[[], list[LocatedRange]]]:
        """Return what `accept` takes, and what locates in a thread."""
        edits, text = self.document.collect_edits(EVIDENCE), self.document.text
        lines = [lines for _, lines in self._cited]
        return edits, self.document.revision, partial(place_evidence, lines, text)

    def accept(self, edits: Edits, revision: int, found: Sequence[LocatedRange]) -> bool:
        """Use what was located; return whether answers change. Later edits are followed."""
        if self.document.edits_for(EVIDENCE) is not edits:
            return False
        before = list(map(_shown, self._located))
        self._base = self._located = found
        self._edits, self._revision = edits, revision
        return list(map(_shown, self._now())) != before

    def knowledge(self) -> DocumentKnowledge:
        """Return the evidence in the current text, from memory."""
        placed = [
            PlacedCitation(citation, lines, where)
            for (citation, lines), where in zip(self._cited, self._now(), strict=True)
        ]
        return DocumentKnowledge(
            self.snapshot, self.path, self.document.uri, self.document.version, in_order(placed)
        )

    def _now(self) -> Sequence[LocatedRange]:
        if self._cited and self._revision != self.document.revision:
            followed = self._followed() if self._follows else None
            if followed is None:  # other lines are in the place of its own, or edits are missing
                edits, revision, locate = self.begin()
                self._base = self._located = locate()
                self._edits, self._revision = edits, revision
            else:
                self._located, self._revision = followed, self.document.revision
        return self._located

    def _followed(self) -> list[LocatedRange] | None:
        """Return each range after the edits; None if other lines replaced one."""
        found: list[LocatedRange] = []
        for base, (_, lines) in zip(self._base, self._cited, strict=True):
            where = self._moved(base, lines)
            if where is None:
                return None
            found.append(where)
        return found

    def _moved(self, base: LocatedRange, lines: EvidenceLines) -> LocatedRange | None:
        if base.start is None or base.end is None or self._edits is None:
            return base
        span = self._edits.follow(base.start, base.end)
        if span.replaced:
            return None
        span = span.within(self.document.length)
        now = self.document.lines(span.start, span.end) if span.touched else ()
        return apply_edits(base, lines.recorded, span, now)


def _shown(where: LocatedRange) -> tuple[object, ...]:
    """Return what answers have of a location."""
    return where.start, where.end, where.state, where.ambiguous


def in_order(placed: Sequence[PlacedCitation]) -> tuple[PlacedCitation, ...]:
    """Return evidence in document order, what is lost at the end."""
    return tuple(
        sorted(
            placed,
            key=lambda each: (
                each.located.start is None,
                each.located.start or 0,
                each.located.end or 0,
                str(each.citation.evidence["id"]),
            ),
        )
    )
