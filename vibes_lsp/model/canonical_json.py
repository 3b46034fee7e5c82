"""Canonical JSON (RFC 5.2, R1): the strict parser and the serialiser that all hashes go through.

This is the only module that decodes JSON. Whatever a text holds, a reader here returns its value or None, or
raises `MalformedJson`; `tests/architecture/test_decoding.py` keeps other decoders out of the package.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Generic, TypeVar, overload

import msgspec

from vibes_lsp.errors import MalformedJson, RefusedWrite
from vibes_lsp.model.json_positions import (
    find_long_number,
    find_repeated_name,
    find_too_deep,
    find_value,
)
from vibes_lsp.model.members import JsonValue, Members

MAX_DEPTH: Final = 64
"""Deepest nesting we accept; real records nest three levels."""

_T = TypeVar("_T")
_UNUSUAL: Final = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)
"""What msgspec raises for a text that only the strict parser may refuse."""


class FastDecoder(Generic[_T]):
    """Reads some members of JSON texts fast, and leaves all that is unusual to the strict parser.

    Args:
        kind: The type that msgspec decodes; members that it does not name are skipped, and not checked.
    """

    @overload
    def __init__(self, kind: type[_T]) -> None: ...
    @overload
    def __init__(self, kind: Any) -> None: ...
    def __init__(self, kind: Any) -> None:
        self._decode = msgspec.json.Decoder(kind).decode

    def decode(self, data: bytes) -> _T | None:
        """Return the value of a text; None when the strict parser has to read it."""
        try:
            value: _T = self._decode(data)
        except _UNUSUAL:
            return None
        return value

    def decode_all(self, texts: Iterable[bytes]) -> list[_T] | None:
        """Return the values of some texts, in one pass of C code; None when one of them is unusual."""
        try:
            return list(map(self._decode, texts))
        except _UNUSUAL:
            return None


class _Refused(ValueError):
    """A value that R1 refuses, met inside the decoder, which knows no position: `find` looks for it in the text."""

    def __init__(self, message: str, find: Callable[[str], tuple[int, int]]) -> None:
        super().__init__(message)
        self.find = find


def parse_json(data: bytes | str) -> JsonValue:
    """Parse one JSON text strictly (R1); a leading byte-order mark is allowed.

    Raises:
        MalformedJson: Broken JSON, not UTF-8, NaN or an infinity, one key with two values, nested beyond `MAX_DEPTH`.
    """
    value = _plain(data) if isinstance(data, bytes) else None
    return _parse(data, _STRICT.decode) if value is None else value


def parse_json_prefix(data: bytes | str) -> JsonValue:
    """Parse the JSON value that a text begins with, whatever stands behind it; else as `parse`."""
    return _parse(data, lambda source: _STRICT.raw_decode(source.lstrip())[0])


def _plain(data: bytes) -> JsonValue:
    """Return the value of a text that is written as most programs write: printed again it is the same, so that nothing in it was passed over.

    None for any other text, whatever is wrong with it or not: the strict parser tells. This one takes half the time, and names that many
    records have are one string in all of them.
    """
    if b'": ' in data[:_TELLING]:  # spaced, and so never the same
        return None
    try:
        value: JsonValue = _QUICK(data)
        text = data.rstrip(b"\r\n")
        if _PRINT(value) != text or (
            text.count(b"[") + text.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH
        ):
            return None
    except _UNUSUAL:
        return None
    return value


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
        raise MalformedJson(_reason(error, source), line=error.lineno, column=error.colno) from None
    except _Refused as error:
        line, column = error.find(source)
        raise MalformedJson(str(error), line=line, column=column) from None
    except RecursionError:
        raise _too_deep(source) from None
    except ValueError:  # the interpreter's own words are for programmers
        most = sys.get_int_max_str_digits()
        line, column = find_long_number(source, most)
        raise MalformedJson(
            f"a number of more than {most:,} digits", line=line, column=column
        ) from None
    if source.count("[") + source.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep(source)
    return value


def parse_object(
    data: bytes | str, *, same: Callable[[JsonValue, JsonValue], bool] | None = None
) -> Members:
    """Parse a JSON text that must be an object.

    Args:
        data: The text.
        same: Whether two values may stand under one name; by default, those with one canonical form.

    Raises:
        MalformedJson: As `parse`, and when the value is not an object.
    """
    return _object(parse_json(data) if same is None else _parse(data, _strict(same).decode))


def parse_object_allowing_non_finite(data: bytes | str) -> tuple[Members, list[str]]:
    """Parse a JSON text that must be an object, and in which a number may be what JSON does not know: NaN, or beyond all bounds.

    Returns:
        The object, with null in place of such numbers, and the path of each of them, its parts joined by dots.

    Raises:
        MalformedJson: As `parse`, but for such numbers.
    """
    members = _object(_parse(data, _ANY_NUMBER.decode))
    found: list[str] = []
    pending: list[tuple[str, Members | list[JsonValue]]] = [("", members)]
    while pending:
        path, node = pending.pop()
        for name, value in list(node.items()) if isinstance(node, dict) else list(enumerate(node)):
            if isinstance(value, dict | list):
                pending.append((f"{path}{name}.", value))
            elif isinstance(value, float) and not math.isfinite(value):
                found.append(f"{path}{name}")
                node[name] = None  # type: ignore[index]  # a name in an object, a number in an array
    return members, sorted(found)


def _object(value: JsonValue) -> Members:
    if not isinstance(value, dict):
        raise MalformedJson(f"a JSON {json_type(value)} where an object is needed")
    return value


_PRINTED: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode
_PRINTED_ASCII: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def canonical_json(
    value: JsonValue, *, ascii_only: bool = False, javascript_numbers: bool = False
) -> bytes:
    r"""Return the canonical UTF-8 bytes of a value: keys sorted at every depth, no white space (RFC 5.2).

    Args:
        value: What to serialise. Lone surrogates come out as `\udXXX`, as JavaScript prints them.
        ascii_only: Escape non-ASCII characters, as naive writers do (R2).
        javascript_numbers: Print numbers as JavaScript does (R2).
    """
    plain = _PRINTED_ASCII if ascii_only else _PRINTED
    printed = _javascript(value, ascii_only=ascii_only) if javascript_numbers else plain(value)
    return printed.encode("utf-8", "backslashreplace")


_QUICK: Final = msgspec.json.Decoder().decode
_PRINT: Final = msgspec.json.Encoder().encode
_TELLING: Final = 64
"""Bytes of a text by which one sees whether there are spaces in it."""


def _unique(
    pairs: list[tuple[str, Any]], same: Callable[[JsonValue, JsonValue], bool]
) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: dict[str, Any] = {}
        for name, value in pairs:
            if name in seen and not same(seen[name], value):
                raise _Refused(
                    f"member {name[:80]!r} is given twice with different values",
                    partial(find_repeated_name, name=name),
                )
            seen[name] = value
    return members


def same_value(one: JsonValue, other: JsonValue) -> bool:
    """Whether two JSON values have one canonical form; unlike `==`, `1`, `1.0` and `true` differ."""
    return canonical_json(one) == canonical_json(other)


def _constant(name: str) -> JsonValue:
    raise _Refused(f"{name} is not JSON", partial(find_value, value=name))


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Refused(f"number {digits[:40]} is out of range", partial(find_value, value=digits))
    return number


def _too_deep(source: str) -> MalformedJson:
    line, column = find_too_deep(source, MAX_DEPTH)
    return MalformedJson(f"nested deeper than {MAX_DEPTH} levels", line=line, column=column)


def _strict(same: Callable[[JsonValue, JsonValue], bool]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=partial(_unique, same=same), parse_constant=_constant, parse_float=_finite
    )


_STRICT: Final = _strict(same_value)

_ANY_NUMBER: Final = json.JSONDecoder(object_pairs_hook=partial(_unique, same=same_value))


def _reason(error: json.JSONDecodeError, source: str) -> str:
    if source.startswith(CONFLICT_MARKERS, error.pos - error.colno + 1):
        return "merge-conflict marker"
    return error.msg[:1].lower() + error.msg[1:].removesuffix(" at")


CONFLICT_MARKERS: Final = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
"""How the lines begin that git leaves in a file it could not merge."""


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
    """Return JSON's word for a kind of value."""
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


