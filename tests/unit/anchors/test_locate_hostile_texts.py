"""Misleading texts (R14-R16): no wrong sure claim, no long time, no place out of bounds."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.trails import anchors
from vibes_lsp.anchors.create_anchors import Anchors, range_hash, range_hash_variants
from vibes_lsp.anchors.known_text import locate_from
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, State
from vibes_lsp.anchors.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BODY = (
    "def area(width, height):\n    check(width, height)\n"
    "    seen = width * height\n    return seen\n"
)
OTHER = "".join(f"other_{number} = thing({number})\n" for number in range(1, 31))
MODES = pytest.mark.parametrize("with_old_text", [False, True], ids=["anchors", "old-text"])


def recorded(then: str, start: int, end: int) -> AnchoredRange:
    made = anchors(then, start, end)
    return AnchoredRange(
        start, end, Anchors(made.anchor_context, made.anchor_hash, made.file_content_hash)
    )


def found(then: str, now: str, start: int, end: int, *, with_old_text: bool) -> LocatedRange:
    old = Text(then) if with_old_text else None
    (located,) = locate_from(old, [recorded(then, start, end)], Text(now))
    return located


@MODES
def test_a_range_of_blank_lines(with_old_text: bool) -> None:
    then = OTHER + "\n\n\n" + BODY
    now = "\n\n" + OTHER + "\n\n\n\n" + BODY + "\n\n\n"
    located = found(then, now, 31, 33, with_old_text=with_old_text)
    assert not located.sure
    assert (located.start is None) == with_old_text


@MODES
def test_ten_thousand_lines_that_are_all_alike(with_old_text: bool) -> None:
    then = "    pass\n" * 10_000
    located = found(
        then,
        "    pass\n" * 5_000 + "    stop\n" + "    pass\n" * 5_000,
        4_000,
        4_002,
        with_old_text=with_old_text,
    )
    assert (located.state, located.start, located.ambiguous) == (
        State.EXACT,
        4_000,
        not with_old_text,
    )


@MODES
def test_the_true_copy_was_edited_while_another_remains(with_old_text: bool) -> None:
    then = BODY + OTHER + BODY
    now = BODY + OTHER + BODY.replace("width * height", "width * height / 2")
    located = found(then, now, 35, 38, with_old_text=with_old_text)
    assert not located.sure
    assert not with_old_text or (located.state, located.start, located.end) == (
        State.EDITED,
        35,
        38,
    )


@MODES
def test_the_true_copy_was_deleted_while_another_remains(with_old_text: bool) -> None:
    then = BODY + OTHER + BODY + "# end\n"
    located = found(then, BODY + OTHER + "# end\n", 35, 38, with_old_text=with_old_text)
    assert with_old_text == (located.state == State.LOST)


@MODES
def test_an_identical_block_was_put_above(with_old_text: bool) -> None:
    then = OTHER + BODY + "# end\n"
    located = found(then, OTHER + BODY + BODY + "# end\n", 31, 34, with_old_text=with_old_text)
    assert located.start in {31, 35}
    assert located.ambiguous


@pytest.mark.parametrize("errors", ["ignore", "replace"])
@pytest.mark.parametrize("shift", range(9))
def test_a_context_that_other_tools_cut_inside_a_character(shift: int, errors: str) -> None:
    then = "#" * shift + "ä漢😀" * 60 + "\n" + BODY
    context = "\n".join(then.splitlines()[:3]).encode()[:256].decode("utf-8", errors)
    digest = hashlib.sha256("\n".join(then.splitlines()[:4]).encode()).hexdigest()
    (located,) = locate([AnchoredRange(1, 4, Anchors(context, digest))], Text("# new\n" + then))
    assert (located.state, located.start, located.sure) == (State.MOVED, 2, True)


@MODES
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_that_changed(with_old_text: bool, newline: str) -> None:
    then = OTHER + BODY
    located = found(
        then.replace("\n", newline),
        "# new\n" + then.replace("\n", "\r\n" if newline == "\n" else "\n"),
        31,
        34,
        with_old_text=with_old_text,
    )
    assert (located.state, located.start, located.end, located.sure) == (State.MOVED, 32, 35, True)


def test_a_line_of_five_megabytes() -> None:
    then = OTHER + "x" * 5_000_000 + "\n" + BODY
    assert found(then, "# new\n" + then, 31, 32, with_old_text=False).start == 32
    located = found(
        then, "# new\n" + OTHER + "x" * 4_999_999 + "y\n" + BODY, 31, 33, with_old_text=True
    )
    assert (located.state, located.end) == (State.EDITED, 34)


@MODES
def test_a_hundred_thousand_lines(with_old_text: bool) -> None:
    then = "".join(f"value_{number} = compute({number})\n" for number in range(100_000))
    now = "# new\n" * 10 + then.replace("value_50005 =", "renamed =")
    located = found(then, now, 50_001, 50_010, with_old_text=with_old_text)
    assert (located.state, located.start, located.end) == (State.EDITED, 50_011, 50_020)


@MODES
def test_a_person_rewrote_forty_of_forty_five_lines_and_the_rest_moved(with_old_text: bool) -> None:
    then = OTHER + "".join(f"value_{number} = compute({number})\n" for number in range(45)) + BODY
    lines = then.splitlines(keepends=True)
    rewritten = [f"entirely different text {number * 7919}\n" for number in range(40)]
    now = "".join(["# new\n" * 9, *lines[:70], *rewritten, BODY]).replace("".join(lines[30:70]), "")
    located = found(then, now, 31, 75, with_old_text=with_old_text)
    assert not located.sure
    assert located.state in {State.EDITED, State.LOST}


@pytest.mark.parametrize("end", [10**12, 10**20])
def test_a_record_that_claims_more_lines_than_any_file_has(end: int) -> None:
    then = BODY + OTHER
    made = anchors(then, 1, len(BODY.splitlines()))
    claims = [AnchoredRange(1, end, Anchors(made.anchor_context, made.anchor_hash))] * 3
    for now in (OTHER + then, "# new\n" + then.replace("return", "yield", 1)):
        located = locate(claims, Text(now))
        assert all(not each.sure and (each.end or 0) <= len(Text(now).lines) for each in located)


def test_a_long_range_is_compared_at_few_of_its_places(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counted(lines: Sequence[str]) -> Iterator[str]:
        compared.append(len(lines))
        return range_hash_variants(lines)

    monkeypatch.setattr("vibes_lsp.anchors.location.range_hash_variants", counted)
    text = Text("pass\n" * 60_000)
    wrong = AnchoredRange(10_000, 39_999, Anchors("pass\npass\npass", "0" * 64))
    (found,) = locate([wrong], text)
    assert not found.sure
    assert sum(compared) < 10 * 30_000
    right = AnchoredRange(1, 60_000, Anchors("pass\npass\npass", range_hash(text.lines)))
    assert locate([right], text)[0].start == 1
