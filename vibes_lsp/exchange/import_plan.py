"""What an import would record: edits that other tools wrote down, with what became of each.

A reader of a format makes an `ImportedEdit` of each range of lines that it can place in a version,
and a `Refusal` of each that it cannot. `record_imports` decides which edits are new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Final, TypeAlias

from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, EdgeType, RecordType
from vibes_lsp.recording.arguments import Model, Prompt, Tool
from vibes_lsp.recording.results import Result

CONTENT_HASH: Final = "content_hash"
"""The member of an imported record that is a hash of its lines."""


class ImportEvidence(StrEnum):
    """How the lines of an imported edit were found, which says how sure they are."""

    REVISION = "revision"
    """The commit that the source names has these lines, and no parent of it has them."""
    CONTENT_HASH = "content-hash"
    """A version has text with the hash that the source gives."""
    REPLAY = "replay"
    """The edits in the source make a version of the one before it."""
    TEXT = "text"
    """A version has the text that the source gives."""
    NONE = "none"
    """The source gives line numbers only, so the annotation has no anchors and is unverified."""


class Outcome(StrEnum):
    """What becomes of a record of another tool."""

    IMPORTED = "imported"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A record of another tool.

    Attributes:
        format: The format's name, such as `git-ai`.
        id: What identifies the record in its format; the same in every file or commit that has it.
        place: Where it was read: a file with a line, or a commit.
    """

    format: str
    id: str
    place: str


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """The session that an imported edit belongs to.

    Attributes:
        id: Its id in this trail, which follows from the source's own id.
        description: What it is, such as a URL.
        parent: The id of the session in this trail that delegated to it.
        agent_type: What kind of subagent it is.
    """

    id: str
    description: str | None = None
    parent: str | None = None
    agent_type: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedEdit:
    """Lines of a file that an AI wrote, as another tool recorded them.

    Attributes:
        source: The record of the other tool.
        path: The file, relative to the project.
        start: First line, 1-based.
        end: Last line, inclusive.
        action: `create` or `modify`.
        text: The version that has the lines; None without evidence.
        commit: The full hash of the commit that has this version; None if it is not committed.
        moment: When the lines were written, at the latest.
        evidence: How the lines were found.
        tool: The tool; its version is `unknown` unless the source has it.
        model: The model, likewise.
        session: Its session, if the source names one.
        prompt: What was asked, if the source has it.
        extra: Further members of `IMPORTED_FROM`.
        committed: The committer's time, if the version is committed: what was recorded later is
            another edit.
    """

    source: ImportSource
    path: str
    start: int
    end: int
    action: Action
    text: Text | None
    commit: str | None
    moment: datetime
    evidence: ImportEvidence
    tool: Tool
    model: Model
    session: ImportedSession | None = None
    prompt: Prompt | None = None
    extra: Members | None = None
    committed: datetime | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record of another tool, or lines of it, that cannot be imported.

    Attributes:
        source: The record.
        reason: Why, in words that do not name the record: refusals are counted by it.
        path: The file as the source names it, if any.
        start: First line, if any.
        end: Last line, if any.
    """

    source: ImportSource
    reason: str
    path: str | None = None
    start: int | None = None
    end: int | None = None


Candidate: TypeAlias = ImportedEdit | Refusal


@dataclass(frozen=True, slots=True)
class PlannedRecord:
    """What becomes of a record of another tool, or of some lines of it.

    Attributes:
        place: Where the source has it.
        source_id: Its id there.
        outcome: Whether it is imported.
        reason: Why it is not; empty if it is.
        file_path: The file.
        line_start: First line, 1-based.
        line_end: Last line, inclusive.
        evidence: How its lines were found.
        annotation_id: The id of the new annotation, or of the known one.
    """

    place: str
    source_id: str
    outcome: str
    reason: str = ""
    file_path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    evidence: str | None = None
    annotation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Imported(Result):
    """The result of an import.

    Attributes:
        imported: How many annotations were recorded.
        unverified: How many of these have no evidence.
        known: How many the trail had already.
        refused: How many cannot be imported.
        masked: Number of secrets that were masked.
        records: Each of them, in the order of the source.
    """

    record_types: ClassVar[frozenset[str]] = frozenset(
        {
            RecordType.LINE,
            RecordType.SESSION,
            RecordType.DELEGATION,
            EdgeType.CAUSED_BY,
            EdgeType.DELEGATED_TO,
        }
    )
    imported: int
    unverified: int
    known: int
    refused: int
    masked: int
    records: tuple[PlannedRecord, ...]

    @classmethod
    def of(cls, records: Sequence[PlannedRecord], masked: int) -> Imported:
        """Return the result for some records."""
        new = [record for record in records if record.outcome == Outcome.IMPORTED]
        return cls(
            len(new),
            sum(record.evidence == ImportEvidence.NONE for record in new),
            sum(record.outcome == Outcome.KNOWN for record in records),
            sum(record.outcome == Outcome.REFUSED for record in records),
            masked,
            tuple(records),
        )

    @property
    def reasons(self) -> dict[str, int]:
        """How many records were not imported, by reason, in the order of the source."""
        counts: dict[str, int] = {}
        for record in self.records:
            if record.reason:
                counts[record.reason] = counts.get(record.reason, 0) + 1
        return counts


def session_spans(edits: Iterable[ImportedEdit]) -> dict[str, tuple[datetime, datetime]]:
    """Return when the sessions of some edits begin and end, by their ids.

    A session begins with its first edit and ends with its last one, or with those of the sessions
    that it delegated to.
    """
    spans: dict[str, tuple[datetime, datetime]] = {}
    for edit in edits:
        if edit.session is None:
            continue
        for identifier in {edit.session.id, edit.session.parent} - {None}:
            first, last = spans.get(str(identifier), (edit.moment, edit.moment))
            spans[str(identifier)] = min(first, edit.moment), max(last, edit.moment)
    return spans


def source_members(edit: ImportedEdit) -> dict[str, Any]:
    """Return the value of `IMPORTED_FROM` for an edit."""
    return {
        "format": edit.source.format,
        "id": edit.source.id,
        "evidence": edit.evidence.value,
        **(edit.extra or {}),
    }
