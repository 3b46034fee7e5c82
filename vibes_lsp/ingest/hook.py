"""What `vibes hook` does: store the event on standard input, and start a process that records it.

An agent waits for its hooks. So this imports nothing that Python has not loaded to start, decodes
no JSON, and waits for no lock. It prints nothing and fails silently: some agents put a hook's
output into the prompt, and others block all tools after a failure. What is stored is untrusted;
`fold_events` checks it.

The process is `background_folding`; one at a time is marked as active by a lock, which the system
releases when the process dies. The hook stores first and looks for the lock then; the process
releases the lock first and looks for events then. So no event waits without a process.
"""

from __future__ import annotations

import os
import sys
import time

from vibes_lsp.patience import HOOK_INPUT
from vibes_lsp.store.trail_search import RefusedTrail, is_repository, search_trail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_PAYLOAD = 32 << 20
"""Largest payload that is stored, in bytes; some have a whole file four times."""
LARGE_HEAD = 4096
"""How much of a larger payload is stored, so that it can be named in the log of events."""
LARGE = "-large"
"""The end of the name of such a file."""
NAMED = "-named"
"""Ends the name of a file in a trail that is only that of a file which the payload names."""
MAX_WAITING = 20_000
"""Most events that wait; further ones are dropped."""
_NEVER = 1 << 63
"""Nanoseconds that no clock reaches; a larger number in a name is none of a hook."""

_MARKER = "folding.lock"
"""A file in the spool that is locked while a process folds in the background."""
_FOLDING_MODULE = "vibes_lsp.ingest.background_folding"
_MARKER_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_PAUSE = 0.05
_INHERITED = 1024
"""Descriptors below this number may be an agent's pipes."""
_MAX_STRINGS = 2_000
"""Strings of a payload that may name a file; those before the text of a file are few."""
_MAX_PATH = 4096
_MAX_FOLDERS = 8
"""Folders that a payload may name: the agent's, and some in what its tools got."""
_SEPARATORS = (b"/",) if os.sep == "/" else (b"/", b"\\\\")
_FOLDER_MEMBERS = (b'"cwd"', b'"workspaceRoots"', b'"workspace_roots"')


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
        for folder in receive_event():
            _start_folding(folder)
    finally:
        os._exit(0)  # without the work that Python does at its end


def receive_event() -> list[str]:
    """Store the event on standard input and return the trails; none if nothing is stored."""
    try:
        return store_event(_read_input(), os.getcwd)
    except BaseException:  # noqa: BLE001  # the agent must not notice
        return []


def store_event(payload: bytes | None, current_folder: Callable[[], str]) -> list[str]:
    """Store a payload in the spool of each trail that it concerns; nothing happens without one.

    These are the trails of the agent's folder and of the files that the payload names.

    Args:
        payload: The payload; None is dropped, and of one that is too large only the head is stored.
        current_folder: Returns the folder to begin at if the payload names none.

    Returns:
        The audit directories.
    """
    if not payload:
        return []
    folders = [os.path.abspath(folder) for folder in _named_folders(payload) or [current_folder()]]
    trails: dict[str, str] = {}
    for start in dict.fromkeys((*folders, *_folders_of_files(payload, folders))):
        try:
            trail = search_trail(start)
            trail = trail or _left_out_trail(start)
        except (RefusedTrail, OSError, ValueError):
            continue
        if trail is not None:
            trails.setdefault(trail, "" if start in folders else NAMED)
    return [trail for trail, ending in trails.items() if _try_to_store(payload, trail, ending)]


def _left_out_trail(folder: str) -> str | None:
    """Return the trail that a sparse checkout leaves out, with a folder for what waits.

    What waits is recorded when the trail is there.
    """
    while not is_repository(folder):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    git = _git_folder(os.path.join(folder, ".git"))
    if not os.path.exists(os.path.join(git, "info/sparse-checkout")):
        return None
    # Imported late: few checkouts are sparse.
    from pathlib import Path  # noqa: PLC0415

    from vibes_lsp.git.missing_trail import find_missing_trail  # noqa: PLC0415

    missing = find_missing_trail(Path(folder))
    if missing is None or not missing.is_sparse:
        return None
    trail = os.path.join(folder, missing.path)
    os.makedirs(trail, exist_ok=True)
    return trail


