"""Exact, moved, edited, lost, unverified; sure only where nothing else fits (R15, R16)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.trails import anchors
from vibes_lsp.anchors import verbatim
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text

FILE = "".join(f"value_{number} = compute({number})\n" for number in range(1, 41))
FUNCTION = "def area(width, height):\n    check(width, height)\n    return width * height\n"
BRACE = "}\n"


def recorded(content: str, start: int, end: int) -> AnchoredRange:
    """Return a range as an honest tool records it."""
    made = anchors(content, start, end)
    return AnchoredRange(
        start, end, Anchors(made.anchor_context, made.anchor_hash, made.file_content_hash)
    )


def found(each: AnchoredRange, content: str) -> LocatedRange:
    (located,) = locate([each], Text(content))
    return located


def place(located: LocatedRange) -> tuple[str, int | None, int | None, bool]:
    return located.state.value, located.start, located.end, located.sure


def lines_of(content: str) -> list[str]:
    return content.splitlines(keepends=True)


def inserted(content: str, line: int, text: str) -> str:
    """Insert text before a 1-based line."""
    lines = lines_of(content)
    return "".join([*lines[: line - 1], text, *lines[line - 1 :]])


def removed(content: str, start: int, end: int) -> str:
    lines = lines_of(content)
    return "".join([*lines[: start - 1], *lines[end:]])


def test_the_same_file_is_exact_even_with_copies() -> None:
    content = FUNCTION * 3
    located = found(recorded(content, 4, 6), content)
    assert located == LocatedRange(
        4, 6, State.EXACT, Method.FILE_HASH, 1.0, ambiguous=False, intact=3
    )


def test_an_edit_elsewhere_moves_it() -> None:
    each = recorded(FILE, 10, 14)
    assert place(found(each, inserted(FILE, 30, "new = 1\n"))) == ("exact", 10, 14, True)
    assert place(found(each, inserted(FILE, 2, "new = 1\n" * 7))) == ("moved", 17, 21, True)
    assert place(found(each, removed(FILE, 1, 9))) == ("moved", 1, 5, True)


def test_an_edit_within_it_is_an_edit() -> None:
    located = found(recorded(FILE, 10, 16), FILE.replace("value_14 ", "new "))
    assert (located.state, located.method, located.start, located.end) == (
        State.EDITED,
        Method.CONTEXT,
        10,
        16,
    )
    assert not located.sure
    assert located.intact is None


def test_a_new_indentation_is_an_edit_at_the_right_place() -> None:
    later = "if True:\n" + "".join(f"    {line}" for line in lines_of(FUNCTION))
    located = found(recorded(FUNCTION, 1, 3), later)
    assert (located.state, located.method, located.start, located.end) == (
        State.EDITED,
        Method.FUZZY,
        2,
        4,
    )
    assert located.kinds == ()


def test_an_edit_of_one_of_its_first_lines_does_not_lose_it() -> None:
    located = found(recorded(FILE, 10, 16), FILE.replace("value_11 ", "other "))
    assert (located.state, located.method, located.start, located.end) == (
        State.EDITED,
        Method.FUZZY,
        10,
        16,
    )


def test_a_missing_range_is_lost() -> None:
    assert place(found(recorded(FILE, 10, 16), removed(FILE, 9, 17))) == ("lost", None, None, False)
    assert place(found(recorded(FILE, 10, 16), "")) == ("lost", None, None, False)


def test_an_edit_at_the_end_of_the_file_stays_within_it() -> None:
    located = found(recorded(FILE, 36, 40), removed(FILE, 39, 40))
    assert (located.state, located.start, located.end) == (State.EDITED, 36, 38)


def test_copies_are_ambiguous_and_the_nearest_is_chosen() -> None:
    content = FUNCTION + "\n" * 20 + FUNCTION + "\n" * 4
    each = recorded(content, 24, 26)
    located = found(each, inserted(content, 24, "new = 1\n"))
    assert place(located) == ("moved", 25, 27, False)
    assert located.ambiguous


def test_neighbours_distinguish_copies() -> None:
    """Forty lines came in above, so that the first copy now stands where the second one was."""
    content = (
        FILE + FUNCTION + FILE.replace("value", "other") + FUNCTION + FILE.replace("value", "third")
    )
    second = recorded(content, 84, 86)
    neighbours = [recorded(content, 80, 83), recorded(content, 87, 90)]
    later = "".join(f"new_{number} = {number}\n" for number in range(43)) + content
    alone = locate([second], Text(later))[0]
    among = locate([second, *neighbours], Text(later))[0]
    assert (alone.start, alone.ambiguous) == (84, True)
    assert (among.start, among.ambiguous) == (127, True)


def test_little_text_out_of_place_is_ambiguous() -> None:
    content = FILE + BRACE + FILE.replace("value", "other")
    brace = recorded(content, 41, 41)
    assert place(found(brace, content.replace("value_1 ", "first "))) == ("exact", 41, 41, True)
    gone = removed(content, 41, 41) + BRACE
    assert place(found(brace, gone)) == ("moved", 81, 81, False)


def test_little_text_that_moves_with_its_neighbours_is_sure() -> None:
    content = FILE + BRACE + FILE.replace("value", "other")
    later = inserted(content, 1, "new = 1\n")
    brace, *_ = locate([recorded(content, 41, 41), recorded(content, 37, 40)], Text(later))
    assert place(brace) == ("moved", 42, 42, True)


def test_three_equal_lines_are_too_little() -> None:
    content = FILE + "    pass\n" * 3
    gone = "    pass\n" * 3 + FILE
    assert place(found(recorded(content, 41, 43), gone)) == ("moved", 1, 3, False)


def test_two_copies_were_recorded_and_one_is_left() -> None:
    content = FUNCTION + FILE + FUNCTION
    first, last = recorded(content, 1, 3), recorded(content, 44, 46)
    located = locate([first, last], Text(removed(content, 1, 3)))
    assert [each.start for each in located] == [41, 41]
    assert [each.sure for each in located] == [False, True]


@pytest.mark.parametrize("variant", ["final-newline", "crlf", "crlf-final"])
def test_hash_variants_of_other_tools_match(variant: str) -> None:
    made = anchors(FILE, 10, 12)
    import hashlib

    body = "".join(lines_of(FILE)[9:12])
    spelled = {
        "final-newline": body,
        "crlf": body.replace("\n", "\r\n").removesuffix("\r\n"),
        "crlf-final": body.replace("\n", "\r\n"),
    }
    each = AnchoredRange(
        10, 12, Anchors(made.anchor_context, hashlib.sha256(spelled[variant].encode()).hexdigest())
    )
    assert place(found(each, inserted(FILE, 1, "new = 1\n"))) == ("moved", 11, 13, True)


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_contexts_with_other_line_ends_are_found(newline: str) -> None:
    context = newline.join(line.rstrip() for line in lines_of(FILE)[9:12]) + newline
    each = AnchoredRange(10, 12, Anchors(context))
    assert found(each, inserted(FILE, 1, "new = 1\n")).start == 11


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_the_line_ends_of_the_file_do_not_matter(newline: str) -> None:
    each = recorded(FILE.replace("\n", newline), 10, 14)
    for other in ("\n", "\r\n"):
        assert place(found(each, inserted(FILE, 1, "new = 1\n").replace("\n", other))) == (
            "moved",
            11,
            15,
            True,
        )
    assert place(found(each, FILE.replace("\n", newline).removesuffix(newline))) == (
        "exact",
        10,
        14,
        True,
    )


def test_a_context_cut_within_a_long_line() -> None:
    content = FILE + "key = '" + "漢" * 200 + "'\nsecond = 2\nthird_line = 3\n" + FILE
    each = recorded(content, 41, 43)
    assert each.anchors.context is not None
    assert len(each.anchors.context.encode()) <= 256
    assert place(found(each, "new = 1\n" + content)) == ("moved", 42, 44, True)


def test_a_context_cut_in_its_third_line() -> None:
    content = FILE + "a_rather_long_line = 1\n" + "b" * 200 + "\n" + "c" * 200 + "\n" + FILE
    each = recorded(content, 41, 43)
    assert place(found(each, "new = 1\n" + content)) == ("moved", 42, 44, True)


def test_blank_lines() -> None:
    content = FILE + "\n\n" + FILE.replace("value", "other")
    blank = recorded(content, 41, 42)
    assert place(found(blank, content.replace("other_9 ", "ninth "))) == ("exact", 41, 42, True)
    later = locate([blank, recorded(content, 30, 40)], Text("new = 1\n" + content))
    assert place(later[0]) == ("moved", 42, 43, True)
    many = found(blank, "\n" * 300 + "new = 1\n")
    assert many.ambiguous


def test_bytes_that_are_no_utf_8() -> None:
    raw = b"name = '\xe4\xf6\xfc'\nvalue_b = '\xff\xfe'\nthird_line = 3\n"
    made = anchors(raw, 1, 3)
    each = AnchoredRange(
        1, 3, Anchors(made.anchor_context, made.anchor_hash, made.file_content_hash)
    )
    (located,) = locate([each], Text.from_bytes(b"new = 1\n" + raw))
    assert place(located) == ("moved", 2, 4, True)


def test_a_hash_alone_still_proves_the_recorded_lines() -> None:
    each = recorded(FILE, 10, 14)
    for context in (None, "what another tool takes for context"):
        alone = replace(each, anchors=Anchors(context, each.anchors.hash))
        assert place(found(alone, inserted(FILE, 30, "new = 1\n"))) == ("exact", 10, 14, True)
        assert place(found(alone, inserted(FILE, 1, "new = 1\n"))) == ("lost", None, None, False)


def test_a_hash_alone_proves_little_where_there_is_a_copy() -> None:
    content = FUNCTION + FUNCTION
    each = replace(
        recorded(content, 1, 3), anchors=Anchors(None, recorded(content, 1, 3).anchors.hash)
    )
    assert place(found(each, content + "new = 1\n")) == ("exact", 1, 3, False)


def test_a_context_alone_proves_nothing() -> None:
    each = replace(recorded(FILE, 10, 14), anchors=Anchors(recorded(FILE, 10, 14).anchors.context))
    located = found(each, inserted(FILE, 1, "new = 1\n"))
    assert (located.state, located.start, located.end, located.ambiguous) == (
        State.UNVERIFIED,
        11,
        15,
        False,
    )


def test_a_short_context_elsewhere_is_not_the_edited_range() -> None:
    content = FILE + BRACE + "tail = compute(99)\n"
    each = replace(recorded(content, 41, 42), anchors=Anchors(BRACE.strip(), "0" * 64))
    located = found(each, BRACE + FILE)
    assert (located.state, located.ambiguous) == (State.EDITED, True)


def test_without_anchors_only_the_recorded_lines_are_known() -> None:
    bare = AnchoredRange(10, 14, Anchors())
    assert found(bare, FILE) == LocatedRange(10, 14, State.UNVERIFIED, Method.RECORDED, 0.3)
    assert (found(bare, FILE[:200]).start, found(bare, FILE[:200]).end) == (10, 10)
    assert found(bare, "one\n").state == State.LOST


def test_a_file_hash_of_another_range_is_no_proof_against_the_hash() -> None:
    each = replace(
        recorded(FILE, 10, 14), anchors=replace(recorded(FILE, 20, 24).anchors, context=None)
    )
    assert found(each, FILE).state == State.LOST


def test_a_range_beyond_the_end_of_the_same_file() -> None:
    each = AnchoredRange(39, 50, Anchors(None, None, recorded(FILE, 1, 1).anchors.file_hash))
    assert found(each, FILE).state == State.LOST


def test_ten_thousand_lines_that_are_all_alike() -> None:
    content = "return None\n" * 10_000
    ranges = [recorded(content, start, start + 2) for start in (*range(1, 9000, 30), 5000)]
    located = locate(ranges, Text(content + "return None\n"))
    assert all(each.ambiguous and not each.sure for each in located)
    assert [each.start for each in located] == [each.start for each in ranges]


def test_a_match_among_untried_places_is_never_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbatim, "_MAX_PLACES", 2)
    head = "def test():\n    setup()\n    run_it()\n"
    content = "".join(f"{head}    check({number})\n" for number in range(9))
    located = found(recorded(content, 17, 20), content + "# end\n")
    assert place(located) == ("exact", 17, 20, False)
