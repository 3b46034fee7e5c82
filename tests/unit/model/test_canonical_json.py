"""The strict parser and the canonical serialiser (RFC 5.2, R1)."""

from __future__ import annotations

import json

import pytest

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import (
    MAX_DEPTH,
    canonical_json,
    javascript_number,
    parse_json,
    parse_object,
    same_value,
)


def refusal(data: bytes | str) -> MalformedJson:
    with pytest.raises(MalformedJson) as caught:
        parse_json(data)
    return caught.value


def test_the_example_of_the_rfc() -> None:
    entry = '{"type": "environment", "model_parameters": {"temperature": 0.7, "max_tokens": 4096}, "tool_extensions": ["filesystem", "git"]}'
    assert canonical_json(parse_json(entry)) == (
        b'{"model_parameters":{"max_tokens":4096,"temperature":0.7},"tool_extensions":["filesystem","git"],"type":"environment"}'
    )


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinities_are_rejected(word: str) -> None:
    assert refusal(f'{{"a": [{word}]}}').reason == f"{word} is not JSON"


@pytest.mark.parametrize("digits", ["1e400", "-1e400", "1E+999999", "9" * 400 + ".0"])
def test_numbers_out_of_range_are_rejected(digits: str) -> None:
    assert "out of range" in refusal(f'{{"a":{digits}}}').reason


def test_integers_of_any_size_keep_every_digit() -> None:
    digits = "9" * 4000
    assert canonical_json(parse_json(digits)) == digits.encode()


def test_an_integer_longer_than_the_interpreter_limit_is_rejected() -> None:
    assert refusal("9" * 100_000).code == "malformed-json"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1", b"1"),
        ("1.0", b"1.0"),
        ("-0", b"0"),
        ("-0.0", b"-0.0"),
        ("1e2", b"100.0"),
        ("1e-400", b"0.0"),
    ],
)
def test_numbers_are_printed_like_the_reference(text: str, printed: bytes) -> None:
    assert canonical_json(parse_json(text)) == printed


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":1}', '{"a":{"b":1,"c":[2]},"a":{"c":[2],"b":1}}', '{"a":1,"b":2,"a":1,"a":1}'],
)
def test_equal_duplicate_members_count_as_one(text: str) -> None:
    assert parse_object(text)["a"] in (1, {"b": 1, "c": [2]})


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":1,"a":1.0}',
        '{"a":1,"a":true}',
        '{"a":null,"a":0}',
        '[{"x":{"a":"1","a":1}}]',
        '{"a":1,"b":0,"a":2}',
    ],
)
def test_different_duplicate_members_are_rejected(text: str) -> None:
    assert refusal(text).reason == "duplicate member 'a' with different values"


def test_a_long_name_is_not_repeated_in_the_reason() -> None:
    name = "x" * 10_000
    assert len(refusal(f'{{"{name}":1,"{name}":2}}').reason) < 200


