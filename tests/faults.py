"""Faults on purpose: programs of ours in which a function raises what nobody foresaw."""

from __future__ import annotations

import sys
from typing import Final

SECRET: Final = "a text of the trail"
_SHIM: Final = f"""
import importlib, sys
program, place, *rest = sys.argv[1:]
module, _, names = place.partition(":")
holder = importlib.import_module(module)
*path, name = names.split(".")
for each in path:
    holder = getattr(holder, each)
def fails(*arguments, **named):
    raise KeyError({SECRET!r})
async def fails_later(*arguments, **named):
    fails()
import inspect
setattr(holder, name, fails_later if inspect.iscoroutinefunction(getattr(holder, name)) else fails)
sys.argv[1:] = rest
importlib.import_module(program).main()
"""


def faulty(program: str, place: str, *arguments: str) -> list[str]:
    """Return a command that runs a program whose function at a place raises.

    Args:
        program: The module whose `main` is run.
        place: `module:name`, or `module:class.name`.
        *arguments: The program's.
    """
    return [sys.executable, "-c", _SHIM, program, place, *arguments]
