"""Read git's objects: commits, trees and blobs, through one `git cat-file --batch` process.

Only hashes and `HEAD` are sent to git, with steps to ancestors such as `~2`. Paths are resolved
here, in the trees that git returns, so a path with unusual characters can never be read as a
request or an answer.
"""

from __future__ import annotations

import hashlib
import re
import select
import subprocess
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Final, Self

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.process import start_git, unreadable_object
from vibes_lsp.patience import GIT

_MAX_BYTES: Final = 64 << 20
_MAX_SUBJECT: Final = 2000
_HASH: Final = re.compile(r"[0-9a-f]{4,64}")
_STEPS: Final = re.compile(r"(?>(?:[~^]\d{0,9})*)")
_COMMITTER: Final = re.compile(rb"^committer [^\n]*> (-?\d+)", re.MULTILINE)
_AUTHOR: Final = re.compile(rb"^author ([^<\n]*)<[^\n]*> (-?\d+)", re.MULTILINE)
_PARENT: Final = re.compile(rb"^parent ([0-9a-f]+)$", re.MULTILINE)
_REGULAR: Final = frozenset({"100644", "100755", "100664"})
_FOLDER: Final = b"040000"
_GITLINK: Final = "160000"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a commit's tree.

    Attributes:
        mode: Six digits, as git prints it: `100644` for a file, `160000` for a submodule.
        id: The object's hash; for a submodule a commit of the submodule's repository.
    """

    mode: str
    id: str

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file: no folder, symbolic link or submodule."""
        return self.mode in _REGULAR

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.mode == _FOLDER.decode()

    @property
    def is_submodule(self) -> bool:
        """Whether it is a submodule."""
        return self.mode == _GITLINK


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit.

    Attributes:
        id: Its hash.
        moment: The committer's time, UTC.
        parents: The hashes of its parents.
        authored: The author's time, UTC, which a rebase keeps.
        tree: The hash of its tree.
        message: Its message.
        author: The author's name; untrusted text.
    """

    id: str
    moment: datetime
    parents: tuple[str, ...] = ()
    authored: datetime | None = field(default=None, compare=False)
    tree: str = field(default="", compare=False)
    message: str = field(default="", compare=False, repr=False)
    author: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class _Object:
    id: str
    kind: bytes
    content: bytes


class GitObjects:
    """The objects of a repository; thread-safe.

    The first request starts git; a request after git died starts it again. Only `certain_entry` and
    `certain_contents` raise: else an object that is missing, damaged, over the size limit or not
    fetched yet is None.
    """

    def __init__(self, root: Path, *, limit: int = _MAX_BYTES) -> None:
        """Create a reader; git starts on the first request.

        Args:
            root: The top folder of the work tree.
            limit: The largest object to read, in bytes.
        """
        self._root = root
        self._limit = limit
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], GitObjects] | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; later requests return None."""
        with self._lock:
            self._closed = True
            self._stop()

    def contents(self, name: str, limit: int | None = None) -> bytes | None:
        """Return the bytes of a file.

        Args:
            name: A blob's hash, or `commit:path` with a path from the top of the work tree.
            limit: The largest file to read, in bytes; None for the reader's own limit.
        """
        commit, colon, path = name.partition(":")
        if colon:
            entry = self.entry(commit, path)
            if entry is None or not entry.is_file:
                return None
            name = entry.id
        obj = self._object(name, limit) if _HASH.fullmatch(name) else None
        return obj.content if obj is not None and obj.kind == b"blob" else None

    def has_content(self, content: bytes) -> bool:
        """Return whether the repository has a content, as it is or with Unix line ends."""
        return any(
            self.contents(digest(b"blob %d\0" % len(form) + form).hexdigest()) is not None
            for form in {content, content.replace(b"\r\n", b"\n")}
            for digest in (hashlib.sha1, hashlib.sha256)
        )

    def head(self) -> str | None:
        """Return the commit of HEAD now; None before the first commit."""
        return self.commit_id("HEAD")

    def commit_id(self, start: str, steps: str = "") -> str | None:
        """Return the hash of a commit; None if there is none.

        Args:
            start: `HEAD`, or the full hash of a commit or tag.
            steps: From there to an ancestor, in git's syntax: `~2`, `^2^`.
        """
        if (start != "HEAD" and not _HASH.fullmatch(start)) or not _STEPS.fullmatch(steps):
            return None
        obj = self._object(f"{start}{steps}^{{commit}}")
        return obj.id if obj is not None else None

    def commit(self, name: str) -> Commit | None:
        """Return a commit by its hash or a unique prefix of it."""
        lower = name.lower()
        if not _HASH.fullmatch(lower):
            return None
        obj = self._object(f"{lower}^{{commit}}")
        if obj is None or not obj.id.startswith(lower):  # a branch or tag of that name
            return None
        committer = _COMMITTER.search(obj.content)
        author = _AUTHOR.search(obj.content)
        header, _, message = obj.content.partition(b"\n\n")
        return Commit(
            obj.id,
            parse_seconds(committer[1] if committer else b"0"),
            tuple(parent.decode() for parent in _PARENT.findall(header)),
            parse_seconds(author[2]) if author else None,
            obj.content[5:].partition(b"\n")[0].decode("ascii", "replace"),
            message.lstrip(b"\n").decode("utf-8", "replace"),
            author[1].decode("utf-8", "replace").strip() if author else "",
        )

    def raw_commit(self, commit: str) -> bytes | None:
        """Return the bytes of a commit by its full hash; None if it cannot be read."""
        obj = self._object(commit) if _HASH.fullmatch(commit) else None
        return obj.content if obj is not None and obj.kind == b"commit" else None

    def subject(self, name: str) -> str | None:
        """Return the first paragraph of a commit's message on one line; None without the commit.

        Args:
            name: The commit's hash or a unique prefix of it.
        """
        commit = self.commit(name)
        if commit is None:
            return None
        return " ".join(commit.message[:_MAX_SUBJECT].split("\n\n", 1)[0].split())

    def entry(self, commit: str, path: str) -> TreeEntry | None:
        """Return a commit's tree entry at a path; inside a submodule, the entry of the submodule.

        Args:
            commit: A hash or a unique prefix of one.
            path: From the top of the work tree, with forward slashes; bytes that are not UTF-8 as
                `surrogateescape` decodes them.
        """
        try:
            return self.certain_entry(commit, path)
        except HistoryUnavailable:
            return None

    def certain_entry(self, commit: str, path: str) -> TreeEntry | None:
        """Return as `entry` does; None means that the commit has nothing at the path.

        Raises:
            HistoryUnavailable: The commit or one of the folders cannot be read.
        """
        resolved = self.commit(commit)
        try:
            names = path.encode("utf-8", "surrogateescape").split(b"/")
        except UnicodeEncodeError:
            return None
        entry: TreeEntry | None = None
        tree = self._object(f"{resolved.id}^{{tree}}") if resolved is not None else None
        for depth, name in enumerate(names, 1):
            if tree is None or tree.kind != b"tree":
                raise unreadable_object(self._root, f"a folder of commit {commit[:8]}")
            entry = _entry(tree.content, name, len(tree.id) // 2)
            if entry is None or entry.is_submodule or depth == len(names):
                return entry
            if not entry.is_folder:
                return None
            tree = self._object(entry.id)
        return entry

    def certain_contents(self, commit: str, path: str, limit: int | None = None) -> bytes | None:
        """Return the bytes of a file of a commit; None means that it has no regular file there.

        Args:
            commit: As for `entry`.
            path: As for `entry`.
            limit: As for `contents`.

        Raises:
            HistoryUnavailable: The commit, one of the folders or the file cannot be read.
        """
        entry = self.certain_entry(commit, path)
        if entry is None or not entry.is_file:
            return None
        content = self.contents(entry.id, limit)
        if content is None:
            raise unreadable_object(self._root, f"a file of commit {commit[:8]}")
        return content

    def _object(self, name: str, limit: int | None = None) -> _Object | None:
        with self._lock:
            for _ in range(2):  # git may have died since the last request
                try:
                    return self._ask(name, limit)
                except (OSError, ValueError):
                    self._stop()
            return None

    def _ask(self, name: str, limit: int | None) -> _Object | None:
        """Send one request and read the answer.

        Raises:
            OSError: The process died.
            ValueError: The process died in the middle of its answer.
        """
        process = self._process or self._start()
        if process is None or process.stdin is None or process.stdout is None:
            return None
        process.stdin.write(name.encode() + b"\n")
        process.stdin.flush()
        if not _is_answered(process.stdout):
            raise TimeoutError
        header = process.stdout.readline().split()
        if len(header) == 2:  # `NAME missing` or `NAME ambiguous`
            return None
        identifier, kind, size = header
        length = int(size)
        if length > (self._limit if limit is None else limit):
            self._stop()  # a restart is faster than reading the rest
            return None
        content = process.stdout.read(length + 1)
        if len(content) != length + 1:
            raise ValueError
        return _Object(identifier.decode(), kind, content[:-1])

    def _start(self) -> subprocess.Popen[bytes] | None:
        if self._closed:
            return None
        try:
            self._process = start_git(self._root, "cat-file", "--batch")
        except HistoryUnavailable:
            return None
        self._finalizer = weakref.finalize(self, _terminate, self._process)
        return self._process

    def _stop(self) -> None:
        self._process = None
        if self._finalizer is not None:
            self._finalizer()


def _terminate(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # unsent requests in the buffer
                stream.close()


def _entry(tree: bytes, name: bytes, width: int) -> TreeEntry | None:
    """Return the entry of a name in a raw tree; None if it has none."""
    for mode, entry_name, identifier in _entries(tree, width):
        if entry_name == name:
            return TreeEntry(mode.decode("ascii", "replace"), identifier.hex())
    return None


def _entries(tree: bytes, width: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield mode, name and id of each entry of a raw tree; modes have six digits.

    An entry is `MODE NAME`, a NUL and a hash of `width` bytes.
    """
    position = 0
    while position < len(tree):
        end = tree.find(b"\0", position)
        mode, _, name = tree[position:end].partition(b" ")
        position = end + 1 + width
        if end < 0 or position > len(tree):
            return
        yield mode.zfill(6), name, tree[end + 1 : position]


def parse_seconds(seconds: bytes) -> datetime:
    """Return the time of git's seconds since 1970; the epoch if out of range."""
    try:
        return _EPOCH + timedelta(seconds=int(seconds))
    except (OverflowError, ValueError):
        return _EPOCH


def _is_answered(output: IO[bytes]) -> bool:
    """Wait for the begin of an answer; Windows cannot wait for a pipe with a limit."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(output, select.POLLIN)
    return bool(poll.poll(GIT.limit * 1000))
