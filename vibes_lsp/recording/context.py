"""What a use case gets: trail, policy and time; and the records it drafts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from vibes_lsp.anchors.create_anchors import Anchors, create_anchors
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId, UnreadableFile
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.model.canonical_json import with_portable_numbers
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.validation import entry_problems, record_problems
from vibes_lsp.model.vocabulary import AssuranceLevel, ContextType, EdgeType, NodeType, RecordType
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.paths import source_text
from vibes_lsp.store.config import LoadedConfig
from vibes_lsp.store.writer import AuditWriter
from vibes_lsp.trail.records import LoggedSession
from vibes_lsp.trail.trail import Trail


@dataclass(frozen=True, slots=True)
class RecordingContext:
    """A trail at one moment.

    Attributes:
        trail: The trail, refreshed.
        config: The project's policy.
        writer: Writes entries; the records are appended together afterwards.
        now: The time of all records.
        new_id: Makes ids for new sessions.
        stored_files: Which texts git does not store.
        written: The entries written since the trail was refreshed, by hash.
        filters: The filters of files, asked once for each.
    """

    trail: Trail
    config: LoadedConfig
    writer: AuditWriter
    now: datetime
    new_id: Callable[[], str]
    stored_files: StoredFiles
    written: dict[str, Members] = field(default_factory=dict)
    filters: dict[str, str | None] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        """The project's root."""
        return self.trail.directory.project

    @property
    def level(self) -> AssuranceLevel:
        """How much is recorded (RFC 3)."""
        return self.config.config.assurance_level

    @property
    def timestamp(self) -> str:
        """The time as records have it (R28)."""
        return format_timestamp(self.now)

    def hides(self, path: str, text: Text) -> bool:
        """Return whether the trail must have nothing of a text, because git does not store it."""
        if path not in self.filters:
            self.filters[path] = self.stored_files.filters([path]).get(path)
        name = self.filters[path]
        return name is not None and self.stored_files.hiding_filter(path, text) is not None

    def hides_saved(self, path: str) -> bool:
        """Return whether git does not store the saved text of a file, or would not if it is gone.

        Args:
            path: The file, relative to the project.
        """
        try:
            text = source_text(self.project, path)
        except UnreadableFile:
            text = Text("")
        return self.hides(path, text)

    def anchors(self, path: str, text: Text, start: int, end: int) -> Anchors:
        """Return the anchors of lines for their record: none of a text that git does not store.

        Args:
            path: The file, relative to the project.
            text: Its text.
            start: First line, 1-based.
            end: Last line, inclusive.
        """
        return Anchors() if self.hides(path, text) else create_anchors(text, start, end)

    def entry(self, members: Members) -> str:
        """Write a context entry unless it exists, without members that are None; return its hash.

        Raises:
            WrongArgument: The entry violates the RFC.
        """
        entry = {**present(members), "created_at": self.timestamp}
        for problem in entry_problems(entry):
            raise WrongArgument(problem.field, problem.message)
        key = self.writer.entry(entry)
        self.written[key] = entry
        return key

    def entry_of(self, key: str) -> Members | None:
        """Return an entry by its hash; None when there is none."""
        return self.written.get(key) or (
            self.trail.manifest.entry(key) if key in self.trail.manifest else None
        )

    def session(self, identifier: str) -> LoggedSession:
        """Return a session that was started.

        Raises:
            UnknownId: The log has no start of it.
        """
        session = self.trail.log.session(identifier)
        if session is None or session.start is None:
            raise UnknownId(
                f"no session {identifier!r} was started",
                hint="`vibes record session-start` starts one",
            )
        return session

    def environment_of(self, session: LoggedSession) -> str:
        """Return the hash of a session's environment.

        Raises:
            WrongArgument: Its start names none.
        """
        environment = session.text("environment_hash")
        if environment is None:
            raise WrongArgument("tool", f"is required: session {session.id!r} names no environment")
        return environment

    def has_entry(self, key: str, kind: ContextType) -> bool:
        """Return whether a hash is that of an entry of this type."""
        return text(self.entry_of(key) or {}, "type") == kind


@dataclass(frozen=True, slots=True)
class Node:
    """One end of an edge (RFC 7.6)."""

    ref: str
    type: NodeType


@dataclass(slots=True)
class Draft:
    """Records that will be appended together.

    Attributes:
        timestamp: The time of all records.
        session_id: Their session, if any.
        records: The records in the order of the log.
        edges: The ids of the edges among them.
    """

    timestamp: str
    session_id: str | None = None
    records: list[Members] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)

    def add(self, members: Members) -> str:
        """Add a record and return its id.

        Raises:
            WrongArgument: The record violates the RFC.
        """
        record = with_portable_numbers(members)
        for problem in record_problems(record):
            raise WrongArgument(problem.field, problem.message)
        identifier = annotation_id(record)
        self.records.append(dict(sorted({**record, "annotation_id": identifier}.items())))
        return identifier

    def edge(
        self, kind: EdgeType, source: Node, target: Node, metadata: Members | None = None
    ) -> str:
        """Add the edge "source [kind] target" once and return its id."""
        members: Members = {
            "type": RecordType.EDGE.value,
            "edge_type": kind.value,
            "source_ref": source.ref,
            "source_type": source.type.value,
            "target_ref": target.ref,
            "target_type": target.type.value,
            "timestamp": self.timestamp,
            "session_id": self.session_id,
            "metadata": metadata,
        }
        identifier = self.add(present(members))
        if identifier in self.edges:
            self.records.pop()
        else:
            self.edges.append(identifier)
        return identifier


def present(members: Members) -> Members:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}
