"""Marks a test with the rule that it holds us to. Collecting the marks is left to `table`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

Level = Literal[
    "MUST",
    "MUST NOT",
    "SHOULD",
    "SHOULD NOT",
    "REQUIRED",
    "RECOMMENDED",
    "MAY",
    "OPTIONAL",
    "stated",
]
"""The RFC's keyword; `stated` where it defines something without one."""

MARK: Final = "conformance_requirements"
_F = TypeVar("_F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule and the test of it.

    Attributes:
        section: The RFC's section, such as `7.10`, or the number of a reading, such as `R7`.
        level: The RFC's keyword; None for a reading.
        rule: What a reader, or a writer, must do, in our own words.
        test: The test, as pytest names it.
        side: Who must do it.
    """

    section: str
    level: Level | None
    rule: str
    test: str
    side: Literal["reader", "writer"] = "reader"


def rfc_reader(section: str, level: Level, rule: str) -> Callable[[_F], _F]:
    """Say which rule of the RFC a test is about; changes nothing else about the test."""
    return _marking(section, level, rule)


def rfc_writer(section: str, level: Level, rule: str) -> Callable[[_F], _F]:
    """Say which rule of the RFC for those who write a trail a test is about; changes nothing else about the test."""
    return _marking(section, level, rule, "writer")


def spec_reading(number: str, rule: str) -> Callable[[_F], _F]:
    """Say which reading of the specifications a test is about; changes nothing else about the test."""
    return _marking(number, None, rule)


def marks_of(function: object) -> tuple[Requirement, ...]:
    """Return the rules that a test is marked with, in the order in which they stand above it."""
    marks: tuple[Requirement, ...] = getattr(function, MARK, ())
    return marks


def _marking(
    section: str, level: Level | None, rule: str, side: Literal["reader", "writer"] = "reader"
) -> Callable[[_F], _F]:
    def mark(function: _F) -> _F:
        path = f"{function.__module__.replace('.', '/')}.py::{function.__name__}"
        setattr(
            function, MARK, (Requirement(section, level, rule, path, side), *marks_of(function))
        )
        return function

    return mark
