"""Immutable mappings that grow: content, order and unchanged older versions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.store.journal import LayeredMap

items = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=2), st.integers(), max_size=6)


@given(st.lists(items, max_size=12))
def test_existing_keys_keep_their_values(added: list[dict[str, int]]) -> None:
    kept, wanted = LayeredMap[int](), dict[str, int]()
    stages = []
    for each in added:
        kept = kept.with_items(each)
        wanted = (
            {**each, **wanted}
            if not wanted
            else {**wanted, **{key: value for key, value in each.items() if key not in wanted}}
        )
        stages.append((kept, list(wanted.items())))
    for layers, expected in stages:
        assert (list(layers.items()), len(layers)) == (expected, len(expected))
        assert all(key in layers for key, _ in expected)
        assert "absent" not in layers
        assert layers.get("absent") is None


def test_the_number_of_layers_stays_small() -> None:
    """Each look-up goes through all layers."""
    kept = LayeredMap[int]()
    for number in range(1_000):
        kept = kept.with_items({str(number): number})
    assert len(kept._layers) <= 11
