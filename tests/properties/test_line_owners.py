"""A line belongs to the highest ranked sure annotation, else to the highest ranked (R7, R15)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.index.locate_annotations import with_locations
from vibes_lsp.model.members import Members
from vibes_lsp.placing.placements import Placement, ShownLineage
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord

LENGTH = 12


@st.composite
def located(draw: st.DrawFn) -> LocatedRange:
    start = draw(st.integers(1, LENGTH))
    end = draw(st.integers(start, LENGTH))
    state = draw(
        st.sampled_from((State.EXACT, State.MOVED, State.EDITED, State.UNVERIFIED, State.LOST))
    )
    if state == State.LOST:
        return LocatedRange(None, None, state, Method.CONTEXT, 0.0)
    method = (
        draw(st.sampled_from(tuple(Method))) if state == State.UNVERIFIED else Method.ANCHOR_HASH
    )
    return LocatedRange(
        start, end, state, method, draw(st.sampled_from((0.3, 0.4, 0.5, 0.99))), draw(st.booleans())
    )


def placement(number: int, where: LocatedRange) -> Placement:
    moment = f"2026-02-03T10:00:{number:02}Z"
    members: Members = {
        "type": "line",
        "file_path": "a.py",
        "line_start": 1,
        "line_end": 1,
        "action": "create",
        "timestamp": moment,
    }
    record = LogRecord(number, f"{number:064x}", members)
    return Placement("a.py", ShownLineage(Lineage((record,), record)), where)


@given(st.lists(located(), max_size=8))
def test_a_line_belongs_to_the_highest_rank_of_the_best_evidence(
    places: list[LocatedRange],
) -> None:
    before = [placement(number, where) for number, where in enumerate(places)]
    after = with_locations(before, places, LENGTH)
    owner = {
        line: each
        for each in after
        for start, end in each.owned_ranges
        for line in range(start, end + 1)
    }
    assert sum(end - start + 1 for each in after for start, end in each.owned_ranges) == len(owner)
    for line in range(1, LENGTH + 1):
        here = [
            each
            for each in before
            if each.located.start is not None
            and each.located.start <= line <= (each.located.end or 0)
        ]
        disproved = {Method.ANCHOR_BEFORE_EDIT, Method.OLDER_THAN_EDIT}
        sure = [
            each
            for each in here
            if each.located.state in {State.EXACT, State.MOVED} and not each.located.ambiguous
        ]
        unsure = [
            each
            for each in here
            if each.located.method not in disproved
            and not (each.located.ambiguous and each.located.confidence < 0.5)
        ]
        expected = [each.current.id for each in (sure or unsure)[-1:]]
        assert ([owner[line].current.id] if line in owner else []) == expected
