"""Where the evidence of a document is: located once, then following the edits in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.anchors.live_edits import Edits
from vibes_lsp.anchors.location import LocatedRange, State
from vibes_lsp.knowledge.evidence_lines import EvidenceLines
from vibes_lsp.lsp.document_state import follow_range
from vibes_lsp.lsp.documents import Document

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
        return [each for each in self.placed if each.located.touches(first, last)]


@dataclass(frozen=True, slots=True)
class FollowedEvidence:
    """The evidence of an open document, and where it was when it was last located.

    Attributes:
        document: The document. One that is opened again is another.
        snapshot: The knowledge base.
        path: The file, relative to the project of the knowledge base.
        cited: The evidence, with the lines that it names.
        located: Where these were.
        edits: What collects the edits since.
    """

    document: Document
    snapshot: KnowledgeSnapshot
    path: str
    cited: Sequence[tuple[Citation, EvidenceLines]]
    located: Sequence[LocatedRange]
    edits: Edits

    @property
    def is_located(self) -> bool:
        """Whether all evidence was located in the current text, and not only moved with edits."""
        return not (self.cited and self.edits)

    def knowledge(self) -> DocumentKnowledge:
        """Return the evidence in the current text, from memory; edited lines are not compared."""
        placed = [
            PlacedCitation(citation, lines, where)
            for (citation, lines), where in zip(self.cited, self._followed(), strict=True)
        ]
        return DocumentKnowledge(
            self.snapshot, self.path, self.document.uri, self.document.version, in_order(placed)
        )

    def differs_from(self, later: FollowedEvidence) -> bool:
        """Whether a client that was told where the lines were, or are, must be told again."""
        now = [*map(_shown, later.located)]
        return any([*map(_shown, told)] != now for told in (self.located, self._followed()))

    def _followed(self) -> list[LocatedRange]:
        length = self.document.length
        return [follow_range(where, self.edits, length) for where in self.located]


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
