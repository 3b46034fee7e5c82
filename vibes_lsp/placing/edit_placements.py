"""Where each annotation is in a text, from whose each line is (R7, R15, R32)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.functions import locate_function
from vibes_lsp.anchors.line_hashes import split_hashes
from vibes_lsp.anchors.location import LineKind, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.placing.edits import Snapshots
from vibes_lsp.placing.hash_placement import HashedText, consecutive
from vibes_lsp.placing.line_owners import TextOwners
from vibes_lsp.placing.placements import Placement, ShownLineage, deduplicate
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord, recorded_lines

_LOST: Final = LocatedRange(None, None, State.LOST, Method.LINE_HASHES, 1.0, intact=0)
_UNFOUND: Final = LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)
_ORPHANED: Final = LocatedRange(None, None, State.LOST, Method.LOG, 0.0)
_PLACEHOLDER: Final = LocatedRange(None, None, State.UNVERIFIED, Method.RECORDED, 0.0)
_CLAIMED: Final = 0.5
"""The confidence in what a record alone says."""


def place_annotations(
    path: str,
    text: Text,
    owned: TextOwners,
    lineages: Iterable[Lineage],
    snapshots: Snapshots = lambda _: None,
) -> list[Placement]:
    """Return where annotations are in a text: in document order, history after owners.

    Args:
        path: The file, relative to the project.
        text: Its text.
        owned: Whose each line is.
        lineages: The annotations of the file, and those that own a line of it.
        snapshots: Returns the text that a record was made in, if it is kept.
    """
    shown = deduplicate(_edits(lineages))
    of_record = {
        identifier: number
        for number, annotation in enumerate(shown)
        for lineage in (*annotation.duplicates, annotation.lineage)
        for identifier in lineage.ids
    }
    for number, annotation in enumerate(shown):  # what waits of an edit belongs to its hunks
        of_record.setdefault(annotation.lineage.edit, number)
    lines: dict[int, list[int]] = {}
    for number, owner in enumerate(owned.owners):
        if owner is not None and (own := of_record.get(owner.record)) is not None:
            lines.setdefault(own, []).append(number)
    placements = [
        _place(path, text, annotation, owned, lines.get(number, ()), snapshots)
        for number, annotation in enumerate(shown)
    ]
    return _mark_replaced(
        sorted(placements, key=lambda placement: placement.sort_key), len(text.lines)
    )


def _edits(lineages: Iterable[Lineage]) -> list[Lineage]:
    """Return annotations in the order of rank, with the hunks of an edit as one (R32)."""
    edits: dict[str, Lineage] = {}
    for lineage in sorted(lineages, key=lambda lineage: lineage.rank):
        name = lineage.current.id if lineage.superseded_by else lineage.edit
        first = edits.get(name)
        if first is None:
            edits[name] = lineage
        else:
            members = {member.id: member for member in (*first.members, *lineage.members)}
            edits[name] = replace(
                first,
                members=tuple(sorted(members.values(), key=lambda member: member.rank)),
                is_pending=first.is_pending or lineage.is_pending,
                depends_on_head=first.depends_on_head or lineage.depends_on_head,
            )
    return list(edits.values())


def _place(  # noqa: PLR0917  # facts about one annotation
    path: str,
    text: Text,
    shown: ShownLineage,
    owned: TextOwners,
    numbers: Sequence[int],
    snapshots: Snapshots,
) -> Placement:
    lineage = shown.lineage
    if shown.is_placeholder:
        return Placement(path, shown, _PLACEHOLDER)
    if lineage.current.type == RecordType.FUNCTION:
        return Placement(path, shown, place_function(lineage.current, lineage.anchor_hash, text))
    if lineage.action == Action.DELETE:
        return Placement(path, shown, place_deletion(lineage, text, snapshots))
    if lineage.superseded_by and all(
        owned.kinds[number] == LineKind.CLAIMED for number in numbers
    ):  # what git and hashes say of a line comes before what a record says (R7)
        numbers = ()
    located = _located(lineage, owned, numbers)
    if lineage.is_orphaned and not located.sure:  # RFC 7.3.1
        return Placement(path, shown, _ORPHANED)
    return Placement(path, shown, located, _ranges(numbers))


def _ranges(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return lines, given by ascending numbers, as ranges: first and last line, 1-based."""
    return tuple((block.start + 1, block.stop) for block in consecutive(numbers))


