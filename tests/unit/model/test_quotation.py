"""Untrusted text as a Markdown quotation, or as words in a line, reads as it is and means nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vibes_lsp.model.escaping import cut_lines, escape_markdown, quotation, single_line

LIMIT = 300
RENDERER = MarkdownIt("gfm-like", {"html": True, "linkify": True, "typographer": False})
assert RENDERER.linkify is not None
RENDERER.linkify.set({"fuzzy_link": False})  # GFM makes no link of a bare `example.org`
MARKS = st.text("\\`*_[]<>~|$@&#+-=:/.()!w1a ;", max_size=12)
"""What the escapes are about, and little else: each beside each, and at the start of a line."""
PIECES = st.sampled_from(
    [
        "a", "b_c", "1", "12", " ", "  ", "    ", "\t", "\n", "\r\n", "\\", "`", "``", "```", "~", "~~", "~~~", "*",
        "**", "_", "__", "#", "###", "+", "-", "---", "=", "===", ">", "<", "<b>", "</b>", "<!--", "-->", "[", "]",
        "(", ")", "](x)", "![", "[x]: y", "[^1]", "|", "|-|", ":-:", "|\n|-|\n|", "&amp;", "&#35;", "&", "$", "$$", "@",
        "a@b.org", "mailto:", "http://", "https://a.org", "ftp://x", "//a.org", "//localhost", "www.", "WWW.a.org", "command:x", "//", "://",
        ".", ")", "1.", "1)", "!", "\u202e", "\u200b", "\u2028", "é", "漢", "<a href='x'>", "<https://a.org>", "{#x}",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join) | MARKS | st.text(max_size=60)


def inline(markdown: str) -> tuple[list[str], str]:
    """Return the kinds of blocks, and the text of a document; fail on any inline markup."""
    tokens = RENDERER.parse(markdown)
    children = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in children} <= {"text", "hardbreak"}
    text = "".join("\n" if child.type == "hardbreak" else child.content for child in children)
    return [token.type for token in tokens], text


@given(TEXTS)
@example("text\n===")
@example("| a |\n|---|\n| b |")
@example("1. a\n2) b\n- c")
@example("a\\")
@example("www.a.org")
@example("a_b _c_ d")
@example("://")
@example(":/a")
@example("//a.org")
@example("x //localhost/ ///a.org :///a.org")
def test_a_quotation_reads_as_the_text(text: str) -> None:
    quoted = quotation(text, LIMIT, 9)
    lines = cut_lines(text, LIMIT, 9)
    kinds, shown = inline(f"before\n\n{quoted}\n\nafter") if lines else ([], "")
    if lines:
        block = [
            "blockquote_open",
            "paragraph_open",
            "inline",
            "paragraph_close",
            "blockquote_close",
        ]
        plain = ["paragraph_open", "inline", "paragraph_close"]
        assert kinds == [*plain, *block, *plain]
        assert shown == "before" + "\n".join(lines) + "after"
    assert (quoted == "") == (not text.strip())
    assert all(line.startswith("> ") for line in quoted.split("\n") if quoted)


@given(TEXTS)
@example("://")
@example("//a.org")
def test_words_in_a_line_read_as_the_text(text: str) -> None:
    kinds, shown = inline(f"x “{escape_markdown(text, 60)}” y")
    assert kinds == ["paragraph_open", "inline", "paragraph_close"]
    assert shown == f"x “{single_line(text, 60)}” y"


@given(TEXTS | st.text(max_size=600), st.integers(0, 200), st.integers(0, 9))
@example("a\nb", 1, 3)
@example("ab\ncd", 2, 3)
@example("a", 5, 0)
@example("a" + 9 * "\n" + "b", 2, 3)
@example(9 * "\n" + "a", 2, 3)
def test_a_quotation_is_cut(text: str, limit: int, lines: int) -> None:
    cut = cut_lines(text, limit, lines)
    assert len(cut) <= lines
    assert sum(map(len, cut)) <= limit
    whole = [line for line in re.split("\r\n|\r|\n", text) if line.strip()]
    assert bool(cut) == bool(whole and limit and lines)
    if cut:
        assert cut == [single_line(line, 9_000) for line in whole] or cut[-1].endswith("…")


@given(TEXTS | st.text(max_size=600), st.integers(1, 90))
@example("a" + 9 * " " + "b", 2)
@example(9 * " " + "a", 2)
def test_a_line_is_cut(text: str, limit: int) -> None:
    cut = single_line(text, limit)
    assert len(cut) <= limit
    assert bool(cut) == bool(text.strip())
    assert cut == single_line(text, 9_000) or cut.endswith("…")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            "Store it in snake_case, as 1.5 of a.py says.",
            "Store it in snake_case, as 1.5 of a.py says.",
        ),
        ("Use `scrypt`!", r"Use \`scrypt\`!"),
        ("- one", r"\- one"),
        ("2. two", r"2\. two"),
        ("see https://a.org", r"see https\://a.org"),
        ("://", r"\://"),
        ("// a comment", r"// a comment"),
        ("//a.org", r"\//a.org"),
    ],
)
def test_little_is_escaped(text: str, written: str) -> None:
    assert quotation(text, LIMIT, 9) == f"> {written}"
