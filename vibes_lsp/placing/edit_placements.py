"""Where each edit is in a text, from whose each line is: one placement for an edit (R15, R32)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from vibes_lsp.anchors.functions import locate_function
from vibes_lsp.anchors.line_hashes import split_hashes
from vibes_lsp.anchors.location import LineKind, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members, text
from vibes_lsp.placing.hash_placement import HashedText, consecutive
from vibes_lsp.placing.line_owners import OwnedLine


class EditLines(msgspec.Struct, frozen=True):
    """The lines of an edit, as its records or the waiting record have them.

    Attributes:
        id: The id that recording returned.
        ids: The ids of all its records, hunks and back-fills included.
        hashes: The hashes of its lines.
        ranges: The 1-based lines that its records name, first and last.
        is_committed: Whether the log has it.
    """

    id: str
    ids: tuple[str, ...]
    hashes: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    is_committed: bool = True


class EditPlacement(msgspec.Struct, frozen=True):
    """Where an edit is.

    Attributes:
        edit: The edit.
        owned_ranges: The 1-based lines that are its own, first and last.
        state: What happened to it (R15).
        method: How that is known.
        is_sure: Whether each owned line is verified, or known to be edited.
        intact: How many of its lines are as it wrote them; None where no hash says it.
    """

    edit: EditLines
    owned_ranges: tuple[tuple[int, int], ...]
    state: State
    method: Method
    is_sure: bool
    intact: int | None


def place_edits(lines: Sequence[OwnedLine], edits: Iterable[EditLines]) -> list[EditPlacement]:
    """Return where edits are, in the given order.

    Args:
        lines: Whose each line of a text is.
        edits: The edits of the file, and those that own a line of it.
    """
    owned: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line.owner is not None:
            owned.setdefault(line.owner.edit, []).append(number)
    return [_place(edit, owned.get(edit.id, []), lines) for edit in edits]


def _place(edit: EditLines, numbers: Sequence[int], lines: Sequence[OwnedLine]) -> EditPlacement:
    kinds = [lines[number].kind for number in numbers]
    intact = kinds.count(LineKind.AI)
    ranges = tuple((block.start + 1, block.stop) for block in consecutive(numbers))
    is_sure = LineKind.CLAIMED not in kinds
    method = Method.LINE_HASHES if edit.is_committed else Method.REPLAY
    if not numbers:
        return EditPlacement(edit, (), State.LOST, method, is_sure=True, intact=0)
    if not edit.hashes:
        state = State.MOVED if is_sure else State.UNVERIFIED
        known = intact if is_sure else None
        method = Method.ANCHOR_HASH if is_sure else Method.CONTEXT
        return EditPlacement(edit, ranges, _exact(edit, ranges, state), method, is_sure, known)
    state = State.EDITED if intact < len(edit.hashes) else State.MOVED
    if not is_sure and not intact:
        state = State.UNVERIFIED
    return EditPlacement(edit, ranges, _exact(edit, ranges, state), method, is_sure, intact)


def _exact(edit: EditLines, ranges: tuple[tuple[int, int], ...], state: State) -> State:
    """Return exact for a moved edit whose lines are where its records say."""
    recorded = sorted(number for start, end in edit.ranges for number in range(start, end + 1))
    owned = [number for start, end in ranges for number in range(start, end + 1)]
    return State.EXACT if state == State.MOVED and recorded == owned else state


def place_function(record: Members, source: Text) -> LocatedRange:
    """Return where the function of a record is: found by its name, its lines counted by hash."""
    located = locate_function(
        source,
        text(record, "file_path") or "",
        text(record, "function_name") or "",
        text(record, "function_signature"),
        text(record, "anchor_hash"),
    )
    if located.start is None or located.end is None:
        return located
    numbers = range(located.start - 1, located.end)
    hashes = split_hashes(record.get("line_hashes"))
    if hashes and located.state == State.EDITED:
        known = HashedText(source.lines[numbers.start : numbers.stop]).hashes
        intact = sum(line in hashes for line in known)
        return msgspec.structs.replace(located, intact=intact)
    return located
