"""What git said of a repository's objects, kept from one command to the next in the user's cache folder.

Kept is only what names of objects settle: what a commit renamed, what the ancestors of one commit did
to a file. Branches, the index, the trail and the work tree are asked about each time. An object's name
does not prove its content where somebody else made the repository, and so what one repository said is
never taken for another's. Whoever decides what may land (`gate`, `check`) uses none of it.

It buys 0.7 of 2.2 seconds in a repository of 3,800 commits (`benchmarks.listing`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import msgspec

from vibes_lsp import __version__
from vibes_lsp.store.user_cache import MAX_CACHED, read_cached, write_cached

_T = TypeVar("_T")
_MAX_OBJECTS: Final = 1 << 15
_PACKAGES: Final = ("model", "anchors", "history", "index")
"""Whose code decides what a fact says."""


class _Kept(msgspec.Struct, array_like=True):
    """A file of cache.

    Attributes:
        source: The repository, and the code that asked.
        head: The commit of HEAD then.
        boundary: Where a shallow clone ended then.
        of_head: What was true of the ancestors of HEAD.
        of_objects: What is true of other objects.
    """

    source: str
    head: str
    boundary: list[str]
    of_head: dict[str, msgspec.Raw]
    of_objects: dict[str, msgspec.Raw]


class GitCache:
    """The facts of one repository. What cannot be kept is asked of git again.

    Args:
        root: The top folder of the work tree.
    """

    def __init__(self, root: Path) -> None:
        self._name, self._source = _source(root)
        self._head: tuple[str, list[str]] = "", []
        self._of_head: dict[str, msgspec.Raw] = {}
        self._of_objects: dict[str, msgspec.Raw] = {}
        self._is_changed = False
        data = read_cached(self._name) if self._source else None
        try:
            kept = None if data is None else msgspec.msgpack.decode(data, type=_Kept)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            kept = None
        if kept is not None and kept.source == self._source:
            self._head, self._of_head, self._of_objects = (
                (kept.head, kept.boundary),
                kept.of_head,
                kept.of_objects,
            )

    def look(self, head: str, boundary: Collection[str]) -> None:
        """Take note of HEAD: what was true of another one, or of a clone that was cut elsewhere, is dropped."""
        now = head, sorted(boundary)
        if now != self._head:
            self._head = now
            self._of_head.clear()

    def get_for_head(self, key: str, kind: type[_T]) -> _T | None:
        """Return what was true of the ancestors of HEAD; None when that is not known."""
        return _decoded(self._of_head, key, kind)

    def get_for_object(self, key: str, kind: type[_T]) -> _T | None:
        """Return what is true of an object; None when that is not known."""
        return _decoded(self._of_objects, key, kind)

    def put_for_head(self, key: str, value: object) -> None:
        """Keep what is true of the ancestors of HEAD."""
        self._keep(self._of_head, key, value)

    def put_for_object(self, key: str, value: object) -> None:
        """Keep what is true of an object."""
        self._of_objects.pop(key, None)
        while len(self._of_objects) >= _MAX_OBJECTS:
            del self._of_objects[next(iter(self._of_objects))]
        self._keep(self._of_objects, key, value)

    def _keep(self, cache: dict[str, msgspec.Raw], key: str, value: object) -> None:
        try:
            key.encode()
            cache[key] = msgspec.Raw(msgspec.msgpack.encode(value))
        except UnicodeEncodeError:  # a name that is no text
            return
        self._is_changed = True

    def save(self) -> None:
        """Write what is new; without what is true of other objects, if all is too much."""
        if not self._is_changed or not self._source or not self._head[0]:
            return
        self._is_changed = False
        for of_objects in (self._of_objects, dict[str, msgspec.Raw]()):
            data = msgspec.msgpack.encode(
                _Kept(self._source, *self._head, self._of_head, of_objects)
            )
            if len(data) <= MAX_CACHED:
                write_cached(self._name, data)
                return


def _decoded(cache: dict[str, msgspec.Raw], key: str, kind: type[_T]) -> _T | None:
    found = cache.get(key)
    if found is None:
        return None
    try:
        return cast("_T", _decoder(cast("Any", kind)).decode(found))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


def _source(root: Path) -> tuple[str, str]:
    """Return the file that facts of a repository are kept in, and what tells them from all others; nothing where that fails.

    The code that asked counts: another version of it may have asked something else.
    """
    try:
        marker = root.resolve() / ".git"
        status = os.lstat(marker)
        made = _made(marker)
        modules = [
            _times(path)
            for package in _PACKAGES
            for path in sorted((Path(__file__).parents[1] / package).glob("*.py"))
        ]
    except (OSError, RuntimeError, ValueError):
        return "", ""
    name = hashlib.sha256(os.fsencode(marker)).hexdigest()
    return name, repr((os.fspath(marker), status.st_dev, status.st_ino, made, __version__, modules))


def _made(marker: Path) -> tuple[int, int]:
    """Return what tells a repository from one that was removed and left it the same numbers; a new setting does so, too."""
    try:
        status = os.lstat(marker / "config")
    except OSError:  # a work tree beside its repository, or a submodule
        status = os.lstat(marker)
    return status.st_ino, status.st_ctime_ns


def _times(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return path.name, status.st_size, status.st_mtime_ns
