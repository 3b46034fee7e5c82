"""The type of JSON values, and tolerant typed access to the members of an untrusted object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Members: TypeAlias = dict[str, JsonValue]


def text(members: Mapping[str, JsonValue], name: str) -> str | None:
    """Return the member when it is a string, else None."""
    value = members.get(name)
    return value if isinstance(value, str) else None


def integer(members: Mapping[str, JsonValue], name: str) -> int | None:
    """Return the member when it is an integer and not a boolean, else None."""
    value = members.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def texts(members: Mapping[str, JsonValue], name: str) -> tuple[str, ...]:
    """Return the strings in a member that is an array; empty for anything else."""
    value = members.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def objects(value: JsonValue) -> list[Members]:
    """Return the objects in an array; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(members: Mapping[str, JsonValue], name: str) -> Members:
    """Return the member when it is an object, else an empty one."""
    value = members.get(name)
    return value if isinstance(value, dict) else {}
