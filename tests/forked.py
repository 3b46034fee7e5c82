"""Runs `vibes` in a process of its own, forked from one that has imported the program already.

Starting an interpreter and importing the program takes most of the time of a short command. Tests of
what happens at the start of the program use `subprocess`, as does Windows, which has no fork.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import BaseContext
from pathlib import Path

_PRELOADED = (
    "vibes_lsp.cli.main",
    "vibes_lsp.cli.blame",
    "vibes_lsp.cli.check",
    "vibes_lsp.cli.find",
    "vibes_lsp.cli.gate",
    "vibes_lsp.cli.record",
    "vibes_lsp.maintenance.pre_commit",
)


def run(
    arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run `vibes` with an empty standard input; return its exit code and output."""
    if os.name == "nt":
        return subprocess.run(
            [sys.executable, "-c", "from vibes_lsp.cli.main import main; main()", *arguments],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    with tempfile.TemporaryDirectory(prefix="vibes-output-") as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        call = (list(arguments), str(cwd), dict(environment), str(out), str(err))
        process = _context().Process(target=_call, args=call)  # type: ignore[attr-defined]
        process.start()
        process.join()
        return subprocess.CompletedProcess(
            ["vibes", *arguments], process.exitcode, out.read_bytes(), err.read_bytes()
        )


@cache
def _context() -> BaseContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *_PRELOADED])
    return context


def _call(arguments: list[str], cwd: str, environment: dict[str, str], out: str, err: str) -> None:
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, out, os.O_WRONLY | os.O_CREAT),
        (2, err, os.O_WRONLY | os.O_CREAT),
    ):
        opened = os.open(path, flags)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # the descriptor
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["vibes", *arguments]
    from vibes_lsp.cli.main import main

    main()