def test_lone_surrogates_are_kept_and_printed_as_javascript_prints_them() -> None:
    value = parse_json('{"\\ud800":"\\udfff x \\ud83d\\ude00"}')
    assert value == {"\ud800": "\udfff x 😀"}
    assert canonical_json(value) == '{"\\ud800":"\\udfff x 😀"}'.encode()
    assert canonical_json(value, ascii_only=True) == b'{"\\ud800":"\\udfff x \\ud83d\\ude00"}'
    assert canonical_json(value, javascript_numbers=True) == canonical_json(value)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_has_a_limit(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    assert parse_json(
        opening * (MAX_DEPTH - 1) + opening.rstrip(":").replace('{"a"', "{") + closing * MAX_DEPTH
    )
    assert (
        "nested deeper than 64" in refusal(opening * MAX_DEPTH + "[]" + closing * MAX_DEPTH).reason
    )
    assert "nested deeper than 64" in refusal(opening * 100_000).reason


def test_adjacent_brackets_are_not_nested() -> None:
    assert parse_json("[" + "[],{}," * 1000 + '"[[[["]') is not None


@pytest.mark.parametrize(
    ("data", "line", "column", "reason"),
    [
        (b'{"a":1,}', 1, 8, "expecting property name"),
        (b'{\n "a": 1\n "b": 2}', 3, 2, "expecting ',' delimiter"),
        (b'{"a":1}\n{"b":2}', 2, 1, "extra data"),
        (b'{"a":"\xff"}', 1, 7, "not UTF-8"),
        (b'{\n"a":"\xff"}', 2, 6, "not UTF-8"),
        (b"\xef\xbb\xbf{\n\xff", 2, 1, "not UTF-8"),
        (b"\xef\xbb\xbf{,", 1, 2, "expecting property name"),
        (b"", 1, 1, "expecting value"),
        ('{"a":\u2028\n1}'.encode(), 1, 6, "expecting value"),
        (b"{\n<<<<<<< HEAD\n}", 2, 1, "merge-conflict marker"),
        ('{"\u2028\x85":1,\n<<<<<<< HEAD\n}'.encode(), 2, 1, "merge-conflict marker"),
    ],
)
def test_an_error_has_a_position(data: bytes, line: int, column: int, reason: str) -> None:
    error = refusal(data)
    assert (error.line, error.column) == (line, column)
    assert error.reason.startswith(reason)
    assert error.message == f"{error.reason} (line {line}, column {column})"


@pytest.mark.parametrize(
    "data", [b'\xef\xbb\xbf{"a":1}', '\ufeff{"a":1}', b'{"a":1}', ' {"a":1}\r\n']
)
def test_a_byte_order_mark_and_white_space_are_allowed(data: bytes | str) -> None:
    assert parse_json(data) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"[]", "array"),
        (b"null", "null"),
        (b"true", "boolean"),
        (b"1", "number"),
        (b'"x"', "string"),
    ],
)
def test_other_values_than_objects_are_rejected(data: bytes, kind: str) -> None:
    with pytest.raises(MalformedJson, match=f"expected an object, found a JSON {kind}"):
        parse_object(data)


def test_keys_are_sorted_by_code_point_at_every_depth() -> None:
    value = parse_json('{"b":[{"z":1,"é":2,"\\uffff":3,"😀":4,"Z":5}],"a":0}')
    assert canonical_json(value) == '{"a":0,"b":[{"Z":5,"z":1,"é":2,"\uffff":3,"😀":4}]}'.encode()


def test_only_quotes_and_controls_are_escaped() -> None:
    assert canonical_json('"\\/\u2028\x7f\x00\n') == b'"\\"\\\\/\xe2\x80\xa8\x7f\\u0000\\n"'


def test_values_are_equal_if_their_canonical_forms_are() -> None:
    assert same_value({"a": 1, "b": [None]}, {"b": [None], "a": 1})
    for one, other in ((1, 1.0), (1, True), (0, False), (0.0, -0.0), ("1", 1), (None, False)):
        assert not same_value(one, other)


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (-1.5e-7, "-1.5e-7"),
        (1.23e-5, "0.0000123"),
        (123456789012345680000.0, "123456789012345680000"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (1e300, "1e+300"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740993.0, "9007199254740992"),
        (0.30000000000000004, "0.30000000000000004"),
        (1234.5678, "1234.5678"),
        (100.0, "100"),
    ],
)
def test_numbers_as_ecmascript_prints_them(number: float, printed: str) -> None:
    assert javascript_number(number) == printed
    assert float(printed) == number


def test_integers_in_javascript_form() -> None:
    assert (
        canonical_json([1, -7, 2**53 + 1, 10**21, True], javascript_numbers=True)
        == b"[1,-7,9007199254740992,1e+21,true]"
    )
    assert canonical_json([10**400, -(10**400)], javascript_numbers=True) == b"[null,null]", (
        "JavaScript reads them as infinite"
    )


def test_values_outside_json_are_not_printed() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(json.loads("NaN"))
