"""The audit trails that the server knows, each with what it takes to answer about a file of its project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import AuditDirNotFound, UnreadableFile, VibesError
from vibes_lsp.index.past import NO_PAST, Past
from vibes_lsp.index.pending import Pending
from vibes_lsp.index.placements import Known, Placement, place
from vibes_lsp.index.risk import Scorer
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.documents import Document, Documents
from vibes_lsp.lsp.following import Following, newest
from vibes_lsp.lsp.history import History, Looked, Nearest
from vibes_lsp.lsp.uris import path_of
from vibes_lsp.lsp.views import View
from vibes_lsp.model.paths import normal_path
from vibes_lsp.reports.placements import PlacementReport
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.layout import AuditDir, find_audit_dir

if TYPE_CHECKING:
    from vibes_lsp.recording import Recorder

_MAX_SOURCE = 64 << 20


class StillReading(VibesError):
    """A large trail is being read for the first time."""

    code = "still-reading"


@dataclass
class _Kept:
    """What is kept about an open document: the placements that follow it, and the last view of it."""

    generation: int
    looked: Looked
    renamed: Mapping[str, str]
    following: Following
    revision: int
    view: View


@dataclass
class Project:
    """One trail, brought up to date before every answer.

    Attributes:
        trail: The log and the manifest.
        config: The policy.
        loading: Whether a large trail is being read for the first time; there are no answers until then.
        generation: Grows whenever anything changed.
        told: The generation that the client knows of.
        looked: What git's history was last seen to know.
        looking: Whether a thread is looking into it; then, whether that is wanted once more.
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
    told: int = 0
    looked: Looked = field(default_factory=Looked)
    looking: bool | None = None
    renamed: dict[str, str] = field(default_factory=dict)
    nearest: Nearest = field(default_factory=Nearest)
    previews_risk: bool = False
    pending: Pending = field(init=False)
    history: History = field(init=False)
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pending = Pending(self.trail.directory)
        self.history = History(self.trail)

    @cached_property
    def recorder(self) -> Recorder:
        """What makes the trail grow; made when first needed."""
        from vibes_lsp.recording import Recorder  # noqa: PLC0415  # a server that only reads starts without it

        return Recorder(self.trail.directory, beside=self.trail)

    def close(self) -> None:
        """Let go of git."""
        self.history.close()

    def take(self, looked: Looked) -> bool:
        """Take in what history knows now; say whether answers are others by it."""
        if looked == self.looked:
            return False
        self.looked = looked
        self.nearest.known = looked.nearest
        self.generation += 1
        return True

    def rename(self, old: str, new: str) -> None:
        """Take in that a file or folder of the project has another name now; annotations of it are about the new one."""
        self.renamed = dict(self.renamed)
        for name in {normal_path(path) for path in self.trail.paths()} | set(self.renamed.values()):
            if name == old or name.startswith(f"{old}/"):
                self.renamed[name] = new + name.removeprefix(old)
        self.generation += 1

    def past(self, path: str) -> Past:
        """Return what is known by now of a file's annotations."""
        past = self.looked.pasts.get(path, NO_PAST)
        former = dict.fromkeys((*past.former_paths, *(old for old, new in self.renamed.items() if new == path)))
        return replace(past, former_paths=tuple(former))

    def refresh(self) -> bool:
        """Take in what changed on disk; say whether anything did."""
        if self.loading:
            return False
        config = load_config(self.trail.directory, self.config)
        changed = any((self.trail.refresh(), self.pending.refresh(), config is not self.config))
        self.config = config
        self.generation += changed
        return changed

    def read(self) -> Project:
        """Return the project once there is something to answer from.

        Raises:
            StillReading: A thread is still reading it.
        """
        if self.loading:
            raise StillReading("the audit trail is still being read", hint="ask again in a moment")
        return self

    def view(self, uri: str, path: str, document: Document | None) -> View:
        """Return the view of a file; an unsaved document counts before what is on disk.

        Raises:
            UnreadableFile: The file is not open, and cannot be read.
        """
        if document is None:  # what is closed is never forgotten, and so not kept
            text = Text.from_bytes(self.saved(path))
            return self._view(uri, path, None, text, tuple(self._place(path, text, self.past(path))))
        kept = self._kept.get(uri)
        if kept is None or self.following(document) is None:
            following = self._follow(path, document, kept)
            view = self._view(uri, path, document.version, document.text, following.placements())
            self._kept[uri] = _Kept(self.generation, self.looked, self.renamed, following, document.revision, view)
            return view
        placements = kept.following.placements()
        if kept.revision != document.revision or kept.view.placements is not placements:
            kept.view = self._view(uri, path, document.version, document.text, placements)
            kept.revision = document.revision
        return kept.view

    def _follow(self, path: str, document: Document, kept: _Kept | None) -> Following:
        """Return what follows a document from now on; if nothing but the trail has changed, what was followed stays where it is."""
        past = self.past(path)
        if kept is None or kept.following.document is not document:
            return Following(document, self._place(path, document.text, past), past)
        before = kept.following
        past = replace(past, origins=newest(before.origins, past.origins))
        known = before.known() if kept.looked is self.looked and kept.renamed is self.renamed else {}
        placements = self._place(path, document.text, past, known)
        return Following(document, placements if known else before.carried(placements), past, before)

    def known(self, document: Document) -> Known:
        """Return where annotations of an open document are in it, as far as it is followed, whatever the trail has got since."""
        kept = self._kept.get(document.uri)
        return kept.following.known() if kept is not None and kept.following.document is document else {}

    def _place(self, path: str, text: Text, past: Past, known: Known | None = None) -> list[Placement]:
        return place(self.trail, path, text, past, self.pending.lineages_in(path), known)

    def _view(self, uri: str, path: str, version: int | None, text: Text, placements: tuple[Placement, ...]) -> View:
        policy = self.config.policy.previewed if self.previews_risk else self.config.policy
        report = PlacementReport(self.trail, text, scorer=Scorer(self.trail, policy), derived=self.looked.derived)
        return View(self, path, uri, version, text, placements, report, is_provisional=self.is_provisional(path))

    def is_provisional(self, path: str) -> bool:
        """Whether git's history is still to be asked about a file."""
        return not self.looked.is_done or (self.looked.has_git and path not in self.looked.pasts and self.looking is not None)

    def following(self, document: Document) -> Following | None:
        """Return what follows an open document; None when nobody asked about it, the trail has changed since, or it could not keep up."""
        kept = self._kept.get(document.uri)
        if kept is None or kept.generation != self.generation or kept.following.document is not document:
            return None
        return kept.following if kept.following.keeps_up else None

    def saved(self, path: str) -> bytes:
        """Return a file as it is saved; raises `UnreadableFile`."""
        data = read_file(self.trail.directory.project / path, limit=_MAX_SOURCE)
        if data is None:
            raise UnreadableFile(f"{path} is not there")
        return data

    def forget(self, uri: str) -> None:
        """Drop what was kept about a document."""
        self._kept.pop(uri, None)


