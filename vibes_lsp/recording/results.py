"""What the recorder answers. Ids and hashes are whole; a result can be written as JSON and read again, for repeated requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import EdgeType, RecordType

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
class Session(Result):
    """A session that was started."""

    record_types: ClassVar[frozenset[str]] = _SESSIONS | {EdgeType.DELEGATED_TO}
    session_id: str
    environment_hash: str


@dataclass(frozen=True, slots=True)
class Ended(Result):
    """A session is over; it says nothing more."""

    record_types: ClassVar[frozenset[str]] = frozenset({RecordType.SESSION})


@dataclass(frozen=True, slots=True)
class Recorded(Result):
    """An annotation that was recorded.

    Attributes:
        annotation_id: Its id; None when the path is not tracked.
        edges: The ids of the edges that were written with it.
        record: The record as it is on disk; None when the path is not tracked.
        untracked: Whether nothing was recorded because the project does not track the path (R26).
        masked: Number of secrets that were masked.
        withheld: What the project leaves out: `prompt` and `reasoning` by its assurance level, `signals` while it scores no risk. It was written nowhere.
        left_out: Files outside the project that were named and not recorded.
        gone: Whether nothing was recorded because nothing is left of an inline completion, or it never was more than white space.
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
    """A part of an inline completion is held, and will be recorded with the others."""

    pending: bool = True


@dataclass(frozen=True, slots=True)
class RecordedPrompt(Result):
    """A prompt that was recorded before what it led to; other members as in `Recorded`.

    Attributes:
        prompt_hash: Later annotations may name it; None where the assurance level keeps no prompts.
    """

    record_types: ClassVar[frozenset[str]] = frozenset({EdgeType.CAUSED_BY})
    prompt_hash: str | None
    edges: tuple[str, ...] = ()
    masked: int = 0
    withheld: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedCommand(Result):
    """A command, or the reading of files, that was recorded; other members as in `Recorded`."""

    record_types: ClassVar[frozenset[str]] = frozenset({EdgeType.CAUSED_BY, EdgeType.INFORMED_BY})
    command_hash: str
    edges: tuple[str, ...]
    masked: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedDecision(Result):
    """A decision that was recorded."""

    decision_hash: str
    masked: int = 0


@dataclass(frozen=True, slots=True)
class Delegated(Result):
    """A delegation that was recorded."""

    record_types: ClassVar[frozenset[str]] = _SESSIONS | {EdgeType.DELEGATED_TO}
    child_session_id: str
    edges: tuple[str, ...]
    masked: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedEdge(Result):
    """An edge that was recorded."""

    record_types: ClassVar[frozenset[str]] = frozenset(EdgeType)
    edge_id: str


@dataclass(frozen=True, slots=True)
class Reviewed(Result):
    """A review that was recorded.

    Attributes:
        reviewed: The ids of the annotations that it is about, each whole.
        left_out: The ids of those that were meant by a scope, and whose lines are not found: they are not reviewed.
    """

    record_types: ClassVar[frozenset[str]] = frozenset({RecordType.SESSION, EdgeType.REVIEWED_BY})
    reviewed: tuple[str, ...]
    edges: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected(Result):
    """The place of an annotation was corrected.

    Attributes:
        annotation_id: The record that says so.
        edges: The ids of the edges that were written with it; none when nothing had to be.
        record: The record as it is on disk; None when it was there already.
    """

    record_types: ClassVar[frozenset[str]] = _ANNOTATIONS | {EdgeType.SUPERSEDES}
    annotation_id: str
    edges: tuple[str, ...] = ()
    record: dict[str, Any] | None = None


_FORMS: Final[dict[type[Any], TypeAdapter[Any]]] = {}
"""Kept, for to make one takes longer than to record an edit."""


def as_json(result: Result) -> Members:
    """Return a result with its names in camel case; the record in it keeps the names that it has on disk."""
    kind = type(result)
    form = _FORMS.get(kind) or _FORMS.setdefault(kind, TypeAdapter(kind))
    members: Members = form.dump_python(result, mode="json", by_alias=True)
    return members