def _located(lineage: Lineage, owned: TextOwners, numbers: Sequence[int]) -> LocatedRange:
    """Return where an edit is whose lines are these."""
    kinds = _kinds(owned, numbers, numbers[0], numbers[-1] + 1) if numbers else ()
    owners = {owner.record for number in numbers if (owner := owned.owners[number]) is not None}
    claims = [
        (place.sure, place.start is not None, name)
        for name in lineage.ids
        if (place := owned.claims.get(name)) is not None and (name in owners or not numbers)
    ]
    if claims:
        claim = owned.claims[max(claims)[2]]
        is_exact = claim.sure and recorded_lines(lineage.current) == (claim.start, claim.end)
        return replace(
            claim,
            state=State.EXACT if is_exact else claim.state,
            kinds=_kinds(owned, numbers, (claim.start or 1) - 1, claim.end) if numbers else (),
        )
    hashes, spans = lineage.written
    if not numbers:
        return _LOST if hashes else _UNFOUND
    intact, is_sure = kinds.count(LineKind.AI), LineKind.CLAIMED not in kinds
    is_whole = is_sure and len(numbers) == intact >= (lineage.line_count or 0)
    state = State.MOVED if is_whole else State.EDITED if intact or is_sure else State.UNVERIFIED
    if state == State.MOVED and spans == _ranges(numbers):
        state = State.EXACT
    is_committed = any(owned.origins[number] is not None for number in numbers)
    method = Method.LINE_HASHES if is_committed else Method.REPLAY
    return LocatedRange(
        numbers[0] + 1,
        numbers[-1] + 1,
        state,
        method if hashes else Method.ANCHOR_HASH if is_sure else Method.CONTEXT,
        1.0 if is_sure else _CLAIMED,
        intact=intact if hashes or is_sure else None,
        kinds=kinds,
    )


def _kinds(
    owned: TextOwners, numbers: Sequence[int], first: int, end: int | None
) -> tuple[LineKind, ...]:
    """Return what is known of lines, from a first one to before another one, as an edit's."""
    kinds = [LineKind.UNRECORDED] * ((end or first) - first)
    for number in numbers:
        kinds[number - first] = owned.kinds[number]
    return tuple(kinds)


def place_function(record: LogRecord, anchor_hash: str | None, source: Text) -> LocatedRange:
    """Return where the function of a record is: found by its name, its lines counted by hash."""
    name = record.text("function_name")
    if not name:
        return _UNFOUND
    located = locate_function(
        source,
        record.text("file_path") or "",
        name,
        record.text("function_signature"),
        anchor_hash,
    )
    if located.start is None or located.end is None:
        return located
    hashes = split_hashes(record.members.get("line_hashes"))
    if hashes and located.state == State.EDITED:
        known = HashedText(source.lines[located.start - 1 : located.end]).hashes
        return replace(located, intact=sum(line in hashes for line in known))
    return located


def place_deletion(lineage: Lineage, text: Text, snapshots: Snapshots) -> LocatedRange:
    """Return where lines were that an edit removed: at the line that came after them.

    By the text right after the edit where it is kept, else at the number that they had.
    """
    recorded = lineage.recorded_range
    if recorded is None:
        return _UNFOUND
    place = recorded.start - 1
    content = recorded.anchors.file_hash
    after = None if content is None else snapshots(content)
    if after is not None:
        origins = came_from(after.lines, text.lines)
        now = {origin: number for number, origin in enumerate(origins) if origin >= 0}
        following = (now[number] for number in range(place, len(after.lines)) if number in now)
        place = next(following, len(text.lines))
    line = max(1, min(place + 1, len(text.lines)))
    return LocatedRange(line, line, State.UNVERIFIED, Method.RECORDED, 0.3)


def _mark_replaced(placements: Sequence[Placement], length: int) -> list[Placement]:
    """Set `replaced_by` of lost annotations to the next later edit that wrote the whole file."""
    whole = sorted(
        (
            placement
            for placement in placements
            if placement.may_own_lines
            and placement.located.sure
            and placement.owned_ranges == ((1, length),)
        ),
        key=lambda placement: placement.lineage.rank,
    )
    marked = list(placements)
    for number, placement in enumerate(marked if whole else ()):
        if placement.may_own_lines and placement.located.state == State.LOST:
            later = (writer for writer in whole if writer.lineage.rank > placement.lineage.rank)
            if (by := next(later, None)) is not None:
                marked[number] = replace(placement, replaced_by=by.current.id)
    return marked
