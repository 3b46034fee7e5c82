"""Texts that are parsed together give what each of them gives alone."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties.json_values import JSON, MEMBERS
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import MAX_DEPTH, parse_object, parse_objects


def alone(text: bytes) -> str:
    """Return what a text gives by itself."""
    try:
        return repr(parse_object(text))
    except MalformedJson as error:
        return error.message


def nested(depth: int) -> bytes:
    """Return an object of some depth."""
    return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


texts = st.one_of(
    MEMBERS.map(lambda each: json.dumps(each, separators=(",", ":"), ensure_ascii=False).encode()),
    MEMBERS.map(lambda each: json.dumps(each).encode()),
    JSON.map(lambda each: json.dumps(each, separators=(",", ":")).encode()),
    st.sampled_from(
        [
            b"",
            b"{}",
            b"{}\r",
            b" {}",
            b"{}{}",
            b"{}\n{}",
            b'{"a":1},{"b":2}',
            b'{"a":[1',
            b"2]}",
            b'{"a":1,"a":2}',
            b'{"a":NaN}',
            b'{"a":"\\ud800"}',
            b"\xef\xbb\xbf{}",
            b"\xff",
            nested(MAX_DEPTH),
            nested(MAX_DEPTH + 1),
        ]
    ),
)


@given(st.lists(texts, max_size=6))
@example([b"{}\n{}", b""])
@example([b'{"a":[1', b"2]}", b"{}{}"])
@example([b"{}", nested(MAX_DEPTH + 1)])
def test_texts_together_give_what_each_gives_alone(some: list[bytes]) -> None:
    found = parse_objects(some)
    assert [
        each.message if isinstance(each, MalformedJson) else repr(each) for each in found
    ] == list(map(alone, some))