def _project(directory: AuditDir) -> Project:
    nearest = Nearest()
    return Project(Trail(directory, nearest=nearest), load_config(directory), nearest=nearest)


class Projects:
    """Finds the trail that owns a file: the nearest `.ai-audit/` above it, as in a tree with several."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._known: dict[Path, Project] = {}
        self._previews_risk = False

    def preview_risk(self, wanted: bool) -> None:  # noqa: FBT001  # the setting itself
        """Show live scores also where PRISM is off, or do not (R27)."""
        changed, self._previews_risk = wanted != self._previews_risk, wanted
        for project in self._known.values():
            project.previews_risk = wanted
            project.generation += changed

    def of(self, uri: str) -> tuple[Project, str] | None:
        """Return a file's project, refreshed, and the file's path in it; None for what no trail owns."""
        file = path_of(uri)
        if file is None:
            return None
        try:
            project = self.at(find_audit_dir(file.parent))
        except (AuditDirNotFound, OSError):  # a folder that may not be entered, a name that is too long
            return None
        return project, file.relative_to(project.trail.directory.project).as_posix()

    def at(self, directory: AuditDir) -> Project:
        """Return the project of an audit directory, refreshed."""
        is_new = directory.path not in self._known
        project = self.known(directory)
        project.refresh()
        if is_new:
            project.told = project.generation
        return project

    def news(self) -> bool:
        """Look for changes on disk; say whether the client has answers that may be wrong now, whoever noticed the change."""
        before = set(self._known)
        for uri in self._documents.uris():
            self.of(uri)  # a trail may be new, and nearer than the one before
        for project in self._known.values():
            project.refresh()
        return set(self._known) != before or any(project.generation != project.told for project in self._known.values())

    def known(self, directory: AuditDir) -> Project:
        """Return the project of an audit directory as it was last seen."""
        project = self._known.get(directory.path)
        if project is None:
            project = self._known[directory.path] = _project(directory)
            project.previews_risk = self._previews_risk
        return project

    def view(self, uri: str) -> View | None:
        """Return the view of a file; None for what no trail owns, is part of a trail itself, or cannot be read."""
        found = self.of(uri)
        if found is None:
            return None
        project, path = found
        if project.loading:
            return None
        if path.split("/")[0] == project.trail.directory.path.name:
            return None
        try:
            return project.view(uri, path, self._documents.get(uri))
        except UnreadableFile:
            return None

    def following(self, uri: str) -> Following | None:
        """Return what follows an open document; None when nothing does, or no longer."""
        document = self._documents.get(uri)
        if document is None:
            return None
        return next((found for project in self._known.values() if (found := project.following(document)) is not None), None)

    def all(self) -> list[Project]:
        """Return all projects that were asked about."""
        return list(self._known.values())

    def forget(self, uri: str) -> None:
        """Drop what was kept about a document."""
        for project in self._known.values():
            project.forget(uri)
