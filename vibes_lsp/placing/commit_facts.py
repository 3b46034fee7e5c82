"""Whose the lines are that a commit brought to a file (R31, R32). Pure: git is asked elsewhere.

A record that was made for this very text says it by line numbers. After a rebase, squash or
cherry-pick the text is another one; then hashes or anchors are placed among the lines that blame
gives to the commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from vibes_lsp.anchors.line_hashes import line_hash
from vibes_lsp.anchors.locate import locate_sure
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.hashing import sha256
from vibes_lsp.placing.claims import locate_ranges
from vibes_lsp.placing.edits import LineOwner, RecordedEdit
from vibes_lsp.placing.hash_placement import HashedText, PlacedBlock, place_hashes


@dataclass(frozen=True)
class Blob:
    """A file of a commit, as git stores it."""

    data: bytes

    @cached_property
    def content(self) -> str:
        """Its hash as `file_content_hash` has it."""
        return sha256(self.data)

    @cached_property
    def text(self) -> Text:
        """Its text."""
        return Text.from_bytes(self.data)

    @cached_property
    def hashed(self) -> HashedText:
        """Its lines with their hashes."""
        return HashedText(self.text.lines)


def exact_owners(records: Iterable[RecordedEdit], blob: Blob) -> dict[int, LineOwner]:
    """Return whose lines of a text are by the records that were made for this very text.

    A back-fill was made later: where an older record's lines are, its hashes say.

    Args:
        records: Records of the file; of two about one line the first owns it.
        blob: The text.
    """
    owners: dict[int, LineOwner] = {}
    for record in records:
        if record.is_of_text(blob.content):
            for number, known in enumerate(record.hashes, record.first):
                owners.setdefault(number, record.owner(known, is_sure=True))
    return owners


def placed_owners(
    records: Sequence[RecordedEdit],
    blob: Blob,
    brought: AbstractSet[int],
    *,
    is_boundary: bool = False,
    moved: AbstractSet[str] = frozenset(),
) -> dict[int, LineOwner]:
    """Return whose the lines are that a commit brought, by the records that it brought.

    Args:
        records: The records; of two that fit a line what is sure owns it, else the first. But those
            come before that stand complete, with a distinctive line: a part of another one may fit
            by chance.
        blob: The file in the commit.
        brought: The lines that the commit brought and that have no owner yet.
        is_boundary: Whether the commit is the boundary of a shallow clone: then git cannot say what
            it brought, and all are claims.
        moved: The ids of the records of other files, whose lines those have lost; taken only where
            they are complete, with a distinctive line.
    """
    placed: dict[int, LineOwner] = {}
    free = set(brought)
    complete = [record for record in records if _is_complete(record, blob, free)]
    partial = (record for record in records if record not in complete and record.id not in moved)
    ordered = [*complete, *partial]
    for is_sure in (True, False):  # evidence comes before rank (R7)
        for record in ordered:
            owners = (
                _by_hashes(record, blob, free, only_whole=record.id in moved)
                if record.hashes
                else _by_anchors(record, blob, free)
            )
            taken = {
                number: owner for number, owner in owners.items() if owner.is_sure or not is_sure
            }
            for number, owner in taken.items():
                placed[number] = owner._replace(is_sure=owner.is_sure and not is_boundary)
            free -= taken.keys()
    return placed


def _is_complete(record: RecordedEdit, blob: Blob, free: AbstractSet[int]) -> bool:
    placed = place_hashes(record.hashes, blob.hashed, free) if record.hashes else PlacedBlock()
    return placed.is_whole and not blob.hashed.distinctive.isdisjoint(placed.lines)


def _by_hashes(
    record: RecordedEdit,
    blob: Blob,
    free: AbstractSet[int],
    *,
    only_whole: bool,
) -> dict[int, LineOwner]:
    placed = place_hashes(record.hashes, blob.hashed, free)
    if only_whole and not placed.is_whole:
        return {}
    is_sure = not placed.is_ambiguous and 2 * len(placed.lines) >= record.count
    return {
        number: record.owner(record.hashes[line], is_sure=is_sure)
        for number, line in placed.lines.items()
    }


def _by_anchors(record: RecordedEdit, blob: Blob, free: AbstractSet[int]) -> dict[int, LineOwner]:
    """Return the lines of a record of another tool: sure only where its anchors fit, and once."""
    (exact,) = locate_sure([record.range], blob.text)
    located = exact or locate_ranges([record.range], blob.text)[0]
    if located.start is None or located.end is None:
        return {}
    numbers = free & set(range(located.start - 1, located.end))
    if exact is None:
        return {number: record.owner("", is_sure=False) for number in numbers}
    return {
        number: record.owner(line_hash(blob.text.lines[number]), is_sure=True) for number in numbers
    }
