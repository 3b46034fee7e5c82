"""The digests of a manifest that is read some entries at a time are those of the whole value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vibes_lsp.attestation import json_digests as module
from vibes_lsp.attestation.json_digests import JsonDigests, json_digests
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import canonical_json, parse_json, parse_object
from vibes_lsp.store.manifest import equal_except_time

KEYS: Final = [f"{number:x}" * 64 for number in (3, 11, 7)]


def digests_of_value(data: bytes) -> JsonDigests:
    """Return the same digests by parsing all: short and plain."""
    canonical = frame = None
    with suppress(MalformedJson):
        canonical = hashlib.sha256(canonical_json(parse_json(data))).hexdigest()
    with suppress(MalformedJson):
        members = parse_object(data, same=equal_except_time)
        members.pop("entries", None)
        frame = hashlib.sha256(canonical_json(members)).hexdigest()
    return JsonDigests(canonical, frame)


spaces = st.sampled_from(["", "", "", " ", "\n  ", "\t", "\r\n"])
names = st.one_of(
    st.sampled_from([*KEYS, "entries", "standard", "version", "", "ä", "\U0001f600", "a", "b"]),
    st.text(max_size=3),
)
strings = st.one_of(
    names.map(lambda name: json.dumps(name, ensure_ascii=False)),
    names.map(json.dumps),
    st.sampled_from([r'"\ud800"', r'"\u0061"', r'"\/"', r'"\ud83d\ude00"', '"\x7f"']),
)
scalars = st.one_of(
    strings,
    st.sampled_from(["null", "true", "0", "-0", "-0.0", "1E2", "1.0", "0.1", "1e-7", "9" * 25]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers().map(str),
)


def objects(name: st.SearchStrategy[str], value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The texts of objects, some of which have a name more than once."""
    member = st.tuples(spaces, name, spaces, spaces, value, spaces)
    some = st.one_of(
        st.lists(member, max_size=5, unique_by=lambda each: each[1]), st.lists(member, max_size=3)
    )
    return some.map(
        lambda each: "{" + ",".join("{}{}{}:{}{}{}".format(*member) for member in each) + "}"
    )


broken = st.sampled_from(['"\x01"', r'"\x"', "1e400", "01", "NaN", "\x0b1", "[", "{"])
values = st.recursive(
    scalars,
    lambda child: st.one_of(
        objects(strings, child),
        st.lists(child, max_size=3).map(lambda each: "[" + ",".join(each) + "]"),
    ),
    max_leaves=6,
)
TIMES: Final = ['{"created_at":1}', '{"created_at":2}', '{"created_at":2,"x":1.50}', '{"x":1.5}']
entry_objects = objects(
    st.one_of(st.sampled_from([f'"{key}"' for key in KEYS]), strings),
    st.one_of(st.sampled_from(TIMES), objects(strings, values), values, objects(strings, broken)),
)
members = st.tuples(
    st.one_of(strings, st.sampled_from(['"standard"', '"zone"'])),
    st.one_of(values, values, values, entry_objects, broken),
)


@st.composite
def manifests(draw: st.DrawFn) -> bytes:
    """Manifests as tools and hands write them, valid or not."""
    parts = draw(st.lists(members, max_size=3, unique_by=lambda each: each[0]))
    parts.insert(
        draw(st.integers(0, len(parts))),
        (draw(st.sampled_from(['"entries"', '"entries"', r'"\u0065ntries"'])), draw(entry_objects)),
    )
    text = ",".join(f"{draw(spaces)}{name}{draw(spaces)}:{value}" for name, value in parts)
    text = f"{draw(spaces)}{{{text}}}{draw(spaces)}"
    data = text.encode("utf-8", "surrogatepass")
    return (
        draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
        + data
        + draw(st.sampled_from([b"", b"\n", b"", b"\n", b"", b"\n", b"x", b"\xff"]))
    )


@pytest.mark.parametrize("at_once", [1, 40, 1 << 20])
@given(data=manifests())
def test_they_are_those_of_the_whole_value(data: bytes, *, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        assert json_digests(data) == digests_of_value(data)


@given(data=manifests(), change=st.binary(max_size=3), place=st.integers(0, 400))
def test_they_are_those_of_the_whole_value_where_bytes_were_changed(
    data: bytes, change: bytes, place: int
) -> None:
    changed = data[:place] + change + data[place + len(change) :]
    assert json_digests(changed) == digests_of_value(changed)


@given(st.binary(max_size=40))
@example(b"")
@example(b'{"entries":{"\xed\xa0\x80":1}}')
@example(b"[]")
@example(b'{"entries":1}')
@example(b'{"entries":{}}')
@example(b'{"entries":{},"entries":{}}')
@example(b'{"entries":{"a":1},"entries":{"a":1}}')
@example(b'{"entries":{"a":{"b":1},"a":{"b":1}}}')
@example(b'{"entries":{"a":{"created_at":1},"a":{"created_at":2}}}')
@example(b'{"entries":{"a":1,"b":12,"a":{"x":1,"b":      1}}}')
@example(b'{"z":1,"entries":{"b":1.0,"a":"\xc3\xa4"},"a":2}')
@example(b'{"entries":{"a":1}}{"entries":{"a":1}}')
def test_other_files_have_the_digests_of_their_value(data: bytes) -> None:
    assert json_digests(data) == digests_of_value(data)


@pytest.mark.parametrize("depth", range(58, 68))
def test_an_entry_may_be_as_deep_as_in_the_whole_value(depth: int) -> None:
    data = b'{"entries":{"a":%s}}' % (b"[" * depth + b"]" * depth)
    assert json_digests(data) == digests_of_value(data)


def written(entries: Sequence[int], **other: object) -> bytes:
    keyed = {hashlib.sha256(b"%d" % number).hexdigest(): {"n": number} for number in entries}
    return json.dumps({"standard": "VIBES", **other, "entries": keyed}).encode()


def test_entries_are_parsed_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def parse(data: bytes) -> object:
        lengths.append(len(data))
        return parse_json(data)

    data = written(range(500), zone=1)
    wanted = digests_of_value(data)
    monkeypatch.setattr(module, "_AT_ONCE", 200)
    monkeypatch.setattr(module, "parse_json", parse)
    assert json_digests(data) == wanted
    assert len(lengths) > 10
    assert max(lengths) < len(data) / 10


def test_the_frame_does_not_depend_on_entries() -> None:
    one, other = json_digests(written(range(3))), json_digests(written(range(4)))
    assert one.frame == other.frame
    assert one.canonical != other.canonical
    assert json_digests(written(range(3), version="1.0")).frame != one.frame
