"""The language of review rules (RFC 10.4.6, R20): conditions over signals, parsed and never evaluated as code."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from vibes_lsp.errors import BrokenRule
from vibes_lsp.model.vocabulary import Action, Signal, Tier, is_custom_signal

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


def evaluate_condition(expression: Expression, quantities: Mapping[str, Quantity]) -> bool:
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
            return (
                None
                if one is None or other is None or isinstance(one, str) != isinstance(other, str)
                else _SIGNS[sign](one, other)
            )
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


def signals_in(expression: Expression) -> frozenset[str]:
    """Return the names that a condition asks for."""
    match expression:
        case Comparison(left, _, right):
            return frozenset(each.text for each in (left, right) if isinstance(each, Name))
        case Membership(operand, _):
            return frozenset({operand.text}) if isinstance(operand, Name) else frozenset()
        case Not(negated):
            return signals_in(negated)
        case And(parts) | Or(parts):
            return frozenset().union(*map(signals_in, parts))


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


MAX_LENGTH: Final = 2_000
MAX_DEPTH: Final = 20
"""Deepest nesting of parentheses and NOT."""

_EQUALITY: Final = frozenset({"==", "!="})
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    Signal.ACTION_TYPE: list(Action),
    Signal.MODEL_CAPABILITY_TIER: list(Tier),
}
"""The signals that are words, with all that there are."""
_KEYWORDS: Final = frozenset({"AND", "OR", "NOT", "IN"})
_TOKEN: Final = re.compile(
    r"(?P<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][\w-]*(?:[:.][A-Za-z_][\w-]*)*)"
    r"""|(?P<text>'[^']*'|"[^"]*")"""
    r"|(?P<sign>==|!=|<=|>=|<|>)"
    r"|(?P<mark>[(),])",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    offset: int

    @property
    def keyword(self) -> str | None:
        """The keyword that this is, in capitals."""
        upper = self.text.upper()
        return upper if self.kind == "name" and upper in _KEYWORDS else None


def parse_condition(condition: str) -> Expression:
    """Return a condition as an expression.

    Raises:
        BrokenRule: It is not in the language, names an unknown signal, or is too long or too deep; with the offset of the character.
    """
    if len(condition) > MAX_LENGTH:
        raise BrokenRule(f"a condition has at most {MAX_LENGTH:,} characters", MAX_LENGTH)
    parser = _Parser(_tokens(condition))
    expression = parser.either()
    parser.finish()
    return expression


def _tokens(condition: str) -> list[_Token]:
    tokens: list[_Token] = []
    offset = 0
    while True:
        while offset < len(condition) and condition[offset].isspace():
            offset += 1
        if offset == len(condition):
            return [*tokens, _Token("end", "", offset)]
        found = _TOKEN.match(condition, offset)
        if found is None:
            raise BrokenRule(_stray(condition, offset), offset)
        tokens.append(_Token(found.lastgroup or "", found[0], offset))
        offset = found.end()


def _stray(condition: str, offset: int) -> str:
    match condition[offset]:
        case "=":
            return "'=' is no comparison: write '=='"
        case "'" | '"':
            return "this text is never closed"
        case "&" | "|" | "!":
            return "write AND, OR and NOT"
        case character:
            return f"{character!r} means nothing here"


