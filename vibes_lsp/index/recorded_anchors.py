"""Whether annotated text of one file may be in another, by the recorded anchors alone.

Text that moved is searched in up to 200 files for each file. Reading the anchors takes a fifteenth
of the time of building lineages, and from most files nothing is there.
"""

from __future__ import annotations

from array import array
from typing import Final

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.index.id_keys import append_id_keys
from vibes_lsp.index.project_files import RangeFilter, RawLines
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.canonical_json import FastDecoder
from vibes_lsp.model.vocabulary import RecordType

_REPLACEMENT: Final = "\ufffd"


class _Anchored(msgspec.Struct, gc=False):
    """What `index.records.recorded_range` reads of an annotation."""

    type: str
    annotation_id: str
    line_start: int | None = None
    line_end: int | None = None
    anchor_context: str | None = None
    anchor_hash: str | None = None


_ANCHORED: Final[FastDecoder[_Anchored]] = FastDecoder(_Anchored)


def may_have_text_in(trail: Trail, name: str, file: RawLines) -> bool:
    """Whether any recorded range of a file may be whole in another one, without false negatives.

    Only the saved part of a log is read in this way; with any other annotation it may.

    Args:
        trail: The trail, refreshed.
        name: The file, as `normal_path` has it.
        file: The other one.
    """
    columns = trail.log.columns
    if columns.files is None:
        return True
    numbers = columns.paths.variants(name)
    rows = columns.files.read(numbers)
    lines = [line for number in numbers for line in columns.files.lines(number)]
    if sum(len(columns.annotations.of_number(number)) for number in numbers) > len(lines):
        return True
    if rows.repeated or not rows.edges.keys() <= {0, *lines}:  # a lineage has records elsewhere
        return True
    lines.sort()
    decoded = _ANCHORED.decode_all(trail.log.raw_lines(lines, rows.places))
    if decoded is None:
        return True
    if new_ends := columns.ends_of_new_edges():
        keys = array("Q")
        append_id_keys(keys, [each.annotation_id for each in decoded])
        if not new_ends.isdisjoint(keys):
            return True
    return any(
        _may_be_in(each, file, is_joined=line in rows.edges)
        for line, each in zip(lines, decoded, strict=True)
    )


def _may_be_in(each: _Anchored, file: RawLines, *, is_joined: bool) -> bool:
    """Whether the range of a record may be in a file, or that of its lineage by its context.

    Args:
        each: The record.
        file: The file.
        is_joined: Whether its lineage may have other records, which may have more of the range.
    """
    context, digest = each.anchor_context, each.anchor_hash
    if context is not None and _REPLACEMENT not in context:
        first, newline, _ = context.partition("\n")
        line = first.removesuffix("\r").encode("utf-8", "surrogatepass")
        if newline and line not in file.unique:
            return False
    if is_joined:
        return context is not None or digest is not None
    start, end = each.line_start, each.line_end
    if not digest or each.type != RecordType.LINE or start is None or end is None:
        return False
    return 1 <= start <= end and RangeFilter(
        AnchoredRange(start, end, Anchors(context, digest, None))
    ).may_be_in(file)
