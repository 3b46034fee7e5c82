"""What the recorder answers. Ids and hashes are whole; a result can be written as JSON and read again, for repeated requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import ConfigDict, TypeAdapter

from vibes_lsp.model.members import Members
from vibes_lsp.recording.arguments import FORM


@dataclass(frozen=True, slots=True)
class Session:
    """A session that was started."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    session_id: str
    environment_hash: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A session is over; it says nothing more."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM


@dataclass(frozen=True, slots=True)
class Recorded:
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

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    annotation_id: str | None
    edges: tuple[str, ...] = ()
    record: dict[str, Any] | None = None
    untracked: bool = False
    masked: int = 0
    withheld: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """A part of an inline completion is held, and will be recorded with the others."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    pending: bool = True


@dataclass(frozen=True, slots=True)
class RecordedPrompt:
    """A prompt that was recorded before what it led to; other members as in `Recorded`.

    Attributes:
        prompt_hash: Later annotations may name it; None where the assurance level keeps no prompts.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    prompt_hash: str | None
    edges: tuple[str, ...] = ()
    masked: int = 0
    withheld: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedCommand:
    """A command, or the reading of files, that was recorded; other members as in `Recorded`."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    command_hash: str
    edges: tuple[str, ...]
    masked: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision that was recorded."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    decision_hash: str
    masked: int = 0


@dataclass(frozen=True, slots=True)
class Delegated:
    """A delegation that was recorded."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    child_session_id: str
    edges: tuple[str, ...]
    masked: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedEdge:
    """An edge that was recorded."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    edge_id: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review that was recorded.

    Attributes:
        reviewed: The ids of the annotations that it is about, each whole.
        left_out: The ids of those that were meant by a scope, and whose lines are not found: they are not reviewed.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    reviewed: tuple[str, ...]
    edges: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected:
    """The place of an annotation was corrected.

    Attributes:
        annotation_id: The record that says so.
        edges: The ids of the edges that were written with it; none when nothing had to be.
        record: The record as it is on disk; None when it was there already.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    annotation_id: str
    edges: tuple[str, ...] = ()
    record: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Backfilled:
    """Annotations whose commit was written into the log (R4).

    Attributes:
        backfilled: The ids of the new records.
        pending: The ids of the annotations whose commit is not, or not yet, to be written.
        edges: The ids of the edges from the new records to those that they take the place of.
        records: The new records as they are on disk.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    backfilled: tuple[str, ...]
    pending: tuple[str, ...]
    edges: tuple[str, ...]
    records: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Remapped:
    """Annotations whose commit was rewritten (RFC 7.3.1, R4b); other members as in `Backfilled`.

    Attributes:
        remapped: The ids of the records that say where the lines are in the new commit.
        orphaned: The ids of the records that say of lines that they are nowhere in it.
        unchanged: The ids of the annotations for which nothing was written.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    remapped: tuple[str, ...]
    orphaned: tuple[str, ...]
    unchanged: tuple[str, ...]
    edges: tuple[str, ...]
    records: tuple[dict[str, Any], ...]


Result = (
    Session
    | Ended
    | Recorded
    | Pending
    | RecordedPrompt
    | RecordedCommand
    | RecordedDecision
    | Delegated
    | RecordedEdge
    | Reviewed
    | Corrected
    | Backfilled
    | Remapped
)


_FORMS: Final[dict[type[Any], TypeAdapter[Any]]] = {}
"""Kept, for to make one takes longer than to record an edit."""


def as_json(result: Result) -> Members:
    """Return a result with its names in camel case; the record in it keeps the names that it has on disk."""
    kind = type(result)
    form = _FORMS.get(kind) or _FORMS.setdefault(kind, TypeAdapter(kind))
    members: Members = form.dump_python(result, mode="json", by_alias=True)
    return members
