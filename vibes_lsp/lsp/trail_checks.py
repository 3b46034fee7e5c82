"""Checks of whole trails: of a large one in a process of its own, with progress.

A thread that checks a large trail would delay every answer of the server.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from vibes_lsp.checks.check_process import RESULT, check
from vibes_lsp.errors import CheckFailed, MalformedJson, VibesError
from vibes_lsp.lsp.child_process import end_process, start_module
from vibes_lsp.lsp.projects import MAX_READ
from vibes_lsp.lsp.server import CommandFailed, Server
from vibes_lsp.lsp.shown_progress import ShownProgress, begin_progress
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.audit_dir import AuditDir

_TITLE: Final = "Checking the audit trail"
_SHARES: Final = {"log": (0, 15), "lineages": (15, 25), "records": (25, 90), "entries": (90, 99)}
"""The part of the progress that each task of a check takes, in percent."""


async def check_project(server: Server, directory: AuditDir, path: str | None = None) -> Members:
    """Return what `vibes check --json` prints, or only the findings about one file.

    The latter have the text of their line as `text`, and are a few hundred at most.

    Raises:
        CommandFailed: The trail cannot be checked.
    """
    try:
        if not _is_large(directory):
            return await asyncio.get_running_loop().run_in_executor(
                server.thread_pool, check, directory, path
            )
        return await _check_in_process(server, directory, path)
    except VibesError as error:
        raise CommandFailed(error) from error


def _is_large(directory: AuditDir) -> bool:
    size = 0
    for file in (directory.log, directory.manifest):
        with suppress(OSError):
            size += file.stat().st_size
    return size >= MAX_READ


async def _check_in_process(server: Server, directory: AuditDir, path: str | None) -> Members:
    arguments = (str(directory.path.absolute()), *(() if path is None else (path,)))
    try:
        process = await start_module(
            "vibes_lsp.checks.check_process", *arguments, reads_errors=False
        )
    except OSError as error:
        raise CheckFailed(f"no process can be started: {error}") from error
    progress: ShownProgress | None = None
    try:
        progress = await begin_progress(server, _TITLE)
        result = await _read_result(process, _shower(progress))
    finally:
        if progress is not None:
            progress.end()
        await end_process(process)
    problem = text(result, "problem")
    if problem is not None:
        raise CheckFailed(problem)
    return result


def _shower(progress: ShownProgress | None) -> Callable[[str, int, int], None]:
    def show(task: str, done: int, total: int) -> None:
        if progress is not None and task in _SHARES:
            first, last = _SHARES[task]
            progress.show(first + (last - first) * min(done, total) // max(total, 1), task)

    return show


async def _read_result(process: Process, show: Callable[[str, int, int], None]) -> Members:
    if process.stdout is None:
        raise CheckFailed("the process that checks has no output")
    async for line in process.stdout:
        task, *numbers = line.decode("utf-8", "replace").split()
        if task == RESULT:
            break
        if len(numbers) == 2 and all(each.isdigit() for each in numbers):
            show(task, *map(int, numbers))
    try:
        return parse_object(await process.stdout.read())
    except MalformedJson:
        raise CheckFailed("the process that checks ended without a result") from None
