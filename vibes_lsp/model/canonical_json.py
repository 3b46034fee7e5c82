"""Canonical JSON (RFC 5.2, R1): the strict parser and the serialiser behind every hash.

This is the only module that decodes JSON (`tests/architecture/test_decoding.py`). Its readers
return a value or None, or raise `MalformedJson`; untrusted text causes no other exception.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import partial
from typing import Any, Final, Generic, TypeVar, overload

import msgspec

from vibes_lsp.errors import MalformedJson, RefusedWrite
from vibes_lsp.model.json_positions import (
    find_repeated_name,
    find_too_deep,
    find_value,
)
from vibes_lsp.model.members import JsonValue, Members

MAX_DEPTH: Final = 64
"""Deepest nesting we accept; real records nest three levels."""

_T = TypeVar("_T")
_FAST_FAILURES: Final = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)
"""What msgspec raises for a text that only the strict parser may reject."""


class FastDecoder(Generic[_T]):
    """Decodes some members of JSON texts fast; leaves unusual texts to the strict parser.

    Args:
        kind: The type to decode. Members that it does not name are skipped without a check.
    """

    @overload
    def __init__(self, kind: type[_T]) -> None: ...
    @overload
    def __init__(self, kind: Any) -> None: ...
    def __init__(self, kind: Any) -> None:
        self._decode = msgspec.json.Decoder(kind).decode

    def decode(self, data: bytes | memoryview) -> _T | None:
        """Return the value of a text; None when the strict parser must read it."""
        try:
            value: _T = self._decode(data)
        except _FAST_FAILURES:
            return None
        return value

    def decode_all(self, texts: Iterable[bytes | memoryview]) -> list[_T] | None:
        """Return the values of several texts in one pass of C code; None when one is unusual."""
        try:
            return list(map(self._decode, texts))
        except _FAST_FAILURES:
            return None


class _InvalidValue(ValueError):
    """A value that R1 rejects. The decoder has no position, so `find` searches the text for it."""

    def __init__(self, message: str, find: Callable[[str], tuple[int, int]]) -> None:
        super().__init__(message)
        self.find = find


def parse_json(data: bytes | str) -> JsonValue:
    """Parse one JSON text strictly (R1); a leading byte-order mark is allowed.

    Raises:
        MalformedJson: Invalid JSON or UTF-8, NaN or an infinity, duplicate members with different
            values, or nesting deeper than `MAX_DEPTH`.
    """
    return _parse(data, _STRICT.decode)


def parse_json_prefix(data: bytes | str) -> JsonValue:
    """Parse the JSON value at the start of a text and ignore the rest; raises as `parse_json`."""
    return _parse(data, lambda source: _STRICT.raw_decode(source.lstrip())[0])


def _parse(data: bytes | str, decode: Callable[[str], JsonValue]) -> JsonValue:
    try:
        source = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start])
        raise MalformedJson("not UTF-8", line=line, column=column) from None
    source = source.removeprefix("\ufeff")
    try:
        value = decode(source)
    except json.JSONDecodeError as error:
        raise MalformedJson(
            _describe(error, source), line=error.lineno, column=error.colno
        ) from None
    except _InvalidValue as error:
        line, column = error.find(source)
        raise MalformedJson(str(error), line=line, column=column) from None
    except RecursionError:
        raise _too_deep(source) from None
    if source.count("[") + source.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep(source)
    return value


def parse_object(
    data: bytes | str, *, same: Callable[[JsonValue, JsonValue], bool] | None = None
) -> Members:
    """Parse a JSON text that must be an object.

    Args:
        data: The text.
        same: Whether a duplicate member may have both values; by default, when they are equal in
            canonical form.

    Raises:
        MalformedJson: As `parse_json`, and when the value is not an object.
    """
    decoder = _STRICT if same is None else _strict_decoder(same)
    return _as_object(_parse(data, decoder.decode))


def object_or_none(data: bytes | str) -> Members | None:
    """Return what `parse_object` does; None where it raises."""
    try:
        return parse_object(data)
    except MalformedJson:
        return None


def as_type(members: Members, kind: type[_T]) -> _T:
    """Return members as an object of a type; they are valid by a schema that is as strict."""
    try:
        return msgspec.convert(members, kind)
    except UnicodeEncodeError:  # a name with a lone surrogate, which no type has
        return msgspec.convert(_with_valid_names(members), kind)


def _with_valid_names(value: JsonValue) -> JsonValue:
    """Return a value without the members whose names cannot be encoded, at every depth."""
    if isinstance(value, list):
        return [_with_valid_names(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _with_valid_names(member)
        for name, member in value.items()
        if not _SURROGATE.search(name)
    }


def _as_object(value: JsonValue) -> Members:
    if not isinstance(value, dict):
        raise MalformedJson(f"expected an object, found a JSON {json_type(value)}")
    return value


_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ENCODE: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode
_ENCODE_ASCII: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def canonical_json(
    value: JsonValue, *, ascii_only: bool = False, javascript_numbers: bool = False
) -> bytes:
    r"""Return a value as canonical UTF-8: keys sorted at every depth, no white space (RFC 5.2).

    Args:
        value: The value. Lone surrogates become `\udXXX`, as in JavaScript.
        ascii_only: Escape non-ASCII characters, as some other tools do (R2).
        javascript_numbers: Print numbers as JavaScript does (R2).
    """
    plain = _ENCODE_ASCII if ascii_only else _ENCODE
    printed = (
        _encode_like_javascript(value, ascii_only=ascii_only)
        if javascript_numbers
        else plain(value)
    )
    return printed.encode("utf-8", "backslashreplace")


def _unique_members(
    pairs: list[tuple[str, Any]], same: Callable[[JsonValue, JsonValue], bool]
) -> dict[str, Any]:
    members = {sys.intern(name): value for name, value in pairs}  # a log repeats its names
    if len(members) != len(pairs):
        seen: dict[str, Any] = {}
        for name, value in pairs:
            if name in seen and not same(seen[name], value):
                raise _InvalidValue(
                    f"duplicate member {name[:80]!r} with different values",
                    partial(find_repeated_name, name=name),
                )
            seen[name] = value
    return members


def same_value(first: JsonValue, second: JsonValue) -> bool:
    """Whether two values have the same canonical form; unlike with `==`, `1` and `true` differ."""
    return canonical_json(first) == canonical_json(second)


def _refuse_constant(name: str) -> JsonValue:
    raise _InvalidValue(f"{name} is not JSON", partial(find_value, value=name))


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _InvalidValue(
            f"number {digits[:40]} is out of range", partial(find_value, value=digits)
        )
    return number


def _parse_integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        most = sys.get_int_max_str_digits()
        raise _InvalidValue(
            f"number with more than {most:,} digits", partial(find_value, value=digits)
        ) from None


def _too_deep(source: str) -> MalformedJson:
    line, column = find_too_deep(source, MAX_DEPTH)
    return MalformedJson(f"nested deeper than {MAX_DEPTH} levels", line=line, column=column)


def _strict_decoder(same: Callable[[JsonValue, JsonValue], bool]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=partial(_unique_members, same=same),
        parse_constant=_refuse_constant,
        parse_float=_parse_finite,
        parse_int=_parse_integer,
    )


_STRICT: Final = _strict_decoder(same_value)


def _describe(error: json.JSONDecodeError, source: str) -> str:
    if source.startswith(CONFLICT_MARKERS, error.pos - error.colno + 1):
        return "merge-conflict marker"
    return error.msg[:1].lower() + error.msg[1:].removesuffix(" at")


CONFLICT_MARKERS: Final = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
"""How the lines start that git adds to a file with merge conflicts."""


def _position(before: bytes | str) -> tuple[int, int]:
    head = before if isinstance(before, bytes) else before.encode()
    return head.count(b"\n") + 1, len(head) - (head.rfind(b"\n") + 1) + 1


def _depth(value: JsonValue) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth if isinstance(node, dict | list) else depth - 1)
        if isinstance(node, dict):
            pending.extend((child, depth + 1) for child in node.values())
        elif isinstance(node, list):
            pending.extend((child, depth + 1) for child in node)
    return deepest


def json_type(value: JsonValue) -> str:
    """Return the name of a value's JSON type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return "array"


