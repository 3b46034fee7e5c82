"""Lookups in git history, and which changes of a project the last one covers.

`updates.look_up_history` schedules them. No answer waits for git.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.exchange.brought_lines import BroughtLines, committed_file
from vibes_lsp.exchange.note_overlay import notes_of_lines
from vibes_lsp.exchange.trailer_overlay import trailers_of_lines
from vibes_lsp.git.objects import Commit
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.lsp.state.snapshots import ClosedFiles, HistorySnapshot, LookedUpFile
from vibes_lsp.placing.committed_lines import FileInHead
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import known_commit
from vibes_lsp.trail.trail import Trail

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """One lookup, for a thread.

    Attributes:
        change: The number of the last change that it covers.
        texts: The documents to look up, by path.
        opened: The paths of all open documents; of others nothing is kept.
        renamed: New paths by old ones, of files that were renamed since the last commit.
        use_git: Whether to ask git at all.
        use_notes: Whether to read git-ai's notes and the trailers of commits.
    """

    change: int = -1
    texts: Mapping[str, Text] = field(default_factory=dict)
    opened: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    use_git: bool = True
    use_notes: bool = True


class HistoryCoverage:
    """Which changes of a project the lookups cover; later ones make an answer provisional.

    Only the event loop may touch it.

    Attributes:
        running: Held while lookups run; there is never more than one for a project.
        looked_at: The file that the client has asked about last: it is looked up first.
    """

    def __init__(self) -> None:
        self.running = asyncio.Lock()
        self.looked_at = ""
        self._change = 0
        self._covered: dict[str, tuple[int, Text]] = {}
        self._covered_closed = -1
        self._result = asyncio.Event()

    def add_change(self) -> None:
        """Count a change that needs a lookup: of the trail, HEAD, a path or a setting; a save."""
        self._change += 1

    async def until_next(self) -> None:
        """Wait for the next result of a lookup."""
        self._result.clear()
        await self._result.wait()

    def request(
        self,
        opened: Sequence[tuple[str, Document]],
        renamed: Mapping[str, str],
        *,
        use_git: bool,
        use_notes: bool = True,
    ) -> LookupRequest | None:
        """Return the next lookup; None when all is covered.

        The document that is looked at comes first and alone, so that it waits for no other. Of
        several documents of one file, as by a link and by its own name, the last one counts.

        Args:
            opened: The open documents with their paths.
            renamed: New paths by old ones.
            use_git: Whether to ask git at all.
            use_notes: Whether to read git-ai's notes and the trailers of commits.
        """
        if self.covers_all(opened) and self._covered_closed >= self._change:
            return None
        texts = {
            path: document.text
            for path, document in dict(opened).items()
            if not self.covers(path, document)
        }
        if self.looked_at in texts and use_git:
            texts = {self.looked_at: texts[self.looked_at]}
        paths = frozenset(path for path, _ in opened)
        return LookupRequest(self._change, texts, paths, dict(renamed), use_git, use_notes)

    def cover(self, request: LookupRequest) -> None:
        """Record a lookup that has ended."""
        self._result.set()
        covered = {path: (request.change, text) for path, text in request.texts.items()}
        self._covered = {
            path: change_and_text
            for path, change_and_text in (self._covered | covered).items()
            if path in request.opened
        }

    def cover_closed_files(self, request: LookupRequest) -> None:
        """Record that the commits of files that are not open were looked up."""
        self._covered_closed = request.change

    def covers_all(self, opened: Iterable[tuple[str, Document]]) -> bool:
        """Whether no lookup would answer differently now about any of these open documents.

        Of several documents of one file the last one counts, as for `request`.
        """
        return all(self.covers(path, document) for path, document in dict(opened).items())

    def covers(self, path: str, document: Document | None) -> bool:
        """Whether a lookup since the last change was about the saved text, or any while unsaved."""
        if document is None:
            return self._covered_closed >= self._change
        change, text = self._covered.get(path, (-1, None))
        return change >= self._change and (text == document.saved or document.has_changes)


class HistoryLookup:
    """Reads the git history of one project, with a trail of its own.

    One thread at a time may look up; another one may close it meanwhile.
    """

    def __init__(self, beside: Trail) -> None:
        self._beside = beside
        self._locator: ProjectLocator | None = None
        self._closed_files = ClosedFiles()
        self._closed_files_of: tuple[str | None, Sequence[str], int] = None, (), -1
        self._files: dict[str, LookedUpFile] = {}
        self._nearest: dict[tuple[str, ...], str | None] = {}

    def look_up(self, request: LookupRequest) -> HistorySnapshot:
        """Return what history says of all open documents, those of the request asked now."""
        return self._answer(self._look_up, request)

    def _look_up(self, request: LookupRequest) -> HistorySnapshot:
        if not request.use_git:
            self.close()
            return HistorySnapshot(is_done=True)
        self._files = {
            path: history for path, history in self._files.items() if path in request.opened
        }
        locator = self._refreshed(request)
        for path, text in request.texts.items():
            self._files[path] = self._look_up_file(locator, path, text, request)
        locator.save_cache()
        return HistorySnapshot(
            is_done=True,
            has_git=locator.repository is not None,
            files=dict(self._files),
            nearest=dict(self._nearest),
        )

    def _refreshed(self, request: LookupRequest) -> ProjectLocator:
        locator = self._locator
        if locator is not None:
            locator.refresh(request.renamed)
            return locator
        trail = Trail(
            self._beside.directory,
            nearest_commit=self._find_nearest,
            uses_saved=True,
        )
        trail.refresh()
        locator = ProjectLocator(trail, use_cache=True, renamed=request.renamed)
        self._locator = locator
        return locator

    def _look_up_file(
        self, locator: ProjectLocator, path: str, text: Text, request: LookupRequest
    ) -> LookedUpFile:
        known = locator.owners.known_for(path, text)
        locator.resolve_commits_in([path])
        former = locator.former_paths(path)
        lineages = [
            lineage for name in (path, *former) for lineage in locator.trail.lineages_in(name)
        ]
        resolved = {
            lineage.first.id: commit
            for lineage in lineages
            if (commit := locator.resolved_commits.get(lineage.first.id)) is not None
        }
        notes = trailers = None
        if request.use_notes and (repository := locator.repository) is not None:
            file = committed_file(repository, locator.trail.directory.project, path)
            if file is not None:
                notes = notes_of_lines(repository, file)
                trailers = trailers_of_lines(repository, file)
        subjects = _subjects(locator, lineages)
        commits = _commits_of_others(locator, known.head)
        return LookedUpFile(known, former, resolved, notes, trailers, subjects, commits)

    def look_up_closed_files(self, request: LookupRequest) -> ClosedFiles:
        """Return the commits of existing files' annotations, and the names of renamed files.

        They are read again only when HEAD, the log or the names of existing files are others: what
        was recorded since has no commit yet.
        """
        return self._answer(self._look_up_closed_files, request)

    def _look_up_closed_files(self, request: LookupRequest) -> ClosedFiles:
        locator = self._locator
        if not request.use_git or locator is None or locator.repository is None:
            return ClosedFiles()
        names = tuple(locator.recorded_names(locator.annotated_files()))
        state = locator.head(), names, locator.trail.log.epoch
        if self._closed_files_of != state:
            locator.resolve_commits_in()
            locator.save_cache()
            self._closed_files = ClosedFiles(
                dict(locator.resolved_commits), dict(locator.new_names()), dict(self._nearest)
            )
            self._closed_files_of = state
        return self._closed_files

    def _find_nearest(self, commits: Sequence[str]) -> str | None:
        nearest = None if self._locator is None else self._locator.nearest_commit(commits)
        self._nearest[tuple(commits)] = nearest
        return nearest

    def _answer(self, look_up: Callable[[LookupRequest], _T], request: LookupRequest) -> _T:
        """Look up, once more if the log or its index is another one meanwhile."""
        try:
            try:
                return look_up(request)
            except OutdatedIndex:
                if self._locator is not None:
                    self._locator.refresh(request.renamed)
                return look_up(request)
        finally:
            if (locator := self._locator) is not None:
                locator.trail.end_answer()

    def close(self) -> None:
        """End git's processes."""
        self._files = {}
        if self._locator is not None:
            self._locator.close()
            self._locator = None


def _commits_of_others(
    locator: ProjectLocator, head: FileInHead | None
) -> BroughtLines[Commit] | None:
    """Return the commits of the lines in HEAD that no record names, as far as git was asked."""
    if head is None or locator.repository is None:
        return None
    find = cache(locator.repository.objects.commit)
    lines = {
        number: commit
        for number, (owner, origin) in enumerate(zip(head.owners, head.origins, strict=True), 1)
        if owner is None and origin is not None and (commit := find(origin.commit)) is not None
    }
    return BroughtLines(Text("\n".join(head.lines)), lines) if lines else None


def _subjects(locator: ProjectLocator, lineages: Iterable[Lineage]) -> Mapping[str, str]:
    """Return the subjects of the commits of annotations."""
    repository = locator.repository
    commits = {
        commit.commit
        for lineage in lineages
        if (commit := known_commit(lineage, locator.resolved_commits.get(lineage.first.id)))
    }
    return {
        commit: subject
        for commit in commits
        if repository is not None and (subject := repository.objects.subject(commit)) is not None
    }
