"""Where a position in a JSON text is: in texts that are whole, cut off anywhere, or no JSON."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.model.config_schema import suggestions_at
from vibes_lsp.model.json_positions import cursor_at, find_member

NAMES = st.text("abcdefgh", min_size=1, max_size=4)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\{[,:\n ä'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def paths(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the paths of all members of objects."""
    if isinstance(value, dict):
        own = [(*path, name) for name in value]
        return own + [each for name in value for each in paths(value[name], (*path, name))]
    if isinstance(value, list):
        return [each for at, item in enumerate(value) for each in paths(item, (*path, str(at)))]
    return []


@given(value=st.dictionaries(NAMES, VALUES, max_size=4), indent=st.sampled_from([None, 1]))
def test_every_name_is_found_with_its_path(value: Any, indent: int | None) -> None:
    source = json.dumps(value, indent=indent)
    for path in paths(value):
        place = find_member(source, path)
        assert place is not None
        offset = sum(len(line) + 1 for line in source.split("\n")[: place[0] - 1]) + place[1] - 1
        found = cursor_at(source, offset + 1)
        assert (found.path, found.is_name) == (path, True)
        assert source[found.start : found.end] == json.dumps(path[-1])
        assert found.next_character == ":"
        siblings = value
        for part in path[:-1]:
            siblings = siblings[int(part) if isinstance(siblings, list) else part]
        assert found.names == set(siblings) - {path[-1]}


@given(
    value=st.dictionaries(NAMES, VALUES, max_size=3),
    cut=st.integers(0, 200),
    offset=st.integers(0, 250),
    noise=st.text('{}[]:,"\\ \nab1', max_size=8),
)
def test_no_text_is_too_broken(value: Any, cut: int, offset: int, noise: str) -> None:
    source = json.dumps(value)[:cut] + noise
    found, _ = suggestions_at(source, min(offset, len(source)))
    assert 0 <= found.start <= found.end <= max(len(source), offset)


def test_a_name_that_is_being_typed_hides_no_other() -> None:
    source = '{\n  "a": 1,\n  "ne\n  "b": {"c": 2}\n}'
    found = cursor_at(source, source.index("ne") + 2)
    assert (found.path, found.next_character) == (("ne",), '"')
    assert found.names == {"a", "b"}
