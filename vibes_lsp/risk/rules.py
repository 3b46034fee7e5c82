"""The language of review rules (RFC 10.4.6, R20): conditions over signals, never run as code."""

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
    """A signal (`NAME`), or its normalized value (`NAME.value`)."""

    text: str


Operand: TypeAlias = Name | Quantity


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two operands."""

    left: Operand
    sign: str
    right: Operand


@dataclass(frozen=True, slots=True)
class Membership:
    """Whether an operand is in a list of literals."""

    operand: Operand
    choices: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of an expression."""

    negated: Expression


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction."""

    parts: tuple[Expression, ...]


Expression: TypeAlias = "Comparison | Membership | Not | And | Or"


def evaluate_condition(expression: Expression, variables: Mapping[str, Quantity]) -> bool:
    """Return whether a condition is true; False if that depends on an unknown signal.

    Args:
        expression: The condition.
        variables: The value of each name; see `scoring.rule_variables`.
    """
    return _truth(expression, variables) is True


def _truth(expression: Expression, variables: Mapping[str, Quantity]) -> bool | None:
    """Return True, False, or None for unknown."""
    match expression:
        case Comparison(left, sign, right):
            left_value, right_value = _resolved(left, variables), _resolved(right, variables)
            return (
                None
                if left_value is None
                or right_value is None
                or isinstance(left_value, str) != isinstance(right_value, str)
                else _SIGNS[sign](left_value, right_value)
            )
        case Membership(operand, choices):
            value = _resolved(operand, variables)
            return None if value is None else value in choices
        case Not(negated):
            truth = _truth(negated, variables)
            return None if truth is None else not truth
        case And(parts):
            truths = [_truth(part, variables) for part in parts]
            return False if False in truths else None if None in truths else True
        case Or(parts):
            truths = [_truth(part, variables) for part in parts]
            return True if True in truths else None if None in truths else False


def signals_in(expression: Expression) -> frozenset[str]:
    """Return the names in a condition."""
    match expression:
        case Comparison(left, _, right):
            return frozenset(side.text for side in (left, right) if isinstance(side, Name))
        case Membership(operand, _):
            return frozenset({operand.text}) if isinstance(operand, Name) else frozenset()
        case Not(negated):
            return signals_in(negated)
        case And(parts) | Or(parts):
            return frozenset().union(*map(signals_in, parts))


def _resolved(operand: Operand, variables: Mapping[str, Quantity]) -> Quantity | None:
    return variables.get(operand.text) if isinstance(operand, Name) else operand


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
"""Maximum nesting of parentheses and NOT."""

_EQUALITY: Final = frozenset({"==", "!="})
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    Signal.ACTION_TYPE: list(Action),
    Signal.MODEL_CAPABILITY_TIER: list(Tier),
}
"""The signals whose values are words, with all values."""
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
        """The keyword in capitals; None for other tokens."""
        upper = self.text.upper()
        return upper if self.kind == "name" and upper in _KEYWORDS else None


def parse_condition(condition: str) -> Expression:
    """Parse a condition.

    Raises:
        BrokenRule: A syntax error, an unknown signal, or a condition too long or too deep; with the
            offset of the character.
    """
    if len(condition) > MAX_LENGTH:
        raise BrokenRule(f"condition too long: at most {MAX_LENGTH:,} characters", MAX_LENGTH)
    parser = _Parser(_tokens(condition))
    expression = parser.parse_or()
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
        match = _TOKEN.match(condition, offset)
        if match is None:
            raise BrokenRule(_unexpected(condition, offset), offset)
        tokens.append(_Token(match.lastgroup or "", match[0], offset))
        offset = match.end()


def _unexpected(condition: str, offset: int) -> str:
    match condition[offset]:
        case "=":
            return "unexpected '=': use '=='"
        case "'" | '"':
            return "unterminated string"
        case "&" | "|" | "!" as operator_sign:
            return f"unexpected {operator_sign!r}: use AND, OR or NOT"
        case character:
            return f"unexpected character {character!r}"


class _Parser:
    """A recursive descent parser; each method parses one rule of the grammar."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def parse_or(self) -> Expression:
        parts = self._parse_separated("OR", self._parse_and)
        return parts[0] if len(parts) == 1 else Or(parts)

    def finish(self) -> None:
        token = self._token
        if token.kind != "end":
            raise BrokenRule(
                f"unexpected {token.text!r} after a complete condition: expected AND or OR",
                token.offset,
            )

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._token
        self._next += token.kind != "end"
        return token

    def _parse_separated(
        self, keyword: str, part: Callable[[], Expression]
    ) -> tuple[Expression, ...]:
        parts = [part()]
        while self._token.keyword == keyword:
            self._take()
            parts.append(part())
        return tuple(parts)

    def _parse_and(self) -> Expression:
        parts = self._parse_separated("AND", self._parse_not)
        return parts[0] if len(parts) == 1 else And(parts)

    def _parse_not(self) -> Expression:
        token = self._token
        if token.keyword != "NOT" and token.text != "(":
            return self._parse_comparison()
        self._take()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BrokenRule(f"nested deeper than {MAX_DEPTH} levels", token.offset)
        inner = Not(self._parse_not()) if token.keyword == "NOT" else self.parse_or()
        if token.text == "(":
            self._expect(")", token)
        self._depth -= 1
        return inner

    def _parse_comparison(self) -> Expression:
        first, left = self._token, self._parse_operand()
        token = self._take()
        if token.keyword == "IN":
            return Membership(left, self._parse_list(left))
        if token.keyword == "NOT" and self._token.keyword == "IN":
            self._take()
            return Not(Membership(left, self._parse_list(left)))
        if token.kind != "sign":
            raise BrokenRule(
                f"expected a comparison after {first.text!r}: ==, !=, <, <=, >, >= or IN",
                token.offset,
            )
        second, right = self._token, self._parse_operand()
        _check_pair(left, right, second.offset)
        if token.text not in _EQUALITY and _is_word(left):
            raise BrokenRule(
                f"{token.text!r} cannot compare words: use ==, != or IN",
                token.offset,
            )
        return Comparison(left, token.text, right)

    def _parse_list(self, operand: Operand) -> tuple[Quantity, ...]:
        opening = self._expect("(", None)
        choices: list[Quantity] = []
        while True:
            token, choice = self._token, self._parse_operand()
            if isinstance(choice, Name):
                raise BrokenRule("a list may contain only numbers and quoted strings", token.offset)
            _check_pair(operand, choice, token.offset)
            choices.append(choice)
            if self._token.text != ",":
                break
            self._take()
        self._expect(")", opening)
        return tuple(choices)

    def _expect(self, mark: str, opening: _Token | None) -> _Token:
        token = self._take()
        if token.kind != "mark" or token.text != mark:
            words = f"expected {mark!r}" if opening is None else f"unclosed {opening.text!r}"
            raise BrokenRule(words, token.offset if opening is None else opening.offset)
        return token

    def _parse_operand(self) -> Operand:
        token = self._take()
        match token.kind:
            case "number":
                number = float(token.text)
                if math.isinf(number):
                    raise BrokenRule(f"number {token.text[:40]} is out of range", token.offset)
                return number
            case "text":
                return token.text[1:-1]
            case "name" if token.keyword is None:
                return _parse_name(token)
            case _:
                raise BrokenRule("expected a signal, a number or a quoted string", token.offset)


