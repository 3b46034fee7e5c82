"""`python -m vibes_lsp.index.excerpt AUDIT_DIR PATH FOLDER`: copy what a trail says about a file.

For the first answer about a file of a large trail without an index. A search for bytes, in two
processes, reads the log ten times as fast as a scan. The excerpt is a trail of its own, with the
file's records that nothing supersedes and the entries that they name. It is provisional: reviews
are left out, and so are records that spell the path in another way.

A process does this: it maps the manifest, and a program that cuts that short would end the server.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import sys
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from vibes_lsp.errors import MalformedJson
from vibes_lsp.index.byte_search import LineBuffer
from vibes_lsp.index.forked_work import map_in_order
from vibes_lsp.model.canonical_json import (
    FastDecoder,
    canonical_json,
    parse_json,
    parse_json_prefix,
    parse_object,
)
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType, RecordType
from vibes_lsp.store.audit_dir import AuditDir

_MAX_LINE: Final = 1 << 20
"""Longest line or entry in bytes that is copied."""
_MAX_RECORDS: Final = 20_000
"""Records of the file that are copied: the first ones."""
_CHUNK: Final = 1 << 19
"""Bytes that are read at once: they fit into the processor's cache."""
_NEWLINE: Final = ord("\n")
_KEY_LENGTH: Final = 64
_EDGE_TYPE: Final = RecordType.EDGE.value
_SUPERSEDES: Final = EdgeType.SUPERSEDES.value
_KEY: Final = re.compile(rb'"([0-9a-f]{64})"\s*:\s*')
_ESCAPED: Final = re.compile(rb"\\u00(?:6[45]|7[0235])")
"""An escaped letter of `supersedes`."""
_REFERENCE: Final = re.compile(r"(?:environment|prompt|command|reasoning|decision)_hash")
_FIRST_PART: Final = 1 << 12
"""Bytes of an entry that are parsed at first; most are shorter."""


class _Edge(msgspec.Struct, gc=False):
    """What says which record an edge supersedes; each end has two names (R5)."""

    type: str | None = None
    edge_type: str | None = None
    source_ref: str | None = None
    source_id: str | None = None
    target_ref: str | None = None
    target_id: str | None = None


_EDGE: Final[FastDecoder[_Edge]] = FastDecoder(_Edge)


def write_excerpt(directory: AuditDir, path: str, excerpt: AuditDir) -> None:
    """Write the excerpt of a trail about a file.

    Args:
        directory: The trail.
        path: The file, relative to the project.
        excerpt: Where to write; its folder exists.

    Raises:
        OSError: A file cannot be read or written.
    """
    records = _current_records(directory.log, path)
    named = {
        key
        for members, _ in records
        for name, key in members.items()
        if isinstance(key, str) and _REFERENCE.fullmatch(name)
    }
    entries = _journal_entries(directory, named)
    entries |= _manifest_entries(directory.manifest, named - entries.keys())
    excerpt.log.write_bytes(b"".join(line + b"\n" for _, line in records))
    excerpt.manifest.write_bytes(
        canonical_json({"standard": "VIBES", "version": "1.0", "entries": entries})
    )


def _current_records(log: Path, path: str) -> list[tuple[Members, bytes]]:
    """Return the annotations of a file that no edge supersedes, with their lines, oldest first."""
    size = log.stat().st_size if log.is_file() else 0
    needles = dict.fromkeys(
        json.dumps(path, ensure_ascii=each).encode("utf-8", "surrogatepass")
        for each in (False, True)
    )
    records: list[tuple[Members, bytes]] = []
    superseded = array("q")
    for lines, targets in map_in_order(partial(_search_part, log, list(needles)), _halves(size)):
        superseded += targets
        for line in lines:
            try:
                members = parse_object(line)
            except MalformedJson:
                continue
            is_annotation = members.get("type") in (RecordType.LINE, RecordType.FUNCTION)
            is_about = normal_path(text(members, "file_path") or "") == normal_path(path)
            if is_annotation and is_about and len(records) < _MAX_RECORDS:
                records.append((members, line))
    ids = [hash(_id_of(members)) for members, _ in records]
    replaced = set(ids).intersection(superseded)
    return [record for key, record in zip(ids, records, strict=True) if key not in replaced]


