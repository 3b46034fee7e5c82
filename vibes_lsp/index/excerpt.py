"""`python -m vibes_lsp.index.excerpt AUDIT_DIR PATH FOLDER`: copy what a trail says about a file.

For the first answer about a file of a large trail without an index. A search for bytes reads the
log four times as fast as a scan. The excerpt is a trail of its own, with the file's records that
nothing supersedes and the entries that they name. It is provisional: reviews are left out, and so
are records that spell the path in another way.

A process does this: it maps files, and a program that cuts one short would end the server.
"""

from __future__ import annotations

import json
import mmap
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import (
    FastDecoder,
    canonical_json,
    parse_json_prefix,
    parse_object,
)
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType, RecordType
from vibes_lsp.store.audit_dir import AuditDir

_MAX_LINE: Final = 1 << 20
"""Longest line or entry in bytes that is copied."""
_MAX_RECORDS: Final = 20_000
"""Records of the file that are copied: the first ones."""
_FEW: Final = 8
"""So many entries are each searched for; for more, each key of the manifest is looked at."""
_SUPERSEDES: Final = json.dumps(EdgeType.SUPERSEDES.value).encode()
_KEY: Final = re.compile(rb'"([0-9a-f]{64})"\s*:\s*')
_REFERENCE: Final = re.compile(r"(?:environment|prompt|command|reasoning|decision)_hash")
_FIRST_PART: Final = 1 << 12
"""Bytes of an entry that are parsed at first; most are shorter."""
_Data: TypeAlias = mmap.mmap | bytes


class _EdgeEnds(msgspec.Struct, gc=False):
    """The ends of an edge, each by either of its names (R5)."""

    edge_type: str | None = None
    source_ref: str | None = None
    source_id: str | None = None
    target_ref: str | None = None
    target_id: str | None = None


_EDGE: Final[FastDecoder[_EdgeEnds]] = FastDecoder(_EdgeEnds)


def write_excerpt(directory: AuditDir, path: str, excerpt: AuditDir) -> None:
    """Write the excerpt of a trail about a file.

    Args:
        directory: The trail.
        path: The file, relative to the project.
        excerpt: Where to write; its folder exists.

    Raises:
        OSError: A file cannot be read or written.
    """
    with _mapped(directory.log) as log:
        records = dict(islice(_annotations(log, path), _MAX_RECORDS))
        edges = _supersedes(log, {_id_of(members) for members in records.values()})
        replaced = {target for _, target in edges.values()}
        current = {
            offset: members
            for offset, members in records.items()
            if _id_of(members) not in replaced
        }
        lines = b"".join(_line(log, offset)[1] + b"\n" for offset in current)
    named = {
        key
        for members in current.values()
        for name, key in members.items()
        if isinstance(key, str) and _REFERENCE.fullmatch(name)
    }
    with _mapped(directory.manifest) as manifest:
        entries = dict(_entries(manifest, named))
    excerpt.log.write_bytes(lines)
    excerpt.manifest.write_bytes(
        canonical_json({"standard": "VIBES", "version": "1.0", "entries": entries})
    )


@contextmanager
def _mapped(file: Path) -> Iterator[_Data]:
    """Open the bytes of a file without reading them; none if it is empty or missing."""
    if not file.is_file() or not file.stat().st_size:
        yield b""
        return
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def _annotations(log: _Data, path: str) -> Iterator[tuple[int, Members]]:
    """Yield the annotations of a file, each with its offset, in log order for each spelling."""
    seen: set[int] = set()
    wanted = normal_path(path)
    for needle in dict.fromkeys(json.dumps(path, ensure_ascii=each) for each in (False, True)):
        for offset, line in _lines_with(log, needle.encode("utf-8", "surrogatepass")):
            try:
                members = {} if offset in seen else parse_object(line)
            except MalformedJson:
                continue
            is_annotation = members.get("type") in (RecordType.LINE, RecordType.FUNCTION)
            if is_annotation and normal_path(text(members, "file_path") or "") == wanted:
                seen.add(offset)
                yield offset, members


def _supersedes(log: _Data, known: set[str]) -> dict[int, tuple[str, str]]:
    """Return the ends of the edges that supersede one of some records, by offset."""
    found: dict[int, tuple[str, str]] = {}
    for offset, line in _lines_with(log, _SUPERSEDES):
        edge = _EDGE.decode(line)
        if edge is not None and edge.edge_type == EdgeType.SUPERSEDES:
            source, target = edge.source_ref or edge.source_id, edge.target_ref or edge.target_id
            if target in known and source and target:
                found[offset] = source, target
    return found


def _lines_with(log: _Data, needle: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that contain some bytes, each once, with its offset."""
    place = log.find(needle)
    while place >= 0:
        begin = log.rfind(b"\n", max(0, place - _MAX_LINE), place)
        end = place + 1
        if begin >= 0 or place <= _MAX_LINE:
            end, line = _line(log, begin + 1)
            if line:
                yield begin + 1, line
        place = log.find(needle, max(end, place + 1))


def _line(log: _Data, offset: int) -> tuple[int, bytes]:
    """Return where the line at an offset ends, and its bytes; none if it is too long."""
    end = log.find(b"\n", offset, offset + _MAX_LINE)
    return (offset + _MAX_LINE, b"") if end < 0 else (end, log[offset:end])


def _entries(manifest: _Data, keys: set[str]) -> Iterator[tuple[str, JsonValue]]:
    """Yield the entries with these keys that the manifest has, and can be parsed."""
    found: Iterator[re.Match[bytes]]
    if len(keys) > _FEW:
        found = _KEY.finditer(manifest)
    else:
        places = (manifest.find(b'"%b"' % key.encode()) for key in keys)
        found = filter(None, (_KEY.match(manifest, each) for each in places if each >= 0))
    for match in found:
        is_text = manifest[match.start() - 1 : match.start()] == b"\\"  # within a string
        if not is_text and (key := match[1].decode()) in keys:
            yield from _entry(manifest, key, match.end())


def _entry(manifest: _Data, key: str, offset: int) -> Iterator[tuple[str, JsonValue]]:
    length = _FIRST_PART
    while length <= _MAX_LINE:
        try:
            yield key, parse_json_prefix(manifest[offset : offset + length].rstrip(b"\n"))
        except MalformedJson:  # it may be longer
            length *= 16
        else:
            return


def _id_of(members: Members) -> str:
    return text(members, "annotation_id") or annotation_id(members)


if __name__ == "__main__":
    write_excerpt(AuditDir(Path(sys.argv[1])), sys.argv[2], AuditDir(Path(sys.argv[3])))
