"""The audit trails that the server knows, each found by the files that it owns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vibes_lsp.errors import AuditDirNotFound, UnreadableFile
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.documents import Document, Documents
from vibes_lsp.lsp.history_lookup import NearestAncestor
from vibes_lsp.lsp.placement_tracker import PlacementTracker
from vibes_lsp.lsp.project import Project
from vibes_lsp.lsp.snapshot import DocumentSnapshot
from vibes_lsp.lsp.uris import path_of
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir
from vibes_lsp.store.config import load_config


def _project(directory: AuditDir) -> Project:
    nearest = NearestAncestor()
    return Project(Trail(directory, nearest=nearest), load_config(directory), nearest=nearest)


def _nearest(uri: str) -> tuple[AuditDir, str] | None:
    """Return the trail that owns a file, and the file's path in its project; None for what no trail owns."""
    file = path_of(uri)
    if file is None:
        return None
    try:
        directory = find_audit_dir(file.parent)
    except (AuditDirNotFound, OSError):  # a folder that may not be entered, a name that is too long
        return None
    return directory, file.relative_to(directory.project).as_posix()


class Projects:
    """Finds the trail that owns a file: the nearest `.ai-audit/` above it, as in a tree with several.

    Attributes:
        noticed: Called when an answer took in a change on disk: what the client has of other answers may be wrong now.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._known: dict[Path, Project] = {}
        self._previews_risk = False
        self.noticed: Callable[[Project], None] = lambda _project: None

    def preview_risk(self, wanted: bool) -> None:  # noqa: FBT001  # the setting itself
        """Show live scores also where PRISM is off, or do not (R27)."""
        changed, self._previews_risk = wanted != self._previews_risk, wanted
        for project in self._known.values():
            project.previews_risk = wanted
            if changed:
                project.turn_over()

    def of(self, uri: str) -> tuple[Project, str] | None:
        """Return a file's project, refreshed, and the file's path in it; None for what no trail owns."""
        found = _nearest(uri)
        return None if found is None else (self.at(found[0]), found[1])

    def at(self, directory: AuditDir) -> Project:
        """Return the project of an audit directory, refreshed."""
        is_new = directory.path not in self._known
        project = self.known(directory)
        has_changed = project.refresh()
        if is_new:
            project.told = project.generation
        elif has_changed:
            self.noticed(project)
        return project

    def news(self) -> list[str]:
        """Look for changes on disk; return the open documents of which the client has answers that may be wrong now, whoever noticed the change.

        The client counts as told of them.
        """
        before = set(self._known)
        owners = {
            uri: self._owner(uri) for uri in self._documents.uris()
        }  # a trail may be new, and nearer than the one before
        for project in self._known.values():
            project.refresh()
        is_new = set(self._known) != before
        found = [
            uri
            for uri, owner in owners.items()
            if is_new or (owner is not None and owner.is_outdated(uri))
        ]
        for project in self._known.values():
            project.told = project.generation
        return found

    def _owner(self, uri: str) -> Project | None:
        """Return a document's project as it was last seen."""
        found = _nearest(uri)
        return None if found is None else self.known(found[0])

    def opened_in(self, project: Project) -> list[tuple[str, Document]]:
        """Return the open documents that a project owns, each with its path in it; none of those that a nearer trail owns."""
        found = ((_nearest(uri), self._documents.get(uri)) for uri in self._documents.uris())
        return [
            (owner[1], document)
            for owner, document in found
            if owner is not None
            and document is not None
            and owner[0].path == project.trail.directory.path
        ]

    def known(self, directory: AuditDir) -> Project:
        """Return the project of an audit directory as it was last seen."""
        project = self._known.get(directory.path)
        if project is None:
            project = self._known[directory.path] = _project(directory)
            project.previews_risk = self._previews_risk
        return project

    def view(self, uri: str) -> DocumentSnapshot | None:
        """Return the view of a file; None for what no trail owns, is part of a trail itself, or cannot be read.

        While somebody types, answers come from memory: the disk is looked at in the pause after it.

        Raises:
            StillReading: Its trail is being read for the first time.
        """
        document = self._documents.get(uri)
        if document is not None and document.is_in_flux:
            views = (project.view_while_typed(document) for project in self._known.values())
            known = next((view for view in views if view is not None), None)
            if known is not None:
                return known
        found = self.of(uri)
        if found is None:
            return None
        project, path = found
        if path.split("/")[0] == project.trail.directory.path.name:
            return None
        try:
            return project.read().view(uri, path, document)
        except UnreadableFile:
            return None

    def following(self, uri: str) -> PlacementTracker | None:
        """Return what follows an open document; None when nothing does, or no longer."""
        document = self._documents.get(uri)
        if document is None:
            return None
        return next(
            (
                found
                for project in self._known.values()
                if (found := project.following(document)) is not None
            ),
            None,
        )

    def all(self) -> list[Project]:
        """Return all projects that were asked about."""
        return list(self._known.values())

    def forget(self, uri: str) -> None:
        """Drop what was kept about a document."""
        for project in self._known.values():
            project.forget(uri)
