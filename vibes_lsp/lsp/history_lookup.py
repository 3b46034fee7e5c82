"""Lookups in git history, and which changes of a project the last one covers.

`background.look_up_history` schedules them. No answer waits for git.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.note_overlay import FileNotes, NoteOverlay
from vibes_lsp.exchange.trailer_overlay import FileTrailers, TrailerOverlay
from vibes_lsp.history.commit_resolution import ResolvedCommit
from vibes_lsp.index.lineage_commits import known_commit
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.documents import Document
from vibes_lsp.lsp.snapshots import HistorySnapshot


class LookupPhase(Enum):
    """Whether a lookup runs; there is never more than one for a project."""

    IDLE = auto()
    RUNNING = auto()


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """One lookup, for a thread.

    Attributes:
        change: The number of the last change that it covers.
        texts: The open documents by path.
        renamed: New paths by old ones, of files that were renamed since the last commit.
        commits: Sets of commits, each to be reduced to the nearest ancestor of HEAD.
        use_git: Whether to ask git at all.
        use_notes: Whether to read git-ai's notes and the trailers of commits.
    """

    change: int = -1
    texts: Mapping[str, Text] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    commits: Sequence[tuple[str, ...]] = ()
    use_git: bool = True
    use_notes: bool = True


class NearestAncestor:
    """Returns the commit that is nearest to HEAD (R7), from the last lookup.

    What that did not answer is asked in the next one.
    """

    def __init__(self) -> None:
        self._known: Mapping[tuple[str, ...], str | None] = {}
        self._asked: set[tuple[str, ...]] = set()

    def __call__(self, commits: Sequence[str]) -> str | None:
        """Return one of the commits, or None."""
        self._asked.add(tuple(commits))
        return self._known.get(tuple(commits))

    @property
    def is_complete(self) -> bool:
        """Whether the last lookup answered all that was asked."""
        return self._asked <= self._known.keys()

    @property
    def asked(self) -> list[tuple[str, ...]]:
        """The sets of commits that were asked about."""
        return list(self._asked)

    def learn(self, known: Mapping[tuple[str, ...], str | None]) -> None:
        """Use the results of a lookup from now on."""
        self._known = known


class HistoryCoverage:
    """Which changes of a project the lookups cover; later ones make an answer provisional.

    Only the event loop may touch it.

    Args:
        nearest: Knows which commits the next lookup has to compare.
    """

    def __init__(self, nearest: NearestAncestor) -> None:
        self._nearest = nearest
        self._change = 0
        self._covered = LookupRequest()
        self._covered_closed = -1
        self._phase = LookupPhase.IDLE

    def add_change(self) -> None:
        """Count a change that needs a lookup: of the trail, of HEAD, of a path, or a save."""
        self._change += 1

    def begin(self) -> bool:
        """Begin lookups; return False while others run."""
        if self._phase is LookupPhase.RUNNING:
            return False
        self._phase = LookupPhase.RUNNING
        return True

    def end(self) -> None:
        """End lookups."""
        self._phase = LookupPhase.IDLE

    def request(
        self,
        opened: Sequence[tuple[str, Document]],
        renamed: Mapping[str, str],
        *,
        use_git: bool,
        use_notes: bool,
    ) -> LookupRequest | None:
        """Return the next lookup; None when all is covered."""
        is_covered = self._covered_closed >= self._covered.change
        if is_covered and not self.needs_lookup(opened):
            return None
        texts = {path: document.text for path, document in opened}
        return LookupRequest(
            self._change, texts, dict(renamed), self._nearest.asked, use_git, use_notes
        )

    def cover(self, request: LookupRequest, found: HistorySnapshot) -> None:
        """Record a lookup that has ended."""
        self._covered = request
        self._nearest.learn(found.nearest)

    def cover_closed_files(self, request: LookupRequest) -> None:
        """Record that the commits of files that are not open were looked up."""
        self._covered_closed = request.change

    def needs_lookup(self, opened: Iterable[tuple[str, Document]]) -> bool:
        """Whether history may answer differently now about any of these open documents."""
        if self._covered.change < self._change or not self._nearest.is_complete:
            return True
        return not all(self._covers_text(path, document) for path, document in opened)

    def covers(self, path: str, document: Document | None) -> bool:
        """Whether the last lookup covers a file, as it was last saved."""
        if document is None:
            return self._covered_closed >= self._change
        return not self.needs_lookup([(path, document)])

    def _covers_text(self, path: str, document: Document) -> bool:
        """Whether the last lookup was about the saved text, or about any text while unsaved."""
        text = self._covered.texts.get(path)
        return text is not None and (text is document.saved or document.has_changes)


class HistoryLookup:
    """Reads the git history of one project, with a trail of its own.

    One thread at a time may use it.
    """

    def __init__(self, beside: Trail) -> None:
        self._beside = beside
        self._locator: ProjectLocator | None = None
        self._closed_files: Mapping[str, ResolvedCommit] = {}
        self._closed_files_of: tuple[str | None, object] = None, None
        self._notes: NoteOverlay | None = None
        self._subjects: Mapping[str, str | None] = {}
        self._trailers: TrailerOverlay | None = None

    def look_up(self, request: LookupRequest) -> HistorySnapshot:
        """Return what history says now."""
        if not request.use_git:
            self.close()
            return HistorySnapshot(is_done=True, nearest=dict.fromkeys(request.commits))
        locator = self._locator
        if locator is None:
            locator = self._locator = ProjectLocator(
                Trail(
                    self._beside.directory,
                    nearest_commit=self._nearest,
                    shared_with=self._beside,
                    uses_saved=True,
                )
            )
        locator.refresh(request.renamed)
        files = {path: locator.file_history(path, text) for path, text in request.texts.items()}
        nearest = {commits: locator.nearest_commit(commits) for commits in request.commits}
        return HistorySnapshot(
            is_done=True,
            has_git=locator.has_git,
            resolved_commits=dict(locator.resolved_commits),
            files=files,
            nearest=nearest,
            notes=self._look_up_notes(locator, request.texts) if request.use_notes else {},
            trailers=self._look_up_trailers(locator, request.texts) if request.use_notes else {},
            subjects=self._look_up_subjects(locator, request.texts),
        )

    def _look_up_subjects(
        self, locator: ProjectLocator, texts: Mapping[str, Text]
    ) -> Mapping[str, str]:
        """Return the subjects of the annotations' commits; each commit is read once."""
        names = {path for text in texts for path in (text, *locator.former_paths(text))}
        lineages = [each for path in names for each in locator.trail.lineages_in(path)]
        resolved = locator.resolved_commits
        commits = {
            commit.commit
            for each in lineages
            if (commit := known_commit(each, resolved.get(each.first.id))) is not None
        }
        known = self._subjects
        self._subjects = {
            commit: known[commit] if commit in known else locator.subject(commit)
            for commit in commits
        }
        return {commit: each for commit, each in self._subjects.items() if each is not None}

    def _look_up_notes(
        self, locator: ProjectLocator, texts: Mapping[str, Text]
    ) -> Mapping[str, FileNotes]:
        if self._notes is None:
            self._notes = NoteOverlay(locator)
        return self._notes.of(texts)

    def _look_up_trailers(
        self, locator: ProjectLocator, texts: Mapping[str, Text]
    ) -> Mapping[str, FileTrailers]:
        if self._trailers is None:
            self._trailers = TrailerOverlay(locator)
        return self._trailers.of(texts.keys())

    def look_up_closed_files(self) -> Mapping[str, ResolvedCommit]:
        """Return the commits of existing files' annotations, by the id of their first record.

        They are read again only when HEAD or the log is another one: what was recorded since has no
        commit yet.
        """
        locator = self._locator
        if locator is None or not locator.has_git:
            return {}
        state = locator.head(), locator.trail.log.columns
        before = self._closed_files_of
        if before[0] != state[0] or before[1] is not state[1]:
            locator.resolve_all_commits()
            self._closed_files, self._closed_files_of = dict(locator.resolved_commits), state
        return self._closed_files

    def _nearest(self, commits: Sequence[str]) -> str | None:
        return self._locator.nearest_commit(commits) if self._locator is not None else None

    def close(self) -> None:
        """End git's processes."""
        if self._notes is not None:
            self._notes.close()
            self._notes = None
        self._trailers = None
        if self._locator is not None:
            self._locator.close()
            self._locator = None
