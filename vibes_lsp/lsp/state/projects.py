"""The audit trails that the server has open, each found by the files that it owns.

A `Project` is refreshed before every answer and replaces its `TrailSnapshot` when anything changed.
Only the event loop may touch what is in this module; `docs/architecture.md` has the rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vibes_lsp.errors import AuditDirNotFound, OutdatedIndex, UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository_state import RepositoryState
from vibes_lsp.knowledge.ai_lines import CountAiLines, no_ai_lines
from vibes_lsp.lsp.protocol.conversion import folder_of, path_of
from vibes_lsp.lsp.protocol.open_documents import Document, Documents
from vibes_lsp.lsp.state.document_state import DocumentState
from vibes_lsp.lsp.state.history_lookup import (
    HistoryCoverage,
    HistoryLookup,
    LookupRequest,
)
from vibes_lsp.lsp.state.snapshots import (
    DocumentSnapshot,
    HistorySnapshot,
    TrailSnapshot,
    snapshot_of_file,
)
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, nearest_audit_dir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.files import real_path_in
from vibes_lsp.trail.pending_completions import PendingCompletions
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from vibes_lsp.recording import Recorder

MAX_READ: Final = 4 << 20
"""Bytes of a log that are read before an answer, in 10 ms; more are indexed in the background."""


class Project:
    """One trail, and what git says about it.

    Args:
        directory: The audit directory.
        previews_risk: Whether live scores are shown where the project has not enabled them (R27).

    Attributes:
        directory: The audit directory.
        trail: The log and the manifest. Nothing but `indexing` uses it while it is indexed.
        pending: Inline completions that are not in the log yet.
        history: Reads the git history, in a thread.
        coverage: What the lookups in git history cover.
        late_notice: What was said last of edits that no hook has written into their commit.
    """

    def __init__(self, directory: AuditDir, *, previews_risk: bool = False) -> None:
        trail = Trail(
            directory,
            nearest_commit=self._nearest_commit,
            uses_saved=True,
        )
        self.directory, self.trail = directory, trail
        self.pending = PendingCompletions(directory)
        self.history = HistoryLookup(trail)
        self.coverage = HistoryCoverage()
        self._repository = RepositoryState(directory.project)
        self._was_indexed = asyncio.Event()
        self._snapshot = TrailSnapshot(
            trail, self.pending, load_config(directory), previews_risk=previews_risk
        )
        self._published_generation = 0
        self.late_notice = ""

    @property
    def snapshot(self) -> TrailSnapshot:
        """The trail as of the last refresh."""
        return self._snapshot

    @property
    def is_indexing(self) -> bool:
        """Whether so much of the log has to be read that it is done in the background."""
        return self._snapshot.is_indexing

    @cached_property
    def recorder(self) -> Recorder:
        """Records into the trail; made when first needed."""
        # Imported late: a server that only reads starts without it.
        from vibes_lsp.recording import Recorder  # noqa: PLC0415

        return Recorder(self.directory)

    @property
    def has_recorder(self) -> bool:
        """Whether anything was recorded here."""
        return "recorder" in vars(self)

    def close(self) -> None:
        """End git's processes, and close the index unless a thread is writing it."""
        self.history.close()
        if not self.is_indexing:
            self.trail.close()

    def _nearest_commit(self, commits: Sequence[str]) -> str | None:
        """Return the commit that is nearest to HEAD (R7), as far as a lookup has compared them."""
        return self._snapshot.history.nearest.get(tuple(commits))

    # Indexing

    def begin_indexing(self) -> bool:
        """Show an empty trail that is being indexed; return False if that is so already."""
        if self.is_indexing:
            return False
        self._was_indexed.clear()
        self._snapshot = self._snapshot.later(trail=Trail(self.directory), is_indexing=True)
        return True

    def end_indexing(self) -> None:
        """Show the trail from now on."""
        self._snapshot = self._snapshot.later(trail=self.trail, is_indexing=False)
        self._was_indexed.set()

    async def until_indexed(self) -> None:
        """Wait while the log is indexed."""
        while self.is_indexing:
            await self._was_indexed.wait()

    # Changes of the trail

    def has_much_to_read(self) -> bool:
        """Whether so much of the log is new that it has to be read in the background."""
        return not self.is_indexing and self.trail.log.bytes_to_read() > MAX_READ

    def refresh(self) -> bool:
        """Read what changed on disk; return whether anything did."""
        if self.is_indexing:
            return False
        before = self._snapshot
        has_grown = before.trail.refresh()
        config = load_config(self.directory, before.config)
        is_other = self.pending.refresh() or has_grown or config is not before.config
        if is_other:
            self._snapshot = before.later(config=config)
        if has_changed := self._repository.refresh() or is_other:
            self.coverage.add_change()
        return has_changed

    def rename(self, old: str, new: str) -> None:
        """Move the annotations of a file or folder to its new path."""
        self._snapshot = self._snapshot.with_renamed(old, new)
        self.coverage.add_change()

    def preview_risk(self, *, wanted: bool) -> None:
        """Show live scores also where the project has not enabled them, or do not (R27)."""
        if wanted != self._snapshot.previews_risk:
            self._snapshot = self._snapshot.later(previews_risk=wanted)

    # Files

    def closed_snapshot(self, uri: str, path: str) -> DocumentSnapshot:
        """Return a file that is not open, with its placements.

        Nothing is kept of it: no message says when a client is done with a file.

        Raises:
            UnreadableFile: It cannot be read.
        """
        text, is_provisional = read_source(self.directory.project, path), self.is_provisional(path)
        return snapshot_of_file(self._snapshot, path, uri, text, is_provisional=is_provisional)

    def is_provisional(self, path: str, document: Document | None = None) -> bool:
        """Whether git history has still to be looked up for a file."""
        return self.is_indexing or not self.coverage.covers(path, document)

    # What the client has

    @property
    def is_outdated(self) -> bool:
        """Whether what the client has of open documents may be wrong now."""
        return self._snapshot.generation != self._published_generation

    def mark_published(self) -> None:
        """Record that the client asks again for all that is outdated."""
        self._published_generation = self._snapshot.generation

    # Git history

    def accept_history(self, request: LookupRequest, history: HistorySnapshot) -> None:
        """Use the result of a lookup."""
        self.coverage.cover(request)
        before = self._snapshot
        before = before if history == before.history else before.later()
        self._snapshot = replace(before, history=history)


