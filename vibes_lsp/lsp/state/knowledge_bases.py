"""The knowledge bases of open documents, and where their evidence is in the current texts.

Only the event loop may touch what is in this module; files are read in threads. While the user
types, the evidence that was read is placed in the new text. Without a `.vouch/` nothing is
imported.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

from vibes_lsp.anchors.location import LocatedRange, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnreadableFile, VibesError, report
from vibes_lsp.git.project_files import read_source
from vibes_lsp.knowledge.evidence_lines import EvidenceLines, place_evidence
from vibes_lsp.lsp.protocol.conversion import path_of, uri_in
from vibes_lsp.lsp.protocol.open_documents import Document, Documents
from vibes_lsp.patience import KNOWLEDGE_BASE
from vibes_lsp.store import file_stamps
from vibes_lsp.store.file_stamps import FileStamp, are_settled, file_stamp

if TYPE_CHECKING:
    from vibes_lsp.knowledge.citations import Citation, KnowledgeSnapshot
    from vibes_lsp.knowledge.object_index import ObjectIndex

_logger = logging.getLogger(__name__)
_T = TypeVar("_T")

_FOLDERS: Final = (
    "claims",
    "pages",
    "sources",
    "entities",
    "relations",
    "evidence",
    "sessions",
    "proposed",
    "decided",
)
_FILES: Final = ("audit.log.jsonl", "config.yaml")
KNOWLEDGE_DIR: Final = ".vouch"
_Stamps: TypeAlias = tuple[FileStamp | None, ...]
Cited: TypeAlias = "Sequence[tuple[Citation, EvidenceLines]]"
"""Evidence, with the lines that it names."""


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
        return [
            placed_citation
            for placed_citation in self.placed
            if placed_citation.located.touches(first, last)
        ]


class CitedDocument:
    """An open document with the evidence for its lines, which is placed in each text once.

    Args:
        document: The document. One that is opened again is another.
        snapshot: The knowledge base.
        path: The file, relative to the project of the knowledge base.
        cited: The evidence, with the lines that it names.

    Attributes:
        document: As given.
        snapshot: As given.
        cited: As given.
    """

    def __init__(
        self, document: Document, snapshot: KnowledgeSnapshot, path: str, cited: Cited
    ) -> None:
        self.document, self.snapshot, self.cited = document, snapshot, cited
        self._path = path
        self._text: Text | None = None
        self._placed: tuple[PlacedCitation, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Whether it was placed in the current text."""
        return self._text is self.document.text

    def knowledge(self) -> DocumentKnowledge:
        """Return the evidence in the current text, from memory."""
        document = self.document
        if not self.is_answered:
            self._text, self._placed = document.text, place_citations(self.cited, document.text)
        return DocumentKnowledge(
            self.snapshot, self._path, document.uri, document.version, self._placed
        )


def place_citations(cited: Cited, text: Text) -> tuple[PlacedCitation, ...]:
    """Return evidence in document order, what is lost at the end."""
    places = place_evidence([lines for _, lines in cited], text) if cited else []
    placed = [
        PlacedCitation(citation, lines, where)
        for (citation, lines), where in zip(cited, places, strict=True)
    ]
    return tuple(
        sorted(
            placed,
            key=lambda placed_citation: (
                placed_citation.located.start is None,
                placed_citation.located.start or 0,
                placed_citation.located.end or 0,
                str(placed_citation.citation.evidence["id"]),
            ),
        )
    )


