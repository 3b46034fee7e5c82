"""Whether arguments are what their types say: programs that nothing has checked hand them over as well (`requests` checks those in JSON)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from reprlib import repr as shortened
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from vibes_lsp.model.canonical_json import MAX_DEPTH
from vibes_lsp.recording.arguments import WrongArgument


def check_argument(name: str, value: object, kind: type, *, within: bool = True) -> None:
    """Raise where an argument, or a member of it, is not what its type says.

    Args:
        name: What the argument is called.
        value: What was given.
        kind: A dataclass.
        within: Whether members are named with the argument before them, as `tool.name`.

    Raises:
        WrongArgument: It is not.
    """
    if not isinstance(value, kind):
        raise WrongArgument(name, f"{shortened(value)} is no {kind.__name__}")
    _check_members(f"{name}." if within else "", value)


def _check_members(prefix: str, value: object) -> None:
    for name, hint in _hints(type(value)).items():  # type: ignore[arg-type]  # mypy asks the class, not the type, for its hash
        _check(f"{prefix}{name}", getattr(value, name), hint)


def _check(name: str, value: object, hint: object) -> None:
    if not _fits(value, hint):
        raise WrongArgument(name, f"{shortened(value)} is not what it may be")
    if is_dataclass(value):
        _check_members(f"{name}.", value)
    elif isinstance(value, Mapping) and not any(map(is_dataclass, value.values())):
        _check_json(name, value)
    elif isinstance(value, Sequence | Mapping) and not isinstance(value, str):
        for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
            if is_dataclass(each):
                _check_members(f"{name}.{key}.", each)


@lru_cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, localns={"JsonValue": Any})  # an alias that names itself
    return {field.name: hints[field.name] for field in fields(kind)}


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type; a list counts as a tuple, and a text as one of its kinds, which is seen to where it is used."""
    form, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if form in {Union, UnionType}:
        return any(_fits(value, part) for part in parts)
    if form is Annotated:
        return _fits(value, parts[0])
    if form is tuple and parts[-1:] != (...,):
        return (
            isinstance(value, tuple | list)
            and len(value) == len(parts)
            and all(map(_fits, value, parts))
        )
    if form in {tuple, Sequence}:
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str | bytes)
            and all(_fits(each, parts[0]) for each in value)
        )
    if form in {dict, Mapping}:
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    if hint in {int, float}:
        return isinstance(value, int | hint) and not isinstance(value, bool)
    if hint in {None, NoneType}:
        return value is None
    return isinstance(value, str if issubclass(hint, str) else hint)


def _check_json(name: str, value: object) -> None:
    """Raise where a value is none that JSON has, is nested too deeply, or holds itself."""
    pending = [(value, 4)]  # it is a member of an entry of the manifest's `entries`
    while pending:
        each, depth = pending.pop()
        if isinstance(each, Mapping | list | tuple):
            if depth > MAX_DEPTH:
                raise WrongArgument(name, f"is nested deeper than {MAX_DEPTH} levels")
            if isinstance(each, Mapping) and not all(isinstance(key, str) for key in each):
                raise WrongArgument(name, "has a name that is no text")
            pending.extend(
                (inner, depth + 1)
                for inner in (each.values() if isinstance(each, Mapping) else each)
            )
        elif not (
            isinstance(each, str | int | NoneType)
            or (isinstance(each, float) and math.isfinite(each))
        ):
            raise WrongArgument(name, f"{shortened(each)} is nothing that JSON has")
