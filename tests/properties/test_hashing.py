"""Canonical JSON and hashes compared with an independent writer's, for any value and deviations."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

from hypothesis import assume, given
from hypothesis import strategies as st

from tests import trails
from tests.properties.json_values import JSON, MEMBERS, NUMBERS, TEXT, json_values
from tests.trails import ID_VARIANTS
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import canonical_json, javascript_number, parse_json, same_value
from vibes_lsp.model.hashing import (
    annotation_id,
    context_hash,
    explain_annotation_id,
    explain_context_hash,
    sha256,
)

if TYPE_CHECKING:
    from vibes_lsp.model.members import JsonValue, Members

VARIANTS = ("no-type", "ascii", "null-dropped", "js-number", "replacer")
PIECES = (
    "",
    " ",
    ",",
    '"a":1,',
    '"a":1.0,',
    '"b":[{"a":2,"a":3}],',
    "-",
    "0",
    "1e400",
    "9" * 20,
    "\\u0061",
    "\ufeff",
    "[" * 70,
    "]",
    "NaN",
    "\n",
    "\r\n",
)
SURROGATES = st.text(st.characters(), max_size=8)


@given(JSON)
def test_parsing_what_was_printed_gives_the_value(value: JsonValue) -> None:
    printed = canonical_json(value)
    assert canonical_json(parse_json(printed)) == printed
    assert canonical_json(parse_json(json.dumps(value, indent=1))) == printed
    assert canonical_json(parse_json(canonical_json(value, ascii_only=True))) == printed


@given(
    json_values(st.sampled_from(["", "a", "b", 'a":1,"b', "é", "\n"])),
    st.integers(0, 200),
    st.sampled_from(PIECES),
)
def test_bytes_and_text_are_read_alike(value: JsonValue, at: int, piece: str) -> None:
    """The fast parser of bytes must give the same result as the strict one, duplicates included."""
    printed = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    text = printed[:at] + piece + printed[at:]
    assert _read(text.encode()) == _read(text)


def _read(data: bytes | str) -> tuple[object, ...]:
    try:
        return ("value", repr(parse_json(data)))
    except MalformedJson as error:
        return (error.reason, error.line, error.column)


@given(json_values(SURROGATES))
def test_lone_surrogates_survive(value: JsonValue) -> None:
    printed = canonical_json(value)
    assert canonical_json(parse_json(printed)) == printed
    assert canonical_json(value, javascript_numbers=True).decode("utf-8")
    sha256(printed)


@given(MEMBERS)
def test_hashes_are_those_of_the_independent_writer(members: Members) -> None:
    for added in ({}, {"created_at": "2026-02-03T10:00:00Z", "annotation_id": "x" * 64}):
        given_members: Members = {**members, **added}
        assert context_hash(given_members) == trails.context_hash(given_members)
        assert annotation_id(given_members) == trails.annotation_id(given_members)


@given(MEMBERS, JSON)
def test_only_the_named_members_are_left_out(members: Members, value: JsonValue) -> None:
    assume(not {"created_at", "annotation_id"} & members.keys())
    assert context_hash({**members, "created_at": value}) == context_hash(members)
    assert annotation_id({**members, "annotation_id": value}) == annotation_id(members)
    assert context_hash({**members, "annotation_id": value}) != context_hash(members)
    assert annotation_id({**members, "created_at": value}) != annotation_id(members)


@given(JSON, JSON)
def test_two_values_are_the_same_when_they_hash_the_same(one: JsonValue, other: JsonValue) -> None:
    assert same_value(one, other) == (
        trails.context_hash({"a": one}) == trails.context_hash({"a": other})
    )
    assert same_value(one, one)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_printed_as_javascript_does(number: float) -> None:
    printed = javascript_number(number)
    assert printed == trails.javascript_number(number)
    assert float(printed) == number


@given(st.integers(0, 2**64 - 1))
def test_doubles_of_any_bits_are_printed_as_javascript_does(bits: int) -> None:
    (number,) = struct.unpack("<d", struct.pack("<Q", bits))
    assume(number - number == 0)
    assert javascript_number(number) == trails.javascript_number(number)


ENTRIES = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["environment", "prompt", "command", "other"]),
        "tool_name": TEXT,
        "model_name": TEXT,
        "model_version": TEXT,
    },
    optional={
        "model_parameters": st.dictionaries(
            st.sampled_from(["temperature", "type", "größe", "max_tokens"]),
            st.one_of(NUMBERS, st.none()),
        ),
        "command_exit_code": st.none(),
        "größe": NUMBERS,
        "options": st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2),
        "created_at": TEXT,
    },
)


@given(ENTRIES, st.sets(st.sampled_from([*VARIANTS, "environment-unknown"])))
def test_any_combination_of_bugs_is_explained(entry: Members, bugs: set[str]) -> None:
    """The explanation must reproduce the key, and the simplest one is preferred."""
    if entry["type"] != "environment":
        bugs = bugs - {"environment-unknown"}
    key = trails.context_hash(entry, "+".join(sorted(bugs)) or "spec")
    explained = explain_context_hash(key, entry)
    assert explained != ("mismatch",)
    assert trails.context_hash(entry, "+".join(explained)) == key
    assert len(explained) <= max(1, len(bugs))
    assert (explained == ("spec",)) == (key == trails.context_hash(entry))


@given(
    st.fixed_dictionaries(
        {"type": st.just("line"), "file_path": TEXT, "line_start": st.integers(1, 9)},
        optional={
            "commit_hash": st.one_of(st.none(), TEXT),
            "anchor_hash": TEXT,
            "anchor_context": TEXT,
            "file_content_hash": TEXT,
            "risk_score": NUMBERS,
            "risk_factors": st.just([]),
        },
    ),
    st.sets(st.sampled_from(ID_VARIANTS[1:])),
)
def test_any_combination_of_bugs_in_an_id_is_explained(record: Members, bugs: set[str]) -> None:
    if "commit_hash" not in record:
        bugs = bugs - {"less-commit", "less-commit-member"}
    identifier = trails.annotation_id(record, "+".join(sorted(bugs)) or "spec")
    explained = explain_annotation_id({**record, "annotation_id": identifier})
    assert explained != ("mismatch",)
    named = {bug.replace("-member", "") for bug in bugs} or {"spec"}
    assert set(explained) <= named | {"spec"}
    assert (explained == ("spec",)) == (identifier == trails.annotation_id(record))


@given(MEMBERS, st.text(max_size=70))
def test_a_key_that_nothing_explains_is_a_mismatch(members: Members, key: str) -> None:
    assert explain_context_hash(key, members) == ("mismatch",)
    assert explain_annotation_id({**members, "annotation_id": key}) == ("mismatch",)
