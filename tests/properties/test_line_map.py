"""A map of lines stays within the text, and gives no line twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.line_map import LineMap
from vibes_lsp.anchors.text import Text, compact

LINES = st.lists(st.sampled_from(["", "}", "a = 1", "b = 2", "    a = 1", "return c"]), max_size=25)


@given(st.text(st.sampled_from("a\n\r\t \f\ufeff\x85")))
def test_every_line_has_a_compact_line(content: str) -> None:
    text = Text(content)
    assert text.compact_lines == [compact(line) for line in text.lines]


@given(LINES, LINES)
def test_a_map_never_leaves_the_text_and_never_gives_a_line_twice(
    old: list[str], new: list[str]
) -> None:
    texts = Text("\n".join(old)), Text("\n".join(new))
    lines = LineMap(*texts)
    places = []
    for line in range(1, len(texts[0].lines) + 1):
        found = [
            place
            for place in (lines.unmoved(line), lines.moved(line), lines.changed(line))
            if place is not None
        ]
        assert len(found) <= 1
        places += found
    assert all(1 <= place <= len(texts[1].lines) for place in places)
    assert len(set(places)) == len(places)
