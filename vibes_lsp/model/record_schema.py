"""The members of log records (RFC 7.2-7.7), declared once.

Derived from it are the validating schemas (`model.schemas`), the rows that the index reads, the
references that checks and hovers follow, the tables of `audit.db` and `docs/records.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Final, TypeAlias

from vibes_lsp.model.vocabulary import (
    Action,
    AssuranceLevel,
    ContextType,
    DelegationType,
    EdgeType,
    NodeType,
    RecordType,
    SessionEvent,
)


class MemberType(Enum):
    """What the value of a member is."""

    TEXT = auto()
    NAME = auto()
    """Text that is not empty."""
    TIMESTAMP = auto()
    DIGEST = auto()
    COMMIT = auto()
    LINE = auto()
    FRACTION = auto()
    BOOLEAN = auto()
    LINE_HASHES = auto()
    TEXTS = auto()
    FACTORS = auto()
    OBJECT = auto()


ValueType: TypeAlias = MemberType | type[StrEnum]
"""A type, or the words that are allowed."""
Reference: TypeAlias = ContextType | NodeType
"""What the value of a member names: an entry of a type, or a node of the graph."""
_READING: Final = "R"


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a record.

    Attributes:
        name: Its name on disk.
        type: What its value is.
        section: The section of the RFC that defines it; of an extension of ours the reading.
        is_required: Whether a record without it, or with null, is invalid.
        names: What its value refers to.
        is_indexed: Whether the index of the trail finds or counts records by it.
        older_name: The member's name in records of older tools (R5).
        description: What a reader of the schema has to know beyond name and type.
    """

    name: str
    type: ValueType
    section: str
    is_required: bool = False
    names: Reference | None = None
    is_indexed: bool = False
    older_name: str | None = None
    description: str = ""

    @property
    def is_extension(self) -> bool:
        """Whether it is ours and not the standard's."""
        return self.section.startswith(_READING)


@dataclass(frozen=True, slots=True)
class RecordSchema:
    """One type of record.

    Attributes:
        type: The value of its member `type`.
        section: The section of the RFC.
        description: What it records.
        members: Its members, without `type`.
    """

    type: RecordType
    section: str
    description: str
    members: tuple[Member, ...]

    def names(self) -> Iterator[str]:
        """Yield the names of its members."""
        return (member.name for member in self.members)


def _entry(name: str, kind: ContextType, section: str, *, is_required: bool = False) -> Member:
    return Member(name, MemberType.DIGEST, section, is_required=is_required, names=kind)


_ID: Final = Member(
    "annotation_id",
    MemberType.DIGEST,
    "5.4",
    description="SHA-256 of the record; always written (R3)",
)
_TIMESTAMP: Final = Member("timestamp", MemberType.TIMESTAMP, "7.2", is_required=True)
_SESSION: Final = Member(
    "session_id", MemberType.NAME, "7.3", names=NodeType.SESSION, is_indexed=True
)
_ANNOTATION: Final = (
    Member(
        "file_path",
        MemberType.NAME,
        "7.3",
        is_required=True,
        is_indexed=True,
        description="relative to the project root, forward slashes",
    ),
    Member(
        "environment_hash",
        MemberType.DIGEST,
        "7.3",
        is_required=True,
        names=ContextType.ENVIRONMENT,
        is_indexed=True,
    ),
    _entry("command_hash", ContextType.COMMAND, "7.3"),
    Member("prompt_hash", MemberType.DIGEST, "7.3", names=ContextType.PROMPT, is_indexed=True),
    _entry("reasoning_hash", ContextType.REASONING, "7.3"),
    Member("decision_hash", MemberType.DIGEST, "7.3", names=ContextType.DECISION, is_indexed=True),
    Member("action", Action, "7.9", is_required=True, is_indexed=True),
    _TIMESTAMP,
    Member(
        "commit_hash",
        MemberType.COMMIT,
        "7.3",
        description="null until the change is committed (R4)",
    ),
    _SESSION,
    Member("assurance_level", AssuranceLevel, "7.3", is_required=True, is_indexed=True),
    _ID,
    Member(
        "anchor_context",
        MemberType.TEXT,
        "7.3.1",
        description="first three lines, at most 256 bytes (R14)",
    ),
    Member("anchor_hash", MemberType.DIGEST, "7.3.1"),
    Member("file_content_hash", MemberType.DIGEST, "7.3.1"),
    Member("risk_score", MemberType.FRACTION, "10.4"),
    Member("risk_factors", MemberType.FACTORS, "10.4.4"),
    Member(
        "line_hashes",
        MemberType.LINE_HASHES,
        "R32",
        description="first 8 hex digits of the SHA-256 of each line as the edit wrote it; zeros "
        "for a line with a masked secret",
    ),
    Member(
        "edit",
        MemberType.NAME,
        "R32",
        is_indexed=True,
        description="the id that recording returned, where this record is one hunk of an edit",
    ),
    Member(
        "sure",
        MemberType.BOOLEAN,
        "R32",
        description="false where less than half of the edit's block still stood",
    ),
    Member(
        "evidence",
        MemberType.NAME,
        "R32",
        description="`compared`: a file that came into being while a command ran",
    ),
)