def _git_folder(marker: str) -> str:
    """Return the folder of a work tree's git, which a file names in a linked one."""
    if os.path.isdir(marker):
        return marker
    descriptor = os.open(marker, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        text = os.read(descriptor, _MAX_PATH).decode("utf-8", "surrogateescape")
    finally:
        os.close(descriptor)
    return os.path.join(os.path.dirname(marker), text.removeprefix("gitdir: ").rstrip("\n"))


def _try_to_store(payload: bytes, folder: str, ending: str) -> bool:
    """Store a payload in the spool of a trail; return whether that was possible."""
    try:
        _store(payload, folder, ending)
    except OSError:
        return False
    return True


def _store(payload: bytes, folder: str, ending: str) -> None:
    spool = os.path.join(folder, "spool")
    if _make_folder(spool, 0o777):
        _create(os.path.join(spool, ".gitignore"), b"*\n", 0o666)
    events = os.path.join(spool, "events")
    _make_folder(events, 0o700)  # prompts are not masked yet
    waiting = os.listdir(events)
    if len(waiting) >= MAX_WAITING:
        return
    name = f"{_moment_after(waiting):020d}-{os.getpid()}-{os.urandom(4).hex()}{ending}"
    if len(payload) > MAX_PAYLOAD:
        name, payload = f"{name}{LARGE}", payload[:LARGE_HEAD]
    temporary = os.path.join(events, f"{name}.tmp")
    try:
        _create(temporary, payload, 0o600)
        os.replace(temporary, os.path.join(events, f"{name}.json"))
    except OSError:
        os.unlink(temporary)


def _folders_of_files(payload: bytes, folders: list[str]) -> Iterator[str]:
    """Yield the folders of the files that a payload names, without decoding it.

    Each string that names a file is taken for one that may have been edited, and each line of a
    patch that begins with its marks. A wrong one does no harm: `fold_events` records only edits.
    """
    strings = payload.split(b'"', _MAX_STRINGS)[:_MAX_STRINGS]
    patched = payload.split(b" File: ", _MAX_STRINGS)[1 : _MAX_STRINGS + 1]
    for string in (*strings, *(part[:_MAX_PATH].partition(b"\\n")[0] for part in patched)):
        if len(string) > _MAX_PATH or not any(mark in string for mark in _SEPARATORS):
            continue
        try:
            plain = string.replace(b"\\/", b"/").decode("utf-8")
            name = plain.encode("ascii", "backslashreplace").decode("unicode_escape")
            for folder in folders:
                path = os.path.normpath(os.path.join(folder, name))
                if os.path.lexists(path):
                    yield os.path.dirname(path)
                if os.path.islink(path):
                    yield os.path.dirname(os.path.realpath(path))
        except (UnicodeError, ValueError):
            continue


def _moment_after(waiting: list[str]) -> int:
    """Return the time in nanoseconds, or one after all waiting events: clocks may be set back."""
    moments = (int(name[:20]) for name in waiting if name[:20].isascii() and name[:20].isdigit())
    newest = max((moment for moment in moments if moment < _NEVER), default=0)
    return max(time.time_ns(), newest + 1)


def mark_folding(spool: str) -> int | None:
    """Mark this program as the one that folds in the background, until the descriptor is closed.

    Args:
        spool: The folder of the spool.

    Returns:
        A descriptor of the marker; None if another program folds.

    Raises:
        OSError: The marker cannot be created.
    """
    path = os.path.join(spool, _MARKER)
    if os.name == "nt" and _is_open_elsewhere(path):
        return None
    descriptor = os.open(path, _MARKER_FLAGS | os.O_CREAT, 0o600)
    if os.name != "nt":
        try:
            os.lockf(descriptor, os.F_TLOCK, 0)
        except OSError:
            os.close(descriptor)
            return None
    return descriptor


def is_marked_by(descriptor: int, spool: str) -> bool:
    """Return whether a marker is still there; removing it asks its program to end."""
    try:
        named = os.lstat(os.path.join(spool, _MARKER))
    except OSError:
        return False
    return os.path.samestat(named, os.fstat(descriptor))


def end_folding(spool: str) -> None:
    """Ask the process that folds in the background to end, and wait for it."""
    path = os.path.join(spool, _MARKER)
    if os.name == "nt":
        while _is_open_elsewhere(path):
            time.sleep(_PAUSE)
        return
    try:
        descriptor = os.open(path, _MARKER_FLAGS)
        os.unlink(path)
    except OSError:
        return
    try:
        os.lockf(descriptor, os.F_LOCK, 0)
    finally:
        os.close(descriptor)


def is_folding(spool: str) -> bool:
    """Return whether a process folds in the background."""
    path = os.path.join(spool, _MARKER)
    if os.name == "nt":
        return _is_open_elsewhere(path)
    try:
        descriptor = os.open(path, _MARKER_FLAGS)
    except OSError:
        return False
    try:
        os.lockf(descriptor, os.F_TEST, 0)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _is_open_elsewhere(path: str) -> bool:
    """Return whether a program has a file open; only Windows refuses to rename such a file."""
    try:
        os.rename(path, path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _start_folding(folder: str) -> None:
    """Start a process that records what waits in a trail, unless one is active.

    It is in a session of its own, and gets none of the agent's pipes: the agent may wait until all
    of them are closed. Its folder is the root, from which no project's module can be imported.
    """
    if is_folding(os.path.join(folder, "spool")) or not sys.executable:
        return
    os.chdir(os.sep)
    arguments = ["-P", "-m", _FOLDING_MODULE, folder]
    os.closerange(3, _INHERITED)
    if sys.platform == "win32":
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        quoted = [f'"{word}"' for word in (sys.executable, *arguments)]
        os.spawnv(os.P_DETACH, sys.executable, quoted)  # noqa: S606, TID251
        return
    null_files = [
        (os.POSIX_SPAWN_OPEN, standard, os.devnull, os.O_RDWR, 0) for standard in (0, 1, 2)
    ]
    os.posix_spawn(  # noqa: TID251
        sys.executable,
        [sys.executable, *arguments],
        os.environ,
        file_actions=null_files,
        setsid=True,
    )


def _limit_time() -> None:
    """End the process if standard input stays open; Windows has no such timer."""
    if os.name != "nt":
        import _signal  # type: ignore[import-not-found]  # noqa: PLC0415  # no enumerations

        _signal.signal(_signal.SIGALRM, lambda *_: os._exit(0))
        _signal.setitimer(_signal.ITIMER_REAL, max(HOOK_INPUT.limit, 1e-6))


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
    return b"".join(parts)


def _named_folders(payload: bytes) -> list[str]:
    """Return the folders that a payload names, without decoding it; an unusual one is left out.

    A wrong one does no harm: `fold_events` compares it with the decoded payload.
    """
    folders: list[str] = []
    for member in _FOLDER_MEMBERS:
        at = payload.find(member)
        while at >= 0 and len(folders) < _MAX_FOLDERS:
            folder = _folder_after(payload, at + len(member))
            if folder is not None:
                folders.append(folder)
            at = payload.find(member, at + 1)
    return folders


def _folder_after(payload: bytes, place: int) -> str | None:
    """Return the folder that is the value of the member whose name ends at a place."""
    start = payload.find(b'"', place)
    end = payload.find(b'"', start + 1)
    if start < 0 or payload[place:start].strip(b" \t\r\n:[") or end <= start + 1:
        return None
    plain = payload[start + 1 : end].replace(b"\\\\", b"\0")
    if b"\\" in plain:
        return None
    try:
        folder = plain.replace(b"\0", b"\\").decode("utf-8")
    except UnicodeDecodeError:
        return None
    is_url_like = os.name == "nt" and folder[:1] == "/" and folder[2:3] == ":"
    return folder[1:] if is_url_like else folder


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


def _create(path: str, content: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, mode)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)
