"""Ranges of a text that is known: both ends, edits, moved blocks, copies (R15, R16)."""

from __future__ import annotations

import pytest

from tests.trails import anchors
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.known_text import locate_from
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text

HEAD = "import os\nimport sys\n\n"
AREA = (
    "def area(width, height):\n    check(width, height)\n"
    "    seen = width * height\n\n    return seen\n"
)
VOLUME = "def volume(width, height, depth):\n    return area(width, height) * depth\n"
TAIL = "\nprint(area(1, 2))\nprint(volume(1, 2, 3))\n"
FILE = HEAD + AREA + "\n" + VOLUME + TAIL


def traced(then: str, start: int, end: int, now: str) -> LocatedRange:
    """Locate a range of a text that is known."""
    made = anchors(then, start, end)
    each = AnchoredRange(
        start, end, Anchors(made.anchor_context, made.anchor_hash, made.file_content_hash)
    )
    (located,) = locate_from(Text(then), [each], Text(now))
    return located


def brief(located: LocatedRange) -> tuple[str, int | None, int | None, int | None]:
    return located.state.value, located.start, located.end, located.intact


def test_inserted_and_deleted_lines_are_known_line_by_line() -> None:
    now = FILE.replace("    check(width, height)\n", "").replace(
        "    seen = ", "    log(width)\n    seen = "
    )
    located = traced(FILE, 4, 8, now)
    assert brief(located) == ("edited", 4, 8, 4)
    assert (located.method, located.intact, located.sure) == (Method.HISTORY, 4, False)


def test_a_changed_line_is_edited_not_a_persons() -> None:
    located = traced(
        FILE, 4, 8, FILE.replace("check(width, height)", "check(width, height, strict=True)")
    )
    assert brief(located) == ("edited", 4, 8, 4)


def test_the_first_line_may_change() -> None:
    located = traced(
        FILE,
        4,
        8,
        "# new\n" + FILE.replace("def area(width, height)", "def area(width: int, height: int)"),
    )
    assert brief(located) == ("edited", 5, 9, 4)


def test_a_new_indentation_is_an_edit_at_the_right_place() -> None:
    indented = "".join(f"    {line}\n" if line else "\n" for line in AREA.splitlines())
    located = traced(FILE, 4, 8, FILE.replace(AREA, "if True:\n" + indented))
    assert brief(located) == ("edited", 5, 9, 1)


def test_a_moved_function_is_mapped_as_a_whole() -> None:
    changed = AREA.replace("    seen = width * height", "    seen = height * width")
    now = HEAD + VOLUME + "\n" + changed + TAIL
    assert brief(traced(FILE, 4, 8, now))[:3] == ("edited", 7, 11)
    located = traced(FILE, 4, 8, HEAD + VOLUME + "\n" + AREA + TAIL)
    assert (located.state, located.start, located.end, located.sure) == (State.MOVED, 7, 11, True)


def test_a_range_is_where_most_of_it_is() -> None:
    then = "".join(f"value_{number} = compute_{number}()\n" for number in range(1, 31))
    lines = then.splitlines(keepends=True)
    now = "".join([*lines[:20], *lines[24:], "# here\n", *lines[20:24]])
    assert brief(traced(then, 11, 24, now))[:3] == ("edited", 11, 20)


def test_a_person_rewrote_most_of_it_and_the_rest_moved() -> None:
    then = "".join(f"value_{number} = compute_{number}()\n" for number in range(1, 61))
    lines = then.splitlines(keepends=True)
    rewritten = [f"entirely different text {number * 7919}\n" for number in range(40)]
    now = "".join(["# above\n" * 9, *lines[:5], *rewritten, *lines[45:50], *lines[50:]])
    located = traced(then, 6, 50, now)
    assert (located.state, located.end, located.intact) == (State.EDITED, 59, 5)


def test_a_deleted_range_is_lost_even_if_its_braces_occur_elsewhere() -> None:
    then = "a() {\n  one();\n}\n\nb() {\n  two();\n}\n"
    assert traced(then, 1, 3, "b() {\n  two();\n}\n").state == State.LOST


def test_an_edited_range_with_an_unchanged_copy() -> None:
    then = AREA + "\n" + VOLUME + "\n" + AREA
    now = AREA + "\n" + VOLUME + "\n" + AREA.replace("width * height", "width * height * 2")
    assert brief(traced(then, 10, 14, now)) == ("edited", 10, 14, 4)
    assert brief(traced(then, 1, 5, now))[:3] == ("exact", 1, 5)


def test_a_copy_right_above_makes_it_ambiguous() -> None:
    located = traced(FILE, 4, 8, FILE.replace(AREA, AREA + AREA))
    assert (located.state in (State.EXACT, State.MOVED), located.ambiguous, located.sure) == (
        True,
        True,
        False,
    )


def test_unchanged_neighbours_distinguish_copies() -> None:
    now = FILE + "\n" + AREA
    located = traced(FILE, 4, 8, "# new\n" + now)
    assert (located.state, located.start, located.sure) == (State.MOVED, 5, True)


NESTED = "describe 'area'\n  it 'returns it'\n    area(1, 2).should.eql 2\n  end\nend\n"


@pytest.mark.parametrize(
    ("now", "sure"),
    [
        ("use(Areas)\n" + NESTED, True),
        (NESTED + "describe 'volume'\nend\n", True),
        ("use(Areas)\n" + NESTED.replace("eql 2", "eql 3"), True),
        (NESTED.replace("  it", "  now\n  it").replace("  end", "    end\n  end"), True),
        (NESTED.removesuffix("\n") + " # of area\nend\n", False),
    ],
    ids=["moved", "stays", "changed before", "one more", "one more behind"],
)
def test_surroundings_locate_lines_without_distinctive_text(now: str, sure: bool) -> None:
    located = traced(NESTED, 4, 5, now)
    assert (located.state in (State.EXACT, State.MOVED), located.sure) == (
        sure or located.ambiguous,
        sure,
    )
