"""Where things of a trail open: an edit at its lines now, all others where they are recorded."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.lsp.conversion import Encoding, place_of_lines, uri_in
from vibes_lsp.lsp.projects import Project
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.paths import can_be_in_project
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.provenance_graph import GraphNode
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.journal import journal_files
from vibes_lsp.store.manifest import Manifest

MAX_FILES: Final = 200
"""Files that are located for one answer."""


class RecordPlaces:
    """Locates things of one trail for one answer.

    Args:
        ls: The server.
        project: The project, refreshed.
        known: A file of it.

    Attributes:
        encoding: What columns count.
    """

    def __init__(self, ls: Server, project: Project, known: DocumentSnapshot | None = None) -> None:
        self._ls = ls
        self.encoding: Final = ls.documents.encoding
        self._project = project
        self._new_names = project.snapshot.new_names
        self._snapshots: dict[str, DocumentSnapshot | None] = (
            {} if known is None else {known.path: known}
        )

    def path_now(self, recorded: str) -> str:
        """Return the name that a file has now, by the recorded one."""
        path = self._new_names.get(recorded, recorded)
        if path != recorded and recorded not in self._project.snapshot.renamed:
            is_back = (self._project.directory.project / recorded).is_file()
            return recorded if is_back else path
        return path

    async def edit(self, node: GraphNode) -> tuple[DocumentSnapshot, Placement] | None:
        """Return where an edit is in the text of its file now; None if that cannot be read.

        Lines that moved to another file are found there if it is open.
        """
        found = await self._edit_in(self.path_now(node.path or ""), node.id)
        if found is not None and found[1].located.start is not None:
            return found
        for path in self._project.snapshot.history.files:
            moved = await self._edit_in(path, node.id)
            if moved is not None and moved[1].located.start is not None:
                return moved
        return found

    async def lines_now(self, node: GraphNode) -> types.Location | None:
        """Return the lines of an edit now; None if they are lost, and for what is no edit."""
        found = await self.edit(node) if node.kind == "annotation" else None
        return None if found is None else location_now(*found, self.encoding)

    async def _edit_in(
        self, path: str, identifier: str
    ) -> tuple[DocumentSnapshot, Placement] | None:
        snapshot = await self.snapshot(path)
        placement = None if snapshot is None else snapshot.placement_with(identifier)
        return None if snapshot is None or placement is None else (snapshot, placement)

    async def snapshot(self, path: str) -> DocumentSnapshot | None:
        """Return a file of the project with its placements; None beyond `MAX_FILES`."""
        if path in self._snapshots:
            return self._snapshots[path]
        directory = self._project.directory
        uri = uri_in(directory.project, path) if can_be_in_project(path) else None
        if uri is None or len(self._snapshots) == MAX_FILES:
            return None
        await asyncio.sleep(0)  # other requests go first; a cancelled one ends here
        self._snapshots[path] = self._ls.projects.snapshot(uri)
        return self._snapshots[path]

    async def place(self, node: GraphNode) -> types.Location | None:
        """Return where to open a node; None for what the trail does not have."""
        if node.kind == "annotation":
            return await self.lines_now(node) or self.record(node)
        return self.record(node) if node.kind == "session" else await self.entry(node.id)

    def record(self, node: GraphNode) -> types.Location | None:
        """Return the line of an edit's current record, or of a session's start."""
        log = self._project.snapshot.trail.log
        if node.kind == "session":
            session = log.session(node.id)
            record = next(iter((*session.starts, *session.ends)), None) if session else None
        else:
            record = log.by_id(node.id)
        return None if record is None or record.is_waiting else self.line(record.line)

    def line(self, number: int) -> types.Location:
        """Return a line of the log."""
        return _line_of(self._project.directory.log.absolute().as_uri(), number)

    async def entry(self, key: str) -> types.Location | None:
        """Return the line of an entry in the manifest or its journal."""
        manifest, directory = self._project.snapshot.trail.manifest, self._project.directory
        return await self._ls.run_in_thread(partial(_find_entry, manifest, directory, key))


def location_now(
    snapshot: DocumentSnapshot, placement: Placement, encoding: Encoding
) -> types.Location | None:
    """Return the lines of a placement; None if they are lost."""
    start, end = placement.located.start, placement.located.end
    if start is None or end is None or placement.located.state == State.LOST:
        return None
    return types.Location(snapshot.uri, place_of_lines(snapshot.text.lines, start, end, encoding))


def _line_of(uri: str, line: int) -> types.Location:
    position = types.Position(line - 1, 0)
    return types.Location(uri, types.Range(position, position))


def _find_entry(manifest: Manifest, directory: AuditDir, key: str) -> types.Location | None:
    """Search the manifest, which never changes, and else the journal, in a thread."""
    line = manifest.line_of(key)
    if line is not None:
        return _line_of(directory.manifest.absolute().as_uri(), line)
    for path in journal_files(directory):
        data = read_file(path) or b""
        at = data.find(key.encode("utf-8", "surrogatepass"))
        if at >= 0:
            return _line_of(path.absolute().as_uri(), data.count(b"\n", 0, at) + 1)
    return None
