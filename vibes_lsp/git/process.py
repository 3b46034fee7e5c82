"""Run git in a repository that is not trusted.

A repository's configuration can name programs, and none of them may run. Every call switches off
the pager, hooks, file system monitor, external diff, text conversion, signature programs, prompts,
replacement objects, grafts, lazy fetching and optional locks.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.repository_state import is_partial_clone, special_file
from vibes_lsp.patience import GIT, Wait
from vibes_lsp.store.bounded_lines import bounded_lines

_SAFE_OPTIONS: Final = (
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
    "diff.algorithm=myers",
    "-c",
    "diff.indentHeuristic=true",
    "-c",
    "log.showSignature=false",
    "-c",
    "log.showRoot=true",
    "-c",
    "log.follow=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "advice.graftFileDeprecated=false",  # about the grafts of `_FIXED_VARIABLES`
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
"""Options for every `git log` and `git diff`: no setting may change the output format."""
_TRUSTED_SCOPES: Final = ("system", "global")
_MISSING_OBJECTS: Final = (b"promisor", b"missing", b"unable to read", b"could not fetch")
"""What git says where a partial clone lacks an object."""
_FETCH_OBJECTS: Final = "fetch the objects: git fetch --refetch --no-filter"
_NO_WINDOW: Final[int] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Windows opens a console for every program that a process without one starts."""
_CHUNK: Final = 1 << 16


