"""What git's history knows of a project's open documents, looked up in a thread: no answer waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vibes_lsp.anchors.text import Text
from vibes_lsp.history.commit_resolution import ResolvedCommit
from vibes_lsp.index.file_history import FileHistory
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.documents import Document


@dataclass(frozen=True, slots=True)
class HistorySnapshot:
    """What a look found.

    Attributes:
        is_done: Whether anybody has looked; before that, answers are provisional.
        has_git: Whether there is a history at all.
        derived: Commits of annotations of these documents that record none that holds, by the id of their first record.
        pasts: What is known of each document's annotations, by path.
        nearest: Which of some commits is the nearest ancestor of HEAD, for those that were asked about.
    """

    is_done: bool = False
    has_git: bool = False
    derived: Mapping[str, ResolvedCommit] = field(default_factory=dict)
    pasts: Mapping[str, FileHistory] = field(default_factory=dict)
    nearest: Mapping[tuple[str, ...], str | None] = field(default_factory=dict)


@dataclass
class LookedUpState:
    """Which state of a project the last look was about; an answer that rests on an older one is provisional.

    Attributes:
        changes: Grows with whatever may change what history says: the trail, HEAD, names of files, a save.
        until: The changes that the last look knew of.
        elsewhere: The changes that were known when the commits of files that are not open were looked up.
        texts: The open documents that the last look was about, by path.
        is_running: Whether a thread is looking.
    """

    changes: int = 0
    until: int = -1
    elsewhere: int = -1
    texts: Mapping[str, Text] = field(default_factory=dict)
    is_running: bool = False

    def knows(self, path: str, document: Document) -> bool:
        """Whether the last look was about a document as it was last saved; while it is changed, any of its texts will do."""
        text = self.texts.get(path)
        return text is not None and (text is document.saved or document.has_changes)


class NearestAncestor:
    """Answers from the last look which of some commits is nearest to HEAD, and has the next look find out what it did not know (R7)."""

    def __init__(self) -> None:
        self.known: Mapping[tuple[str, ...], str | None] = {}
        self.asked: set[tuple[str, ...]] = set()

    def __call__(self, commits: Sequence[str]) -> str | None:
        """Return one of the commits, or None."""
        self.asked.add(tuple(commits))
        return self.known.get(tuple(commits))


class HistoryLookup:
    """Looks into the history of one project, for one thread at a time, with a trail of its own: the one that answers stays on the loop."""

    def __init__(self, beside: Trail) -> None:
        self._beside = beside
        self._locator: ProjectLocator | None = None
        self._elsewhere: Mapping[str, ResolvedCommit] = {}
        self._seen: tuple[str | None, object] = None, None

    def look(
        self,
        texts: Mapping[str, Text],
        renamed: Mapping[str, str],
        asked: Sequence[tuple[str, ...]],
        *,
        use_git: bool,
    ) -> HistorySnapshot:
        """Return what history knows now.

        Args:
            texts: The open documents by path.
            renamed: New names by old ones, of files that were renamed since the last commit.
            asked: Commits of which the nearest to HEAD is wanted.
            use_git: Whether to look at all.
        """
        if not use_git:
            self.close()
            return HistorySnapshot(is_done=True, nearest=dict.fromkeys(asked))
        locator = self._locator
        if locator is None:
            locator = self._locator = ProjectLocator(
                Trail(self._beside.directory, nearest=self._nearest, beside=self._beside)
            )
        locator.refresh(renamed)
        pasts = {path: locator.file_history(path, text) for path, text in texts.items()}
        nearest = {commits: locator.nearest_commit(commits) for commits in asked}
        return HistorySnapshot(
            is_done=True,
            has_git=locator.has_git,
            derived=dict(locator.resolved_commits),
            pasts=pasts,
            nearest=nearest,
        )

    def look_elsewhere(self) -> Mapping[str, ResolvedCommit]:
        """Return the commits of the annotations of all files, by the id of their first record.

        What was recorded since has none yet: all annotations are read again only when HEAD is another one, or another log is there.
        """
        locator = self._locator
        if locator is None or not locator.has_git:
            return {}
        seen = locator.head(), locator.trail.log.columns
        if self._seen[0] != seen[0] or self._seen[1] is not seen[1]:
            locator.resolve_commits(locator.trail.lineages())
            self._elsewhere, self._seen = dict(locator.resolved_commits), seen
        return self._elsewhere

    def _nearest(self, commits: Sequence[str]) -> str | None:
        return self._locator.nearest_commit(commits) if self._locator is not None else None

    def close(self) -> None:
        """Let go of git."""
        if self._locator is not None:
            self._locator.close()
            self._locator = None
