"""Checking what is on disk against the models: every problem with the field it is in, never an exception."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from vibes_lsp.model.config import REQUIRED_MEMBERS, Config
from vibes_lsp.model.contexts import ContextEntry
from vibes_lsp.model.members import JsonValue, Members, mapping, text
from vibes_lsp.model.records import Record
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


def read_config(members: Members) -> tuple[Config, list[Problem]]:
    """Return the policy that the members state, and what is wrong with them; a broken part, or a null, counts as not given."""
    problems = [
        Problem(name, "is required", "missing") for name in REQUIRED_MEMBERS if name not in members
    ]
    kept: Members = {
        name: value
        for name, value in members.items()
        if value is not None or name in REQUIRED_MEMBERS
    }
    while True:
        try:
            return Config.model_validate(kept), problems
        except ValidationError as error:
            problems.extend(_translate(error))
            reduced = _without(
                kept,
                [
                    tuple(item["loc"])
                    for item in error.errors(include_url=False, include_input=False)
                ],
            )
            kept = reduced if reduced != kept else {}


_IN_PARTS: Final = ("redaction", "risk_scoring")
"""Members of which a broken part is dropped alone, so that one mistake does not switch off the rest."""
_LISTS: Final = ("tracked_extensions", "exclude_patterns")
"""Likewise, of an array at the top."""


def _without(members: Members, locations: Sequence[tuple[Any, ...]]) -> Members:
    """Drop what is broken: of what has parts only the weight, rule, pattern or extension concerned, elsewhere the top-level member."""
    kept = dict(members)
    for name in _LISTS:
        value = kept.get(name)
        wrong = {location[1] for location in locations if len(location) > 1 and location[0] == name}
        if isinstance(value, list) and wrong:
            kept[name] = [each for number, each in enumerate(value) if number not in wrong]
    for name in _IN_PARTS:
        whole = mapping(kept, name)
        inside = [
            location[1:] for location in locations if len(location) > 1 and location[0] == name
        ]
        if whole and inside:
            kept[name] = _without_parts(whole, inside)
    for location in locations:
        if not location:  # some name is no Unicode text, and pydantic does not say which
            kept = {name: value for name, value in kept.items() if _is_text(name)}
        elif len(location) == 1 or location[0] not in (*_IN_PARTS, *_LISTS):
            kept.pop(str(location[0]), None)
    return kept


def _without_parts(members: Members, locations: Sequence[tuple[Any, ...]]) -> Members:
    kept = dict(members)
    for name in dict.fromkeys(str(location[0]) for location in locations):
        parts = {location[1] for location in locations if location[0] == name and len(location) > 1}
        value, whole = kept.pop(name, None), any(location == (name,) for location in locations)
        if whole or not parts:
            continue
        rest: JsonValue = None
        if isinstance(value, dict):
            rest = {part: each for part, each in value.items() if part not in parts}
        elif isinstance(value, list):
            rest = [each for number, each in enumerate(value) if number not in parts]
        if rest:
            kept[name] = rest
    return kept


def _is_text(name: str) -> bool:
    return name == name.encode("utf-8", "ignore").decode()


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
        return list(_translate(error))
    return []


def _translate(error: ValidationError) -> Iterator[Problem]:
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