def _encode_like_javascript(value: JsonValue, *, ascii_only: bool) -> str:
    match value:
        case dict():
            members = (
                json.dumps(name, ensure_ascii=ascii_only)
                + ":"
                + _encode_like_javascript(value[name], ascii_only=ascii_only)
                for name in sorted(value)
            )
            return "{" + ",".join(members) + "}"
        case list():
            return (
                "["
                + ",".join(_encode_like_javascript(item, ascii_only=ascii_only) for item in value)
                + "]"
            )
        case bool() | None | str():
            return json.dumps(value, ensure_ascii=ascii_only)
        case _:
            try:
                return javascript_number(float(value))
            except OverflowError:  # JavaScript reads it as infinite and prints null
                return "null"


def javascript_number(number: float) -> str:
    """Print a finite double as ECMAScript's `Number::toString`: shortest digits, `1`, `1e-7`."""
    if number == 0:
        return "0"
    shortest = Decimal(repr(abs(number))).normalize()
    digits = "".join(map(str, shortest.as_tuple().digits))
    count, point = len(digits), shortest.adjusted() + 1  # the value is 0.DIGITS * 10**point
    if count <= point <= 21:
        body = digits + "0" * (point - count)
    elif 0 < point <= 21:
        body = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + digits
    else:
        mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
        body = f"{mantissa}e{point - 1:+d}"
    return f"-{body}" if number < 0 else body


_RAW_DECODER: Final[FastDecoder[dict[str, msgspec.Raw]]] = FastDecoder(dict[str, msgspec.Raw])


def parse_raw_members(text: bytes) -> dict[str, msgspec.Raw] | None:
    """Return the members of an object as undecoded JSON; None when it is not a valid object (R1).

    Values are canonical JSON if the object has lone surrogates, which only the strict parser reads.
    """
    members = _RAW_DECODER.decode(text)
    if members is not None:
        return {name: raw.copy() for name, raw in members.items()}
    try:
        return {
            name: msgspec.Raw(canonical_json(value)) for name, value in parse_object(text).items()
        }
    except MalformedJson:
        return None


_MAX_EXACT: Final = 1 << 53
"""Integers up to this size are exact in every language (2**53)."""


def with_portable_numbers(members: Members) -> Members:
    """Return members with whole floats as integers, which JavaScript and Python print alike (R1).

    Raises:
        RefusedWrite: The strict parser would not read them back.
    """
    renewed: Members = {name: _portable_value(value) for name, value in members.items()}
    try:
        parse_json(canonical_json({"entries": {"": renewed}}))  # nested as deep as in a manifest
    except MalformedJson as error:
        raise RefusedWrite(f"cannot write this as JSON: {error.reason}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise RefusedWrite(f"cannot write this as JSON: {error}") from None
    return renewed


def _portable_value(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer() and abs(value) <= _MAX_EXACT:
            return int(value)
        case dict():
            return {name: _portable_value(child) for name, child in value.items()}
        case list():
            return [_portable_value(child) for child in value]
        case _:
            return value
