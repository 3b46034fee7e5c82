"""Decorators that mark a test with the requirement that it checks; see `requirement_table`."""

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
"""The RFC's keyword; `stated` for definitions without one."""

MARK: Final = "conformance_requirements"
_F = TypeVar("_F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement and its test.

    Attributes:
        section: The RFC's section, such as `7.10`, or the number of a reading, such as `R7`.
        level: The RFC's keyword; None for a reading.
        rule: What a reader or writer must do, paraphrased.
        test: The pytest id of the test.
        side: Whether readers or writers must do it.
    """

    section: str
    level: Level | None
    rule: str
    test: str
    side: Literal["reader", "writer"] = "reader"


def rfc_reader(section: str, level: Level, rule: str) -> Callable[[_F], _F]:
    """Mark a test with a rule of the RFC for readers."""
    return _marking(section, level, rule)


def rfc_writer(section: str, level: Level, rule: str) -> Callable[[_F], _F]:
    """Mark a test with a rule of the RFC for writers."""
    return _marking(section, level, rule, "writer")


def spec_reading(number: str, rule: str) -> Callable[[_F], _F]:
    """Mark a test with a reading of the specifications (docs/spec-readings.md)."""
    return _marking(number, None, rule)


def marks_of(function: object) -> tuple[Requirement, ...]:
    """Return the requirements of a test, in the order of its decorators."""
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
