"""The cases of the pack by section and name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.conformance.vouch.server import World

Case = Callable[[World], None]
CASES: Final[dict[str, Case]] = {}
ATTACKS: Final[set[str]] = set()


def case(section: str, *, is_attack: bool = False) -> Callable[[Case], Case]:
    """Add a function to the pack under its section and name.

    Args:
        section: The section of the specification.
        is_attack: Whether a failure is a vulnerability, which is no matter for a public table.
    """

    def add(function: Case) -> Case:
        name = f"{section} {function.__name__.replace('_', ' ')}"
        CASES[name] = function
        if is_attack:
            ATTACKS.add(name)
        return function

    return add
