"""Finds what a test leaves behind: processes of this run, and sockets and files that stay open.

Linux only: `/proc` lists them. A process counts where it inherited the marker of this run, also
after it has left the tree of processes.
"""

from __future__ import annotations

import gc
import os
import secrets
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.waiting import until

_PROC: Final = Path("/proc/self")
_MARKER: Final = f"VIBES_TEST_RUN={os.getpid()}-{secrets.token_hex(4)}"
_IGNORED: Final = ("pipe:", "anon_inode:", "/dev/", "/proc/", "/memfd:")
"""Beginnings of what the interpreter, its event loops and pytest have open."""
shared: Final[set[int]] = set()
"""Processes that serve all tests, and end with the run."""


def mark_run() -> None:
    """Mark the processes that are started from now on as those of this run."""
    name, _, value = _MARKER.partition("=")
    os.environ[name] = value


def running_children() -> set[int]:
    """Return the processes that this one has started and not yet waited for."""
    found: set[int] = set()
    for task in (_PROC / "task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            found.update(map(int, task.read_text().split()))
    return found - shared


def marked_processes() -> set[int]:
    """Return the processes of this run but for this one and the shared ones with their children."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with suppress(OSError):  # it has ended, or is another user's
                if _MARKER.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    fields = (folder / "stat").read_text().rpartition(")")[2].split()
                    parents[int(folder.name)] = int(fields[1])
    return {process for process in parents if not _is_shared(process, parents)}


def _is_shared(process: int | None, parents: dict[int, int]) -> bool:
    while process is not None:
        if process in shared:
            return True
        process = parents.get(process)
    return False


def kill() -> None:
    """End all processes of this run but the shared ones."""
    for process in marked_processes():
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def wait_for_end() -> None:
    """Wait until all processes have ended: an editor's server and folding end by themselves.

    Raises:
        AssertionError: Some go on. They count as shared, so that no other module fails for them.
    """

    def account() -> str:
        left = marked_processes()
        lines = describe(left)
        shared.update(left)
        return "\n".join(lines)

    until(lambda: not marked_processes(), "the end of processes that were left behind", account)


def open_files() -> dict[int, str]:
    """Return the sockets and files that this process has open, by descriptor."""
    found: dict[int, str] = {}
    for descriptor in (_PROC / "fd").iterdir():
        with suppress(OSError):  # the descriptor of this listing
            target = str(descriptor.readlink())
            if not target.startswith(_IGNORED):
                found[int(descriptor.name)] = target
    return found


def left_behind(files: dict[int, str], children: set[int]) -> list[str]:
    """Return the files and children that are new since.

    What only a cycle refers to is collected first. Where that has to close it, Python warns, and
    the test fails for the warning.
    """
    if open_files().items() - files.items() or running_children() - children:
        gc.collect()
    return [
        *describe(running_children() - children),
        *(f"{number}: {target}" for number, target in open_files().items() - files.items()),
    ]


def describe(processes: set[int]) -> list[str]:
    """Return the command line of each process."""
    lines = []
    for number in sorted(processes):
        with suppress(OSError):
            command = Path("/proc", str(number), "cmdline").read_bytes().replace(b"\0", b" ")
            lines.append(f"{number}: {command.decode(errors='replace').strip()[:200]}")
    return lines
