"""One audit trail that the server knows, brought up to date before every answer, with what it takes to answer about a file of its project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import VibesError
from vibes_lsp.history.commit_resolution import ResolvedCommit
from vibes_lsp.history.repository_state import RepositoryState
from vibes_lsp.index.file_history import NO_HISTORY, FileHistory
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.locate_annotations import LocationsByLineage, locate_annotations
from vibes_lsp.index.pending_completions import PendingCompletions
from vibes_lsp.index.placements import Placement, PlacementDependencies
from vibes_lsp.index.project_files import read_source
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.documents import Document
from vibes_lsp.lsp.history_lookup import (
    HistoryLookup,
    HistorySnapshot,
    LookedUpState,
    NearestAncestor,
)
from vibes_lsp.lsp.placement_tracker import PlacementTracker, newest
from vibes_lsp.lsp.snapshot import DocumentSnapshot
from vibes_lsp.model.paths import normal_path
from vibes_lsp.reports.placements import PlacementReport
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.config import LoadedConfig, load_config

if TYPE_CHECKING:
    from vibes_lsp.recording import Recorder


class StillReading(VibesError):
    """A large trail is being read for the first time."""

    code = "still-reading"

    def __init__(self) -> None:
        super().__init__("the audit trail is still being read", hint="ask again in a moment")


@dataclass
class _Kept:
    """What is kept about an open document: the placements that follow it, and the last view of it.

    Attributes:
        generation: Of the project, when this was last known to be right.
        since: The generation that it is right since.
        turn: Of the project.
        grounds: What it rests on in the trail.
        saved: The text of the document as it was last opened or saved.
        looked: What history was known to know.
        renamed: The files that were renamed.
        following: Follows the document.
        revision: Of the document, in the view.
        view: The last view.
    """

    generation: int
    since: int
    turn: int
    grounds: PlacementDependencies
    saved: Text
    looked: HistorySnapshot
    renamed: Mapping[str, str]
    following: PlacementTracker
    revision: int
    view: DocumentSnapshot


@dataclass
class Project:
    """One trail, brought up to date before every answer.

    Attributes:
        trail: The log and the manifest.
        config: The policy.
        loading: Whether a large trail is being read for the first time; there are no answers until then.
        generation: Grows whenever anything changed.
        turn: The generation in which something changed last on which all answers rest, and not only those about some files.
        told: The generation that the client knows of.
        looked: What git's history was last seen to know.
        asked: Which state of the project that is of.
        elsewhere: Commits of annotations in files that are not open, by the id of their first record.
        renamed: New names by old ones, of files that the client renamed.
        nearest: Decides between several ends of a lineage.
        previews_risk: Whether live scores are shown also where the project has not enabled them (R27).
        pending: What waits to be recorded.
        history: What looks into git's history.
    """

    trail: Trail
    config: LoadedConfig
    loading: bool = False
    generation: int = 0
    turn: int = 0
    told: int = 0
    looked: HistorySnapshot = field(default_factory=HistorySnapshot)
    asked: LookedUpState = field(default_factory=LookedUpState)
    elsewhere: Mapping[str, ResolvedCommit] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    nearest: NearestAncestor = field(default_factory=NearestAncestor)
    previews_risk: bool = False
    pending: PendingCompletions = field(init=False)
    history: HistoryLookup = field(init=False)
    _repository: RepositoryState = field(init=False)
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pending = PendingCompletions(self.trail.directory)
        self.history = HistoryLookup(self.trail)
        self._repository = RepositoryState(self.trail.directory.project)

    @cached_property
    def recorder(self) -> Recorder:
        """What makes the trail grow; made when first needed."""
        from vibes_lsp.recording import Recorder  # noqa: PLC0415  # a server that only reads starts without it

        return Recorder(self.trail.directory, beside=self.trail)

    @property
    def policy(self) -> Policy:
        """What scores are made by and shown for: the project's policy, and what the user wants to see beyond it (R27)."""
        return self.config.policy.preview if self.previews_risk else self.config.policy

    def close(self) -> None:
        """Let go of git."""
        self.history.close()

    def take(self, looked: HistorySnapshot) -> bool:
        """Take in what history knows now; say whether answers are others by it."""
        if looked == self.looked:
            return False
        self.looked = looked
        self.nearest.known = looked.nearest
        self.turn_over()
        return True

    def rename(self, old: str, new: str) -> None:
        """Take in that a file or folder of the project has another name now; annotations of it are about the new one."""
        now = {name: name for name in map(normal_path, self.trail.annotated_paths())} | self.renamed
        moved = {
            first: new + name.removeprefix(old)
            for first, name in now.items()
            if name == old or name.startswith(f"{old}/")
        }
        self.renamed = {
            first: name for first, name in (self.renamed | moved).items() if name != first
        }
        self.asked.changes += 1
        self.turn_over()

    def turn_over(self) -> None:
        """Take in that all answers may be others now."""
        self.generation += 1
        self.turn = self.generation

    def past(self, path: str) -> FileHistory:
        """Return what is known by now of an open file's annotations."""
        past = self.looked.pasts.get(path, NO_HISTORY)
        return self._renamed_past(path, past)

    def _renamed_past(self, path: str, past: FileHistory) -> FileHistory:
        former = dict.fromkeys(
            (*past.former_paths, *(old for old, new in self.renamed.items() if new == path))
        )
        return replace(past, former_paths=tuple(former))

    def refresh(self) -> bool:
        """Take in what changed on disk; say whether anything did."""
        if self.loading:
            return False
        config = load_config(self.trail.directory, self.config)
        has_grown, is_other = (
            self.trail.refresh(),
            any((self.pending.refresh(), config is not self.config)),
        )
        self.config = config
        if is_other:
            self.turn_over()
        self.generation += has_grown
        self.asked.changes += has_grown or is_other
        has_other_commits = self._repository.refresh()
        self.asked.changes += has_other_commits
        return has_grown or is_other or has_other_commits

    def read(self) -> Project:
        """Return the project once there is something to answer from.

        Raises:
            StillReading: A thread is still reading it.
        """
        if self.loading:
            raise StillReading
        return self

    def view(self, uri: str, path: str, document: Document | None) -> DocumentSnapshot:
        """Return the view of a file; an unsaved document counts before what is on disk.

        Raises:
            UnreadableFile: The file is not open, and cannot be read.
        """
        if document is None:  # what is closed is never forgotten, and so not kept
            text = self.saved(path)
            past = self._renamed_past(path, NO_HISTORY)
            return self._view(uri, path, None, text, tuple(self._place(path, text, past)))
        kept = self._kept.get(uri)
        if kept is None or self.following(document) is None:
            return self._keep(uri, path, document, self._follow(path, document, kept))
        placements = kept.following.placements()
        is_provisional = self.is_provisional(path, document)
        if (kept.revision, kept.view.is_provisional) != (
            document.revision,
            is_provisional,
        ) or kept.view.placements is not placements:
            kept.view = self._view(uri, path, document, document.text, placements)
            kept.revision = document.revision
        return kept.view

    def view_while_typed(self, document: Document) -> DocumentSnapshot | None:
        """Return the view of a document that is typed in, from memory alone; None where it has no earlier one."""
        kept = self._kept.get(document.uri)
        if kept is None or kept.following.document is not document:
            return None
        return self.view(document.uri, kept.view.path, document)

    def _keep(
        self, uri: str, path: str, document: Document, following: PlacementTracker
    ) -> DocumentSnapshot:
        view = self._view(uri, path, document, document.text, following.placements())
        grounds, now = PlacementDependencies(self.trail, path, self.past(path)), self.generation
        self._kept[uri] = _Kept(
            now,
            now,
            self.turn,
            grounds,
            document.saved,
            self.looked,
            self.renamed,
            following,
            document.revision,
            view,
        )
        return view

    def _follow(self, path: str, document: Document, kept: _Kept | None) -> PlacementTracker:
        """Return what follows a document from now on.

        A text that was not changed since it was opened or saved is placed as by a process that has just begun. In one that
        was, what was followed stays where it is if nothing but the trail has changed.
        """
        past = self.past(path)
        if (
            kept is None
            or kept.following.document is not document
            or kept.saved is not document.saved
            or not document.has_changes
        ):
            return PlacementTracker(document, self._place(path, document.text, past), past)
        before = kept.following
        past = replace(past, original_texts=newest(before.origins, past.original_texts))
        known = (
            before.known() if kept.looked is self.looked and kept.renamed is self.renamed else {}
        )
        placements = self._place(path, document.text, past, known, in_flux=document.is_in_flux)
        is_news = bool(known) and document.is_in_flux
        return PlacementTracker(
            document,
            placements if known else before.carried(placements),
            past,
            before,
            is_news=is_news,
        )

    def known(self, document: Document) -> LocationsByLineage:
        """Return where annotations of an open document are in it, as far as it is followed, whatever the trail has got since."""
        kept = self._kept.get(document.uri)
        return (
            kept.following.known()
            if kept is not None and kept.following.document is document
            else {}
        )

    def _place(
        self,
        path: str,
        text: Text,
        past: FileHistory,
        known: LocationsByLineage | None = None,
        *,
        in_flux: bool = False,
    ) -> list[Placement]:
        return locate_annotations(
            self.trail, path, text, past, self.pending.lineages_in(path), known, is_typing=in_flux
        )

    def _view(
        self,
        uri: str,
        path: str,
        document: Document | None,
        text: Text,
        placements: tuple[Placement, ...],
    ) -> DocumentSnapshot:
        derived = (
            self.looked.derived
            if document is not None and path in self.looked.pasts
            else self.elsewhere
        )
        report = PlacementReport(
            self.trail, text, scorer=Scorer(self.trail, self.policy), derived=derived
        )
        version = document.version if document is not None else None
        return DocumentSnapshot(
            self,
            path,
            uri,
            version,
            text,
            placements,
            report,
            is_provisional=self.is_provisional(path, document),
        )

    def is_provisional(self, path: str, document: Document | None) -> bool:
        """Whether git's history is still to be asked about a file as it was last saved, and the trail as it is now."""
        if document is None:
            return self.asked.elsewhere < self.asked.changes
        return self.wants_look([(path, document)])

    def provisional(self) -> list[str]:
        """Return the documents of which the last answer was provisional."""
        return [uri for uri, kept in self._kept.items() if kept.view.is_provisional]

    def wants_look(self, opened: Iterable[tuple[str, Document]]) -> bool:
        """Whether history may answer otherwise than at the last look, about any of these open documents."""
        if (
            self.asked.until < self.asked.changes
            or not self.nearest.asked <= self.nearest.known.keys()
        ):
            return True
        return not all(self.asked.knows(path, document) for path, document in opened)

    def following(self, document: Document) -> PlacementTracker | None:
        """Return what follows an open document; None when nobody asked about it, the trail has changed since, or it could not keep up."""
        kept = self._kept.get(document.uri)
        if (
            kept is None
            or kept.following.document is not document
            or kept.saved is not document.saved
            or not self._is_right(kept)
        ):
            return None
        return kept.following if kept.following.keeps_up else None

    def is_outdated(self, uri: str) -> bool:
        """Whether what the client knows of an open document may be wrong now; it may know of one that nobody asked about since."""
        if self.generation == self.told:
            return False
        kept = self._kept.get(uri)
        return kept is None or kept.since > self.told or not self._is_right(kept)

    def _is_right(self, kept: _Kept) -> bool:
        """Whether nothing has changed that the answers about a document rest on."""
        if kept.generation != self.generation:
            if kept.turn != self.turn or not kept.grounds.are_unchanged():
                return False
            kept.generation = self.generation
        return True

    def saved(self, path: str) -> Text:
        """Return a file as it is saved; raises `UnreadableFile`, also for a link out of the project."""
        return read_source(self.trail.directory.project, path)

    def forget(self, uri: str) -> None:
        """Drop what was kept about a document."""
        self._kept.pop(uri, None)