def _halves(size: int) -> list[tuple[int, int]]:
    """Return the parts of a file that are searched at once: only where much is read, there are two.

    Each is the offset of its first byte, and of the byte after its last one.
    """
    middle = size // 2 if size > _MAX_LINE else size
    return [part for part in ((0, middle), (middle, size)) if part[0] < part[1]]


def _search_part(
    log: Path, needles: Sequence[bytes], part: tuple[int, int]
) -> tuple[list[bytes], array[int]]:
    """Search the lines that begin in a part of a log.

    Returns:
        Those with one of the needles, and the hashes of all ids that are superseded: a process and
        those that it forks share the secret that they are computed with.
    """
    found: dict[int, bytes] = {}
    superseded = array("q")
    mark = json.dumps(_SUPERSEDES).encode()
    for start, buffer, (first, last) in _whole_lines(log, part):
        for needle in needles:
            for begin, line in buffer.lines_with(needle, first, last, _MAX_LINE).items():
                found[start + begin] = bytes(line)
        edges = buffer.lines_with(mark, first, last, _MAX_LINE)
        for begin, line in buffer.lines_with(b"\\u00", first, last, _MAX_LINE).items():
            if _ESCAPED.search(line):
                edges[begin] = line
        superseded.extend(map(hash, _targets(edges.values())))
    return [found[offset] for offset in sorted(found)], superseded


def _targets(lines: Collection[memoryview]) -> list[str]:
    """Return the targets of the supersedes edges among some lines."""
    edges: Sequence[_Edge | None] | None = _EDGE.decode_all(lines)
    if edges is None:  # an unusual one is among them
        edges = [_EDGE.decode(line) or _lenient_edge(bytes(line)) for line in lines]
    return [
        target
        for edge in edges
        if edge is not None
        and edge.edge_type == _SUPERSEDES
        and edge.type == _EDGE_TYPE
        and (edge.source_ref or edge.source_id)
        and (target := edge.target_ref or edge.target_id)
    ]


def _lenient_edge(line: bytes) -> _Edge | None:
    """Return the members of a line that are text; None if it is no JSON object."""
    try:
        members = parse_object(line)
    except MalformedJson:
        return None
    return _Edge(*(text(members, name) for name in _Edge.__struct_fields__))


def _whole_lines(
    log: Path, part: tuple[int, int]
) -> Iterator[tuple[int, LineBuffer, tuple[int, int]]]:
    """Yield the lines of a part of a log, some at a time: an offset, bytes, and which of them.

    The bytes are read into the same buffer each time: it stays in the cache of the processor, and
    no page has to be mapped. Lines that are too long are left out.
    """
    buffer = LineBuffer(_MAX_LINE + _CHUNK)
    data, view = buffer.data, buffer.view
    start = max(0, part[0] - 1)  # with the end of the line before
    is_within = part[0] > 0
    filled = 0
    with log.open("rb", buffering=0) as file:
        file.seek(start)
        while count := file.readinto(view[filled : filled + _CHUNK]):
            filled += count
            used = 0
            if is_within:  # of a line that is not wanted
                used = data.find(b"\n", 0, filled) + 1 or filled
                is_within = data[used - 1] != _NEWLINE
            if start + used >= part[1]:
                return
            end = data.rfind(b"\n", used, filled) + 1
            if start + end > part[1]:  # the last line is the one with the last byte of the part
                end = data.find(b"\n", part[1] - 1 - start) + 1
            if end > used:
                yield start, buffer, (used, end)
            elif filled - used > _MAX_LINE:
                is_within, end = True, filled
            end = max(end, used)
            start += end
            if start >= part[1]:
                return
            view[: filled - end] = bytes(view[end:filled])
            filled -= end


