"""The archive of a bundle: packed, and read within limits.

An archive is untrusted: only regular files with the names of objects are read, within limits of
size and number, and no header makes the reader take more memory than that.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from typing_extensions import override

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.knowledge.knowledge_base import MAX_SOURCE
from vibes_lsp.knowledge.object_format import MAX_OBJECT
from vibes_lsp.knowledge.objects import Kind, is_id_of, kind_and_id
from vibes_lsp.store.files import open_file

MANIFEST: Final = "manifest.json"
SETTINGS: Final = "config.yaml"
KINDS: Final = tuple(kind for kind in Kind if kind is not Kind.PENDING)
_MAX_FILES: Final = 200_000
_MAX_BYTES: Final = 1 << 30
"""Most bytes of a bundle when unpacked."""
_MAX_OBJECTS: Final = 256 << 20
"""Most bytes of all objects of a bundle, which are in memory together."""
_MAX_MANIFEST: Final = 64 << 20
_MAX_HEADER: Final = 1 << 20
"""Most bytes between two members: headers name their own length, which is read whole."""
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class BundleMember:
    """A file of a bundle.

    Attributes:
        sha256: Its hash.
        content: Its content; None for the captured bytes of a source.
    """

    sha256: str
    content: bytes | None


def pack(contents: Mapping[str, bytes], now: datetime) -> bytes:
    """Return an archive, the manifest first; equal for equal contents and times."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=int(now.timestamp())) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(contents, key=lambda path: (path != MANIFEST, path)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(contents[name]), 0o644
            member.mtime = int(now.timestamp())
            archive.addfile(member, io.BytesIO(contents[name]))
    return buffer.getvalue()


class _BoundedStream(io.RawIOBase):
    """The unpacked bytes of an archive, of which a reader gets as many as were allowed.

    Args:
        file: The unpacked bytes.
    """

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self._left = 0

    def allow(self, count: int) -> None:
        """Let so many bytes be read from now on."""
        self._left = count

    @override
    def read(self, size: int = -1) -> bytes:
        self._left -= size
        if size < 0 or self._left < 0:
            raise tarfile.ReadError("a header is too long")
        return self._file.read(size)

    @override
    def seek(self, offset: int, origin: int = 0, /) -> int:
        return self._file.seek(offset, origin)

    @override
    def tell(self) -> int:
        return self._file.tell()


def members_of(path: Path, issues: list[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield regular files by name, with their contents in blocks; other members are issues.

    Raises:
        UnreadableFile: It is no archive, or exceeds the limits.
    """
    folded: set[str] = set()
    count = size = 0
    try:
        with open_file(path) as packed, gzip.open(packed) as unpacked:
            stream = _BoundedStream(unpacked)
            stream.allow(_MAX_HEADER)
            with tarfile.open(fileobj=stream, mode="r:") as archive:
                while member := archive.next():
                    archive.members = []  # type: ignore[attr-defined]  # else it keeps them all
                    count, size = count + 1, size + member.size
                    if count > _MAX_FILES or size > _MAX_BYTES or unpacked.tell() > 2 * _MAX_BYTES:
                        raise UnreadableFile(f"{path.name} is too large when unpacked")
                    problem = None if member.isdir() else _member_issue(member)
                    if problem is None and member.name.casefold() in folded:
                        problem = "another member has this name"
                    if problem is not None:
                        issues.append(f"{member.name[:200]!r}: {problem}")
                    elif not member.isdir():
                        folded.add(member.name.casefold())
                        yield member.name, _blocks(archive, member, stream)
                    stream.allow(_MAX_HEADER)
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no .tar.gz archive"
        raise UnreadableFile(f"{path.name} cannot be read: {reason}") from None


def _blocks(
    archive: tarfile.TarFile, member: tarfile.TarInfo, stream: _BoundedStream
) -> Iterator[bytes]:
    stream.allow(member.size + _BLOCK)
    file = archive.extractfile(member)
    while file is not None and (block := file.read(_BLOCK)):
        yield block


def unpack(path: Path, issues: list[str]) -> dict[str, BundleMember]:
    """Return the files of an archive.

    Raises:
        UnreadableFile: It is no archive, or exceeds the limits.
    """
    members: dict[str, BundleMember] = {}
    kept = 0
    for name, blocks in members_of(path, issues):
        digest, parts = hashlib.sha256(), []
        for block in blocks:
            digest.update(block)
            if not name.endswith("/content"):
                parts.append(block)
                kept += len(block)
            if kept > _MAX_OBJECTS:
                raise UnreadableFile(f"{path.name} has more than {_MAX_OBJECTS:,} bytes of objects")
        content = None if name.endswith("/content") else b"".join(parts)
        members[name] = BundleMember(digest.hexdigest(), content)
    return members


def _member_issue(member: tarfile.TarInfo) -> str | None:
    if not member.isreg() or member.issparse():
        return "is not a regular file"
    limit = MAX_SOURCE if member.name.endswith("/content") else MAX_OBJECT
    if member.name == MANIFEST:
        limit = _MAX_MANIFEST
    if member.size > limit:
        return f"{member.size:,} bytes, expected at most {limit:,}"
    if member.name not in (MANIFEST, SETTINGS) and place(member.name) is None:
        return "is not a file of a knowledge base"
    return None


def place(name: str) -> tuple[Kind, str] | None:
    """Return the kind and id that a path of a bundle stands for; None for any other path."""
    named = kind_and_id(name)
    folder, _, file = name.rpartition("/")
    if file == "content":
        named = kind_and_id(f"{folder}/meta.yaml")
    return named if named is not None and named[0] in KINDS and is_id_of(*named) else None
