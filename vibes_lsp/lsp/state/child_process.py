"""Processes of the server's own: modules of this package, with the server's interpreter."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeAlias

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members
from vibes_lsp.patience import ENDED_PROCESS
from vibes_lsp.store.audit_dir import AuditDir

ShowProgress: TypeAlias = Callable[[str, int], None]
"""Called with a step of the work, and how much of the step is done, in percent."""
RESULT: Final = "result"
"""The line before the result of a check."""
_NO_WINDOW: Final = 0x08000000 if sys.platform == "win32" else 0
_starting: Final[set[asyncio.Task[Process]]] = set()


async def start_module(module: str, *arguments: str, reads_errors: bool = True) -> Process:
    """Start a module with arguments; its output and errors are pipes that the caller reads.

    Args:
        module: The module.
        arguments: Its arguments.
        reads_errors: Whether the caller reads the errors; else there is no pipe that could fill up.

    Raises:
        OSError: It cannot be started.
    """
    start = asyncio.get_running_loop().create_task(
        asyncio.create_subprocess_exec(  # noqa: TID251
            *(sys.executable, "-P", "-m", module, *arguments),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE if reads_errors else DEVNULL,
            cwd=sys.prefix,  # never the workspace, where a file could pass for a module or for git
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            creationflags=_NO_WINDOW,
        )
    )
    _starting.add(start)
    start.add_done_callback(_starting.discard)
    try:
        return await asyncio.shield(start)
    except asyncio.CancelledError:
        start.add_done_callback(_kill_started)
        raise


async def finish_starting() -> None:
    """Wait for the processes that are being started.

    A start that is cancelled waits for ever in the Python versions before 3.12.5, and an event loop
    that is closed cancels everything.
    """
    while _starting:
        await asyncio.wait(_starting)


def _kill_started(start: asyncio.Task[Process]) -> None:
    if not start.cancelled() and start.exception() is None:
        with suppress(ProcessLookupError):
            start.result().kill()


async def end_process(process: Process) -> None:
    """Kill a process that still runs, and read its pipes to their ends, so that they are closed."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        with suppress(TimeoutError):  # a process of its own may have inherited the pipes
            await asyncio.wait_for(process.communicate(), ENDED_PROCESS.limit)


async def run_check(directory: AuditDir, *paths: str, show: ShowProgress) -> Members:
    """Have another process check a trail, or one file of it; return the result of `child_work`.

    The result has only `problem`, a message, if the check could not be done.
    """
    audit = str(directory.path.absolute())
    try:
        process = await start_module(
            "vibes_lsp.lsp.state.child_work", audit, *paths, reads_errors=False
        )
    except OSError as error:
        return {"problem": f"no process can be started: {error}"}
    try:
        return await _read_result(process, show)
    except MalformedJson:
        return {"problem": "the process for a check ended without a result"}
    finally:
        await end_process(process)


async def _read_result(process: Process, show: ShowProgress) -> Members:
    """Show the progress that a process prints, and return its result.

    Raises:
        MalformedJson: It ended without one.
    """
    output = process.stdout
    if output is None:
        return {"problem": "the process has no output"}
    async for line in output:
        step, _, percentage = line.decode("utf-8", "replace").rstrip().partition(" ")
        if step == RESULT:
            break
        if percentage.isdigit():
            show(step, int(percentage))
    return parse_object(await output.read())
