"""Untrusted words in hovers."""

from __future__ import annotations

import pytest

from vibes_lsp.lsp.documents.rendering import Markup


@pytest.mark.parametrize("kind", ["markdown", "plaintext"])
def test_words_that_are_cut_end_in_an_ellipsis(kind: str) -> None:
    markup = Markup.named(kind)
    assert markup.words("four words and more", 10) == "four word…"
    assert markup.words("four words and more", 19) == "four words and more"
