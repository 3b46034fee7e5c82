"""A range that the filter excludes is not in the file; most absent ranges are excluded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.create_anchors import Anchors, create_anchors
from vibes_lsp.anchors.locate import locate_sure
from vibes_lsp.anchors.location import AnchoredRange
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.project_files import RangeFilter, RangeFilters, RawLines

LINES = st.sampled_from(["", "a", "});", "\t});", "é", "x = 1", "x" * 300, "a\rb"])
PIECES = st.sampled_from(
    [b"", b"a", b"});", b"\t});", "é".encode(), b"\xff", b"x = 1", b"x" * 300, b"a\rb"]
)
ENDS = st.sampled_from([b"\n", b"\r\n"])
CONTENTS = st.builds(
    lambda mark, lines, end, last: mark + end.join(lines) + (end if last else b""),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(PIECES, max_size=12),
    ENDS,
    st.booleans(),
)


@st.composite
def recorded(draw: st.DrawFn) -> AnchoredRange:
    """A range of a text, with our anchors or those of a tool with encoding errors."""
    lines = draw(st.lists(LINES, min_size=1, max_size=8))
    text = Text("\n".join(lines) + "\n")
    start = draw(st.integers(1, len(text.lines) or 1))
    end = draw(st.integers(start, max(start, len(text.lines))))
    anchors = create_anchors(text, start, end)
    context = draw(st.sampled_from([anchors.context, anchors.context, None, "", "other\nlines"]))
    shift = draw(st.integers(0, 2))
    return AnchoredRange(
        start + shift,
        end + shift,
        Anchors(context, anchors.hash, draw(st.sampled_from([anchors.file_hash, None]))),
    )


@given(CONTENTS, st.lists(recorded(), max_size=4))
def test_a_range_that_the_filter_excludes_is_not_found(
    content: bytes, ranges: list[AnchoredRange]
) -> None:
    file, text = RawLines(content), Text.from_bytes(content)
    single = [locate_sure([each], text)[0] is not None for each in ranges]
    firsts = [
        each.first_line is None or each.first_line in file.unique
        for each in map(RangeFilter, ranges)
    ]
    found = [RangeFilter(each).may_be_in(file) for each in ranges]
    assert all(
        may or not (stands and first)
        for may, stands, first in zip(found, single, firsts, strict=True)
    )
    assert RangeFilters(ranges).may_be_in(file) == any(found)


@given(CONTENTS)
def test_raw_lines_equal_the_lines_of_the_text(content: bytes) -> None:
    file, text = RawLines(content), Text.from_bytes(content)
    assert [line.decode("utf-8", "surrogateescape") for line in file.lines] == text.lines
    assert len(file) == len(text.lines)


def test_common_lines_alone_do_not_pass_the_filter() -> None:
    text = Text("\tit('x', () => {\n\t\tsum();\n\t});\n});\n")
    range_filter = RangeFilter(AnchoredRange(3, 4, create_anchors(text, 3, 4)))
    assert range_filter.may_be_in(RawLines(b"a\n\t});\n});\nb\n"))
    assert not range_filter.may_be_in(RawLines(b"\t});\na\n});\n"))
    assert not RangeFilter(AnchoredRange(3, 9, create_anchors(text, 3, 4))).may_be_in(
        RawLines(b"a\n\t});\n});\n")
    )
