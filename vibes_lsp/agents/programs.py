"""Run the programs of agents, each with a time limit: for their version, and Codex for its hooks.

A program in the project's folder is never run: the content of a workspace is untrusted.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final

from vibes_lsp import __version__
from vibes_lsp.agents.setup.json_edits import compact
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, mapping, objects
from vibes_lsp.patience import AGENT_PROGRAM
from vibes_lsp.store.files import is_inside

_MAX_OUTPUT: Final = 4 << 20
_VERSION: Final = re.compile(
    r"(?<![0-9])[0-9]{1,9}\.[0-9]{1,9}(?:\.[0-9]{1,9})?(?:[-+][\w.-]{1,40})?", re.ASCII
)


def program_version(program: Path, project: Path) -> str:
    """Return the version that a program prints; empty if it prints none in time."""
    if is_inside(program, project):
        return ""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [program, "--version"],
            cwd=tempfile.gettempdir(),  # no configuration of the project is read
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=AGENT_PROGRAM.limit,
            check=False,
        )
        found = _VERSION.search(done.stdout[:10_000].decode("utf-8", "replace"))
        return found[0] if found else ""
    return ""


def codex_hooks(program: Path, project: Path, variables: Mapping[str, str]) -> list[Members] | None:
    """Ask `codex app-server` which hooks it has for a project; None if it gives no answer.

    Args:
        program: Codex.
        project: The project's folder.
        variables: The environment, with `CODEX_HOME` if that is set.
    """
    if is_inside(program, project):
        return None
    requests: list[Members] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"clientInfo": {"name": "vibes", "title": None, "version": __version__}},
        },
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(project)]}},
    ]
    given = "".join(f"{compact(each)}\n" for each in requests).encode()
    answer = _ask([program, "app-server"], given, 2, variables)
    return _hooks_of(mapping(answer, "result"), project)


def _ask(
    command: list[str | Path],
    given: bytes,
    request: int,
    variables: Mapping[str, str],
) -> Members:
    """Return the answer to a request; empty if a program gives none in time.

    Its input stays open until then, since a server ends with it.
    """
    try:
        server = subprocess.Popen(
            command,
            cwd=tempfile.gettempdir(),
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return {}
    timer = threading.Timer(AGENT_PROGRAM.limit, _kill, [server])
    timer.start()
    answer: Members = {}
    try:
        # The pipe is broken when a program ends early.
        with contextlib.suppress(BrokenPipeError), server:
            if server.stdin is not None and server.stdout is not None:
                server.stdin.write(given)
                server.stdin.flush()
                answer = next(_answers(server.stdout, request), {})
            _kill(server)
    finally:
        timer.cancel()
    return answer


def _kill(server: subprocess.Popen[bytes]) -> None:
    """Kill a program and, where the system has groups, those that it started."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(server.pid, signal.SIGKILL)
    server.kill()


def _answers(stream: IO[bytes], request: int) -> Iterator[Members]:
    """Yield the answers to a request."""
    left = _MAX_OUTPUT
    while left > 0 and (line := stream.readline(left)):
        left -= len(line)
        with contextlib.suppress(MalformedJson):
            answer = parse_object(line)
            if answer.get("id") == request:
                yield answer


def _hooks_of(result: Members, project: Path) -> list[Members] | None:
    for each in objects(result.get("data")):
        if each.get("cwd") == str(project):
            return objects(each.get("hooks"))
    return None
