"""What `vibes hook` does: store the event on standard input for the next program that records.

An agent waits for its hooks. So this imports nothing that Python has not loaded to start, decodes
no JSON, and takes no lock. It prints nothing and fails silently: some agents put a hook's output
into the prompt, and others block all tools after a failure. What is stored is untrusted;
`fold_events` checks it.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PAYLOAD = 32 << 20
"""Largest payload that is stored, in bytes; some have a whole file four times."""
MAX_WAITING = 20_000
"""Most events that wait; further ones are dropped."""
PATIENCE = 5.0
"""Seconds to wait for the end of standard input."""

_AUDIT_DIR = ".ai-audit"
_FOLDER_MEMBERS = (b'"cwd"', b'"workspaceRoots"')


def has_waiting_events(folder: str) -> bool:
    """Return whether events wait in a folder of the spool."""
    try:
        return any(name.endswith(".json") for name in os.listdir(folder))
    except OSError:  # there is no such folder yet
        return False


def main() -> None:
    """Store the event and end the process with exit code 0, also after an error."""
    try:
        _limit_time()
        receive_event()
    finally:
        os._exit(0)  # without the work that Python does at its end


def receive_event() -> None:
    """Store the event on standard input; nothing is raised."""
    try:  # noqa: SIM105  # contextlib takes time to import
        store_event(_read_input(), os.getcwd)
    except BaseException:  # noqa: BLE001, S110  # the agent must not notice
        pass


def store_event(data: bytes | None, current_folder: Callable[[], str]) -> None:
    """Store a payload in the spool of the nearest audit trail; nothing happens without one.

    Args:
        data: The payload; None and too large ones are dropped.
        current_folder: Returns the folder to begin at if the payload names none.
    """
    if not data or len(data) > MAX_PAYLOAD:
        return
    folder = _find_audit_dir(_named_folder(data) or current_folder())
    if folder is None:
        return
    spool = os.path.join(folder, "spool")
    if _make_folder(spool, 0o777):
        _create(os.path.join(spool, ".gitignore"), b"*\n", 0o666)
    events = os.path.join(spool, "events")
    _make_folder(events, 0o700)  # prompts are not masked yet
    if len(os.listdir(events)) >= MAX_WAITING:
        return
    name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}"
    temporary = os.path.join(events, f"{name}.tmp")
    try:
        _create(temporary, data, 0o600)
        os.replace(temporary, os.path.join(events, f"{name}.json"))
    except OSError:
        os.unlink(temporary)


def _limit_time() -> None:
    """End the process if standard input stays open; Windows has no such timer."""
    if os.name != "nt":
        import _signal  # type: ignore[import-not-found]  # noqa: PLC0415  # no enumerations

        _signal.signal(_signal.SIGALRM, lambda *_: os._exit(0))
        _signal.setitimer(_signal.ITIMER_REAL, PATIENCE)


def _read_input() -> bytes | None:
    if os.isatty(0):
        return None
    parts, size = [], 0
    while size <= MAX_PAYLOAD:
        part = os.read(0, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    else:
        while os.read(0, 1 << 20):  # an agent may fail when its output is not read
            pass
        return None
    return b"".join(parts)


def _named_folder(data: bytes) -> str | None:
    """Return the folder that a payload names, without decoding it; None for an unusual one.

    A wrong one does no harm: `fold_events` compares it with the decoded payload.
    """
    for member in _FOLDER_MEMBERS:
        at = data.find(member)
        start = data.find(b'"', at + len(member))
        if at < 0 or start < 0 or data[at + len(member) : start].strip(b" \t\r\n:["):
            continue
        raw = data[start + 1 : data.find(b'"', start + 1)]
        plain = raw.replace(b"\\\\", b"\0")
        if b"\\" not in plain:
            return plain.replace(b"\0", b"\\").decode("utf-8")
    return None


def _find_audit_dir(folder: str) -> str | None:
    folder = os.path.abspath(folder)
    while True:
        candidate = os.path.join(folder, _AUDIT_DIR)
        if os.path.isdir(candidate):
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _make_folder(path: str, mode: int) -> bool:
    """Create a folder; return whether it is new.

    Raises:
        OSError: The name is taken by a file or a link, which could lead elsewhere.
    """
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if os.lstat(path).st_mode & 0o170000 != 0o040000:
            raise
        return False
    return True


def _create(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, mode)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