class RunInThread(Protocol):
    """Runs a function in a thread."""

    def __call__(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """Return what the function returns."""
        ...


class KnowledgeBaseState:
    """One knowledge base, as it was last read.

    Args:
        path: The folder `.vouch`.
        run: Runs a function in a thread.

    Attributes:
        path: As given.
        snapshot: What was read; None before.
        reading: Held while something is read.
    """

    def __init__(self, path: Path, run: RunInThread) -> None:
        self.path = path
        self.snapshot: KnowledgeSnapshot | None = None
        self._index: ObjectIndex | None = None  # of the thread that reads
        self._run = run
        self._stamps: _Stamps | None = None
        self._read_at = 0
        self.reading = asyncio.Lock()

    @property
    def is_current(self) -> bool:
        """Whether nothing was written since it was read, as far as times of files show."""
        stamps, read_at = _stamps_of(self.path), self._read_at
        # A folder whose time is in the future gets an earlier one with the next write.
        recent = [stamp for stamp in stamps if stamp is not None and stamp.modified_ns <= read_at]
        return stamps == self._stamps and are_settled(recent, read_at)

    def invalidate(self) -> None:
        """Read all that changed before the next answer."""
        self._stamps = None

    async def refresh(self) -> bool:
        """Read what changed, in a thread; return whether anything did."""
        from vibes_lsp.knowledge.citations import (  # noqa: PLC0415  # loads pydantic
            KnowledgeSnapshot,
            read_snapshot,
        )
        from vibes_lsp.knowledge.knowledge_base import KnowledgeBase  # noqa: PLC0415
        from vibes_lsp.knowledge.object_index import ObjectIndex  # noqa: PLC0415

        def read() -> KnowledgeSnapshot:
            if self._index is None:
                self._index = ObjectIndex(KnowledgeBase(self.path))
            return read_snapshot(self._index)

        async with self.reading:
            if self.snapshot is not None and self.is_current:
                return False
            stamps, now = _stamps_of(self.path), file_stamps.now_ns()
            try:
                snapshot = await self._run(read)
            except VibesError as error:
                _logger.warning("%s is not used: %s", self.path, error.message)
                snapshot = KnowledgeSnapshot(self.path)
            self._stamps, self._read_at = stamps, now
            if snapshot == self.snapshot:
                return False
            self.snapshot = snapshot
            return True


class KnowledgeBases:
    """Finds the knowledge base of a file: the nearest `.vouch/` above it.

    Attributes:
        is_enabled: Whether claims are shown.
        on_change: Called when answers about a knowledge base are others than before.

    Args:
        documents: The open documents.
        run: Runs a function in a thread.
    """

    def __init__(self, documents: Documents, run: RunInThread) -> None:
        self.is_enabled = True
        self._documents = documents
        self._run = run
        self._states: dict[Path, KnowledgeBaseState] = {}
        self._cited: dict[str, CitedDocument] = {}
        self.on_change: Callable[[KnowledgeBaseState], None] = lambda _state: None
        self._tasks: set[asyncio.Task[None]] = set()

    def owner(self, uri: str) -> tuple[KnowledgeBaseState, str] | None:
        """Return the knowledge base of a file, and the file's path in its project."""
        if not self.is_enabled:
            return None
        file = path_of(uri)
        folder = None if file is None else find_knowledge_folder(file)
        if file is None or folder is None:
            return None
        state = self._states.get(folder)
        if state is None:
            state = self._states[folder] = KnowledgeBaseState(folder, self._run)
        return state, file.relative_to(folder.parent).as_posix()

    async def about(self, uri: str, *, is_patient: bool = False) -> DocumentKnowledge | None:
        """Return what a knowledge base says about a file; None if it has none.

        While the user types, the answer comes from memory.

        Args:
            uri: The file.
            is_patient: Whether to wait for a knowledge base that has to be read, however long.
        """
        document = self._documents.get(uri)
        if document is not None and document.is_typing:
            known = self._from_memory(document)
            if not is_patient or (known is not None and self._is_last(known.snapshot)):
                return known
        owner = self.owner(uri)
        if owner is None:
            return None
        state, path = owner
        if document is None:
            return await self._of_closed(state, path, uri)
        if not self._is_current(state, document):
            task = asyncio.ensure_future(self._update(state, path, document))
            self._tasks.add(task)
            task.add_done_callback(self._end)
            await asyncio.wait([task], timeout=None if is_patient else KNOWLEDGE_BASE.limit)
        return self._from_memory(document)

    async def citing(
        self,
        knowledge: DocumentKnowledge,
        is_wanted: Callable[[Citation], bool],
        most: int | None = None,
    ) -> AsyncIterator[DocumentKnowledge]:
        """Yield what a knowledge base says about the files of which it cites lines.

        Args:
            knowledge: What it says about another file.
            is_wanted: Whether a citation counts.
            most: The largest number of files; without one all.
        """
        cited = knowledge.snapshot.citations
        paths = sorted(path for path, citations in cited.items() if any(map(is_wanted, citations)))
        for path in paths[:most]:
            uri = uri_in(knowledge.project, path)
            other_file = None if uri is None else await self.about(uri, is_patient=True)
            # it has none within
            if other_file is not None and other_file.project == knowledge.project:
                yield other_file

    async def relocate(self, uri: str) -> None:
        """Read what changed on disk, in the pause after typing; say so if lines may have moved."""
        document = self._documents.get(uri)
        owner = None if document is None else self.owner(uri)
        if document is None or owner is None:
            return
        await self._update(*owner, document)
        cited = self._cited_document(document)
        if cited is not None and cited.cited and not cited.is_answered:
            self.on_change(owner[0])

    async def refresh(self, changed: Collection[str] = ()) -> None:
        """Read the knowledge bases that changed on disk.

        Args:
            changed: The URIs of files that changed, maybe in place, which folders do not show, or
                captured bytes, which are in no snapshot but prove lines.
        """
        if changed:
            self._cited.clear()  # with what proves the lines
            for state in self._states.values():  # before the first wait: no answer is in between
                state.invalidate()
        for state in list(self._states.values()):
            folder = f"{state.path.as_uri()}/"
            if await state.refresh() or any(uri.startswith(folder) for uri in changed):
                self.on_change(state)

    def discard(self, uri: str) -> None:
        """Delete the state of a document that was closed."""
        self._cited.pop(uri, None)

    def _is_last(self, snapshot: KnowledgeSnapshot) -> bool:
        """Whether a knowledge base was not read since."""
        return any(state.snapshot is snapshot for state in self._states.values())

    def _from_memory(self, document: Document) -> DocumentKnowledge | None:
        if not self.is_enabled:
            return None
        cited = self._cited_document(document)
        return None if cited is None else cited.knowledge()

    def _cited_document(self, document: Document) -> CitedDocument | None:
        cited = self._cited.get(document.uri)
        return cited if cited is not None and cited.document is document else None

    def _is_current(self, state: KnowledgeBaseState, document: Document) -> bool:
        """Whether a document can be answered about without a thread."""
        cited = self._cited_document(document)
        return cited is not None and cited.snapshot is state.snapshot and state.is_current

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # answers go without claims
            _logger.error("knowledge base: %s", report(error).message)

    async def _update(self, state: KnowledgeBaseState, path: str, document: Document) -> None:
        """Read what changed; tell the client if answers change."""
        is_changed = await state.refresh()
        if self._documents.get(document.uri) is document:
            is_changed = await self._read_evidence(state, path, document) or is_changed
        if is_changed:
            self.on_change(state)

    async def _read_evidence(
        self, state: KnowledgeBaseState, path: str, document: Document
    ) -> bool:
        """Read the evidence for a document; return whether answers change."""
        async with state.reading:
            before, snapshot = self._cited_document(document), state.snapshot
            if snapshot is None or (before is not None and before.snapshot is snapshot):
                return False
            has_any = bool(snapshot.citations.get(path))
            cited = await self._run(partial(snapshot.lines_in, path)) if has_any else []
            self._cited[document.uri] = CitedDocument(document, snapshot, path, cited)
            return bool(cited) or (before is not None and bool(before.cited))

    async def _of_closed(
        self, state: KnowledgeBaseState, path: str, uri: str
    ) -> DocumentKnowledge | None:
        if await state.refresh():
            self.on_change(state)
        if state.snapshot is None:
            return None
        placed = await self._run(partial(_place_closed, state.snapshot, path))
        return DocumentKnowledge(state.snapshot, path, uri, None, placed)


def find_knowledge_folder(file: Path) -> Path | None:
    """Return the nearest `.vouch/` above a file, which may be in it; None if there is none.

    A link is none: a project could lead into another one.
    """
    for folder in file.parents:
        candidate = folder / KNOWLEDGE_DIR
        if os.path.isdir(candidate) and not candidate.is_symlink():  # noqa: PTH112  # any name
            return candidate
    return None


def is_knowledge_file(uri: str) -> bool:
    """Whether a URI is that of a file of a knowledge base; its index is none."""
    _, separator, rest = uri.rpartition(f"/{KNOWLEDGE_DIR}/")
    return bool(separator) and (rest.split("/", 1)[0] in _FOLDERS or rest in _FILES)


def _place_closed(snapshot: KnowledgeSnapshot, path: str) -> tuple[PlacedCitation, ...]:
    if not snapshot.citations.get(path):
        return ()
    try:
        text = read_source(snapshot.path.parent, path)
    except UnreadableFile:
        text = Text("")
    return place_citations(snapshot.lines_in(path), text)


def _stamps_of(folder: Path) -> _Stamps:
    """Return what differs after most writes: times of folders, and the growth of the audit log."""
    return tuple(file_stamp(f"{folder}{os.sep}{name}") for name in (*_FOLDERS, *_FILES))