def run_git(
    folder: Path,
    *arguments: str,
    index: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> bytes:
    """Run git and return its standard output.

    Args:
        folder: The working directory.
        *arguments: The command.
        index: Absolute path of the index to use; by default the repository's own, even where the
            environment names another.
        environment: Further variables.
        stdin: Its standard input.

    Raises:
        HistoryUnavailable: Git is missing, or the command fails.
    """
    completed = _run(
        folder,
        arguments,
        {
            **({} if index is None else {"GIT_INDEX_FILE": os.fspath(index)}),
            **(environment or {}),
        },
        stdin,
    )
    if completed.returncode:
        raise _failure(folder, completed.stderr, arguments)
    return completed.stdout


def without_filters(folder: Path) -> dict[str, str]:
    """Return variables with which git runs no filter that a configuration names.

    Where git writes an index, it may compare files that the command does not name.
    """
    options = ("--name-only", "--null", "--get-regexp", r"^filter\.")
    try:
        listed = run_git(folder, "config", *options).decode("utf-8", "surrogateescape")
    except HistoryUnavailable:  # no filter is configured
        return {}
    names = [name for name in listed.split("\0") if name]
    variables = {"GIT_CONFIG_COUNT": str(len(names))}
    for number, name in enumerate(names):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": ""}
    return variables


class GitVerdict(NamedTuple):
    """What came of a git command: whether it succeeded, and what it printed."""

    succeeded: bool
    output: str
    messages: str


def git_verdict(folder: Path, *arguments: str) -> GitVerdict:
    """Run a git command whose failure, or warnings, are an answer.

    Raises:
        HistoryUnavailable: Git is missing.
    """
    completed = _run(folder, arguments, {})
    printed = (stream.decode("utf-8", "replace") for stream in (completed.stdout, completed.stderr))
    return GitVerdict(completed.returncode == 0, *printed)


def _run(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str], stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    _refuse_special_files(folder)
    try:
        return subprocess.run(
            ["git", *_SAFE_OPTIONS, *arguments],
            cwd=folder,
            env={**_environment(), **environment},
            input=stdin,
            capture_output=True,
            check=False,
            timeout=GIT.limit,
            creationflags=_NO_WINDOW,
        )
    except (
        OSError,
        ValueError,
        subprocess.TimeoutExpired,
    ) as error:  # ValueError: an argument contains a NUL
        raise _not_started(error) from error


def git_setting(folder: Path, name: str) -> str:
    """Return a setting of git in a folder, of any scope; empty if it is unset."""
    try:
        return run_git(folder, "config", "--get", name).decode("utf-8", "replace").strip()
    except HistoryUnavailable:
        return ""


def user_setting(name: str, folder: Path = Path()) -> str | None:
    """Return a setting of git that the user or the system has made; None without one.

    What the configuration of a repository says does not count.

    Args:
        name: Its name.
        folder: Where conditions for settings hold.
    """
    try:
        listing = run_git(folder, "config", "--show-scope", "--null", "--get-all", name)
    except HistoryUnavailable:
        return None
    fields = listing.decode("utf-8", "replace").split("\0")
    values = [
        value
        for scope, value in zip(fields[::2], fields[1::2], strict=False)
        if scope in _TRUSTED_SCOPES
    ]
    return values[-1] if values else None


@contextmanager
def git_lines(
    folder: Path,
    *arguments: str,
    patience: Wait | None = None,
    nul_separated: bool = False,
) -> Iterator[Iterator[bytes]]:
    """Run git and iterate over its output while it runs, for output as large as a log.

    Args:
        folder: The working directory.
        *arguments: The command.
        patience: A wait for all of it. Git is killed at its limit, which counts as a failure.
        nul_separated: Whether the command has `-z`: yields its fields, not `bounded_lines`.

    Raises:
        HistoryUnavailable: Git is missing, or on exit: the command failed.
    """
    process = _start(folder, arguments, subprocess.DEVNULL)
    output: IO[bytes] = process.stdout  # type: ignore[assignment]  # stdout=PIPE
    watchdog = None if patience is None else threading.Timer(patience.limit, process.kill)
    if watchdog is not None:
        watchdog.daemon = True
        watchdog.start()
    try:
        yield _split_at_nul(output) if nul_separated else bounded_lines(output)
        if not output.read(1) and process.wait():  # a reader may stop early
            raise _failure(folder, b"", arguments)
    finally:
        if watchdog is not None:
            watchdog.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
        output.close()


def start_git(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start git with pipes for standard input and output; the caller ends the process.

    Raises:
        HistoryUnavailable: Git is missing.
    """
    return _start(folder, arguments, subprocess.PIPE)


def literal_pathspec(name: str) -> str:
    """Return a pathspec that matches exactly this path from the top of the work tree."""
    return f":(top,literal){name}"


def _refuse_special_files(folder: Path) -> None:
    """Do not start git where it would block."""
    name = special_file(folder.absolute())
    if name is not None:
        raise HistoryUnavailable(
            f"{name} is not a regular file, so git is not started",
            hint="move it away: git would wait for another program",
        )


def _start(folder: Path, arguments: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
    _refuse_special_files(folder)
    try:
        return subprocess.Popen(
            ["git", *_SAFE_OPTIONS, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=_NO_WINDOW,
        )
    except (OSError, ValueError) as error:  # ValueError: an argument contains a NUL
        raise _not_started(error) from error


def _split_at_nul(output: IO[bytes]) -> Iterator[bytes]:
    begun: list[bytes] = []  # joined once: a name in a tree may be as long as a blob
    while chunk := os.read(output.fileno(), _CHUNK):
        end, *others = chunk.split(b"\0")
        begun.append(end)
        if others:
            yield b"".join(begun)
            yield from others[:-1]
            begun = others[-1:]
    if rest := b"".join(begun):
        yield rest


def _environment() -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _INHERITED_VARIABLES
    }
    return {**inherited, **_FIXED_VARIABLES}


_FIXED_VARIABLES: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # Overrides the repository's `protocol.NAME.allow`; git before 2.44 ignores GIT_NO_LAZY_FETCH.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_GRAFT_FILE": os.devnull,
    "LC_ALL": "C",
}
_INHERITED_VARIABLES: Final = frozenset(
    {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_CEILING_DIRECTORIES",
    }
)


def _not_started(error: Exception) -> HistoryUnavailable:
    return HistoryUnavailable(
        f"git could not be run: {error}", hint="install git, or work without history"
    )


def _failure(folder: Path, stderr: bytes, arguments: Sequence[str]) -> HistoryUnavailable:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    options = (None, *arguments)
    command = next(
        argument
        for before, argument in zip(options, arguments, strict=False)
        if before != "-c" and not argument.startswith("-")
    )
    reason = f": {lines[0][:200]}" if lines else ""
    may_lack = not lines or any(word in stderr for word in _MISSING_OBJECTS)
    if may_lack and is_partial_clone(folder.absolute()):
        return HistoryUnavailable(
            f"git {command} failed in a partial clone, which lacks objects{reason}",
            hint=_FETCH_OBJECTS,
        )
    return HistoryUnavailable(f"git {command} failed{reason}")


def unreadable_object(folder: Path, what: str) -> HistoryUnavailable:
    """Return the error of an object that git does not give; in a partial clone, with a remedy."""
    is_partial = is_partial_clone(folder.absolute())
    return HistoryUnavailable(
        f"git cannot read {what}{' in this partial clone' if is_partial else ''}",
        hint=_FETCH_OBJECTS if is_partial else "",
    )
