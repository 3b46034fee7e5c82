"""Running git on a repository that is not trusted: its configuration can name programs, and none of them may run.

Every call goes without a pager, hooks, a file system monitor, external diff, text conversion, signature programs, prompts,
replacement objects, lazy fetching or optional locks.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from vibes_lsp.errors import HistoryUnavailable

_SAFE: Final = (
    "--no-pager",
    "--no-replace-objects",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.external=",
    "-c",
    "log.showSignature=false",
    "-c",
    "log.showRoot=true",
    "-c",
    "protocol.allow=never",
)
_LOG: Final = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-show-signature",
    "--no-mailmap",
    "--encoding=UTF-8",
    "--text",
    "-O/dev/null",
)
_TIMEOUT: Final = 60


def run_git(folder: Path, *arguments: str) -> bytes:
    """Return what git prints for a command run in `folder`.

    Raises:
        HistoryUnavailable: Git is absent, or the command fails.
    """
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HistoryUnavailable(f"git could not be run: {error}", hint="install git, or go on without history") from error
    if done.returncode:
        raise _failure(done.stderr, arguments)
    return done.stdout


@contextmanager
def git_lines(folder: Path, *arguments: str) -> Iterator[Iterator[bytes]]:
    """Give the lines that git prints, as it prints them: for output that may be as large as a log.

    Raises:
        HistoryUnavailable: Git is absent; or, on leaving, the command has failed.
    """
    try:
        process = subprocess.Popen(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise HistoryUnavailable(f"git could not be run: {error}", hint="install git, or go on without history") from error
    output: IO[bytes] = process.stdout  # type: ignore[assignment]  # a pipe was asked for
    try:
        yield iter(output)
        if not output.read(1) and process.wait(_TIMEOUT):  # a reader that stops early is no failure
            raise _failure(b"", arguments)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        output.close()


def log_options() -> Sequence[str]:
    """Return the options that every `git log` and `git diff` of ours is given."""
    return _LOG


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


_KEPT: Final = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES"})


def _failure(stderr: bytes, arguments: Sequence[str]) -> HistoryUnavailable:
    said = stderr.decode("utf-8", "replace").strip().splitlines()
    return HistoryUnavailable(f"git {arguments[0]} failed" + (f": {said[0][:200]}" if said else ""))
