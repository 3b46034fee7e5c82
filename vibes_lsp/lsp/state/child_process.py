"""Commands of `vibes` in processes of their own, with the server's interpreter."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import Final

from vibes_lsp.errors import AttestationCommandFailed, MalformedJson, VibesError
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members
from vibes_lsp.patience import ATTESTATION, ENDED_PROCESS
from vibes_lsp.store.audit_dir import AuditDir

_FAILURE: Final = 2
_NO_WINDOW: Final = 0x08000000 if sys.platform == "win32" else 0
_starting: Final[set[asyncio.Task[Process]]] = set()


async def start_module(module: str, *arguments: str) -> Process:
    """Start a module with arguments; its output and errors are pipes that the caller reads.

    Raises:
        OSError: It cannot be started.
    """
    start = asyncio.get_running_loop().create_task(
        asyncio.create_subprocess_exec(  # noqa: TID251
            *(sys.executable, "-P", "-m", module, *arguments),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
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


async def run_vibes(
    directory: AuditDir, *arguments: str, failure: type[VibesError] = AttestationCommandFailed
) -> tuple[int, Members]:
    """Run a command of `vibes` about a trail; return its exit code and its JSON.

    Args:
        directory: The trail.
        *arguments: The command and its options.
        failure: What to raise if it cannot do its work, or takes too long.
    """
    command = [*arguments, "--json", "--audit-dir", str(directory.path)]
    try:
        process = await start_module("vibes_lsp", *command)
    except OSError as error:
        raise failure(f"no process can be started: {error}") from None
    limit = ATTESTATION.limit
    try:
        out, err = await asyncio.wait_for(process.communicate(), limit)
    except TimeoutError:
        raise failure(f"vibes {arguments[0]} took longer than {limit:g} seconds") from None
    finally:
        await end_process(process)
    code = process.returncode or 0
    if code == _FAILURE:
        raise failure(_error_of(err) or f"vibes {arguments[0]} failed")
    try:
        return code, parse_object(out)
    except MalformedJson:
        ended = f"vibes {arguments[0]} ended with exit code {code}"
        raise failure(_error_of(err) or ended) from None


def _error_of(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return " ".join(line.strip() for line in lines).removeprefix("vibes: ")
