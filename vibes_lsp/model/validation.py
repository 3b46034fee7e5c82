"""Validate records and manifest entries against their schemas; problems are results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from vibes_lsp.model.json_schema import Check, Schema, Violation, compile_schema
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.schemas import ENTRIES, RECORDS

_MAX_PROBLEMS: Final = 20
"""Problems reported for one object; a hostile one could have millions."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One invalid member of an object.

    Attributes:
        field: Path of the member, such as `risk_factors.0.value`; empty for the object itself.
        message: What is expected of the member.
        kind: A word for checks that treat some problems in their own way, such as `timestamp`.
        offset: Character of the member's text where the problem is, if known.
    """

    field: str
    message: str
    kind: str
    offset: int | None = None


def record_problems(record: Members) -> list[Problem]:
    """Return the problems of a log record; none for an unknown type (RFC 12.2)."""
    return _problems(_record_checks(), record)


def entry_problems(entry: Members) -> list[Problem]:
    """Return the problems of a manifest entry; none for an unknown type (RFC 12.3)."""
    return _problems(_entry_checks(), entry)


@cache
def _record_checks() -> Mapping[str, Check]:
    return _compiled(RECORDS)


@cache
def _entry_checks() -> Mapping[str, Check]:
    return _compiled(ENTRIES)


def _compiled(schemas: Mapping[str, Schema]) -> Mapping[str, Check]:
    return {name: compile_schema(schema) for name, schema in schemas.items()}


def _problems(checks: Mapping[str, Check], members: Members) -> list[Problem]:
    kind = text(members, "type")
    if kind is None:
        message = "is required" if "type" not in members else "expected a string"
        return [Problem("type", message, "missing")]
    check = checks.get(kind)
    return problems_of(check(members) or ()) if check is not None else []


def problems_of(violations: Iterable[Violation]) -> list[Problem]:
    """Return the first problem of each member, of not too many."""
    problems: dict[str, Problem] = {}
    for path, message, kind in violations:
        field = ".".join(map(str, path))
        problems.setdefault(field, Problem(field, message, kind))
        if len(problems) == _MAX_PROBLEMS:
            break
    return list(problems.values())