def _javascript(value: JsonValue, *, ascii_only: bool) -> str:
    match value:
        case dict():
            members = (
                f"{json.dumps(name, ensure_ascii=ascii_only)}:{_javascript(value[name], ascii_only=ascii_only)}"
                for name in sorted(value)
            )
            return "{" + ",".join(members) + "}"
        case list():
            return "[" + ",".join(_javascript(item, ascii_only=ascii_only) for item in value) + "]"
        case bool() | None | str():
            return json.dumps(value, ensure_ascii=ascii_only)
        case _:
            try:
                return javascript_number(float(value))
            except (
                OverflowError
            ):  # JavaScript reads such an integer as infinite, and prints that so
                return "null"


def javascript_number(number: float) -> str:
    """Print a finite double as ECMAScript's `Number::toString` does: shortest digits, `1` for 1.0, `1e-7`."""
    if number == 0:
        return "0"
    sign, digits, exponent = _shortest(number)
    count, point = (
        len(digits),
        len(digits) + exponent,
    )  # the value is 0.digits times ten to the point
    if count <= point <= 21:
        body = digits + "0" * (point - count)
    elif 0 < point <= 21:
        body = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + digits
    else:
        mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
        body = f"{mantissa}e{point - 1:+d}"
    return sign + body


def _shortest(number: float) -> tuple[str, str, int]:
    mantissa, _, power = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = int(power or 0) - len(fraction)
    stripped = digits.rstrip("0")
    return "-" if number < 0 else "", stripped, exponent + len(digits) - len(stripped)


_RAW_DECODER: Final[FastDecoder[dict[str, msgspec.Raw]]] = FastDecoder(dict[str, msgspec.Raw])


def parse_raw_members(text: bytes) -> dict[str, msgspec.Raw] | None:
    """Take an object apart; the values of one with a lone surrogate, which only the strict parser reads, in canonical form.

    None when it is no object, or one that R1 refuses.
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


_EXACT: Final = 1 << 53
"""Integers up to this size are the same in every language."""


def portable(members: Members) -> Members:
    """Return the members with integral numbers as integers, so that JavaScript and Python print them alike (R1).

    Raises:
        RefusedWrite: A number is not finite, a value is none that JSON has, or the strict parser would not read it.
    """
    renewed: Members = {name: _portable(value) for name, value in members.items()}
    try:
        parse_json(canonical_json({"entries": {"": renewed}}))  # as deep as it stands in a manifest
    except MalformedJson as error:
        raise RefusedWrite(
            f"this cannot be written as JSON that is read again: {error.reason}"
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise RefusedWrite(f"this cannot be written as JSON: {error}") from None
    return renewed


def _portable(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer() and abs(value) <= _EXACT:
            return int(value)
        case dict():
            return {name: _portable(child) for name, child in value.items()}
        case list():
            return [_portable(child) for child in value]
        case _:
            return value
