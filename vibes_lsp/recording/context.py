"""What a use case works with: the trail, the policy, the time, known locations; and the records it drafts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId
from vibes_lsp.index.locate_annotations import LocationsByLineage
from vibes_lsp.index.records import LoggedSession
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.canonical_json import portable
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.validation import entry_problems, record_problems
from vibes_lsp.model.vocabulary import AssuranceLevel, ContextType, EdgeType, NodeType, RecordType
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.store.config import LoadedConfig
from vibes_lsp.store.writer import AuditWriter

_FILES: Final = 16
"""Files that are remembered: those that somebody is at work on."""


class KnownLocations:
    """What was told last of each file; it holds for that very text, and threads may share it."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, LocationsByLineage]] = {}

    def tell(self, path: str, content: str, known: LocationsByLineage) -> None:
        """Take in where annotations are.

        Args:
            path: Of the file, relative to the project.
            content: Its text.
            known: Where they are in it; those that are left out are looked for.
        """
        self._told.pop(path, None)
        self._told[path] = content, known
        while len(self._told) > _FILES:
            self._told.pop(next(iter(self._told)), None)

    def of(self, path: str, text: Text) -> LocationsByLineage:
        """Return where annotations are in a text; nothing when another one was told of."""
        content, known = self._told.get(path, ("", {}))
        return known if content == text.content else {}


@dataclass(frozen=True, slots=True)
class RecordingContext:
    """One moment of one trail.

    Attributes:
        trail: Refreshed.
        config: The project's policy.
        writer: Writes entries; records are written at the end, all at once.
        now: The instant of everything that is written.
        new_id: Gives ids for new sessions.
        known_locations: Where annotations are known to be.
        written: The entries that were written since the trail was read, by their hashes.
    """

    trail: Trail
    config: LoadedConfig
    writer: AuditWriter
    now: datetime
    new_id: Callable[[], str]
    known_locations: KnownLocations = field(default_factory=KnownLocations)
    written: dict[str, Members] = field(default_factory=dict)

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
        """The instant as records have it (R28)."""
        return format_timestamp(self.now)

    def entry(self, members: Members) -> str:
        """Write a context entry unless it is there, and return its hash; members that are None are left out.

        Raises:
            WrongArgument: It is not what the RFC asks for.
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
            UnknownId: The log knows no start of it.
        """
        found = self.trail.log.session(identifier)
        if found is None or found.start is None:
            raise UnknownId(
                f"no session {identifier!r} was started",
                hint="`vibes record session-start` starts one",
            )
        return found

    def environment_of(self, session: LoggedSession) -> str:
        """Return the hash of a session's environment.

        Raises:
            WrongArgument: Its start names none.
        """
        found = session.text("environment_hash")
        if found is None:
            raise WrongArgument("tool", f"is required: session {session.id!r} names no environment")
        return found

    def has_entry(self, key: str, kind: ContextType) -> bool:
        """Whether a hash names an entry of this type."""
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
        timestamp: Of all of them.
        session_id: The session that they belong to, if any.
        records: In the order of the log.
        edges: The ids of the edges among them.
    """

    timestamp: str
    session_id: str | None = None
    records: list[Members] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)

    def add(self, members: Members) -> str:
        """Add a record as it is, and return its id.

        Raises:
            WrongArgument: It is not what the RFC asks for.
        """
        record = portable(members)
        for problem in record_problems(record):
            raise WrongArgument(problem.field, problem.message)
        identifier = annotation_id(record)
        self.records.append(
            dict(sorted({**record, "annotation_id": identifier}.items()))
        )  # in the order on disk
        return identifier

    def edge(
        self, kind: EdgeType, source: Node, target: Node, metadata: Members | None = None
    ) -> str:
        """Add an edge, read "source [kind] target", and return its id; the same one again is the same."""
        members: Members = {
            "type": RecordType.EDGE.value,
            "edge_type": kind,
            "source_ref": source.ref,
            "source_type": source.type,
            "target_ref": target.ref,
            "target_type": target.type,
            "timestamp": self.timestamp,
            "session_id": self.session_id,
            "metadata": metadata,
        }
        identifier = self.add(
            {
                name: str(value) if isinstance(value, str) else value
                for name, value in present(members).items()
            }
        )
        if identifier in self.edges:
            self.records.pop()
        else:
            self.edges.append(identifier)
        return identifier


def present(members: Members) -> Members:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}
