"""The likeliest places of edited ranges: records of one help to locate others (R15)."""

from __future__ import annotations

import pytest

from tests.trails import anchors
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, LineKind, LocatedRange, State
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
    assert (located.state, located.start, located.end, located.intact) == (
        State.EDITED,
        10,
        30 + count,
        21,
    )
    assert located.kinds.count(LineKind.UNRECORDED) == count
    assert located.kinds[6 : 6 + count] == (LineKind.UNRECORDED,) * count


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


def test_neighbours_locate_a_start_of_which_only_a_brace_is_left() -> None:
    then = "".join([*LINES[:9], "}\n", *LINES[10:30], "}\n", *LINES[31:]])
    changed = ["}\n", "now\n", "other\n", "things\n"]
    now = "".join(["new\n"] * 15 + ["}\n", *LINES[:9], *changed, *LINES[13:30], "}\n", *LINES[31:]])
    located, _, _ = found(then, now, (10, 20), (1, 9), (16, 18))
    assert (located.state, located.start, located.end, located.sure) == (
        State.EDITED,
        26,
        36,
        False,
    )


def test_quoted_lines_of_other_ranges_give_the_end() -> None:
    now = "".join(
        [*LINES[:12], "changed\n", *["new\n"] * 5, *LINES[13:20], "changed\n", *LINES[21:]]
    )
    located, _ = found("".join(LINES), now, (10, 20), (20, 40))
    assert (located.state, located.start, located.end) == (State.EDITED, 10, 25)


@pytest.mark.parametrize("replacement", [["changed\n"], ["changed\n", "one more\n"]])
def test_an_edited_line_is_known_from_another_record(replacement: list[str]) -> None:
    now = "".join([*LINES[:15], *replacement, *LINES[16:]])
    located, _ = found("".join(LINES), now, (10, 20), (16, 16))
    assert (located.state, located.start, located.end, located.intact) == (
        State.EDITED,
        10,
        19 + len(replacement),
        10,
    )
    assert located.kinds.count(LineKind.AI) == 10


def test_a_deleted_line_leaves_the_edit_unproven() -> None:
    """The search for deleted lines was dropped: it bought 0.03 points."""
    now = "".join([*LINES[:15], *LINES[16:]])
    located, _ = found("".join(LINES), now, (10, 20), (16, 16))
    assert (located.state, located.start, located.kinds) == (State.EDITED, 10, ())


def test_two_insertions_around_an_unchanged_range_are_found() -> None:
    now = "".join([*LINES[:13], "new 1\n", "new 2\n", *LINES[13:18], "new 3\n", *LINES[18:]])
    located, _ = found("".join(LINES), now, (10, 25), (15, 17))
    assert (located.start, located.end, located.intact) == (10, 28, 16)
    assert [
        number for number, kind in enumerate(located.kinds, 10) if kind is LineKind.UNRECORDED
    ] == [
        14,
        15,
        21,
    ]


def test_quotes_alone_do_not_prove_that_lines_are_left() -> None:
    now = "".join([*LINES[:10], "one\n", "two\n", *LINES[12:]])
    located, _, _ = found("".join(LINES), now, (11, 12), (9, 10), (13, 14))
    assert not located.intact
    assert not located.sure
