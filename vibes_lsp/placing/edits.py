"""Edits that wait for a commit (R29): what was recorded, and the text right after it.

Numbers of lines are 0-based in this package; records and placements have them 1-based.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeAlias

import msgspec

from vibes_lsp.anchors.line_hashes import split_hashes
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members, integer, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import REMAP_ACTIONS, Action, RecordType

_NEVER: Final = datetime.min.replace(tzinfo=UTC)

_REPEATS: Final = REMAP_ACTIONS | {Action.REVIEW}
"""Actions of records that are about lines of an earlier one."""

Snapshots: TypeAlias = Callable[[str], Text | None]
"""Returns the text of a file with a `file_content_hash`; None if it is not kept."""

LoggedLines: TypeAlias = Mapping[str, Mapping[str, int]]
"""How often the log has each line hash of an edit, by the edit's id."""


class EditLine(NamedTuple):
    """A line of an edit: the edit's id, and the number of the line within the edit."""

    edit: str
    number: int


class WaitingEdit(msgspec.Struct, frozen=True, gc=False):
    """An annotation that waits for a commit.

    Attributes:
        id: The id that recording returned.
        path: The file, relative to the project.
        first: The number of its first line in the text right after it.
        hashes: The hashes of its lines as it wrote them, or removed them; none if nothing of it may
            be compared.
        content: The `file_content_hash` of the text right after it, by which its snapshot is kept.
        moment: When it was made.
        members: The record as it waits.
    """

    id: str
    path: str
    first: int
    hashes: tuple[str, ...]
    content: str
    moment: datetime
    members: Members

    @property
    def end(self) -> int:
        """The number of the line after its last."""
        return self.first + len(self.hashes)

    @property
    def is_deletion(self) -> bool:
        """Whether it only removed lines."""
        return self.members.get("action") == Action.DELETE

    @property
    def writes_lines(self) -> bool:
        """Whether lines of a file can be its own, because it has the hashes of what it wrote."""
        return (
            bool(self.hashes)
            and not self.is_deletion
            and self.members.get("action") not in _REPEATS
            and self.members.get("type") == RecordType.LINE
        )


def read_edit(members: Members) -> WaitingEdit | None:
    """Return the edit of a waiting record; None if the record is not an annotation."""
    identifier, path = text(members, "annotation_id"), text(members, "file_path")
    is_annotation = members.get("type") in (RecordType.LINE, RecordType.FUNCTION)
    if not is_annotation or not identifier or not path:
        return None
    start, end = integer(members, "line_start") or 1, integer(members, "line_end")
    hashes = split_hashes(members.get("line_hashes"))
    if end is not None and len(hashes) != end + 1 - start:
        hashes = ()
    return WaitingEdit(
        identifier,
        normal_path(path),
        max(start, 1) - 1,
        hashes,
        text(members, "file_content_hash") or "",
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
