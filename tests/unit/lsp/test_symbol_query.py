"""Queries for workspace symbols: the look at stored bytes leaves out nothing that matches."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.lsp.features.symbols import SymbolQuery

TEXTS = st.text('abkKsS\u017f\u212aßf\ufb01F. "\\/\t\n😀', max_size=20)


@given(
    said=TEXTS, words=st.lists(TEXTS.filter(str.strip), min_size=1, max_size=2), pure=st.booleans()
)
def test_what_matches_is_never_left_out(said: str, words: list[str], pure: bool) -> None:
    query = SymbolQuery(tuple(" ".join(words).casefold().split()))
    raw = json.dumps({"prompt_text": said}, ensure_ascii=pure).encode()
    assert query.may_match(raw) or query.place_in(said) is None


def test_most_of_what_does_not_match_is_left_out() -> None:
    query = SymbolQuery(("sign-up", "check"))
    assert not query.may_match(b'{"prompt_text":"Limit the attempts."}')
    assert query.may_match(b'{"prompt_text":"CHECK the sign-up."}')
