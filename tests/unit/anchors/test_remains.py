"""What is left of edited ranges: what is known of one helps to find where another begins and ends (R15)."""

from __future__ import annotations

import pytest

from tests.trails import anchors
from vibes_lsp.anchors.located import LineKind, Located, Recorded, State
from vibes_lsp.anchors.locating import locate
from vibes_lsp.anchors.making import Anchors
from vibes_lsp.anchors.text import Text

LINES = [f"value_{number} = compute({number})\n" for number in range(1, 61)]


def recorded(then: str, start: int, end: int) -> Recorded:
    made = anchors(then, start, end)
    return Recorded(start, end, Anchors(made.anchor_context, made.anchor_hash))


def found(then: str, now: str, *ranges: tuple[int, int]) -> list[Located]:
    return locate([recorded(then, start, end) for start, end in ranges], Text(now))


def test_the_end_is_where_two_lines_within_the_range_put_it() -> None:
    now = "".join([*LINES[:13], "changed\n", *["new\n"] * 4, *LINES[14:]])
    located, _ = found("".join(LINES), now, (10, 20), (18, 19))
    assert (located.state, located.start, located.end, located.sure) == (State.EDITED, 10, 24, False)


def test_a_place_among_copies_is_chosen_by_edited_neighbours_too() -> None:
    then = "".join([*LINES[:20], "}\n", *LINES[20:40], "}\n", *LINES[40:]])
    now = "".join(["new\n"] * 12 + [*LINES[:4], "changed\n", *LINES[5:20], "}\n", *LINES[20:30], "changed\n", *LINES[31:40], "}\n"])
    _, _, brace = found(then, now, (1, 20), (23, 41), (42, 42))
    assert (brace.start, brace.sure) == (54, False)


@pytest.mark.parametrize("count", [1, 12, 25])
def test_lines_put_in_are_told_apart_when_the_neighbours_say_how_many(count: int) -> None:
    now = "".join([*LINES[:15], *(f"new_{number}\n" for number in range(count)), *LINES[15:]])
    located, _ = found("".join(LINES), now, (10, 30), (40, 41))
    assert (located.state, located.start, located.end, located.intact) == (State.EDITED, 10, 30 + count, 21)
    assert located.kinds.count(LineKind.HUMAN) == count
    assert located.kinds[6 : 6 + count] == (LineKind.HUMAN,) * count


def test_the_end_does_not_depend_on_ranges_of_which_nothing_is_left() -> None:
    then, now = "".join(LINES[:12]), "".join([*LINES[:4], "changed\n", *LINES[5:12], "added\n"])
    gone = Recorded(13, 40, Anchors("nowhere to be found", "f" * 64))
    assert locate([recorded(then, 2, 12), gone], Text(now))[0] == found(then, now, (2, 12))[0]


def test_a_block_put_in_that_ends_as_the_range_does_leaves_it_in_doubt() -> None:
    tail = "        done();\n      })\n    })\n"
    block = "    it('should', function () {\n      call();\n"
    then = "".join([*LINES[:10], block, tail, "    \n", *LINES[10:30]])
    now = "".join([*LINES[:10], block, tail, "\n", block.replace("call", "other"), tail, "    \n", *LINES[10:30]])
    located, _ = found(then, now, (13, 16), (17, 30))
    assert not located.sure
