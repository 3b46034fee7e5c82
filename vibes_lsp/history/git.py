"""Running git on a repository that is not trusted: its configuration can name programs, and none of them may run.

Every call goes without a pager, hooks, a file system monitor, external diff, text conversion, signature programs, prompts,
replacement objects, grafts, lazy fetching or optional locks.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
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
    "log.follow=false",
    "-c",
    "protocol.allow=never",
)
LOG_OPTIONS: Final = (
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
_PIECE: Final = 1 << 16


def run_git(
    folder: Path,
    *arguments: str,
    index: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Return what git prints for a command run in `folder`.

    Args:
        folder: Where git runs.
        *arguments: The command.
        index: The index to use, absolute; by default the repository's own, whatever the environment says.
        environment: Variables for git, besides those that it always gets.

    Raises:
        HistoryUnavailable: Git is absent, or the command fails.
    """
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env={
                **_environment(),
                **({} if index is None else {"GIT_INDEX_FILE": os.fspath(index)}),
                **(environment or {}),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT,
        )
    except (
        OSError,
        ValueError,
        subprocess.TimeoutExpired,
    ) as error:  # a ValueError: what no argument can hold, as a NUL
        raise _not_run(error) from error
    if done.returncode:
        raise _failure(done.stderr, arguments)
    return done.stdout


def user_name(folder: Path) -> str | None:
    """Return git's `user.name` for a folder; None when there is none, or no git."""
    try:
        return (
            run_git(folder, "config", "--get", "user.name").decode("utf-8", "replace").strip()
            or None
        )
    except HistoryUnavailable:
        return None


@contextmanager
def git_lines(
    folder: Path, *arguments: str, seconds: float | None = None
) -> Iterator[Iterator[bytes]]:
    """Give the lines that git prints, as it prints them: for output that may be as large as a log.

    Args:
        folder: Where git runs.
        *arguments: The command.
        seconds: How long it may take; then it is ended, which is a failure.

    Raises:
        HistoryUnavailable: Git is absent; or, on leaving, the command has failed.
    """
    with _output(folder, arguments, seconds) as output:
        yield iter(output)


@contextmanager
def git_fields(
    folder: Path, *arguments: str, seconds: float | None = None
) -> Iterator[Iterator[bytes]]:
    """Give what git prints between NULs (its `-z`), as it prints it.

    Args:
        folder: Where git runs.
        *arguments: The command.
        seconds: How long it may take; then it is ended, which is a failure.

    Raises:
        HistoryUnavailable: Git is absent; or, on leaving, the command has failed.
    """
    with _output(folder, arguments, seconds) as output:
        yield _parts(output)


def start_git(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start git to be talked to through its standard input and output; whoever starts it ends it.

    Raises:
        HistoryUnavailable: Git is absent.
    """
    return _start(folder, arguments, subprocess.PIPE)


def literal_pathspec(name: str) -> str:
    """Return the pathspec for exactly this name from the top of the work tree, whatever characters it has."""
    return f":(top,literal){name}"


@contextmanager
def _output(folder: Path, arguments: Sequence[str], seconds: float | None) -> Iterator[IO[bytes]]:
    process = _start(folder, arguments, subprocess.DEVNULL)
    output: IO[bytes] = process.stdout  # type: ignore[assignment]  # a pipe was asked for
    watchdog = threading.Timer(seconds, process.kill) if seconds is not None else None
    if watchdog is not None:
        watchdog.daemon = True
        watchdog.start()
    try:
        yield output
        if not output.read(1) and process.wait(_TIMEOUT):  # a reader that stops early is no failure
            raise _failure(b"", arguments)
    finally:
        if watchdog is not None:
            watchdog.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
        output.close()


def _start(folder: Path, arguments: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ["git", *_SAFE, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:  # a ValueError: what no argument can hold, as a NUL
        raise _not_run(error) from error


def _parts(output: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while piece := os.read(output.fileno(), _PIECE):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT
    }
    return {**kept, **_FORCED}


_FORCED: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # before `protocol.NAME.allow`, which a repository may set; git before 2.44 fetches lazily
    "GIT_GRAFT_FILE": os.devnull,
    "LC_ALL": "C",
}
_KEPT: Final = frozenset(
    {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_CEILING_DIRECTORIES",
    }
)


def _not_run(error: Exception) -> HistoryUnavailable:
    return HistoryUnavailable(
        f"git could not be run: {error}", hint="install git, or go on without history"
    )


def _failure(stderr: bytes, arguments: Sequence[str]) -> HistoryUnavailable:
    said = stderr.decode("utf-8", "replace").strip().splitlines()
    return HistoryUnavailable(f"git {arguments[0]} failed" + (f": {said[0][:200]}" if said else ""))
