"""Records of the log as placing reads them: which lines of which text, and their hashes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.line_hashes import line_hash, split_hashes
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.model.members import Members, integer, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.placing.edits import edit_id, moment_of

_MIN_PREFIX: Final = 7
"""Digits of a `commit_hash` that name a commit."""
OWNS_NOTHING: Final = frozenset({Action.DELETE, Action.REVIEW, Action.REBASE_ORPHAN})
"""Actions of records that no line belongs to."""


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


class HunkRecord(msgspec.Struct, frozen=True, gc=False):
    """A line record of the log.

    Attributes:
        id: Its id.
        edit: The id of its edit.
        path: The file, relative to the project.
        first: The 0-based number of its first line.
        count: How many lines it is about.
        hashes: The hash of each of them; none in records of other tools.
        anchors: Its anchors (RFC 7.3.1).
        commit: Its `commit_hash`; empty without one.
        moment: When the edit was made.
        may_be_sure: Whether it can be more than a claim.
        is_remap: Whether it repeats an earlier record with the commit of that one (R4).
    """

    id: str
    edit: str
    path: str
    first: int
    count: int
    hashes: tuple[str, ...]
    anchors: Anchors
    commit: str
    moment: datetime
    may_be_sure: bool
    is_remap: bool = False

    def is_of(self, commit: str) -> bool:
        """Whether it says that a commit brought it."""
        return len(self.commit) >= _MIN_PREFIX and commit.startswith(self.commit)

    def is_of_text(self, content: str) -> bool:
        """Whether it was made for a text, given by its hash: then its line numbers are right."""
        return bool(self.hashes) and self.anchors.file_hash == content and not self.is_remap

    @property
    def range(self) -> AnchoredRange:
        """Its lines with their anchors."""
        return AnchoredRange(self.first + 1, self.first + self.count, self.anchors)

    @property
    def known_hashes(self) -> Iterable[str]:
        """The hashes of its lines; of a record without them those of its first lines."""
        return self.hashes or map(line_hash, (self.anchors.context or "").split("\n"))

    def owner(self, known: str, *, is_sure: bool) -> LineOwner:
        """Return it as the owner of a line."""
        return LineOwner(self.edit, self.id, known, is_sure and self.may_be_sure)


def read_hunk(members: Members) -> HunkRecord | None:
    """Return a record of the log; None if it can own no line."""
    start, end = integer(members, "line_start"), integer(members, "line_end")
    path, identifier = text(members, "file_path"), text(members, "annotation_id")
    if (
        members.get("type") != RecordType.LINE
        or members.get("action") in OWNS_NOTHING
        or not path
        or not identifier
        or start is None
        or end is None
        or not 1 <= start <= end
    ):
        return None
    hashes = split_hashes(members.get("line_hashes"))
    return HunkRecord(
        identifier,
        edit_id(members),
        normal_path(path),
        start - 1,
        end + 1 - start,
        hashes if len(hashes) == end + 1 - start else (),
        Anchors(
            text(members, "anchor_context"),
            text(members, "anchor_hash") or None,
            text(members, "file_content_hash") or None,
        ),
        (text(members, "commit_hash") or "").lower(),
        moment_of(members),
        members.get("sure") is not False and "evidence" not in members,
        members.get("action") == Action.REBASE_REMAP,
    )
