"""Annotations as placing reads them: which lines of which text, and their hashes.

Numbers of lines are 0-based in this package; records and placements have them 1-based.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeAlias

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.line_hashes import split_hashes
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members, integer, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import Action, RecordType

_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_MIN_PREFIX: Final = 7
"""Digits of a `commit_hash` that name a commit."""
OWNS_NOTHING: Final = frozenset({Action.DELETE, Action.REVIEW, Action.REBASE_ORPHAN})
"""Actions of records that no line belongs to."""

Snapshots: TypeAlias = Callable[[str], Text | None]
"""Returns the text of a file with a `file_content_hash`; None if it is not kept."""

LoggedLines: TypeAlias = Mapping[str, Mapping[str, int]]
"""How often the log has each line hash of an edit, by the edit's id."""


class EditLine(NamedTuple):
    """A line of an edit: the edit's id, and the number of the line within the edit."""

    edit: str
    number: int


class LineOwner(NamedTuple):
    """What says that a line is an edit's.

    Attributes:
        edit: The edit's id, as recording returned it.
        record: The id of the record of the hunk, or of the edit that waits.
        hash: The hash of the line as the edit wrote it; empty where it is not known.
        is_sure: Whether the record and the place of the line leave no doubt.
    """

    edit: str
    record: str
    hash: str
    is_sure: bool


class RecordedEdit(msgspec.Struct, frozen=True, gc=False):
    """An annotation: a hunk that the log has, or an edit that waits for a commit.

    Attributes:
        id: Its id.
        edit_id: The id of its edit, as recording returned it; its own while it waits.
        path: The file, relative to the project.
        first: The number of its first line in the text right after it.
        count: How many lines it is about; 0 if it does not say.
        hashes: The hashes of its lines as it wrote them, or removed them; none if nothing of it may
            be compared, and in records of other tools.
        anchors: Its anchors (RFC 7.3.1).
        moment: When it was made.
        members: The record.
    """

    id: str
    edit_id: str
    path: str
    first: int
    count: int
    hashes: tuple[str, ...]
    anchors: Anchors
    moment: datetime
    members: Members

    @property
    def end(self) -> int:
        """The number of the line after its last that has a hash."""
        return self.first + len(self.hashes)

    @property
    def content(self) -> str:
        """The `file_content_hash` of the text right after it, by which its snapshot is kept."""
        return self.anchors.file_hash or ""

    @property
    def range(self) -> AnchoredRange:
        """Its lines with their anchors."""
        return AnchoredRange(self.first + 1, self.first + self.count, self.anchors)

    @property
    def is_deletion(self) -> bool:
        """Whether it only removed lines."""
        return self.members.get("action") == Action.DELETE

    @property
    def is_remap(self) -> bool:
        """Whether it repeats an earlier record with the commit of that one (R4)."""
        return self.members.get("action") == Action.REBASE_REMAP

    @property
    def may_own(self) -> bool:
        """Whether lines of a file can be its own."""
        return (
            self.count > 0
            and self.members.get("type") == RecordType.LINE
            and text(self.members, "action") not in OWNS_NOTHING
        )

    @property
    def writes_lines(self) -> bool:
        """Whether lines can be its own because it has the hashes of what it wrote."""
        return self.may_own and bool(self.hashes) and not self.is_remap

    def is_of(self, commit: str) -> bool:
        """Whether it says that a commit brought it."""
        named = (text(self.members, "commit_hash") or "").lower()
        return len(named) >= _MIN_PREFIX and commit.startswith(named)

    def is_of_text(self, content: str) -> bool:
        """Whether it was made for a text, given by its hash: then its line numbers are right."""
        return bool(self.hashes) and self.content == content and not self.is_remap

    def owner(self, known: str, *, is_sure: bool) -> LineOwner:
        """Return it as the owner of a line: a claim if it says that it is no more."""
        may_be_sure = self.members.get("sure") is not False and "evidence" not in self.members
        return LineOwner(self.edit_id, self.id, known, is_sure and may_be_sure)


def read_edit(members: Members) -> RecordedEdit | None:
    """Return a record as an edit; None if it is not an annotation."""
    identifier, path = text(members, "annotation_id"), text(members, "file_path")
    is_annotation = members.get("type") in (RecordType.LINE, RecordType.FUNCTION)
    if not is_annotation or not identifier or not path:
        return None
    start, end = integer(members, "line_start") or 0, integer(members, "line_end")
    count = end + 1 - start if end is not None and 1 <= start <= end else 0
    hashes = split_hashes(members.get("line_hashes"))
    return RecordedEdit(
        identifier,
        edit_id(members),
        normal_path(path),
        max(start, 1) - 1,
        count,
        hashes if end is None or len(hashes) == count else (),
        Anchors(
            text(members, "anchor_context"),
            text(members, "anchor_hash") or None,
            text(members, "file_content_hash") or None,
        ),
        moment_of(members),
        members,
    )


def moment_of(members: Members) -> datetime:
    """Return the time of a record; year 1 if it cannot be parsed."""
    return parse_timestamp(text(members, "timestamp") or "") or _NEVER


def edit_id(record: Members) -> str:
    """Return the id of the edit that a record of the log belongs to (R32)."""
    return text(record, "edit") or text(record, "annotation_id") or ""


def logged_lines(records: Iterable[Members]) -> LoggedLines:
    """Return the lines of edits that the log has already.

    Args:
        records: The annotations of the log that the commit being made begins with.
    """
    logged: dict[str, Counter[str]] = {}
    for record in records:
        if hashes := split_hashes(record.get("line_hashes")):
            logged.setdefault(edit_id(record), Counter()).update(hashes)
    return logged
