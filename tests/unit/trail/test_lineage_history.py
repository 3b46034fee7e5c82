"""Which supersedes edges make their target history (R7)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from tests.trails import TrailWriter
from tests.unit.trail.trails import current_ids, lineage_of, read_trail

if TYPE_CHECKING:
    pass

COMMIT = "a1" * 20


def supersede(writer: TrailWriter, newer: str, older: str, reason: str | None = None) -> None:
    metadata = None if reason is None else {"reason": reason}
    writer.edge("supersedes", newer, older, target_type="annotation", metadata=metadata)


def test_covers_makes_its_target_history_for_any_recorded_ranges(
    writer: TrailWriter,
) -> None:
    older, newer = writer.line("a.py", 1, 9), writer.line("a.py", 20, 21)
    supersede(writer, newer, older, "covers")
    trail = read_trail(writer.root)
    assert current_ids(trail.lineages_in("a.py")) == [newer]
    assert lineage_of(trail, older).superseded_by == (newer,)
    assert lineage_of(trail, older).current.id == older, (
        "history is another lineage, not a part of this one"
    )


def test_covers_never_joins_records_that_differ_only_in_lines(writer: TrailWriter) -> None:
    when = writer.tick()
    older, newer = (writer.line("a.py", start, 9, timestamp=when) for start in (2, 1))
    supersede(writer, newer, older, "covers")
    assert [lineage.ids for lineage in read_trail(writer.root).lineages()] == [(older,), (newer,)]


@pytest.mark.parametrize(
    ("older_range", "newer_range", "is_history"),
    [
        ((3, 5), (3, 5), True),
        ((3, 5), (1, 9), True),
        ((3, 5), (3, 4), False),
        ((3, 5), (4, 5), False),
        ((3, 5), (6, 9), False),
    ],
)
def test_without_a_reason_the_recorded_ranges_decide(
    writer: TrailWriter,
    older_range: tuple[int, int],
    newer_range: tuple[int, int],
    is_history: bool,
) -> None:
    older = writer.line("a.py", *older_range)
    newer = writer.line("a.py", *newer_range, action="modify")
    supersede(writer, newer, older)
    assert current_ids(read_trail(writer.root).lineages()) == (
        [newer] if is_history else [older, newer]
    )


def test_covering_ranges_without_an_edge_make_no_history(writer: TrailWriter) -> None:
    older, newer = writer.line("a.py", 3, 5), writer.line("a.py", 1, 9)
    assert current_ids(read_trail(writer.root).lineages()) == [older, newer]


def test_an_unknown_reason_counts_as_none(writer: TrailWriter) -> None:
    one, other = writer.line("a.py", 3, 5), writer.line("a.py", 6, 9)
    supersede(writer, other, one, "refactoring")
    whole = writer.line("a.py", 1, 9)
    supersede(writer, whole, one, "refactoring")
    assert current_ids(read_trail(writer.root).lineages()) == [other, whole]


def test_a_range_covers_no_range_of_another_file(writer: TrailWriter) -> None:
    older, newer = writer.line("a.py", 1, 2), writer.line("b.py", 1, 2)
    supersede(writer, newer, older)
    assert current_ids(read_trail(writer.root).lineages()) == [older, newer]


def test_a_function_replaces_only_functions_of_its_name(writer: TrailWriter) -> None:
    area, volume = writer.function("a.py", "area"), writer.function("a.py", "volume")
    again = writer.function("a.py", "area", action="modify")
    supersede(writer, again, area)
    supersede(writer, again, volume)
    assert current_ids(read_trail(writer.root).lineages()) == [volume, again]


def test_a_line_record_never_replaces_a_function(writer: TrailWriter) -> None:
    function, line = writer.function("a.py", "area"), writer.line("a.py", 1, 99)
    supersede(writer, line, function)
    assert current_ids(read_trail(writer.root).lineages()) == [function, line]


@pytest.mark.parametrize("broken", ["1", None, 1.5, True])
def test_an_invalid_range_covers_nothing(writer: TrailWriter, broken: object) -> None:
    older = writer.line("a.py", 1, 2, line_start=broken)
    newer = writer.line("a.py", 1, 9)
    supersede(writer, newer, older)
    assert current_ids(read_trail(writer.root).lineages()) == [older, newer]


def test_an_edge_to_any_member_makes_the_lineage_history(writer: TrailWriter) -> None:
    pending, newer = writer.line("a.py", 3, 5), writer.line("a.py", 1, 9)
    supersede(writer, newer, pending, "covers")
    filled = writer.remap(pending, commit=COMMIT)
    trail = read_trail(writer.root)
    assert current_ids(trail.lineages_in("a.py")) == [newer]
    assert lineage_of(trail, filled).superseded_by == (newer,)


def test_history_names_the_current_record_of_what_replaced_it(writer: TrailWriter) -> None:
    older, newer = writer.line("a.py", 3, 5), writer.line("a.py", 1, 9)
    supersede(writer, newer, older, "covers")
    filled = writer.remap(newer, commit=COMMIT)
    assert lineage_of(read_trail(writer.root), older).superseded_by == (filled,)


def test_of_two_records_that_join_each_other_the_later_is_current(writer: TrailWriter) -> None:
    one, other = writer.line("a.py", 1, 2), writer.line("a.py", 3, 4)
    supersede(writer, other, one, "rewrite")
    supersede(writer, one, other, "commit")
    (lineage,) = read_trail(writer.root).lineages()
    assert set(lineage.ids) == {one, other}
    assert not lineage.superseded_by


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("reversed_", [False, True])
def test_in_a_cycle_of_covers_the_newest_is_no_history(
    writer: TrailWriter, size: int, reversed_: bool
) -> None:
    ids = [writer.line("a.py", 1, 2 + number) for number in range(size)]
    for one, other in itertools.pairwise([*ids, ids[0]]):
        supersede(writer, *((one, other) if reversed_ else (other, one)), "covers")
    current = current_ids(read_trail(writer.root).lineages())
    assert ids[-1] in current
    assert ids[0] not in current


def test_what_a_cycle_covers_is_history(writer: TrailWriter) -> None:
    old = writer.line("a.py", 1, 2)
    ids = [writer.line("a.py", 1, 3 + number) for number in range(3)]
    for one, other in itertools.pairwise([*ids, ids[0]]):
        supersede(writer, one, other, "covers")
    supersede(writer, ids[0], old, "covers")
    current = current_ids(read_trail(writer.root).lineages())
    assert ids[-1] in current
    assert old not in current


def test_covers_applies_to_a_record_with_a_later_timestamp(writer: TrailWriter) -> None:
    older = writer.line("a.py", 1, 2)
    newer = writer.line("a.py", 1, 9, timestamp="2020-01-01T00:00:00Z")
    supersede(writer, newer, older, "covers")
    assert current_ids(read_trail(writer.root).lineages()) == [newer]


def test_records_without_a_valid_timestamp_rank_lowest_in_log_order(
    writer: TrailWriter,
) -> None:
    dated = writer.line("a.py", 1, 1)
    undated = [
        writer.line("a.py", 2, 2, timestamp="soon"),
        writer.line("a.py", 3, 3, timestamp="later"),
    ]
    assert current_ids(read_trail(writer.root).lineages()) == [*undated, dated]


def test_timestamps_are_ranked_by_instant(writer: TrailWriter) -> None:
    second = writer.line("a.py", 1, 1, timestamp="2026-02-03T10:00:00Z")
    first = writer.line("a.py", 2, 2, timestamp="2026-02-03T11:00:00+02:00")
    assert current_ids(read_trail(writer.root).lineages()) == [first, second]
