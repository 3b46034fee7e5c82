"""Runs `vibes` in processes of its own, forked from one that has imported the program already.

Starting an interpreter and importing the program takes most of the time of a short command. Tests of
what happens at the start of the program use `subprocess`, as does Windows, which has no fork.
"""

from __future__ import annotations

import atexit
import gc
import os
import pkgutil
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from tests import forked_client, leftovers
from tests.fault_injection import FAULT, inject
from vibes_lsp import cli

SCRIPT: Final = Path(sys.prefix) / ("Scripts/vibes.exe" if os.name == "nt" else "bin/vibes")
"""The installed command."""
_SERVE: Final = "import sys; from tests.forked import serve; serve(sys.argv[1], int(sys.argv[2]))"


_PRELOADED: Final[Mapping[str, Sequence[str]]] = {
    "vibes": (
        *(module.name for module in pkgutil.iter_modules(cli.__path__, f"{cli.__name__}.")),
        "vibes_lsp.maintenance.pre_commit",
    ),
    "vibes mcp": (
        "vibes_lsp.cli.kb",
        "vibes_lsp.mcp.server",
        "vibes_lsp.mcp.knowledge_server",
    ),
    "vibes-lsp": ("vibes_lsp.lsp.main", "vibes_lsp.lsp.lifecycle", "vibes_lsp.lsp.transport"),
}
"""What each kind of server has imported."""


def run(
    arguments: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run `vibes` with this standard input; return its exit code and output."""
    command = [str(SCRIPT), *arguments]
    if os.name == "nt":
        return subprocess.run(
            command, cwd=cwd, env=dict(environment), input=given, capture_output=True, check=False
        )
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write(given)
        stdin.seek(0)
        files = [stdin.fileno(), stdout.fileno(), stderr.fileno()]
        code = forked_client.ask(
            _address("vibes"), list(arguments), str(cwd), dict(environment), files
        )
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(command, code, stdout.read(), stderr.read())


def program(kind: str = "vibes") -> Path:
    """Return a command for scripts, hooks and clients of tests, alone in its folder.

    It stands between a test and the process: who kills it, or reads what the system says of it, has
    to start an interpreter.

    Args:
        kind: `vibes`, `vibes mcp` for one that has imported the MCP servers, or `vibes-lsp`.
    """
    name = kind.partition(" ")[0]
    return SCRIPT.with_stem(name) if os.name == "nt" else _program(kind, name)


@cache
def _program(kind: str, name: str) -> Path:
    address = _address(kind)
    file = Path(address).parent / "bin" / name
    file.parent.mkdir()
    words = [sys.executable, "-IS", forked_client.__file__, address]
    file.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    file.chmod(0o755)
    return file


@cache
def _address(kind: str) -> str:
    """Start a server, which ends with this process; return the path of its socket."""
    folder = tempfile.mkdtemp(prefix="vibes-forked-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = f"{folder}/socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVE, kind, str(listener.fileno())],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )
    listener.close()
    leftovers.shared.add(server.pid)
    assert server.stdin is not None
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    return address


def serve(kind: str, listening: int) -> None:
    """Run a program for each client until standard input ends."""
    for module in _PRELOADED[kind]:
        import_module(module)
    gc.freeze()
    with socket.socket(fileno=listening) as listener:
        while True:
            ready, _, _ = select.select([0, listener.fileno()], [], [])
            _reap()
            if 0 in ready:
                return
            client, _ = listener.accept()
            with client:
                if os.fork() == 0:
                    listener.close()
                    _answer(kind.partition(" ")[0], client)


def _main(program_name: str) -> Callable[[], None]:
    module = "vibes_lsp.lsp.main" if program_name == "vibes-lsp" else "vibes_lsp.__main__"
    main: Callable[[], None] = import_module(module).main
    return main


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return


def _answer(name: str, client: socket.socket) -> None:
    """Run the program in a process of its own, send its exit code to the client, and end."""
    size, files, _, _ = socket.recv_fds(client, 4, 3)
    request = b""
    while len(request) < int.from_bytes(size):
        request += client.recv(1 << 20)
    child = os.fork()
    if child == 0:
        client.close()
        _call(name, request, files)
    for file in files:
        os.close(file)
    _, status = os.waitpid(child, 0)
    with suppress(BrokenPipeError):  # the client was killed
        client.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))
    os._exit(0)


def _call(program_name: str, request: bytes, files: list[int]) -> None:
    cwd, count, *words = (os.fsdecode(word) for word in request.split(b"\0"))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # for the whole process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    for word in words[int(count) :]:
        name, _, value = word.partition("=")
        os.environ[name] = value
    os.chdir(cwd)
    if place := os.environ.pop(FAULT, None):
        inject(place)
    sys.argv = [program_name, *words[: int(count)]]
    code: str | int | None = 1
    try:
        _main(program_name)()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001  # as the interpreter shows it
        sys.excepthook(*sys.exc_info())
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            with suppress(BrokenPipeError):  # the client was killed
                stream.flush()
    os._exit(
        code if isinstance(code, int) else int(code is not None)
    )  # without freeing what was forked
