"""What the harness makes of claims, and whether generated edits keep count of their lines."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from benchmarks.locating.cases import Case, Range
from benchmarks.locating.generated import KINDS, generated
from benchmarks.locating.linemaps import DEAD, UNKNOWN
from benchmarks.locating.report import Report, Tally
from benchmarks.locating.scoring import Mode, Outcome, Run
from benchmarks.locating.speed import search
from benchmarks.locating.truth import Truth
from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text

OLD = [f"old_line_{number}()" for number in range(1, 9)]
NEW = [f"new_line_{number}()" for number in range(1, 21)]
MAP = [DEAD, 11, 12, 13, DEAD, DEAD, DEAD, 17, UNKNOWN]
FILES = [
    ("a.py", [f"def function_{n}(argument_{n}):" if n % 4 else "" for n in range(80)]),
    ("b.py", [f"other_{n} = {n}" for n in range(60)]),
]


def case() -> Case:
    return Case(
        "here", "a.py", ("A", "B"), Text("\n".join(OLD)), Text("\n".join(NEW)), [], Truth(MAP, {})
    )


def claimed(asked: Range, start: int | None, end: int | None, *, sure: bool) -> Outcome:
    state = State.LOST if start is None else State.MOVED if sure else State.EDITED
    located = LocatedRange(start, end, state, Method.ANCHOR_HASH, 0.5)
    subject = case()
    return Outcome(subject, Mode.ANCHORS, asked, subject.fate(asked), located)


@pytest.mark.parametrize(
    ("asked", "start", "end", "wrong"),
    [
        ((1, 3), 11, 13, False),
        ((1, 3), 12, 14, True),
        ((1, 3), 11, 12, True),
        ((3, 4), 13, 14, False),
        ((3, 4), 3, 4, True),
        ((6, 7), 16, 17, False),
        ((6, 7), 15, 16, True),
        ((4, 6), 14, 16, True),
        ((8, 8), 8, 8, False),
    ],
)
def test_a_sure_claim_is_wrong_when_it_is_elsewhere_than_what_survives_or_nothing_does(
    asked: Range, start: int, end: int, *, wrong: bool
) -> None:
    assert claimed(asked, start, end, sure=True).wrong_but_sure is wrong
    assert not claimed(asked, start, end, sure=False).wrong_but_sure


def test_claims_are_counted_by_what_became_of_their_lines() -> None:
    tally = Tally()
    outcomes = [
        claimed((1, 3), 11, 13, sure=True),
        claimed((1, 3), 11, 14, sure=False),
        claimed((1, 2), 4, 5, sure=False),
        claimed((2, 3), None, None, sure=False),
        claimed((3, 4), 13, 14, sure=False),
        claimed((4, 6), None, None, sure=False),
        claimed((4, 5), 14, 15, sure=True),
        claimed((8, 8), 8, 8, sure=True),
    ]
    tally.add(Run(outcomes, 0.001))
    assert (tally.ranges, tally.unknown) == (8, 1)
    assert (tally.starts, tally.starts_right, tally.starts_wrong, tally.starts_lost) == (5, 3, 1, 1)
    assert (tally.both, tally.both_right) == (4, 1)
    assert (tally.dead, tally.dead_placed, tally.wrong_sure_dead, tally.wrong_sure) == (2, 1, 1, 0)
    assert tally.sure == 2


def test_what_is_wrong_but_sure_is_listed_with_all_that_is_needed_to_look_at_it() -> None:
    report = Report()
    report.add(
        "here",
        Mode.ANCHORS,
        Run([claimed((1, 3), 5, 7, sure=True), claimed((1, 3), 11, 13, sure=True)], 0.001),
    )
    (listed,) = (line for line in report.markdown() if line.startswith("- "))
    for part in ("here", "a.py", "A..B", "1-3", "said 5-7", "true 11-13", "anchor-hash"):
        assert part in listed
    assert report.json()["missed"] == report.json()["wrongButSure"]


@pytest.mark.parametrize("seed", range(3))
def test_a_generated_edit_knows_where_each_line_went(seed: int) -> None:
    cases = list(generated(random.Random(seed), FILES, 2 * len(KINDS)))
    assert {each.source.removeprefix("generated: ") for each in cases} == set(KINDS)
    for each in cases:
        alive = [(line, place) for line, place in enumerate(each.truth.lines) if place > 0]
        assert len({place for _, place in alive}) == len(alive)
        assert any(each.old.lines[line - 1] == each.new.lines[place - 1] for line, place in alive)
        if each.source.endswith(
            ("insert", "delete", "replace", "move", "copy above", "copy below", "copy deleted")
        ):
            assert all(
                each.old.lines[line - 1] == each.new.lines[place - 1] for line, place in alive
            )


def test_a_deleted_copy_is_dead_and_the_other_one_survives() -> None:
    for each in generated(random.Random(5), FILES, 4 * len(KINDS)):
        if each.source.endswith("a copy deleted"):
            dead = [
                line for line in range(1, len(each.old.lines) + 1) if each.truth.lines[line] == DEAD
            ]
            text = [each.old.lines[line - 1] for line in dead]
            begins = [
                line
                for line in range(len(each.new.lines))
                if each.new.lines[line : line + len(text)] == text
            ]
            assert begins, "the copy that remains"
            assert len(each.old.lines) - len(each.new.lines) == len(text)


def test_the_search_that_we_compare_with_prefers_the_nearest_place_whose_hash_fits() -> None:
    lines = [
        "start()",
        "one()",
        "",
        "start()",
        "two()",
        "",
        "start()",
        "two()",
        "",
        "start()",
        "six()",
    ]
    old = Text("\n".join(lines[3:5]))
    asked = [AnchoredRange(line, line + 1, create_anchors(old, 1, 2)) for line in (1, 5, 9)]
    changed = AnchoredRange(
        10, 11, replace(create_anchors(old, 1, 2), context="start()", hash="0" * 64)
    )
    absent = AnchoredRange(1, 1, create_anchors(Text("absent()"), 1, 1))
    assert search([*asked, changed, absent], Text("\n".join(lines))) == [4, 4, 7, 10, None]
