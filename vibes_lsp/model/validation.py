"""Validate records and manifest entries against their schemas; problems are results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from vibes_lsp.model.members import Members, text
from vibes_lsp.model.schemas import COMMIT_HASH_PATTERN, DIGEST_PATTERN, ContextEntry, Record
from vibes_lsp.model.vocabulary import ContextType, RecordType

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_RECORD_TYPES: Final = frozenset(RecordType)
_CONTEXT_TYPES: Final = frozenset(ContextType)
_MAX_PROBLEMS: Final = 20
"""Problems reported for one object; a hostile one could have millions."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One invalid member of an object.

    Attributes:
        field: Path of the member, such as `risk_factors.0.value`; empty for the object itself.
        message: What is expected of the member.
        kind: Stable identifier of the kind of problem, such as `missing` or `timestamp`.
        offset: Character of the member's text where the problem is, if known.
    """

    field: str
    message: str
    kind: str
    offset: int | None = None


def record_problems(record: Members) -> list[Problem]:
    """Return the problems of a log record; none for an unknown type (RFC 12.2)."""
    if text(record, "type") in _RECORD_TYPES:
        return _problems(_record_adapter(), record)
    return _type_problems(record)


def entry_problems(entry: Members) -> list[Problem]:
    """Return the problems of a manifest entry; none for an unknown type (RFC 12.3)."""
    if text(entry, "type") in _CONTEXT_TYPES:
        return _problems(_entry_adapter(), entry)
    return _type_problems(entry)


def _type_problems(members: Members) -> list[Problem]:
    if isinstance(members.get("type"), str):
        return []
    message = "is required" if "type" not in members else "expected a string"
    return [Problem("type", message, "missing")]


@cache
def _record_adapter() -> TypeAdapter[Any]:
    return TypeAdapter(Record)


@cache
def _entry_adapter() -> TypeAdapter[Any]:
    return TypeAdapter(ContextEntry)


def _problems(adapter: TypeAdapter[Any], members: Members) -> list[Problem]:
    if adapter.validator.isinstance_python(members):  # a third of the time, and most are valid
        return []
    try:
        adapter.validate_python(members)
    except ValidationError as error:
        return list(problems_in(error))
    return []


def problems_in(error: ValidationError) -> Iterator[Problem]:
    """Yield the problems that pydantic found, the first one of each field."""
    seen: set[str] = set()
    for item in error.errors(include_url=False, include_input=False)[:_MAX_PROBLEMS]:
        location = [str(part) for part in item["loc"] if part not in _TAGS]
        if "member" in item.get("ctx", {}):  # a rule about several members names one
            location.append(str(item["ctx"]["member"]))
        field = ".".join(location)
        if field not in seen:
            seen.add(field)
            yield Problem(field, describe_error(item), item["type"])


def describe_error(item: ErrorDetails) -> str:
    """Return what was expected, in terms of JSON; pydantic's own messages use Python's."""
    kind, context = item["type"], item.get("ctx", {})
    if kind.endswith(("_type", "_parsing")) and item["loc"] and item["loc"][-1] in _NUMBER_TAGS:
        return "expected a number"
    if kind == "string_pattern_mismatch" and context.get("pattern") in _PATTERNS:
        return _PATTERNS[context["pattern"]]
    if kind == "string_too_short" and context.get("min_length") == 1:
        return "expected a non-empty string"
    if kind in _MESSAGES:
        words = {name: str(value).replace("'", "") for name, value in context.items()}
        return _MESSAGES[kind].format(**words)
    return item["msg"][:1].lower() + item["msg"][1:]


_MESSAGES: Final = {
    "missing": "is required",
    "string_type": "expected a string",
    "string_unicode": "expected Unicode text",
    "string_too_short": "expected at least {min_length} characters",
    "string_too_long": "expected at most {max_length} characters",
    "int_type": "expected an integer",
    "int_from_float": "expected an integer",
    "int_parsing": "expected an integer",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "enum": "expected {expected}",
    "literal_error": "expected {expected}",
    "greater_than_equal": "expected at least {ge}",
    "greater_than": "expected more than {gt}",
    "less_than_equal": "expected at most {le}",
    "less_than": "expected less than {lt}",
    "list_type": "expected an array",
    "tuple_type": "expected an array",
    "too_long": "expected at most {max_length} items",
    "too_short": "expected at least {min_length} items",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "dataclass_type": "expected an object",
}
_PATTERNS: Final = {
    DIGEST_PATTERN: "expected 64 lowercase hexadecimal digits",
    COMMIT_HASH_PATTERN: "expected 4 to 64 lowercase hexadecimal digits",
}
_NUMBER_TAGS: Final = frozenset({"int", "float"})
_TAGS: Final = frozenset({*RecordType, *ContextType, *_NUMBER_TAGS, "[key]"})
"""What pydantic adds to a location: the members of a union and the keys of a mapping."""
