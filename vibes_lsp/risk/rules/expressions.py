"""Conditions once they are parsed, and whether they hold (R20)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Quantity: TypeAlias = float | str


@dataclass(frozen=True, slots=True)
class Name:
    """A signal, or its value between 0 and 1, by the name that it has among the quantities."""

    text: str


Operand: TypeAlias = Name | Quantity


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands, and how they are compared."""

    left: Operand
    sign: str
    right: Operand


@dataclass(frozen=True, slots=True)
class Membership:
    """Whether an operand is one of some literals."""

    operand: Operand
    choices: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of an expression."""

    negated: Expression


@dataclass(frozen=True, slots=True)
class And:
    """Expressions that all hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Expressions of which one holds."""

    parts: tuple[Expression, ...]


Expression: TypeAlias = "Comparison | Membership | Not | And | Or"


def evaluate(expression: Expression, quantities: Mapping[str, Quantity]) -> bool:
    """Return whether a condition is true; not where it depends on what is not known.

    Args:
        expression: The condition.
        quantities: What each name stands for; see `scoring.quantities`.
    """
    return _truth(expression, quantities) is True


def _truth(expression: Expression, quantities: Mapping[str, Quantity]) -> bool | None:
    """Return true, false, or None for unknown."""
    match expression:
        case Comparison(left, sign, right):
            one, other = _resolved(left, quantities), _resolved(right, quantities)
            return None if one is None or other is None or isinstance(one, str) != isinstance(other, str) else _SIGNS[sign](one, other)
        case Membership(operand, choices):
            one = _resolved(operand, quantities)
            return None if one is None else one in choices
        case Not(negated):
            truth = _truth(negated, quantities)
            return None if truth is None else not truth
        case And(parts):
            truths = [_truth(part, quantities) for part in parts]
            return False if False in truths else None if None in truths else True
        case Or(parts):
            truths = [_truth(part, quantities) for part in parts]
            return True if True in truths else None if None in truths else False


def names_in(expression: Expression) -> frozenset[str]:
    """Return the names that a condition asks for."""
    match expression:
        case Comparison(left, _, right):
            return frozenset(each.text for each in (left, right) if isinstance(each, Name))
        case Membership(operand, _):
            return frozenset({operand.text}) if isinstance(operand, Name) else frozenset()
        case Not(negated):
            return names_in(negated)
        case And(parts) | Or(parts):
            return frozenset().union(*map(names_in, parts))


def _resolved(operand: Operand, quantities: Mapping[str, Quantity]) -> Quantity | None:
    return quantities.get(operand.text) if isinstance(operand, Name) else operand


_SIGNS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
