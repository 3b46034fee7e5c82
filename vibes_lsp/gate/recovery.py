"""Lines that a change has made a record lose, though they are there: looked for by what the change cannot choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from msgspec.structs import replace

from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.functions import find_function
from vibes_lsp.anchors.located import AnchoredRange, Located, Method, OriginalText, State
from vibes_lsp.anchors.locating import locate
from vibes_lsp.anchors.text import Text
from vibes_lsp.gate.added_records import AddedRecords
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.records import LogRecord, recorded_lines
from vibes_lsp.model.hashing import ANCHOR_MEMBERS, RISK_MEMBERS, IdVariant, explain_annotation_id
from vibes_lsp.model.vocabulary import RecordType

_MAX_VERSIONS: Final = 64
"""Versions of a file in which a function is looked for that it has no more."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Looks again for annotations that are lost.

    Attributes:
        places: Of the project.
        since: The change.
    """

    places: Places
    since: AddedRecords

    def look(self, placement: Placement, root: LogRecord, text: Text) -> Placement:
        """Return an annotation where its lines are; as it is, where nothing says that they are anywhere."""
        found = None
        if root.type == RecordType.FUNCTION:
            found = self._renamed(placement, root, text)
        elif self.since.is_new(root) and not covers(root, *ANCHOR_MEMBERS):
            found = _as_recorded(root, text)
        return placement if found is None else replace(placement, located=found)

    def _renamed(self, placement: Placement, root: LogRecord, text: Text) -> Located | None:
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
            yield from self.places.versions_of(name)


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
