"""Runs a program in which one function raises an unexpected exception."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any, Final

from tests.requirements import REPOSITORY

FAULT_TEXT: Final = "a text of the trail"
FAULT: Final = "VIBES_TEST_FAULT"
"""The variable that names the function in a program of `tests.forked`."""


def inject(place: str) -> None:
    """Let one function raise.

    Args:
        place: `module:name`, or `module:class.name`.
    """
    module, _, names = place.partition(":")
    holder: Any = importlib.import_module(module)
    *path, name = names.split(".")
    for attribute in path:
        holder = getattr(holder, attribute)

    def fails(*_arguments: object, **_named: object) -> object:
        raise KeyError(FAULT_TEXT)

    async def fails_later(*_arguments: object, **_named: object) -> object:
        raise KeyError(FAULT_TEXT)

    is_later = inspect.iscoroutinefunction(getattr(holder, name))
    setattr(holder, name, fails_later if is_later else fails)


_SHIM: Final = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from tests.fault_injection import inject
del sys.path[0]
program, place, *sys.argv[1:] = sys.argv[1:]
inject(place)
__import__(program, fromlist=["main"]).main()
"""


def command_with_fault(program: str, place: str, *arguments: str) -> list[str]:
    """Return a command that runs a program in which one function raises.

    Args:
        program: The module whose `main` runs.
        place: See `inject`.
        *arguments: The program's arguments.
    """
    return [sys.executable, "-c", _SHIM, program, place, *arguments]
