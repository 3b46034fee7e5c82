"""What a person has of an agent on this machine: its program, its folder, its settings.

Programs run with a time limit. One in the project's folder is never run: the content of a workspace
is untrusted.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from vibes_lsp.agents.agent import CodingAgent, UserHome
from vibes_lsp.agents.setup.json_edits import compact, parse_document
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members
from vibes_lsp.patience import AGENT_PROGRAM
from vibes_lsp.store.files import is_inside, read_file

_MAX_SETTINGS: Final = 16 << 20
_MAX_OUTPUT: Final = 4 << 20
_VERSION: Final = re.compile(
    r"(?<![0-9])[0-9]{1,9}\.[0-9]{1,9}(?:\.[0-9]{1,9})?(?:[-+][\w.-]{1,40})?", re.ASCII
)


def current_home() -> UserHome:
    """Return the home of the person that runs this program."""
    try:
        path = Path.home()
    except RuntimeError:  # in a container, a user may have no home: nothing is found or written
        path = Path(os.devnull)
    return UserHome(path, os.environ)


def find_program(agent: CodingAgent, home: UserHome) -> Path | None:
    """Return the program of an agent on PATH; None without one."""
    for name in agent.programs:
        program = shutil.which(name, path=home.variables.get("PATH"))
        if program is not None:
            return Path(program)
    return None


def is_installed(agent: CodingAgent, home: UserHome) -> bool:
    """Return whether a person has an agent: a program on PATH, or a folder in the home folder."""
    return agent.home_folder(home).is_dir() or find_program(agent, home) is not None


def read_settings(path: Path) -> Members:
    """Return an agent's own JSON file; empty if there is none or it cannot be read."""
    try:
        content = read_file(path, limit=_MAX_SETTINGS)
        return {} if content is None else parse_document(content.decode("utf-8")).value
    except (UnreadableFile, MalformedJson, UnicodeDecodeError):
        return {}


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
        version = _VERSION.search(done.stdout[:10_000].decode("utf-8", "replace"))
        return version[0] if version else ""
    return ""


def ask_program(
    command: Sequence[str | Path],
    requests: Sequence[Members],
    project: Path,
    variables: Mapping[str, str],
) -> Members:
    """Return the answer to the last request; empty if a program gives none in time.

    Its input stays open until then, since a server ends with it.

    Args:
        command: The program with its arguments.
        requests: Requests of JSON-RPC, one on a line.
        project: The project's folder.
        variables: The environment.
    """
    if is_inside(Path(command[0]), project):
        return {}
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
                server.stdin.write(
                    "".join(f"{compact(request)}\n" for request in requests).encode()
                )
                server.stdin.flush()
                answer = next(_answers(server.stdout, requests[-1]["id"]), {})
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


def _answers(stream: IO[bytes], request: object) -> Iterator[Members]:
    """Yield the answers to a request."""
    left = _MAX_OUTPUT
    while left > 0 and (line := stream.readline(left)):
        left -= len(line)
        with contextlib.suppress(MalformedJson):
            answer = parse_object(line)
            if answer.get("id") == request:
                yield answer
