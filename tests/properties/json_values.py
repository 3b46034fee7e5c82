"""JSON values, and objects with unknown members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from vibes_lsp.model.members import JsonValue

TEXT: Final = st.text(st.characters(codec="utf-8"), max_size=12)
"""Text that UTF-8 can hold: the independent writer refuses lone surrogates."""
NUMBERS: Final = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -0.0, 1.0, 1e21, 1e-7, 5e-324, 2**53 + 1]),
)


def json_values(text: SearchStrategy[str] = TEXT) -> SearchStrategy[JsonValue]:
    """Any JSON value that is not nested beyond reason."""
    return st.recursive(
        st.one_of(st.none(), st.booleans(), NUMBERS, text),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)
        ),
        max_leaves=12,
    )


JSON: Final = json_values()
MEMBERS: Final = st.dictionaries(TEXT, JSON, max_size=6)