def _end(name: str, older_name: str) -> Member:
    return Member(
        name,
        MemberType.NAME,
        "7.6",
        names=NodeType.ANNOTATION,
        is_indexed=True,
        older_name=older_name,
        description="required, under this name or the older one (R5)",
    )


_LINE: Final = RecordSchema(
    RecordType.LINE,
    "7.3",
    "Lines that an AI wrote, changed, removed or reviewed (RFC 7.3).\n\n"
    "Lines are 1-based and inclusive.",
    (
        Member("line_start", MemberType.LINE, "7.3", is_required=True),
        Member("line_end", MemberType.LINE, "7.3", is_required=True),
        *_ANNOTATION,
    ),
)
_FUNCTION: Final = RecordSchema(
    RecordType.FUNCTION,
    "7.4",
    "A function, method or class that an AI wrote or changed (RFC 7.4).",
    (
        Member("function_name", MemberType.NAME, "7.4", is_required=True),
        Member("function_signature", MemberType.TEXT, "7.4"),
        *_ANNOTATION,
    ),
)
_ON_START: Final = "required when a session starts"
_SESSION_RECORD: Final = RecordSchema(
    RecordType.SESSION,
    "7.5",
    "The start or the end of a session (RFC 7.5).",
    (
        Member(
            "session_id",
            MemberType.NAME,
            "7.5",
            is_required=True,
            names=NodeType.SESSION,
            is_indexed=True,
        ),
        Member("event", SessionEvent, "7.5", is_required=True),
        _TIMESTAMP,
        Member(
            "environment_hash",
            MemberType.DIGEST,
            "7.5",
            names=ContextType.ENVIRONMENT,
            description=_ON_START,
        ),
        Member("assurance_level", AssuranceLevel, "7.5", description=_ON_START),
        Member("description", MemberType.TEXT, "7.5"),
        Member("parent_session_id", MemberType.NAME, "7.5", names=NodeType.SESSION),
        Member("agent_name", MemberType.TEXT, "7.5"),
        Member("agent_type", MemberType.TEXT, "7.5"),
        _ID,
    ),
)
_EDGE: Final = RecordSchema(
    RecordType.EDGE,
    "7.6",
    "A directed relation, read as: source [edge_type] target (RFC 7.6).\n\n"
    "The ends may also have their older names, `source_id` and `target_id`, without types (R5).",
    (
        Member("edge_type", EdgeType, "7.6", is_required=True, is_indexed=True),
        _end("source_ref", "source_id"),
        Member("source_type", NodeType, "7.6"),
        _end("target_ref", "target_id"),
        Member("target_type", NodeType, "7.6"),
        _TIMESTAMP,
        Member("session_id", MemberType.NAME, "7.6", names=NodeType.SESSION),
        Member("metadata", MemberType.OBJECT, "7.6"),
        _ID,
    ),
)
_DELEGATION: Final = RecordSchema(
    RecordType.DELEGATION,
    "7.7",
    "Work that one session hands to another (RFC 7.7).",
    (
        Member(
            "parent_session_id", MemberType.NAME, "7.7", is_required=True, names=NodeType.SESSION
        ),
        Member(
            "child_session_id", MemberType.NAME, "7.7", is_required=True, names=NodeType.SESSION
        ),
        _TIMESTAMP,
        Member("task_description", MemberType.TEXT, "7.7"),
        Member("delegated_files", MemberType.TEXTS, "7.7"),
        Member("delegation_type", DelegationType, "7.7"),
        _entry("parent_environment_hash", ContextType.ENVIRONMENT, "7.7"),
        _entry("child_environment_hash", ContextType.ENVIRONMENT, "7.7"),
        _ID,
    ),
)
RECORD_SCHEMAS: Final[Mapping[RecordType, RecordSchema]] = {
    schema.type: schema for schema in (_LINE, _FUNCTION, _SESSION_RECORD, _EDGE, _DELEGATION)
}
ENTRY_REFERENCES: Final[Mapping[str, ContextType]] = {
    member.name: member.names
    for schema in RECORD_SCHEMAS.values()
    for member in schema.members
    if isinstance(member.names, ContextType)
}
"""The members of records that name entries of the manifest, with the type of these."""
REFERENCES: Final = frozenset(
    member.name
    for schema in RECORD_SCHEMAS.values()
    for member in schema.members
    if member.names is not None
)
"""The members of records that name an entry, a record or a session."""
CONTEXT_MEMBERS: Final[Mapping[str, ContextType]] = {
    member.name: kind for kind in ContextType for member in _ANNOTATION if member.names is kind
}
"""The members of an annotation that name entries, and the type of each entry (RFC 7.3)."""
