"""Untrusted text in Markdown is one code span that no host renders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from vibes_lsp.model.escaping import code_span

if TYPE_CHECKING:
    from markdown_it.token import Token

HOSTILE = [
    "<script>alert(1)</script>", "@ada", "#12", "https://example.org", "[a](https://example.org)", "![a](x)", "a | b \\| c", "`", "``a``", "` `",
    "\n# heading\n", "\n\n- item", "*bold* _it_ ~~x~~", "<!-- -->", "\u202eevil\u2066", "\x1b[31m", "", " ", "\\`", "`\\", "a\r\n\r\n<b>", "\u200b@ada",
]  # fmt: skip


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


@pytest.mark.parametrize("text", HOSTILE)
def test_untrusted_text_is_one_code_span(text: str) -> None:
    line = f"- **block** {code_span(text, 200)} · end"
    tokens = MarkdownIt("gfm-like", {"html": True}).parse(line)
    assert [token.type for token in tokens] == [
        "bullet_list_open", "list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close", "bullet_list_close",
    ]  # fmt: skip
    kinds = [token.type for token in inline(tokens)]
    assert (
        kinds == ["text", "strong_open", "text", "strong_close", "text", "code_inline", "text"]
        or not text.strip()
    )
    assert {"html_inline", "link_open", "image"}.isdisjoint(kinds)
    assert inline(tokens)[-1].content.endswith("· end")
    assert not re.search("[\x00-\x1f\u200b\u202a-\u202e\u2066-\u2069]", line)
