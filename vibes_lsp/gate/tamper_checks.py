"""What a change says of its own code, against what stands in the text: no record of it takes out of the gate what is still there.

R27 leaves out what is replaced, removed or lost. A change can write such records itself, so these are not believed while the text of
the annotation stands; nor is a record that retells how an edit was made, from which risk is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import msgspec
from msgspec.structs import replace

from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.functions import find_function
from vibes_lsp.anchors.located import AnchoredRange, Located, Method, OriginalText, State
from vibes_lsp.anchors.locating import locate
from vibes_lsp.anchors.text import Text
from vibes_lsp.gate.trail_diff import TrailDiff
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.locate_annotations import relocate
from vibes_lsp.index.placements import Placement, ShownLineage
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.records import LogRecord, recorded_lines
from vibes_lsp.model.canonical_json import same_value
from vibes_lsp.model.hashing import ANCHOR_MEMBERS, RISK_MEMBERS, IdVariant, explain_annotation_id
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, RecordType

_REBASED: Final = frozenset({Action.REBASE_REMAP, Action.REBASE_ORPHAN})
_MUTABLE: Final = frozenset(
    {
        "annotation_id",
        "commit_hash",
        "action",
        "line_start",
        "line_end",
        "file_path",
        "file_content_hash",
    }
)
"""What a record that joins an edit may say anew (R4)."""


class CheckedAnnotation(msgspec.Struct, frozen=True):
    """An annotation as the gate takes it.

    Attributes:
        placement: Where it is, by the record that made it.
        shown: As it is everywhere else.
        hidden_by: What the change did to take it out of the gate; None where it did nothing.
        rewriting: The new records that retell how it was made.
    """

    placement: Placement
    shown: Placement
    hidden_by: str | None = None
    rewriting: tuple[LogRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class TamperChecks:
    """Looks at annotations without what a change says of them.

    Attributes:
        locator: Of the project.
        diff: The change.
    """

    locator: ProjectLocator
    diff: TrailDiff

    def check(self, placement: Placement, text: Text) -> CheckedAnnotation:
        """Return an annotation as the gate takes it."""
        lineage = placement.lineage
        if placement.shown.is_placeholder or not self.diff.superseded_ids.intersection(lineage.ids):
            return CheckedAnnotation(placement, placement)
        root = self._original_record(lineage)
        members = (root, *(member for member in lineage.members if member is not root))
        made = Lineage(members, root, lineage.superseded_by)
        rewriting = tuple(self._rewriting_records(lineage, root))
        hidden_by = self._hidden_by(placement, root)
        if hidden_by is None:
            return CheckedAnnotation(
                replace(placement, shown=replace(placement.shown, lineage=made)),
                placement,
                None,
                rewriting,
            )
        found = self._found(placement, root, text)
        if not _is_present(found, placement, root):
            return CheckedAnnotation(
                replace(placement, shown=replace(placement.shown, lineage=made)),
                placement,
                None,
                rewriting,
            )
        shown = ShownLineage(Lineage(members, root))
        return CheckedAnnotation(
            Placement(placement.path, shown, found), placement, hidden_by, rewriting
        )

    def _original_record(self, lineage: Lineage) -> LogRecord:
        """Return the record that tells how an edit was made: the base's, else the first of the log."""
        edits = [
            member for member in lineage.members if member.text("action") not in _REBASED
        ] or list(lineage.members)
        before = [member for member in edits if not self.diff.is_new(member)]
        return min(before or edits, key=lambda member: member.line)

    def _rewriting_records(self, lineage: Lineage, root: LogRecord) -> Iterator[LogRecord]:
        known = _fixed_members(root)
        for member in lineage.members:
            if member is root or not self.diff.is_new(member):
                continue
            if member.text("action") not in _REBASED or not same_value(
                known, _fixed_members(member)
            ):
                yield member

    def _hidden_by(self, placement: Placement, root: LogRecord) -> str | None:
        lineage = placement.lineage
        if placement.is_history:
            return self._replaced(lineage)
        if lineage.action == Action.DELETE and root.text("action") != Action.DELETE:
            return "a record says that the lines were removed"
        moving = [
            member
            for member in lineage.members
            if self.diff.is_new(member) and member.text("action") in _REBASED
        ]
        if not moving:
            return None
        if placement.located.state == State.LOST and lineage.is_orphaned:
            return f"record {moving[-1].id[:16]} says that the lines are lost"
        was_given = (
            placement.located.method == Method.FILE_HASH and placement.located.state == State.EDITED
        )
        return f"record {moving[-1].id[:16]} gives it other lines" if was_given else None

    def _replaced(self, lineage: Lineage) -> str | None:
        """Return which new record replaced an annotation; None where one of the base did."""
        _, into = self.locator.trail.edges_of(lineage)
        outside = [
            edge for edge in into if edge.type == "supersedes" and edge.source not in lineage.ids
        ]
        if not outside or any(not self.diff.is_new(edge.record) for edge in outside):
            return None
        return f"record {outside[-1].source[:16]} replaces it"

    def _found(self, placement: Placement, root: LogRecord, text: Text) -> Located:
        """Return where an edit is by its first record alone."""
        alone = Placement(placement.path, ShownLineage(Lineage((root,), root)), placement.located)
        return relocate(text, [alone], self.locator.file_history(placement.path, text))[0]


