"""The audit trails that the server knows, each with what it takes to answer about a file of its project."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pygls.uris import to_fs_path

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import AuditDirNotFound, UnreadableFile, VibesError
from vibes_lsp.history.derived import DerivedCommit
from vibes_lsp.index.placements import Placement, place
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.documents import Document, Documents
from vibes_lsp.model.defaults import DEFAULT_THRESHOLDS
from vibes_lsp.reports.placements import PlacementReport
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.layout import AuditDir, find_audit_dir

_MAX_SOURCE = 64 << 20


class StillReading(VibesError):
    """A large trail is being read for the first time."""

    code = "still-reading"


@dataclass(frozen=True, slots=True)
class View:
    """A file as it is answered about: its project, its path in it, its text, and the placements in that text."""

    project: Project
    path: str
    uri: str
    version: int | None
    text: Text
    placements: tuple[Placement, ...]
    report: PlacementReport


@dataclass
class Project:
    """One trail, brought up to date before every answer.

    Attributes:
        trail: The log and the manifest.
        config: The policy.
        loading: Whether a large trail is being read for the first time; there are no answers until then.
        generation: Grows whenever anything changed.
        told: The generation that the client knows of.
        derived: Commits of annotations that record none.
        derived_known: Whether these have been looked up.
    """

    trail: Trail
    config: LoadedConfig
    loading: bool = False
    generation: int = 0
    told: int = 0
    derived: dict[str, DerivedCommit] = field(default_factory=dict)
    derived_known: bool = False
    _views: dict[str, tuple[int, object, View]] = field(default_factory=dict)

    def refresh(self) -> bool:
        """Take in what changed on disk; say whether anything did."""
        if self.loading:
            return False
        config = load_config(self.trail.directory, self.config)
        changed = self.trail.refresh() or config is not self.config
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
        source = document if document is not None else self._saved(path)
        known = self._views.get(uri)
        if known is not None and known[0] == self.generation and known[1] == source:
            return known[2]
        text = Text.from_bytes(source) if isinstance(source, bytes) else source.text
        placements = tuple(place(self.trail, path, text))
        risk = self.config.config.risk_scoring
        thresholds = DEFAULT_THRESHOLDS if risk is None else risk.thresholds
        report = PlacementReport(self.trail, text, thresholds=thresholds, derived=self.derived)
        view = View(self, path, uri, document.version if document is not None else None, text, placements, report)
        if document is not None:  # what is closed is never forgotten
            self._views[uri] = (self.generation, source, view)
        return view

    def _saved(self, path: str) -> bytes:
        data = read_file(self.trail.directory.project / path, limit=_MAX_SOURCE)
        if data is None:
            raise UnreadableFile(f"{path} is not there")
        return data

    def forget(self, uri: str) -> None:
        """Drop what was kept about a document."""
        self._views.pop(uri, None)


def path_of(uri: str) -> Path | None:
    """Return the absolute path that a URI names; None for what can be no file of ours: `untitled:`, a notebook's cell, nonsense."""
    try:
        name = to_fs_path(uri)
    except ValueError:
        return None
    return Path(name).absolute() if name and "\0" not in name else None


class Projects:
    """Finds the trail that owns a file: the nearest `.ai-audit/` above it, as in a tree with several."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._known: dict[Path, Project] = {}

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
            project = self._known[directory.path] = Project(Trail(directory), load_config(directory))
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

    def all(self) -> list[Project]:
        """Return all projects that were asked about."""
        return list(self._known.values())

    def forget(self, uri: str) -> None:
        """Drop what was kept about a document."""
        for project in self._known.values():
            project.forget(uri)
