"""Positions of what R1 rejects, in texts of many lines."""

from __future__ import annotations

import pytest

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_json


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a":"NaN",\n  "b": NaN}', (2, 8)),
        ("[1,\n\n-Infinity]", (3, 1)),
        ('{"a":1,\n"b":1e999}', (2, 5)),
        ('{"a":{"x":1},\n"b":{"x":1,\n "x":2}}', (3, 2)),
        ('{"a":1,\n\n"a" : 2}', (3, 1)),
        ("[" * 60 + "\n" + "[" * 10 + "]" * 70, (2, 5)),
        ("[\n" * 5000, (65, 1)),
        ('{"a":"' + "9" * 5000 + '",\n "b": -' + "9" * 5000 + "}", (2, 7)),
    ],
)
def test_the_position_of_an_invalid_value_is_found(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(MalformedJson) as caught:
        parse_json(text)
    assert (caught.value.line, caught.value.column) == place