def _parse_name(token: _Token) -> Name:
    signal, dot, member = token.text.partition(".")
    if signal not in set(Signal) and not is_custom_signal(signal):
        close = get_close_matches(signal, list(Signal), 1)
        words = (
            f"did you mean {close[0]}?"
            if close
            else "put words in quotes; a custom signal has a namespace, as in org:name"
        )
        raise BrokenRule(f"unknown signal {signal[:60]!r}: {words}", token.offset)
    if dot and member != "value":
        raise BrokenRule(
            f"unknown member .{member[:40]}: a signal has only .value", token.offset + len(signal)
        )
    return Name(token.text)


def _is_word(operand: Operand) -> bool:
    """Whether an operand's value is a word and not a number."""
    return operand.text in _WORDS if isinstance(operand, Name) else isinstance(operand, str)


def _check_pair(first: Operand, second: Operand, offset: int) -> None:
    """Check that two operands can be equal.

    Raises:
        BrokenRule: A number is compared with a word, or a signal with a word that it never has.
    """
    if _is_word(first) != _is_word(second):
        raise BrokenRule("cannot compare a number with a word", offset)
    for named, word in ((first, second), (second, first)):
        if isinstance(named, Name) and isinstance(word, str) and word not in _WORDS[named.text]:
            raise BrokenRule(
                f"invalid {named.text} {word[:40]!r}: expected {', '.join(_WORDS[named.text])}",
                offset,
            )
