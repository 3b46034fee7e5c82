"""The likeliest places of edited ranges: records of one help to locate others (R15)."""

from __future__ import annotations

import pytest

from tests.trails import anchors
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, State
from vibes_lsp.anchors.text import Text

LINES = [f"value_{number} = compute({number})\n" for number in range(1, 61)]


def recorded(then: str, start: int, end: int) -> AnchoredRange:
    made = anchors(then, start, end)
    return AnchoredRange(start, end, Anchors(made.anchor_context, made.anchor_hash))


def found(then: str, now: str, *ranges: tuple[int, int]) -> list[LocatedRange]:
    return locate([recorded(then, start, end) for start, end in ranges], Text(now))


def test_the_end_follows_two_known_lines_within_the_range() -> None:
    now = "".join([*LINES[:13], "changed\n", *["new\n"] * 4, *LINES[14:]])
    located, _ = found("".join(LINES), now, (10, 20), (18, 19))
    assert (located.state, located.start, located.end, located.sure) == (
        State.EDITED,
        10,
        24,
        False,
    )


def test_edited_neighbours_help_to_choose_among_copies() -> None:
    then = "".join([*LINES[:20], "}\n", *LINES[20:40], "}\n", *LINES[40:]])
    now = "".join(
        ["new\n"] * 12
        + [
            *LINES[:4],
            "changed\n",
            *LINES[5:20],
            "}\n",
            *LINES[20:30],
            "changed\n",
            *LINES[31:40],
            "}\n",
        ]
    )
    _, _, brace = found(then, now, (1, 20), (23, 41), (42, 42))
    assert (brace.start, brace.sure) == (54, False)


@pytest.mark.parametrize("count", [1, 12, 25])
def test_inserted_lines_are_found_if_neighbours_imply_their_number(count: int) -> None:
    now = "".join([*LINES[:15], *(f"new_{number}\n" for number in range(count)), *LINES[15:]])
    located, _ = found("".join(LINES), now, (10, 30), (40, 41))
    assert (located.state, located.start, located.end, located.kinds) == (
        State.EDITED,
        10,
        30 + count,
        (),
    )


def test_lost_ranges_do_not_change_the_end_of_others() -> None:
    then, now = "".join(LINES[:12]), "".join([*LINES[:4], "changed\n", *LINES[5:12], "added\n"])
    gone = AnchoredRange(13, 40, Anchors("nowhere to be found", "f" * 64))
    assert locate([recorded(then, 2, 12), gone], Text(now))[0] == found(then, now, (2, 12))[0]


def test_an_inserted_block_with_the_same_end_makes_it_unsure() -> None:
    tail = "        done();\n      })\n    })\n"
    block = "    it('should', function () {\n      call();\n"
    then = "".join([*LINES[:10], block, tail, "    \n", *LINES[10:30]])
    now = "".join(
        [
            *LINES[:10],
            block,
            tail,
            "\n",
            block.replace("call", "other"),
            tail,
            "    \n",
            *LINES[10:30],
        ]
    )
    located, _ = found(then, now, (13, 16), (17, 30))
    assert not located.sure


def test_quoted_lines_of_other_ranges_give_the_end() -> None:
    now = "".join(
        [*LINES[:12], "changed\n", *["new\n"] * 5, *LINES[13:20], "changed\n", *LINES[21:]]
    )
    located, _ = found("".join(LINES), now, (10, 20), (20, 40))
    assert (located.state, located.start, located.end) == (State.EDITED, 10, 25)
