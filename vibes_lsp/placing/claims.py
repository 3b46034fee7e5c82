"""Annotations without line hashes: other tools', and those that our older versions made (R15, R16).

Where they are is said by their anchors; git contradicts them line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.edits import LineOwner
from vibes_lsp.placing.placements import ShownLineage, deduplicate
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import earliest_edit_time, recorded_commits
from vibes_lsp.trail.records import recorded_lines
from vibes_lsp.trail.trail import Trail

_BY_FILE: Final = 0.9
"""The confidence in the lines that a record names of this very text, if its anchors differ."""


class RecordClaim(msgspec.Struct, frozen=True, gc=False):
    """An annotation without line hashes.

    Attributes:
        record: The id of its current record.
        ids: The ids of all its records.
        range: Its lines with their anchors.
        commits: The commits that its records name.
        moment: When it was made.
        begin: The time before which a commit is older than it (R14).
        may_own: Whether lines can belong to it.
        may_be_sure: Whether it can be more than a claim.
        only_by_file: Whether its lines have hashes, so that nothing but a person says more.
    """

    record: str
    ids: tuple[str, ...]
    range: AnchoredRange
    commits: tuple[str, ...]
    moment: datetime
    begin: datetime
    may_own: bool
    may_be_sure: bool
    only_by_file: bool

    def is_of(self, commit: str) -> bool:
        """Whether it says that a commit brought it."""
        return any(len(name) >= 7 and commit.startswith(name.lower()) for name in self.commits)

    def owner(self, known: str, *, is_sure: bool) -> LineOwner:
        """Return it as the owner of a line with a hash; without one if that is not known."""
        return LineOwner(self.ids[0], self.record, known, is_sure)


def claims_of(trail: Trail, lineages: Iterable[Lineage]) -> tuple[RecordClaim, ...]:
    """Return those of the annotations of a file that have no line hashes, in the order of rank."""
    shown = deduplicate(sorted(lineages, key=lambda lineage: lineage.rank))
    return tuple(
        _claim(trail, annotation, recorded)
        for annotation in shown
        if not annotation.is_placeholder
        and annotation.lineage.action != Action.DELETE
        and (recorded := _range(annotation.lineage)) is not None
    )


def _range(lineage: Lineage) -> AnchoredRange | None:
    """Return the range of an annotation; None without one, and if each of its lines has a hash.

    A person may have named other lines of the file than the AI wrote.
    """
    is_remap = lineage.current.text("action") == Action.REBASE_REMAP
    is_by_hand = is_remap and lineage.current.text("commit_hash") is None
    if lineage.has_hashes and not is_by_hand and not lineage.is_review:
        return None
    recorded, lines = lineage.recorded_range, recorded_lines(lineage.current)
    if recorded is None or lines is None:
        return None
    if not is_remap or lines == (recorded.start, recorded.end):
        return recorded
    anchors = recorded.anchors
    content = lineage.current.text("file_content_hash")
    return AnchoredRange(*lines, Anchors(anchors.context, anchors.hash, content))


def _claim(trail: Trail, shown: ShownLineage, recorded: AnchoredRange) -> RecordClaim:
    lineage = shown.lineage
    first = lineage.first
    begin = earliest_edit_time(trail.log, lineage)
    return RecordClaim(
        lineage.current.id,
        lineage.ids,
        recorded,
        tuple(recorded_commits(lineage)),
        first.moment,
        first.moment if begin is None else begin,
        shown.may_own_lines,
        first.members.get("sure") is not False
        and "evidence" not in first.members
        and not lineage.has_hashes,
        lineage.has_hashes,
    )


def locate_ranges(ranges: Sequence[AnchoredRange], text: Text) -> list[LocatedRange]:
    """Return where recorded ranges are in a text, by their anchors.

    Lines of this very text count where the anchors are those of another one, as after a remap.
    """
    located = locate(ranges, text)
    return [
        LocatedRange(recorded.start, recorded.end, State.EDITED, Method.FILE_HASH, _BY_FILE)
        if not place.sure
        and recorded.anchors.file_hash in text.file_hashes
        and recorded.end <= len(text.lines)
        else place
        for recorded, place in zip(ranges, located, strict=True)
    ]
