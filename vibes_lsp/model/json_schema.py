"""Check JSON values by a JSON Schema, of which this is the part that the files of a trail need.

A schema is compiled once. A valid value then costs little, as in a check of a million records; of
an invalid one each member is reported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.timestamps import parse_timestamp


class Violation(NamedTuple):
    """What a value violates.

    Attributes:
        path: The names and indexes that lead to the member, outermost first.
        message: What is expected of the member.
        kind: A word for checks that treat some problems in their own way.
    """

    path: tuple[str | int, ...]
    message: str
    kind: str = "value"


Schema: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[JsonValue], list[Violation] | None]
"""Returns what a value violates; None for nothing."""
Rule: TypeAlias = Callable[[Any], Violation | None]

_OURS: Final = "x-"
RULE: Final = f"{_OURS}rule"
"""The keyword of ours whose value is a `Rule`: what JSON Schema cannot say of a valid value."""
EXPECTED: Final = f"{_OURS}expected"
"""The keyword of ours that says in words what a pattern matches."""


def published(schema: Any) -> Any:
    """Return a schema without our own keywords."""
    if isinstance(schema, Mapping):
        return {
            name: published(value) for name, value in schema.items() if not name.startswith(_OURS)
        }
    return [published(item) for item in schema] if isinstance(schema, list) else schema


def type_of(schema: Schema) -> str | None:
    """Return the type that a schema asks for, besides null; None if it allows any."""
    types = schema.get("type")
    return next(name for name in types if name != "null") if isinstance(types, list) else types


def optional(schema: Schema) -> Schema:
    """Return a schema that allows null as well."""
    nullable = {**schema, "type": [schema["type"], "null"]}
    return {**nullable, "enum": [*schema["enum"], None]} if "enum" in schema else nullable


def compile_schema(schema: Schema) -> Check:
    """Return the function that checks values by a schema."""
    check = _CHECKS[type_of(schema) or "any"](schema)
    allows_null, rule = isinstance(schema.get("type"), list), schema.get(RULE)

    def check_value(value: JsonValue) -> list[Violation] | None:
        if value is None and allows_null:
            return None
        violations = check(value)
        if violations is None and rule is not None and (broken := rule(value)) is not None:
            return [broken]
        return violations

    return check_value if allows_null or rule is not None else check


def _wrong(message: str, kind: str = "value") -> list[Violation]:
    return [Violation((), message, kind)]


def _any(_: Schema) -> Check:
    return lambda _: None


def _string(schema: Schema) -> Check:
    choices = [choice for choice in schema.get("enum", ()) if choice is not None]
    choices += [schema["const"]] if "const" in schema else []
    allowed = frozenset(choices)
    matches = re.compile(schema["pattern"]).fullmatch if "pattern" in schema else None
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", sys.maxsize)
    is_time = schema.get("format") == "date-time"

    def check(value: JsonValue) -> list[Violation] | None:
        if type(value) is not str:
            return _wrong("expected a string")
        if allowed:
            return None if value in allowed else _wrong(f"expected {_either(choices)}")
        if matches is not None and matches(value) is None:
            return _wrong(f"expected {schema[EXPECTED]}")
        if is_time and parse_timestamp(value) is None:
            return _wrong("expected an ISO 8601 date and time", "timestamp")
        if len(value) < shortest:
            words = "a non-empty string" if shortest == 1 else f"at least {shortest} characters"
            return _wrong(f"expected {words}")
        return None if len(value) <= longest else _wrong(f"expected at most {longest} characters")

    return check


def _either(choices: list[str]) -> str:
    *first, last = map(str, choices)
    return f"{', '.join(first)} or {last}" if first else last


def _number(schema: Schema) -> Check:
    kinds = (int,) if type_of(schema) == "integer" else (int, float)
    least, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    most = schema.get("maximum")

    def check(value: JsonValue) -> list[Violation] | None:
        if type(value) not in kinds:
            return _wrong("expected an integer" if kinds == (int,) else "expected a number")
        if least is not None and value < least:
            return _wrong(f"expected at least {least}")
        if above is not None and value <= above:
            return _wrong(f"expected more than {above}")
        return None if most is None or value <= most else _wrong(f"expected at most {most}")

    return check


def _boolean(_: Schema) -> Check:
    return lambda value: None if type(value) is bool else _wrong("expected true or false")


def _array(schema: Schema) -> Check:
    check_item = compile_schema(schema.get("items", {}))
    longest = schema.get("maxItems", sys.maxsize)

    def check(value: JsonValue) -> list[Violation] | None:
        if type(value) is not list:
            return _wrong("expected an array")
        if len(value) > longest:
            return _wrong(f"expected at most {longest} items")
        return _inside(enumerate(value), lambda _: check_item)

    return check


def _object(schema: Schema) -> Check:
    members = {
        name: compile_schema(subschema) for name, subschema in schema.get("properties", {}).items()
    }
    additional = schema.get("additionalProperties")
    check_other = compile_schema(additional) if isinstance(additional, Mapping) else None
    check_name = compile_schema({"type": "string", **schema.get("propertyNames", {})})
    required = schema.get("required", ())

    def check_of(name: str | int) -> Check | None:
        return members.get(str(name), check_other)

    def check(value: JsonValue) -> list[Violation] | None:
        if type(value) is not dict:
            return _wrong("expected an object")
        violations = [
            Violation((name,), "is required", "missing") for name in required if name not in value
        ]
        for name in value:
            if name not in members and (wrong := check_name(name)):
                violations += [violation._replace(path=(name,)) for violation in wrong]
        return [*violations, *(_inside(value.items(), check_of) or ())] or None

    return check


def _inside(
    items: Iterable[tuple[str | int, JsonValue]], check_of: Callable[[str | int], Check | None]
) -> list[Violation] | None:
    """Return what the members of an object or array violate."""
    violations: list[Violation] | None = None
    for name, value in items:
        check = check_of(name)
        wrong = None if check is None else check(value)
        if wrong is not None:
            violations = violations or []
            violations += [violation._replace(path=(name, *violation.path)) for violation in wrong]
    return violations


_CHECKS: Final[Mapping[str, Callable[[Schema], Check]]] = {
    "any": _any,
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
