"""Checking what is on disk against the models: every problem with the field it is in, never an exception."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from vibes_lsp.model.members import Members, text
from vibes_lsp.model.schemas import ContextEntry, Record
from vibes_lsp.model.vocabulary import ContextType, RecordType

_MAX_PROBLEMS: Final = 20
"""Problems reported for one object; a hostile one could have millions."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an object.

    Attributes:
        field: Path of the member, such as `risk_factors.0.value`; empty for the object itself.
        message: What is wrong with it.
        kind: Stable word for the kind of problem, such as `missing` or `timestamp`.
        offset: The character of the member's text at which it goes wrong, where that can be said.
    """

    field: str
    message: str
    kind: str
    offset: int | None = None


def record_problems(record: Members) -> list[Problem]:
    """Return what is wrong with a log record; nothing for a type we do not know (RFC 12.2)."""
    return (
        _problems(_records(), record)
        if text(record, "type") in set(RecordType)
        else _untyped(record)
    )


def entry_problems(entry: Members) -> list[Problem]:
    """Return what is wrong with a manifest entry; nothing for a type we do not know (RFC 12.3)."""
    return (
        _problems(_contexts(), entry)
        if text(entry, "type") in set(ContextType)
        else _untyped(entry)
    )


def _untyped(members: Members) -> list[Problem]:
    if isinstance(members.get("type"), str):
        return []
    return [
        Problem("type", "is required" if "type" not in members else "must be a string", "missing")
    ]


@cache
def _records() -> TypeAdapter[Any]:
    return TypeAdapter(Record)


@cache
def _contexts() -> TypeAdapter[Any]:
    return TypeAdapter(ContextEntry)


def _problems(adapter: TypeAdapter[Any], members: Members) -> list[Problem]:
    try:
        adapter.validate_python(members)
    except ValidationError as error:
        return list(problems_in(error))
    return []


def problems_in(error: ValidationError) -> Iterator[Problem]:
    """Give the problems, one for each field: a union has one for each of its members."""
    seen: set[str] = set()
    for item in error.errors(include_url=False, include_input=False)[:_MAX_PROBLEMS]:
        location = [str(part) for part in item["loc"] if not _is_tag(part)]
        location += (
            [str(item["ctx"]["member"])] if "member" in item.get("ctx", {}) else []
        )  # a rule about several members names one
        kind = item["type"]
        message = _WORDS.get(kind, item["msg"])
        field = ".".join(location)
        if field not in seen:
            seen.add(field)
            yield Problem(field, message[:1].lower() + message[1:], kind)


def _is_tag(part: int | str) -> bool:
    """Whether pydantic put this into a location itself: a union member's tag or type, never a member of ours."""
    return part in _TAGS


_WORDS: Final = {
    "missing": "is required",
    "model_type": "input should be an object",
    "dict_type": "input should be an object",
    "list_type": "input should be an array",
}
"""Ours, where pydantic's speak of Python."""
_TAGS: Final = frozenset({*RecordType, *ContextType, "int", "float", "[key]"})
