"""The results of use cases. Ids and hashes are complete; a result can be stored as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import EdgeType, RecordType

HIDDEN: Final = "anchors"
"""What is withheld of a text that git does not store."""
_ANNOTATIONS: Final = frozenset[str]({RecordType.LINE, RecordType.FUNCTION})
_SESSIONS: Final = frozenset[str]({RecordType.SESSION, RecordType.DELEGATION})


@dataclass(frozen=True, slots=True)
class Result:
    """What a use case returns."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, protected_namespaces=()
    )
    record_types: ClassVar[frozenset[str]] = frozenset()
    """Types of the records and edges that the use case writes; the spool may hold no others."""


@dataclass(frozen=True, slots=True)
class StartedSession(Result):
    """A session that was started.

    Attributes:
        session_id: Its id.
        environment_hash: The hash of its tool and model in the manifest.
    """

    record_types: ClassVar[frozenset[str]] = _SESSIONS | {EdgeType.DELEGATED_TO}
    session_id: str
    environment_hash: str


@dataclass(frozen=True, slots=True)
class Claimed(Result):
    """Something that is done once.

    Attributes:
        by: What did it first.
    """

    by: str


@dataclass(frozen=True, slots=True)
class Ended(Result):
    """A session that ended."""

    record_types: ClassVar[frozenset[str]] = frozenset({RecordType.SESSION})


@dataclass(frozen=True, slots=True)
class Recorded(Result):
    """An annotation that was recorded.

    Attributes:
        annotation_id: Its id; None if nothing was recorded.
        edges: The ids of the edges that were written with it.
        record: The record as it is on disk; None if nothing was recorded.
        untracked: Whether nothing was recorded because the project does not track the file (R26).
        masked: Number of secrets that were masked.
        withheld: What was not recorded: `prompt` and `reasoning` by the assurance level, `signals`
            if the project scores no risk, `anchors` if git stores the file encrypted.
        left_out: Files outside the project, which are not recorded.
        gone: Whether nothing was recorded because an inline completion was undone, or was only
            white space.
    """

    record_types: ClassVar[frozenset[str]] = _ANNOTATIONS | {
        EdgeType.CAUSED_BY,
        EdgeType.INFORMED_BY,
        EdgeType.SUPERSEDES,
        EdgeType.DEPENDS_ON,
    }
    annotation_id: str | None
    edges: tuple[str, ...] = ()
    record: dict[str, Any] | None = None
    untracked: bool = False
    masked: int = 0
    withheld: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Pending(Result):
    """A part of an inline completion that is stored, to be recorded with the others.

    Attributes:
        pending: Always true.
    """

    pending: bool = True


@dataclass(frozen=True, slots=True)
class RecordedPrompt(Result):
    """A prompt that was recorded by itself.

    Attributes:
        prompt_hash: For later annotations; None if the assurance level withholds prompts.
        edges: The ids of the edges that were written with it.
        masked: Number of secrets that were masked.
        withheld: `prompt` if the assurance level withholds prompts.
        left_out: Files outside the project, which are not recorded.
    """

    record_types: ClassVar[frozenset[str]] = frozenset({EdgeType.CAUSED_BY})
    prompt_hash: str | None
    edges: tuple[str, ...] = ()
    masked: int = 0
    withheld: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedCommand(Result):
    """A command or a read that was recorded.

    Attributes:
        command_hash: The hash of its entry.
        edges: The ids of the edges that were written with it.
        masked: Number of secrets that were masked.
        left_out: Files outside the project, which are not recorded.
    """

    record_types: ClassVar[frozenset[str]] = frozenset({EdgeType.CAUSED_BY, EdgeType.INFORMED_BY})
    command_hash: str
    edges: tuple[str, ...]
    masked: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Informed(Result):
    """The annotations that a session was told about are recorded, by the edges to them."""

    record_types: ClassVar[frozenset[str]] = frozenset({EdgeType.INFORMED_BY})
    edges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordedDecision(Result):
    """A decision that was recorded.

    Attributes:
        decision_hash: The hash of its entry.
        masked: Number of secrets that were masked.
    """

    decision_hash: str
    masked: int = 0


@dataclass(frozen=True, slots=True)
class Delegated(Result):
    """A delegation that was recorded.

    Attributes:
        child_session_id: The session that got the work.
        edges: The ids of the edges that were written with it.
        masked: Number of secrets that were masked.
        left_out: Files outside the project, which are not recorded.
    """

    record_types: ClassVar[frozenset[str]] = _SESSIONS | {EdgeType.DELEGATED_TO}
    child_session_id: str
    edges: tuple[str, ...]
    masked: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedEdge(Result):
    """An edge that was recorded.

    Attributes:
        edge_id: Its id.
    """

    record_types: ClassVar[frozenset[str]] = frozenset(EdgeType)
    edge_id: str


@dataclass(frozen=True, slots=True)
class Reviewed(Result):
    """A review that was recorded.

    Attributes:
        reviewed: The ids of the annotations that were reviewed.
        edges: The ids of the edges to the reviewer's session.
        left_out: The ids of annotations that were not reviewed: their lines are not found.
    """

    record_types: ClassVar[frozenset[str]] = frozenset({RecordType.SESSION, EdgeType.REVIEWED_BY})
    reviewed: tuple[str, ...]
    edges: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected(Result):
    """An annotation whose location was corrected.

    Attributes:
        annotation_id: The id of the record with the correction.
        edges: The ids of the edges that were written; none if nothing changed.
        record: The record as it is on disk; None if nothing changed.
    """

    record_types: ClassVar[frozenset[str]] = _ANNOTATIONS | {EdgeType.SUPERSEDES}
    annotation_id: str
    edges: tuple[str, ...] = ()
    record: dict[str, Any] | None = None


_ADAPTERS: Final[dict[type[Any], TypeAdapter[Any]]] = {}
"""A cache: making an adapter takes longer than recording an edit."""


def as_json(result: Result) -> Members:
    """Return a result with names in camel case; a record in it keeps its names on disk."""
    kind = type(result)
    adapter = _ADAPTERS.get(kind) or _ADAPTERS.setdefault(kind, TypeAdapter(kind))
    members: Members = adapter.dump_python(result, mode="json", by_alias=True)
    return members
