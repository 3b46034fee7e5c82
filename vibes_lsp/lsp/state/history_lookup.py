"""Lookups in git history, and which changes of a project the last one covers.

`updates.look_up_history` schedules them. No answer waits for git.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.exchange.brought_lines import BroughtLines, committed_file
from vibes_lsp.exchange.note_overlay import notes_of_lines
from vibes_lsp.exchange.trailer_overlay import trailers_of_lines
from vibes_lsp.git.objects import Commit
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.lsp.state.snapshots import HistorySnapshot, LookedUpFile
from vibes_lsp.placing.committed_lines import FileInHead
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import known_commit
from vibes_lsp.trail.trail import Trail


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
        of_all_files: Whether to look up the commits and names of files that are not open, too.
    """

    change: int = -1
    texts: Mapping[str, Text] = field(default_factory=dict)
    opened: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    use_git: bool = True
    use_notes: bool = True
    of_all_files: bool = False


class HistoryCoverage:
    """Which changes of a project the lookups cover; later ones make an answer provisional.

    Only the event loop may touch it.

    Attributes:
        running: Held while lookups run; there is never more than one for a project.
    """

    def __init__(self) -> None:
        self.running = asyncio.Lock()
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
        """Return the next lookup: first of open documents, then of all files; None if none is left.

        Of several documents of one file, as by a link and by its own name, the last one counts.

        Args:
            opened: The open documents with their paths.
            renamed: New paths by old ones.
            use_git: Whether to ask git at all.
            use_notes: Whether to read git-ai's notes and the trailers of commits.
        """
        texts = {
            path: document.text
            for path, document in dict(opened).items()
            if not self.covers(path, document)
        }
        if not texts and self.covers("", None):
            return None
        paths = frozenset(path for path, _ in opened)
        return LookupRequest(
            self._change, texts, paths, dict(renamed), use_git, use_notes, of_all_files=not texts
        )

    def cover(self, request: LookupRequest) -> None:
        """Record a lookup that has ended."""
        self._result.set()
        if request.of_all_files:
            self._covered_closed = request.change
        covered = {path: (request.change, text) for path, text in request.texts.items()}
        self._covered = {
            path: change_and_text
            for path, change_and_text in (self._covered | covered).items()
            if path in request.opened
        }

    def covers(self, path: str, document: Document | None) -> bool:
        """Whether a lookup since the last change was about the saved text, or any while unsaved.

        Without a document: whether one was about the files that are not open.
        """
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
        self._last = HistorySnapshot()
        self._nearest: dict[tuple[str, ...], str | None] = {}

    def look_up(self, request: LookupRequest) -> HistorySnapshot:
        """Return what git says, with what was asked before of other files.

        It looks up once more if the log or its index is another one meanwhile.
        """
        try:
            return self._look_up(request)
        except OutdatedIndex:
            if self._locator is not None:
                self._locator.refresh(request.renamed)
            return self._look_up(request)

    def _look_up(self, request: LookupRequest) -> HistorySnapshot:
        if not request.use_git:
            self.close()
            return HistorySnapshot(is_done=True)
        locator = self._refreshed(request)
        files = {
            path: self._look_up_file(locator, path, text, request)
            for path, text in request.texts.items()
        }
        others = {path: file for path, file in self._last.files.items() if path in request.opened}
        commits = self._last.commits
        if request.of_all_files and locator.repository is not None:
            locator.resolve_commits_in()
            commits = dict(locator.resolved_commits)
        self._last = HistorySnapshot(
            is_done=True,
            has_git=locator.repository is not None,
            files=others | files,
            new_names=dict(locator.names.new_names),
            nearest=dict(self._nearest),
            commits=commits,
        )
        return self._last

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
        lineages = [
            lineage
            for name in (path, *locator.names.former_paths(path))
            for lineage in locator.trail.lineages_in(name)
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
        return LookedUpFile(known, resolved, notes, trailers, subjects, commits)

    def _find_nearest(self, commits: Sequence[str]) -> str | None:
        nearest = None if self._locator is None else self._locator.nearest_commit(commits)
        self._nearest[tuple(commits)] = nearest
        return nearest

    def close(self) -> None:
        """End git's processes."""
        self._last = HistorySnapshot()
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
