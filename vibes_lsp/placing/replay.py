"""Replay the waiting edits of a file: whose each line is after each of them.

The other lines have no owner here; git says whose they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.line_hashes import distinctive_numbers
from vibes_lsp.placing.edits import EditLine, RecordedEdit, Snapshots


@dataclass(frozen=True)
class ReplayedText:
    """A text, and for each of its lines the line of a waiting edit that it is; None for others.

    Attributes:
        lines: The lines.
        owners: The owners.
    """

    lines: Sequence[str] = ()
    owners: Sequence[EditLine | None] = field(default=())

    @cached_property
    def distinctive(self) -> frozenset[int]:
        """The numbers of its distinctive lines."""
        return distinctive_numbers(self.lines)

    @cached_property
    def places(self) -> Mapping[str, Mapping[int, int]]:
        """For each edit its lines: where they are in the text, and which of the edit they are."""
        places: dict[str, dict[int, int]] = {}
        for place, owner in enumerate(self.owners):
            if owner is not None:
                places.setdefault(owner.edit, {})[place] = owner.number
        return places


def replay(
    edits: Iterable[RecordedEdit], snapshots: Snapshots, before: ReplayedText | None = None
) -> ReplayedText:
    """Return the text after the last of some edits, with the owners of its lines.

    An edit whose text is not kept is left out. It can still be found by its hashes.

    Args:
        edits: Edits of one file that write lines, in the order of receipt.
        snapshots: The texts that are kept.
        before: The result for the edits before these. So an edit costs one diff, however many wait.
    """
    state = before or ReplayedText()
    for content, group in groupby(edits, key=lambda edit: edit.content):
        snapshot = snapshots(content)
        if snapshot is not None:
            state = _after(state, snapshot.lines, list(group))
    return state


def carry(state: ReplayedText, lines: Sequence[str]) -> ReplayedText:
    """Return a later text with the owners of the lines that it has from an earlier one."""
    origins = came_from(state.lines, lines)
    return ReplayedText(
        lines, [state.owners[origin] if origin >= 0 else None for origin in origins]
    )


def _after(
    state: ReplayedText, lines: Sequence[str], edits: Sequence[RecordedEdit]
) -> ReplayedText:
    """Return a text after edits that were recorded with it.

    What they wrote is left out of the comparison, so that it attracts no line of an earlier edit.
    """
    wrote = {
        edit.first + number: EditLine(edit.id, number)
        for edit in edits
        for number in range(len(edit.hashes))
        if edit.first + number < len(lines)
    }
    unwritten = [number for number in range(len(lines)) if number not in wrote]
    carried = carry(state, [lines[number] for number in unwritten])
    owners: list[EditLine | None] = [wrote.get(number) for number in range(len(lines))]
    for number, owner in zip(unwritten, carried.owners, strict=True):
        owners[number] = owner
    return ReplayedText(lines, owners)
