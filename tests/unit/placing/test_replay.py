"""Whose lines are after each edit; one diff for an edit, however many wait."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.placing.waiting_edits import Waiting, joined, lines_of
from vibes_lsp.placing.edits import EditLine
from vibes_lsp.placing.hash_placement import HashedText
from vibes_lsp.placing.replay import ReplayedText, carry, replay
from vibes_lsp.placing.standing import has_left

BLOCK = lines_of(1, 3)
OTHER = lines_of(1, 2, "other")


def test_lines_of_an_edit_are_its_own_and_others_have_no_owner() -> None:
    waiting = Waiting()
    edit = waiting.record(joined("person", *BLOCK, "person"), 2, 4)
    assert replay(waiting.edits, waiting.texts.get).owners == [
        None,
        *(EditLine(edit.id, number) for number in range(3)),
        None,
    ]


def test_a_later_edit_moves_the_lines_of_an_earlier_one() -> None:
    waiting = Waiting()
    first = waiting.record(joined(*BLOCK), 1, 3)
    second = waiting.record(joined(*OTHER, *BLOCK), 1, 2)
    assert replay(waiting.edits, waiting.texts.get).owners == [
        *(EditLine(second.id, number) for number in range(2)),
        *(EditLine(first.id, number) for number in range(3)),
    ]


def test_what_an_edit_wrote_is_its_own_though_an_earlier_one_wrote_the_same() -> None:
    waiting = Waiting()
    first = waiting.record(joined(*BLOCK), 1, 3)
    second = waiting.record(joined(*BLOCK, *BLOCK), 4, 6)
    owners = replay(waiting.edits, waiting.texts.get).owners
    assert [owner.edit for owner in owners if owner] == [first.id] * 3 + [second.id] * 3


def test_parts_of_one_write_share_its_text() -> None:
    waiting = Waiting()
    content = joined(*BLOCK, "person", *OTHER)
    first, second = waiting.record(content, 1, 3), waiting.record(content, 5, 6)
    owners = replay(waiting.edits, waiting.texts.get).owners
    assert [owner.edit if owner else None for owner in owners] == [
        *[first.id] * 3,
        None,
        *[second.id] * 2,
    ]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(1, 4)), max_size=6))
def test_a_replay_can_be_continued(edits: list[tuple[int, int, int]]) -> None:
    waiting = Waiting()
    lines: list[str] = []
    for number, (at, removed, added) in enumerate(edits):
        start = min(at, len(lines))
        lines[start : start + removed] = lines_of(1, added, f"edit_{number}")
        waiting.record(joined(*lines), start + 1, start + added)
    whole = replay(waiting.edits, waiting.texts.get)
    state: ReplayedText | None = None
    for edit in waiting.edits:
        state = replay([edit], waiting.texts.get, state)
    assert state is None or state == whole
    for line, owner in zip(whole.lines, whole.owners, strict=True):
        assert owner is not None
        number = next(n for n, edit in enumerate(waiting.edits) if edit.id == owner.edit)
        assert line.startswith(f"edit_{number}_")


def test_a_text_that_is_not_kept_is_left_out() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 3)
    second = waiting.record(joined(*OTHER), 1, 2)
    kept = {second.content: waiting.texts[second.content]}
    assert replay(waiting.edits, kept.get).owners == [
        EditLine(second.id, 0),
        EditLine(second.id, 1),
    ]


def test_lines_keep_their_owner_in_a_later_text() -> None:
    waiting = Waiting()
    waiting.record(joined(*BLOCK), 1, 3)
    state = replay(waiting.edits, waiting.texts.get)
    later = carry(state, [BLOCK[0], "person", BLOCK[2]])
    assert later.owners == [state.owners[0], None, state.owners[2]]


def test_an_edit_has_left_its_file_though_what_stood_beside_it_stands_there() -> None:
    waiting = Waiting()
    common = "raise ValueError(value)"
    edit = waiting.record(joined(common, *BLOCK, common), 2, 5)
    snapshot = waiting.texts[edit.content]

    def left(*lines: str) -> bool:
        return has_left(edit, snapshot, [HashedText(lines), HashedText([])])

    assert [left(common), left(), left(common, BLOCK[1])] == [True, True, False]
