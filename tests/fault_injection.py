"""Run a program in which one function raises an unexpected exception."""

from __future__ import annotations

import sys
from typing import Final

FAULT_TEXT: Final = "a text of the trail"
_SHIM: Final = f"""
import importlib, sys
program, place, *rest = sys.argv[1:]
module, _, names = place.partition(":")
holder = importlib.import_module(module)
*path, name = names.split(".")
for each in path:
    holder = getattr(holder, each)
def fails(*arguments, **named):
    raise KeyError({FAULT_TEXT!r})
async def fails_later(*arguments, **named):
    fails()
import inspect
setattr(holder, name, fails_later if inspect.iscoroutinefunction(getattr(holder, name)) else fails)
sys.argv[1:] = rest
importlib.import_module(program).main()
"""


def command_with_fault(program: str, place: str, *arguments: str) -> list[str]:
    """Return a command that runs a program in which one function raises.

    Args:
        program: The module whose `main` runs.
        place: `module:name`, or `module:class.name`.
        *arguments: The program's arguments.
    """
    return [sys.executable, "-c", _SHIM, program, place, *arguments]