def _journal_entries(directory: AuditDir, keys: set[str]) -> dict[str, JsonValue]:
    """Return the entries with these keys that are not in the manifest yet."""
    if not keys or not directory.journal.is_dir():
        return {}
    from vibes_lsp.store.journal import read_journal  # noqa: PLC0415  # slow to import

    stored = read_journal(directory).entries
    entries: dict[str, JsonValue] = {}
    for key in keys & stored.keys():
        with suppress(MalformedJson):
            entries[key] = parse_json(bytes(stored[key]))
    return entries


def _manifest_entries(manifest: Path, keys: set[str]) -> dict[str, JsonValue]:
    """Return the entries with these keys that the manifest has, and can be parsed."""
    entries: dict[str, JsonValue] = {}
    parts = _halves(manifest.stat().st_size if manifest.is_file() else 0)
    for places in (_likely_places, _all_places):
        left = {key.encode() for key in keys - entries.keys()}
        if left:
            for found in map_in_order(partial(_search_manifest, manifest, left, places), parts):
                entries |= found
    return entries


_Places: TypeAlias = Callable[[mmap.mmap, set[bytes], tuple[int, int]], Iterator[int]]


def _search_manifest(
    manifest: Path, keys: set[bytes], places: _Places, part: tuple[int, int]
) -> dict[str, JsonValue]:
    """Return the entries with these keys whose keys begin in a part of a manifest."""
    entries: dict[str, JsonValue] = {}
    with (
        manifest.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        for place in places(data, keys, part):
            match = _KEY.match(data, place)
            if match and match[1] in keys and data[max(0, place - 1) : place] != b"\\":
                entries.update(_entry(data, match[1].decode(), match.end()))
    return entries


def _likely_places(manifest: mmap.mmap, keys: set[bytes], part: tuple[int, int]) -> Iterator[int]:
    """Yield where keys are whose object follows after the same bytes as that of the first key.

    To split takes a third of the time of a search for the pattern.

    Args:
        manifest: The manifest.
        keys: The keys.
        part: Where they begin.
    """
    first = _KEY.search(manifest)
    if first is None:
        return
    between = manifest[first.end(1) : first.end()]
    longest = _KEY_LENGTH + len(between)
    wanted = {key + between for key in keys}
    for start in range(*part, _CHUNK):
        *pieces, _ = manifest[start : start + _CHUNK + longest].split(b"{")
        if wanted.isdisjoint([piece[-longest:] for piece in pieces]):
            continue
        place = start
        for piece in pieces:
            place += len(piece)
            if piece[-longest:] in wanted:
                yield place - longest - 1
            place += 1


def _all_places(manifest: mmap.mmap, _: set[bytes], part: tuple[int, int]) -> Iterator[int]:
    """Yield where keys are, with any white space after them: spelt in another way, or missing."""
    for match in _KEY.finditer(manifest, part[0]):
        if match.start() >= part[1]:
            return
        yield match.start()


def _entry(manifest: mmap.mmap, key: str, offset: int) -> Iterator[tuple[str, JsonValue]]:
    length = _FIRST_PART
    while length <= _MAX_LINE:
        try:
            yield key, parse_json_prefix(manifest[offset : offset + length].rstrip(b"\n"))
        except MalformedJson:  # it may be longer
            length *= 16
        else:
            return


def _id_of(members: Members) -> str:
    identifier = text(members, "annotation_id")
    if not identifier:
        from vibes_lsp.model.hashing import annotation_id  # noqa: PLC0415  # slow to import

        identifier = annotation_id(members)
    return identifier


if __name__ == "__main__":
    write_excerpt(AuditDir(Path(sys.argv[1])), sys.argv[2], AuditDir(Path(sys.argv[3])))
    os._exit(0)  # to free all objects takes a fiftieth of the time
