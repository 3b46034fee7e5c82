"""Generated files and edits with numbered lines: no sure claim is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.trails import anchors
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.locate import locate, locate_sure
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text

COMMON: Final = ("}", "", "    return None", "else:", "    pass")
"""Lines that occur many times in a file."""


@dataclass(frozen=True)
class Line:
    """A line with a number that it keeps when it moves, and that its copies share."""

    number: int
    text: str

    @property
    def is_unmistakable(self) -> bool:
        return self.text not in COMMON


class Lines:
    """Makes lines, each with a number of its own."""

    def __init__(self) -> None:
        self._next = 0

    def line(self, common: str | None = None) -> Line:
        self._next += 1
        return Line(
            self._next, f"value_{self._next} = compute({self._next})" if common is None else common
        )


KIND: Final = st.one_of(st.none(), st.none(), st.sampled_from(COMMON))
EDITS: Final = st.lists(
    st.tuples(
        st.sampled_from(["insert", "delete", "replace", "move", "copy"]),
        st.integers(0, 60),
        st.integers(1, 6),
        st.integers(0, 60),
        KIND,
    ),
    max_size=6,
)


@st.composite
def files(draw: st.DrawFn) -> tuple[Lines, list[Line]]:
    """A file of some lines, common ones among them."""
    lines = Lines()
    return lines, [lines.line(kind) for kind in draw(st.lists(KIND, min_size=1, max_size=40))]


def edited(
    lines: Lines, before: list[Line], edits: list[tuple[str, int, int, int, str | None]]
) -> list[Line]:
    """Edit a file: places beyond its end are its end."""
    now = list(before)
    for what, place, size, target, kind in edits:
        start = min(place, len(now))
        block = now[start : start + size]
        if what == "insert":
            now[start:start] = [lines.line(kind) for _ in range(size)]
        elif what == "replace":
            now[start : start + size] = [lines.line(kind) for _ in block]
        elif what == "copy":
            to = min(target, len(now))
            now[to:to] = block
        else:
            del now[start : start + size]
            if what == "move":
                to = min(target, len(now))
                now[to:to] = block
    return now


def content_of(lines: list[Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


def ranges_of(draw: st.DrawFn, lines: list[Line], most: int = 6) -> list[AnchoredRange]:
    content = content_of(lines)
    found = []
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(1, len(lines)))
        end = min(len(lines), start + draw(st.integers(0, 6)))
        made = anchors(content, start, end)
        found.append(
            AnchoredRange(
                start, end, Anchors(made.anchor_context, made.anchor_hash, made.file_content_hash)
            )
        )
    return found


@st.composite
def edits_of_files(draw: st.DrawFn) -> tuple[list[Line], list[Line], list[AnchoredRange]]:
    """A file, what became of it, and ranges that were recorded in the first."""
    lines, before = draw(files())
    return before, edited(lines, before, draw(EDITS)), ranges_of(draw, before)


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def copies(wanted: list[Line], lines: list[Line]) -> int:
    size = len(wanted)
    return sum(
        texts(lines[start : start + size]) == texts(wanted)
        for start in range(len(lines) - size + 1)
    )


@given(edits_of_files())
def test_no_sure_claim_is_wrong(story: tuple[list[Line], list[Line], list[AnchoredRange]]) -> None:
    before, now, ranges = story
    for each, located in zip(ranges, locate(ranges, Text(content_of(now))), strict=True):
        if not located.sure:
            continue
        assert located.start is not None
        assert located.end is not None
        was, is_now = before[each.start - 1 : each.end], now[located.start - 1 : located.end]
        assert texts(is_now) == texts(was)
        if texts(now) == texts(before):  # the same file, however it came to be it again
            assert (located.start, located.end) == (each.start, each.end)
            continue
        assert copies(was, now) == 1
        kept = {line.number for line in now}
        assert all(
            one.number == other.number
            for one, other in zip(was, is_now, strict=True)
            if one.is_unmistakable and one.number in kept
        )


@given(edits_of_files())
def test_an_unchanged_unmistakable_range_is_sure(
    story: tuple[list[Line], list[Line], list[AnchoredRange]],
) -> None:
    """Located alone: neighbours that did not move along make it doubtful."""
    before, now, ranges = story
    for each in ranges:
        (located,) = locate([each], Text(content_of(now)))
        was = before[each.start - 1 : each.end]
        unmistakable = [line.text for line in was if line.is_unmistakable]
        if (
            len(unmistakable) < 3
            or copies(was, now) != 1
            or any(texts(now).count(text) > 1 for text in unmistakable)
        ):
            continue
        numbers = [line.number for line in now]
        assume(was[0].number in numbers)
        start = numbers.index(was[0].number) + 1
        assume(numbers[start - 1 : start - 1 + len(was)] == [line.number for line in was])
        assert (located.start, located.end, located.sure) == (start, start + len(was) - 1, True)
        assert located.state == (State.EXACT if start == each.start else State.MOVED)


@given(edits_of_files())
def test_little_text_moves_only_with_an_unmistakable_neighbour(
    story: tuple[list[Line], list[Line], list[AnchoredRange]],
) -> None:
    """The neighbour may be ambiguous itself.

    That it must be sure would cost 32 of 32,671 sure claims on eight repositories, without
    history, and prevent no wrong one.
    """
    before, now, ranges = story
    offsets: set[int] = set()
    doubtful: set[int] = set()
    for each, located in zip(ranges, locate(ranges, Text(content_of(now))), strict=True):
        if located.state == State.MOVED and located.start is not None:
            was = {line.text for line in before[each.start - 1 : each.end] if len(line.text) > 3}
            if len(was) >= 3:
                offsets.add(located.start - each.start)
            elif located.sure:
                doubtful.add(located.start - each.start)
    assert doubtful <= offsets


@given(edits_of_files())
def test_ranges_with_copies_are_never_sure(
    story: tuple[list[Line], list[Line], list[AnchoredRange]],
) -> None:
    before, now, ranges = story
    for each, located in zip(ranges, locate(ranges, Text(content_of(now))), strict=True):
        if copies(before[each.start - 1 : each.end], now) > 1:
            assert not located.sure or located.method == Method.FILE_HASH


@given(edits_of_files(), st.randoms(use_true_random=False))
def test_the_order_of_ranges_does_not_matter(
    story: tuple[list[Line], list[Line], list[AnchoredRange]], random: Random
) -> None:
    _, now, ranges = story
    text = Text(content_of(now))
    shuffled = list(ranges)
    random.shuffle(shuffled)
    assert sorted(zip(map(repr, ranges), locate(ranges, text), strict=True), key=repr) == sorted(
        zip(map(repr, shuffled), locate(shuffled, text), strict=True), key=repr
    )
    assert locate([*ranges, *ranges], text) == locate(ranges, text) * 2


@given(edits_of_files())
def test_locate_sure_gives_the_sure_claims_of_locate(
    story: tuple[list[Line], list[Line], list[AnchoredRange]],
) -> None:
    _, now, ranges = story
    text = Text(content_of(now))
    assert locate_sure(ranges, text) == [
        each if each.sure else None for each in locate(ranges, text)
    ]


@given(edits_of_files(), edits_of_files())
def test_ranges_of_other_texts_do_not_change_an_unmistakable_one(
    story: tuple[list[Line], list[Line], list[AnchoredRange]],
    other: tuple[list[Line], list[Line], list[AnchoredRange]],
) -> None:
    _, now, ranges = story
    foreign = [replace(each, anchors=Anchors("nowhere to be found", "f" * 64)) for each in other[2]]
    text = Text(content_of(now))
    assert locate([*foreign, *ranges], text)[len(foreign) :] == locate(ranges, text)


@given(
    st.integers(0, 30),
    st.integers(3, 12),
    st.integers(0, 30),
    st.integers(-20, 20),
    st.integers(0, 5),
)
def test_a_distant_edit_moves_a_range_exactly(
    above: int, size: int, below: int, offset: int, after: int
) -> None:
    lines = Lines()
    before = [lines.line() for _ in range(above + size + below)]
    offset = max(offset, -above)
    now = [*(lines.line() for _ in range(offset)), *before[max(0, -offset) :]]
    now += [lines.line() for _ in range(after)]
    made = anchors(content_of(before), above + 1, above + size)
    each = AnchoredRange(above + 1, above + size, Anchors(made.anchor_context, made.anchor_hash))
    (located,) = locate([each], Text(content_of(now)))
    state = State.MOVED if offset else State.EXACT
    assert located == LocatedRange(
        above + 1 + offset,
        above + size + offset,
        state,
        Method.ANCHOR_HASH,
        0.99,
        ambiguous=False,
        intact=size,
    )


WILD: Final = st.one_of(
    st.text(st.characters(), max_size=60),
    st.text(st.sampled_from("ab \t\r\n\x0b\x0c\x85\u2028\ufeff\ud800\udcff😀ß"), max_size=60),
    st.text(st.sampled_from("a\n"), max_size=400),
)
WILD_RANGES: Final = st.lists(
    st.builds(
        lambda start, size, context, digest, file: AnchoredRange(
            start, start + size, Anchors(context, digest, file)
        ),
        st.one_of(st.integers(1, 20), st.just(10**20)),
        st.one_of(st.integers(0, 20), st.just(10**20)),
        st.one_of(
            st.none(), WILD, st.sampled_from(["", "\n", "a", "a\na\na", "x" * 256, "😀" * 64])
        ),
        st.one_of(st.none(), st.sampled_from(["", "0" * 64, "x"])),
        st.one_of(st.none(), st.just("0" * 64)),
    ),
    max_size=6,
)


@given(WILD, WILD_RANGES)
def test_only_verbatim_matches_are_sure_in_any_text(
    content: str, ranges: list[AnchoredRange]
) -> None:
    text = Text(content)
    assert locate_sure(ranges, text) == [
        each if each.sure else None for each in locate(ranges, text)
    ]


@given(WILD, WILD_RANGES, st.data())
def test_any_text_and_any_anchors_give_places_within_the_text(
    content: str, ranges: list[AnchoredRange], data: st.DataObject
) -> None:
    text = Text(content)
    if text.lines:
        ranges = [*ranges, _honest(text, data)]
    located = locate(ranges, text)
    assert len(located) == len(ranges)
    for each in located:
        assert (each.start is None) == (each.end is None) == (each.state == State.LOST)
        assert 0 <= each.confidence <= 1
        if each.start is not None and each.end is not None:
            assert 1 <= each.start <= each.end <= len(text.lines)


def _honest(text: Text, data: st.DataObject) -> AnchoredRange:
    raw = text.content.encode("utf-8", "surrogatepass")
    start = data.draw(st.integers(1, len(text.lines)))
    end = data.draw(st.integers(start, len(text.lines)))
    made = anchors(raw, start, end)
    return AnchoredRange(
        start, end, Anchors(made.anchor_context, made.anchor_hash, made.file_content_hash)
    )
