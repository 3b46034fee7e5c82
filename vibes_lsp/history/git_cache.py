"""A cache of git's answers about a repository, on disk in the user's cache folder.

It has only facts that depend on immutable objects: what a commit renamed, what the ancestors of a
commit did to a file. Branches, the index, the trail and the work tree are read each time. An
object's name does not prove its content if another person made the repository, so the facts of
one repository are never used for another. `gate` and `check`, which decide whether a change may
land, do not use the cache.

It saves 0.7 of 2.2 seconds in a repository of 3,800 commits (`benchmarks.listing`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import msgspec

from vibes_lsp import __version__
from vibes_lsp.store.user_cache import MAX_CACHED, read_cached, write_cached

_T = TypeVar("_T")
_MAX_OBJECTS: Final = 1 << 15
_CODE: Final = Path(__file__).parents[1]
_PACKAGES: Final = ("model", "anchors", "history", "index")
"""Packages whose code determines the facts; a change of it drops the cache."""


class _CacheFile(msgspec.Struct, array_like=True):
    """The content of the cache file.

    Attributes:
        source: The repository, and the version of the code.
        head: The commit of HEAD at the time.
        boundary: The shallow boundary at the time.
        of_head: Facts about the ancestors of HEAD.
        of_objects: Facts about other objects.
        of_tips: Facts about the ancestors of a commit, with that commit.
    """

    source: str
    head: str
    boundary: list[str]
    of_head: dict[str, msgspec.Raw]
    of_objects: dict[str, msgspec.Raw]
    of_tips: dict[str, tuple[str, msgspec.Raw]]


class GitCache:
    """The cached facts of one repository.

    Args:
        root: The top folder of the work tree.
    """

    def __init__(self, root: Path) -> None:
        self._name, self._source = cache_source(root, _PACKAGES)
        self._head: tuple[str, list[str]] = "", []
        self._of_head: dict[str, msgspec.Raw] = {}
        self._of_objects: dict[str, msgspec.Raw] = {}
        self._of_tips: dict[str, tuple[str, msgspec.Raw]] = {}
        self._is_changed = False
        data = read_cached(self._name) if self._source else None
        try:
            cached = None if data is None else msgspec.msgpack.decode(data, type=_CacheFile)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            cached = None
        if cached is not None and cached.source == self._source:
            self._head = cached.head, cached.boundary
            self._of_head, self._of_objects = cached.of_head, cached.of_objects
            self._of_tips = cached.of_tips

    def set_head(self, head: str, boundary: Collection[str]) -> None:
        """Set HEAD and the shallow boundary; drop facts about the ancestors of another HEAD."""
        now = head, sorted(boundary)
        if now != self._head:
            if now[1] != self._head[1]:
                self._of_tips.clear()
            self._head = now
            self._of_head.clear()

    def get_for_head(self, key: str, kind: type[_T]) -> _T | None:
        """Return a fact about the ancestors of HEAD; None if unknown."""
        return _decode(self._of_head.get(key), kind)

    def get_for_object(self, key: str, kind: type[_T]) -> _T | None:
        """Return a fact about an object; None if unknown."""
        return _decode(self._of_objects.get(key), kind)

    def get_for_tip(self, key: str, kind: type[_T]) -> tuple[str, _T] | None:
        """Return a commit and a fact about it and its ancestors; None if unknown."""
        found = self._of_tips.get(key)
        value = None if found is None else _decode(found[1], kind)
        return None if found is None or value is None else (found[0], value)

    def put_for_head(self, key: str, value: object) -> None:
        """Cache a fact about the ancestors of HEAD."""
        if (encoded := _encode(key, value)) is not None:
            self._of_head[key] = encoded
            self._is_changed = True

    def put_for_object(self, key: str, value: object) -> None:
        """Cache a fact about an object."""
        if (encoded := _encode(key, value)) is not None:
            _put_last(self._of_objects, key, encoded)
            self._is_changed = True

    def put_for_tip(self, key: str, tip: str, value: object) -> None:
        """Cache a fact about a commit and its ancestors, which can be extended for another one."""
        if (encoded := _encode(key, value)) is not None:
            _put_last(self._of_tips, key, (tip, encoded))
            self._is_changed = True

    def save(self) -> None:
        """Write the cache if it changed; without some of the facts if it is too large."""
        if not self._is_changed or not self._source or not self._head[0]:
            return
        self._is_changed = False
        objects, tips = self._of_objects, self._of_tips
        for of_objects, of_tips in ((objects, tips), ({}, tips), ({}, {})):
            data = msgspec.msgpack.encode(
                _CacheFile(self._source, *self._head, self._of_head, of_objects, of_tips)
            )
            if len(data) <= MAX_CACHED:
                write_cached(self._name, data)
                return


def _put_last(facts: dict[str, _T], key: str, value: _T) -> None:
    """Add a fact as the newest; drop the oldest if there are too many."""
    facts.pop(key, None)
    while len(facts) >= _MAX_OBJECTS:
        del facts[next(iter(facts))]
    facts[key] = value


def _encode(key: str, value: object) -> msgspec.Raw | None:
    """Return a value as it is saved; None for a key with a path that is not UTF-8."""
    try:
        key.encode()
        return msgspec.Raw(msgspec.msgpack.encode(value))
    except UnicodeEncodeError:
        return None


def _decode(found: msgspec.Raw | None, kind: type[_T]) -> _T | None:
    if found is None:
        return None
    try:
        return cast("_T", _decoder(cast("Any", kind)).decode(found))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


def cache_source(root: Path, packages: Sequence[str]) -> tuple[str, str]:
    """Return a cache file's name and a key of repository and code; empty if that fails.

    The key includes the code, because another version may compute other facts.

    Args:
        root: The top folder of the work tree.
        packages: The packages whose code determines the facts.
    """
    try:
        marker = root.resolve() / ".git"
        status = os.lstat(marker)
        created = _created(marker)
        modules = [_modules(package) for package in packages]
    except (OSError, RuntimeError, ValueError):
        return "", ""
    name = hashlib.sha256(os.fsencode(marker)).hexdigest()
    return name, repr(
        (os.fspath(marker), status.st_dev, status.st_ino, created, __version__, modules)
    )


def _created(marker: Path) -> tuple[int, int]:
    """Return what distinguishes a repository from a deleted one with the same inode.

    It also changes with the repository's git settings.
    """
    try:
        status = os.lstat(marker / "config")
    except OSError:  # a linked work tree or a submodule
        status = os.lstat(marker)
    return status.st_ino, status.st_ctime_ns


def _modules(package: str) -> list[tuple[str, int, int]]:
    """Return the names, sizes and times of a package's modules."""
    found: list[tuple[str, int, int]] = []
    with os.scandir(_CODE / package) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                found.append((entry.name, status.st_size, status.st_mtime_ns))
    return sorted(found)
