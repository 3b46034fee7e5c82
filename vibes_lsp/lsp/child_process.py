"""Processes of the server's own: modules of this package, with the server's interpreter."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Final

_NO_WINDOW: Final = 0x08000000 if sys.platform == "win32" else 0


async def start_module(module: str, *arguments: str) -> Process:
    """Start a module with arguments; its output and errors are pipes.

    Raises:
        OSError: It cannot be started.
    """
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module, *arguments),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        cwd=sys.prefix,  # never the workspace, where a file could pass for a module or for git
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        creationflags=_NO_WINDOW,
    )