def _fixed_members(record: LogRecord) -> Members:
    return {name: value for name, value in record.members.items() if name not in _MUTABLE}


def _is_present(found: Located, placement: Placement, root: LogRecord) -> bool:
    """Whether the text of an edit is there: as it was written, or, where nothing replaced it, about half of it and more than is said to be left."""
    if found.sure:
        return True
    lines = recorded_lines(root)
    if placement.is_history or found.start is None or found.end is None or lines is None:
        return False
    start, end = placement.located.start, placement.located.end
    left = (
        0
        if start is None or end is None or placement.lineage.action == Action.DELETE
        else end - start + 1
    )
    length = lines[1] - lines[0] + 1
    intact = (
        found.intact if found.intact is not None else length * (found.method != Method.RECORDED)
    )  # where nobody can tell, it is doubted
    return 2 * intact >= length and found.end - found.start + 1 > left


_MAX_VERSIONS: Final = 64
"""Versions of a file in which a function is looked for that it has no more."""


@dataclass(frozen=True, slots=True)
class LostLineSearch:
    """Looks again for annotations that are lost.

    Attributes:
        locator: Of the project.
        diff: The change.
    """

    locator: ProjectLocator
    diff: TrailDiff

    def find(self, placement: Placement, root: LogRecord, text: Text) -> Placement:
        """Return an annotation where its lines are; as it is, where nothing says that they are anywhere."""
        found = None
        if root.type == RecordType.FUNCTION:
            found = self._find_renamed_function(placement, root, text)
        elif self.diff.is_new(root) and not covers(root, *ANCHOR_MEMBERS):
            found = _as_recorded(root, text)
        return placement if found is None else replace(placement, located=found)

    def _find_renamed_function(
        self, placement: Placement, root: LogRecord, text: Text
    ) -> Located | None:
        """Return where a function is whose name is gone: by its lines in the latest version of the file that had it."""
        name, signature = root.text("function_name") or "", root.text("function_signature")
        for path, before in islice(self._versions(placement), _MAX_VERSIONS):
            place = find_function(before, path, name, signature)
            if place is None:
                continue
            recorded = AnchoredRange(
                place.start, place.end, create_anchors(before, place.start, place.end)
            )
            located = locate([recorded], text, [OriginalText(before, place.start, place.end)])[0]
            return located if located.start is not None else None
        return None

    def _versions(self, placement: Placement) -> Iterator[tuple[str, Text]]:
        names = dict.fromkeys(
            [placement.path, *([placement.moved_from] if placement.moved_from else [])]
        )
        for name in names:
            yield from self.locator.versions_of(name)


def covers(record: LogRecord, *members: str) -> bool:
    """Whether the id of a record belongs to it, with these members as they are (R3)."""
    if not any(name in record.members for name in members):
        return True
    left_out = {
        IdVariant.LESS_ANCHORS: ANCHOR_MEMBERS,
        IdVariant.LESS_RISK: RISK_MEMBERS,
        IdVariant.LESS_COMMIT: ("commit_hash",),
        IdVariant.MISMATCH: members,
    }
    return not any(
        name in left_out.get(variant, ())
        for variant in explain_annotation_id(record.members)
        for name in members
    )


def _as_recorded(root: LogRecord, text: Text) -> Located | None:
    lines = recorded_lines(root)
    if lines is None or lines[0] > len(text.lines):
        return None
    return Located(lines[0], min(lines[1], len(text.lines)), State.UNVERIFIED, Method.RECORDED, 0.3)