class Projects:
    """Finds the trail that owns a file: the nearest `.ai-audit/` above it.

    Attributes:
        on_change: Called when an answer finds a change on disk: other answers may be outdated.
        on_large_log: Called when so much of a log has to be read that answers would wait for it.

    Args:
        documents: The open documents.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.on_change: Callable[[Project], None] = lambda _project: None
        self.on_large_log: Callable[[Project], None] = lambda _project: None
        self._projects: dict[Path, Project] = {}
        self._states: dict[str, tuple[Project, DocumentState]] = {}
        self._previews_risk = False

    def preview_risk(self, *, wanted: bool) -> None:
        """Show live scores also where PRISM is off, or do not (R27)."""
        self._previews_risk = wanted
        for project in self._projects.values():
            project.preview_risk(wanted=wanted)

    def all(self) -> list[Project]:
        """Return all projects that were asked about."""
        return list(self._projects.values())

    def owner(self, uri: str) -> tuple[Project, str] | None:
        """Return a file's project, refreshed, and its path in it; None if no trail owns it."""
        owner = _find_trail(uri)
        return None if owner is None else (self.refreshed(owner[0]), owner[1])

    def audit_file(self, uri: str) -> tuple[Project, str] | None:
        """Return the project of a file of a trail, refreshed, and its name; None for others."""
        owner = self.owner(uri)
        if owner is None:
            return None
        folder, _, name = owner[1].rpartition("/")
        return (owner[0], name) if folder == owner[0].directory.path.name else None

    def owners(self, uris: Iterable[str]) -> list[tuple[Project, dict[str, str]]]:
        """Return the projects of files, refreshed, each with its files: their URIs by their paths.

        Files that no trail owns, and those of a trail itself, are left out.
        """
        owners: dict[Path, tuple[AuditDir, dict[str, str]]] = {}
        for uri in uris:
            owner = _find_trail(uri)
            if owner is not None and owner[1].split("/")[0] != owner[0].path.name:
                owners.setdefault(owner[0].path, (owner[0], {}))[1][owner[1]] = uri
        return [(self.refreshed(directory), files) for directory, files in owners.values()]

    def refreshed(self, directory: AuditDir) -> Project:
        """Return the project of an audit directory, refreshed."""
        known = self._projects.get(directory.path)
        project = known or self.project(directory)
        has_changed = self._refresh(project)
        if known is None:
            project.mark_published()
        elif has_changed:
            self.on_change(project)
        return project

    async def until_indexed(self, uris: Iterable[str]) -> None:
        """Wait while the trails that own files are indexed; the client can cancel that."""
        owners = {owner[0].path: owner[0] for uri in uris if (owner := _find_trail(uri))}
        for directory in owners.values():
            await self.refreshed(directory).until_indexed()

    def _refresh(self, project: Project) -> bool:
        if project.has_much_to_read():
            self.on_large_log(project)
            return False
        return project.refresh()

    def project(self, directory: AuditDir) -> Project:
        """Return the project of an audit directory as it was last seen."""
        project = self._projects.get(directory.path)
        if project is None:
            project = Project(directory, previews_risk=self._previews_risk)
            self._projects[directory.path] = project
        return project

    def outdated_documents(self) -> list[str]:
        """Refresh all projects; return the open documents whose answers may be wrong now.

        The client counts as told about them.
        """
        before = set(self._projects)
        owners = {
            uri: None if (file_owner := _find_trail(uri)) is None else self.project(file_owner[0])
            for uri in self._documents.uris()
        }  # a trail may be new, and nearer than the one before
        for project in self._projects.values():
            self._refresh(project)
        is_new = set(self._projects) != before
        outdated = [
            uri
            for uri, owner in owners.items()
            if is_new or (owner is not None and owner.is_outdated)
        ]
        for project in self._projects.values():
            project.mark_published()
        return outdated

    def opened_in(self, project: Project) -> list[tuple[str, Document]]:
        """Return the open documents that a project owns, each with its path in it."""
        opened = ((_find_trail(uri), self._documents.get(uri)) for uri in self._documents.uris())
        return [
            (owner[1], document)
            for owner, document in opened
            if owner is not None
            and document is not None
            and owner[0].path == project.directory.path
        ]

    def open_texts(self, project: Project) -> dict[str, str]:
        """Return the open documents of a project as they are now, by path relative to it."""
        return {path: document.content for path, document in self.opened_in(project)}

    def snapshot(self, uri: str) -> DocumentSnapshot | None:
        """Return a file with its placements.

        None if no trail owns it, it is part of a trail itself, or it cannot be read. While the user
        types, answers come from memory: the disk is read in the pause that follows.
        """
        document = self._documents.get(uri)
        try:
            if document is not None and document.is_typing:
                return self._snapshot_from_memory(document) or self._snapshot_from_disk(uri)
            return self._snapshot_from_disk(uri)
        except OutdatedIndex:  # the refresh of the second attempt begins without it
            return self._snapshot_from_disk(uri)

    def _snapshot_from_memory(self, document: Document) -> DocumentSnapshot | None:
        known = self._states.get(document.uri)
        if known is None or known[1].document is not document:
            return None
        project, state = known
        is_provisional = project.is_provisional(state.path, document)
        return state.snapshot(project.snapshot, is_provisional=is_provisional)

    def _snapshot_from_disk(self, uri: str) -> DocumentSnapshot | None:
        owner, document = self.owner(uri), self._documents.get(uri)
        if owner is None or owner[1].split("/")[0] == owner[0].directory.path.name:
            self.discard(uri)
            return None
        project, path = owner
        try:
            if document is None:
                return project.closed_snapshot(uri, path)
            known = self._states.get(uri)  # a trail may be new, and nearer
            if known is None or known[0] is not project or not known[1].is_of(path, document):
                self._states[uri] = project, DocumentState(path, document)
            return self._snapshot_from_memory(document)
        except OutdatedIndex:
            raise
        except UnreadableFile:
            return None

    def ai_lines_of(self, uri: str) -> CountAiLines:
        """Return what counts the lines of a file that an AI wrote; none while it is indexed."""
        snapshot = self.snapshot(uri)
        return no_ai_lines if snapshot is None else snapshot.ai_lines

    def last_snapshot(self, uri: str) -> DocumentSnapshot | None:
        """Return the last snapshot of an open document, which changes since may have outdated."""
        known = self._states.get(uri)
        return None if known is None else known[1].last

    def provisional_in(self, project: Project) -> list[str]:
        """Return the open documents of a project whose last answer was provisional."""
        return [
            uri
            for uri, (owner, state) in self._states.items()
            if owner is project and state.is_provisional
        ]

    def discard(self, uri: str) -> None:
        """Delete the state of a document that was closed."""
        self._states.pop(uri, None)


def size_of(*files: Path) -> int:
    """Return the bytes of all files that can be read."""
    size = 0
    for file in files:
        with suppress(OSError):
            size += file.stat().st_size
    return size


def audit_dir_at(uri: str) -> AuditDir | None:
    """Return the trail that owns a file or folder; None if no trail does."""
    path = path_of(uri)
    try:
        return None if path is None else find_audit_dir(path)
    except (AuditDirNotFound, OSError):  # a folder that may not be entered, a name that is too long
        return None


def _find_trail(uri: str) -> tuple[AuditDir, str] | None:
    """Return the trail that owns a file, and the file's path; None if no trail owns it."""
    folder = folder_of(uri)
    try:
        directory = None if folder is None else nearest_audit_dir(folder)
    except OSError:  # a folder that may not be entered, a name that is too long
        return None
    return None if directory is None else (directory, _path_in(directory.path, uri))


def _path_in(audit_dir: Path, uri: str) -> str:
    """Return the path of a file in a project; the disk is read, as a link may become a file."""
    file = path_of(uri)
    if file is None:
        return ""
    path = file.relative_to(audit_dir.parent).as_posix()
    return real_path_in(audit_dir.parent, path) or path  # a link inside stands for its file
