"""Detect records with which a branch hides its own code from the gate.

Superseded, deleted and lost annotations are not gated (R27). A branch can write the records that
make them so, and can rewrite how an edit was made, from which its risk is computed. `TamperChecks`
ignores such records while the code of the annotation is present, and finds lines that only seem
lost. Changes to existing records are detected by `checks.base_comparison`.
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
from vibes_lsp.anchors.known_text import locate_from
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.gate.trail_diff import TrailDiff
from vibes_lsp.model.canonical_json import same_value
from vibes_lsp.model.hashing import ANCHOR_MEMBERS, RISK_MEMBERS, IdVariant, explain_annotation_id
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import REMAP_ACTIONS, Action, RecordType
from vibes_lsp.placing.locate_annotations import locate_alone
from vibes_lsp.placing.placements import Placement, ShownLineage
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord, recorded_lines

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
"""The members that a later record of an edit may change (R4)."""
_MAX_VERSIONS: Final = 64
"""How many versions of a file are searched for a function that was renamed."""


class CheckedAnnotation(msgspec.Struct, frozen=True):
    """An annotation as the gate judges it.

    Attributes:
        placement: Its placement by the original record.
        shown: Its placement as every other command shows it.
        hidden_by: How the branch hides it, as a clause of a message; None if it does not.
        rewriting: The added records that change how it was made.
    """

    placement: Placement
    shown: Placement
    hidden_by: str | None = None
    rewriting: tuple[LogRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class TamperChecks:
    """Checks annotations against the records that a branch adds.

    Attributes:
        locator: The locator of the project.
        diff: The records of the branch.
    """

    locator: ProjectLocator
    diff: TrailDiff

    def check(self, placement: Placement, text: Text) -> CheckedAnnotation:
        """Return an annotation as the gate judges it, without records that hide it."""
        checked = self._without_hiding_records(placement, text)
        if checked.placement.located.state != State.LOST or checked.placement.is_history:
            return checked
        return replace(checked, placement=self._found(checked.placement, text))

    def _without_hiding_records(self, placement: Placement, text: Text) -> CheckedAnnotation:
        lineage = placement.lineage
        if placement.shown.is_placeholder or not self.diff.superseded_ids.intersection(lineage.ids):
            return CheckedAnnotation(placement, placement)
        root = self._original_record(lineage)
        members = (root, *(member for member in lineage.members if member is not root))
        corrected = Lineage(members, root, lineage.superseded_by)
        rewriting = tuple(self._rewriting_records(lineage, root))
        hidden_by = self._hidden_by(placement, root)
        if hidden_by is not None and root.text("action") != Action.DELETE:
            [located] = locate_alone([Lineage((root,), root)], text)
            if _is_present(located, placement, root):
                original = Placement(placement.path, ShownLineage(Lineage(members, root)), located)
                return CheckedAnnotation(original, placement, hidden_by, rewriting)
        shown = replace(placement.shown, lineage=corrected)
        return CheckedAnnotation(replace(placement, shown=shown), placement, None, rewriting)

    def _original_record(self, lineage: Lineage) -> LogRecord:
        """Return the record that says how an edit was made: the one in the base, else the first."""
        edits = [
            member for member in lineage.members if member.text("action") not in REMAP_ACTIONS
        ] or list(lineage.members)
        before = [member for member in edits if not self.diff.is_new(member)]
        return min(before or edits, key=lambda member: member.line)

    def _rewriting_records(self, lineage: Lineage, root: LogRecord) -> Iterator[LogRecord]:
        known = _fixed_members(root)
        for member in lineage.members:
            if member is root or not self.diff.is_new(member):
                continue
            if member.text("action") not in REMAP_ACTIONS or not same_value(
                known, _fixed_members(member)
            ):
                yield member

    def _hidden_by(self, placement: Placement, root: LogRecord) -> str | None:
        lineage = placement.lineage
        if placement.is_history:
            return self._replaced(lineage)
        if lineage.action == Action.DELETE and root.text("action") != Action.DELETE:
            return "a record marks it as deleted"
        remaps = [
            member
            for member in lineage.members
            if self.diff.is_new(member) and member.text("action") in REMAP_ACTIONS
        ]
        if not remaps:
            return None
        if placement.located.state == State.LOST and lineage.is_orphaned:
            return f"record {remaps[-1].id[:8]} marks it as lost"
        is_moved = (
            placement.located.method == Method.FILE_HASH and placement.located.state == State.EDITED
        )
        return f"record {remaps[-1].id[:8]} moves it to other lines" if is_moved else None

    def _replaced(self, lineage: Lineage) -> str | None:
        """Return which added record supersedes an annotation; None if one of the base does."""
        _, into = self.locator.trail.edges_of(lineage)
        outside = [
            edge for edge in into if edge.type == "supersedes" and edge.source not in lineage.ids
        ]
        if not outside or any(not self.diff.is_new(edge.record) for edge in outside):
            return None
        return f"record {outside[-1].source[:8]} supersedes it"

    def _found(self, placement: Placement, text: Text) -> Placement:
        """Return a lost annotation at the lines where it was found, or unchanged.

        A renamed function is found by its lines. The recorded lines of an added record are judged
        where it has no anchors, as of a file that git stores encrypted, and where its id does not
        cover them: these may have been changed to lose the lines.
        """
        root, located = placement.lineage.current, None
        if root.type == RecordType.FUNCTION:
            located = self._find_renamed_function(placement, root, text)
        elif self.diff.is_new(root) and not (
            any(root.text(name) for name in ANCHOR_MEMBERS) and covers(root, *ANCHOR_MEMBERS)
        ):
            located = _as_recorded(root, text)
        return placement if located is None else replace(placement, located=located)

    def _find_renamed_function(
        self, placement: Placement, root: LogRecord, text: Text
    ) -> LocatedRange | None:
        """Locate a renamed function by its lines in the latest version that had its old name."""
        name, signature = root.text("function_name") or "", root.text("function_signature")
        for path, before in islice(self._versions(placement), _MAX_VERSIONS):
            place = find_function(before, path, name, signature)
            if place is None:
                continue
            anchors = create_anchors(before, place.start, place.end)
            recorded = AnchoredRange(place.start, place.end, anchors)
            [located] = locate_from(before, [recorded], text)
            return located if located.start is not None else None
        return None

    def _versions(self, placement: Placement) -> Iterator[tuple[str, Text]]:
        names = dict.fromkeys(
            [placement.path, *([placement.moved_from] if placement.moved_from else [])]
        )
        for name in names:
            yield from self.locator.versions_of(name)


def _fixed_members(record: LogRecord) -> Members:
    return {name: value for name, value in record.members.items() if name not in _MUTABLE}


def _is_present(located: LocatedRange, placement: Placement, root: LogRecord) -> bool:
    """Whether the code of an edit is present.

    It is if it was found unchanged; or, if nothing superseded it, if at least half of it is found
    and more than the records of the branch say is left. Where the intact lines are unknown, all
    count.
    """
    if located.sure:
        return True
    lines = recorded_lines(root)
    if placement.is_history or located.start is None or located.end is None or lines is None:
        return False
    start, end = placement.located.start, placement.located.end
    left = (
        0
        if start is None or end is None or placement.lineage.action == Action.DELETE
        else end - start + 1
    )
    length = lines[1] - lines[0] + 1
    intact = (
        located.intact
        if located.intact is not None
        else length * (located.method != Method.RECORDED)
    )
    return 2 * intact >= length and located.end - located.start + 1 > left


def covers(record: LogRecord, *members: str) -> bool:
    """Whether the id of a record is valid and covers these members (R3)."""
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


def _as_recorded(root: LogRecord, text: Text) -> LocatedRange | None:
    lines, length = recorded_lines(root), len(text.lines)
    if lines is None or not length:
        return None
    start, end = (min(line, length) for line in lines)
    return LocatedRange(start, end, State.UNVERIFIED, Method.RECORDED, 0.3)