class _Parser:
    """Reads tokens from left to right; every method takes those of one rule of the grammar."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def either(self) -> Expression:
        parts = self._separated("OR", self._both)
        return parts[0] if len(parts) == 1 else Or(parts)

    def finish(self) -> None:
        token = self._token
        if token.kind != "end":
            raise BrokenRule(
                f"{token.text!r} is not expected after a whole condition: AND or OR?", token.offset
            )

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._token
        self._next += token.kind != "end"
        return token

    def _separated(self, keyword: str, part: Callable[[], Expression]) -> tuple[Expression, ...]:
        parts = [part()]
        while self._token.keyword == keyword:
            self._take()
            parts.append(part())
        return tuple(parts)

    def _both(self) -> Expression:
        parts = self._separated("AND", self._negated)
        return parts[0] if len(parts) == 1 else And(parts)

    def _negated(self) -> Expression:
        token = self._token
        if token.keyword != "NOT" and token.text != "(":
            return self._comparison()
        self._take()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BrokenRule(f"nested deeper than {MAX_DEPTH} levels", token.offset)
        inner = Not(self._negated()) if token.keyword == "NOT" else self.either()
        if token.text == "(":
            self._mark(")", token)
        self._depth -= 1
        return inner

    def _comparison(self) -> Expression:
        first, left = self._token, self._operand()
        token = self._take()
        if token.keyword == "IN":
            return Membership(left, self._choices(left))
        if token.keyword == "NOT" and self._token.keyword == "IN":
            self._take()
            return Not(Membership(left, self._choices(left)))
        if token.kind != "sign":
            raise BrokenRule(
                f"a comparison is expected after {first.text!r}: ==, !=, <, <=, >, >= or IN",
                token.offset,
            )
        second, right = self._token, self._operand()
        _check_pair(left, right, second.offset)
        if token.text not in _EQUALITY and _is_word(left):
            raise BrokenRule(
                f"words have no order: compare them with ==, != or IN, not with {token.text!r}",
                token.offset,
            )
        return Comparison(left, token.text, right)

    def _choices(self, operand: Operand) -> tuple[Quantity, ...]:
        opening = self._mark("(", None)
        choices: list[Quantity] = []
        while True:
            token, choice = self._token, self._operand()
            if isinstance(choice, Name):
                raise BrokenRule("a list holds numbers and quoted texts", token.offset)
            _check_pair(operand, choice, token.offset)
            choices.append(choice)
            if self._token.text != ",":
                break
            self._take()
        self._mark(")", opening)
        return tuple(choices)

    def _mark(self, mark: str, opening: _Token | None) -> _Token:
        token = self._take()
        if token.kind != "mark" or token.text != mark:
            words = (
                f"{mark!r} is expected"
                if opening is None
                else f"this {opening.text!r} is never closed"
            )
            raise BrokenRule(words, token.offset if opening is None else opening.offset)
        return token

    def _operand(self) -> Operand:
        token = self._take()
        match token.kind:
            case "number":
                number = float(token.text)
                if math.isinf(number):
                    raise BrokenRule(f"{token.text[:40]} is out of range", token.offset)
                return number
            case "text":
                return token.text[1:-1]
            case "name" if token.keyword is None:
                return _name(token)
            case _:
                raise BrokenRule("a signal, a number or a quoted text is expected", token.offset)


def _name(token: _Token) -> Name:
    signal, dot, member = token.text.partition(".")
    if signal not in set(Signal) and not is_custom_signal(signal):
        close = get_close_matches(signal, list(Signal), 1)
        words = (
            f"did you mean {close[0]}?"
            if close
            else "a name of your own has a namespace, as in org:name; a word stands in quotes"
        )
        raise BrokenRule(f"{signal[:60]!r} is no signal; {words}", token.offset)
    if dot and member != "value":
        raise BrokenRule(
            f"a signal has nothing but .value, not .{member[:40]}", token.offset + len(signal)
        )
    return Name(token.text)


def _is_word(operand: Operand) -> bool:
    """Whether an operand is a word, and not a number."""
    return operand.text in _WORDS if isinstance(operand, Name) else isinstance(operand, str)


def _check_pair(one: Operand, other: Operand, offset: int) -> None:
    """Refuse what can never be equal.

    Raises:
        BrokenRule: A number is compared with a word, or a signal with a word that it never is.
    """
    if _is_word(one) != _is_word(other):
        raise BrokenRule("a number is compared with a word", offset)
    for named, word in ((one, other), (other, one)):
        if isinstance(named, Name) and isinstance(word, str) and word not in _WORDS[named.text]:
            raise BrokenRule(
                f"{named.text} is never {word[:40]!r}: it is one of {', '.join(_WORDS[named.text])}",
                offset,
            )
