"""What was computed for each file of a project, kept on disk while all that it is from is the same.

A result is kept with what it depends on: the bytes of the file, the part of the log, the entries of
the manifest, what git answered, and text that is gone from other files. Each is compared before a
result is used, so a kept result is what a computation would give. The files lie in the user's cache
folder: a project could ship forged ones. Only commands that display use them. For 100,000
annotations in 2,000 files `vibes find` takes 2 s of CPU instead of 40 s (`benchmarks.many_files`).
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import msgspec

from vibes_lsp.errors import OutdatedIndex, UnreadableFile
from vibes_lsp.index.history_questions import Answers, Question
from vibes_lsp.index.moves import FoundMovedOut, MovedOutRange
from vibes_lsp.index.project_files import RangeFilters, RawLines, read_content
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.paths import normal_path
from vibes_lsp.store.file_stamps import is_settled, stamp_of
from vibes_lsp.store.journal import journal_files
from vibes_lsp.store.manifest import Manifest
from vibes_lsp.store.user_cache import code_version, open_large, write_large
from vibes_lsp.trail.records import read_edge
from vibes_lsp.trail.trail import Trail

MIN_RESULTS: Final = 1_000
"""Annotations from which on results are kept; fewer are located in half a second."""
_MAX_NAMES: Final = 8_192
"""Annotated files up to which is kept what is gone from all: any file may have it.

In a larger project, what is gone from files from which it may have moved to annotated ones is kept.
"""
_MAX_SOURCES: Final = 4
"""Files from which text may have moved, for each annotated file, up to which anything is kept then.

All that is gone from them is read first. Where most files are gone that takes longer than to look
only for what may be in the few that exist.
"""
_NAMES_AT_ONCE: Final = 32
"""Files whose gone text is looked for at once; fewer than `LineageCache` keeps."""
_MAX_NEW_LINES: Final = 4_096
"""New lines of the log from which on everything is computed again."""
_MAX_UNSAVED: Final = 256
"""New lines of the log from which on the results are saved again although none has changed."""
_MAX_BYTES: Final = 256 << 20
_FORMAT: Final = 1
_DIGEST: Final = 32
_PACKAGES: Final = ("model", "anchors", "risk", "store", "history", "index", "reports")


class KeptResult(msgspec.Struct, array_like=True):
    """The result for one file.

    Attributes:
        digest: The SHA-256 of the file.
        names: The recorded names of the files whose annotations it has.
        former: Its own former names.
        sources: See `FileHistories.last_sources`.
        entries: A digest of the entries that it names.
        anywhere: See `HistoryQuestions`.
        details: Its `_Details`, compressed.
        result: The result, compressed.
    """

    digest: bytes
    names: list[str]
    former: list[str]
    sources: list[str]
    entries: bytes
    anywhere: list[tuple[list[str], bytes]]
    details: bytes
    result: bytes

    @property
    def encoded(self) -> bytes:
        """The result."""
        return zlib.decompress(self.result)


class _Details(msgspec.Struct, array_like=True):
    """What is seldom needed to compare: the keys of entries, and the questions at HEAD."""

    keys: list[str]
    at_head: list[tuple[list[str], bytes]]


class _File(msgspec.Struct, array_like=True):
    """A file of kept results.

    Attributes:
        source: What everything in it depends on.
        log_end: The bytes of the log that were read.
        log_lines: The lines of the log that were read.
        log_checksum: A checksum of those bytes.
        head: HEAD and the boundary of a shallow clone; empty without git.
        manifest: The stamps of the manifest's files; empty if they may change unnoticed.
        names: The recorded names of files.
        gone: Annotated text that is gone, by the file.
        files: The results by the path of the file.
    """

    source: str
    log_end: int
    log_lines: int
    log_checksum: bytes
    head: list[str]
    manifest: list[tuple[int, ...]]
    names: bytes
    gone: dict[str, FoundMovedOut]
    files: dict[str, KeptResult]


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """A result to keep.

    Attributes:
        encoded: The result.
        keys: The entries of the manifest that it names.
        names: The recorded names of the files of its annotations.
    """

    encoded: bytes
    keys: Iterable[str]
    names: Iterable[str]


class KeptResults:
    """The results of one computation for the files of a project.

    Args:
        locator: The project's locator, which may use the user's cache.
        kind: Names the computation.
        settings: What else the results depend on.
    """

    def __init__(self, locator: ProjectLocator, kind: str, settings: str) -> None:
        self._locator, self._trail = locator, locator.trail
        self._entries: dict[str, bytes] = {}
        self._new: dict[str, KeptResult] = {}
        self._gone: dict[str, FoundMovedOut] = {}
        self._changed_gone: dict[str, FoundMovedOut] = {}
        self._new_gone: Sequence[MovedOutRange] = ()
        self._filters = RangeFilters(())
        self._names = b""
        self._is_changed = False
        self._saved: _File | None = None
        is_large = self._trail.annotation_count >= MIN_RESULTS
        self._is_used = is_large and locator.keeps_results
        if not self._is_used:
            return
        self._repository, self._head = locator.repository_state()
        try:
            self._name, self._source = self._identity(kind, settings)
            self._saved = self._open()
        except (OSError, RuntimeError, ValueError, OutdatedIndex, UnreadableFile):
            self._is_used = False
        log = self._trail.log
        self._epoch, self._log_end, self._log_lines = log.epoch, log.size, self._trail.line_count
        self._manifest = _manifest_stamps(self._trail)

    def current(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the kept results of those files that are what a computation would give."""
        if not self._is_used:
            return {}
        saved = self._saved
        touched = frozenset() if saved is None else touched_names(self._trail, saved.log_lines)
        if touched is None:
            self._saved = saved = None
        if self._repository and not self._read_gone(paths, saved, touched or frozenset()):
            self._is_used = False
            return {}
        if saved is None or touched is None:
            return {}
        candidates = {
            path: kept
            for path in paths
            if (kept := saved.files.get(path)) is not None
            and touched.isdisjoint(kept.names)
            and kept.former == list(self._locator.former_paths(path))
        }
        candidates = {
            path: kept
            for path, kept in candidates.items()
            if self._has_same_text(path, kept) and self._has_same_entries(kept, saved)
        }
        found = self._with_same_answers(candidates, saved)
        self._new.update(found)
        self._is_changed = (
            len(found) < len(saved.files)
            or saved.head != self._head
            or bool(self._changed_gone)
            or self._log_lines - saved.log_lines > _MAX_UNSAVED
            or (bool(self._manifest) and saved.manifest != self._manifest)
        )
        return {path: kept.encoded for path, kept in found.items()}

    def _read_gone(
        self, paths: Sequence[str], saved: _File | None, touched: frozenset[str]
    ) -> bool:
        """Read what is gone from the files that it may have moved from; return if not too many."""
        locator = self._locator
        names: Collection[str] = locator.annotated_names()
        self._names = _digest(sorted(names))
        if len(names) > _MAX_NAMES:
            names = locator.sources_of_all(paths)
            if len(names) > _MAX_SOURCES * len(paths):
                return False
        known = {} if saved is None else saved.gone
        new: list[str] = []
        for name in names:
            gone = None if name in touched else known.get(name)
            if (
                gone is None
                or gone.depends_on_head
                or locator.moved_out.digest(name) != gone.digest
            ):
                new.append(name)
            else:
                self._gone[name] = gone
        if new:
            locator.prefetch_history(new)
            for start in range(0, len(new), _NAMES_AT_ONCE):
                names = new[start : start + _NAMES_AT_ONCE]
                self._gone.update((name, locator.moved_out.find(name)) for name in names)
                locator.resolve_all_commits(names)  # while their lineages are cached
        locator.put_moved_out({name: gone.ranges for name, gone in self._gone.items()})
        self._changed_gone = {
            name: gone for name in new if known.get(name) != (gone := self._gone[name])
        }
        self._new_gone = [
            each
            for name, gone in self._changed_gone.items()
            for each in gone.ranges
            if name not in known or each not in known[name].ranges
        ]
        self._filters = RangeFilters(each.recorded_range for each in self._new_gone)
        return True

    def _has_same_text(self, path: str, kept: KeptResult) -> bool:
        """Whether a file is as it was, and no other text that is gone may be in it."""
        gone = self._gone.get(path)
        digest = None if gone is None else gone.digest  # it was read just now
        content = b""
        if digest is None or self._new_gone:
            try:
                content = read_content(self._trail.directory.project, path)
            except UnreadableFile:
                return False
            digest = hashlib.sha256(content).digest()
        if digest != kept.digest:
            return False
        if kept.sources and (
            self._saved is None
            or self._saved.names != self._names
            or not self._changed_gone.keys().isdisjoint(kept.sources)
        ):
            return False
        return not (self._new_gone and self._filters.may_be_in(RawLines(content)))

    def _has_same_entries(self, kept: KeptResult, saved: _File) -> bool:
        if saved.manifest and saved.manifest == self._manifest:
            return True
        return self._entries_digest(_details(kept).keys) == kept.entries

    def _entries_digest(self, keys: Iterable[str]) -> bytes:
        manifest = self._trail.manifest
        found = hashlib.sha256()
        for key in keys:
            if key not in self._entries:
                self._entries[key] = _digest(_stored(manifest, key))
            found.update(self._entries[key])
        return found.digest()

    def _with_same_answers(
        self, kept: Mapping[str, KeptResult], saved: _File
    ) -> dict[str, KeptResult]:
        """Return the results for which git answers as it did."""
        if not self._repository:
            return dict(kept)
        is_same_head = saved.head == self._head
        asked = {
            path: _answers(each.anywhere)
            | ({} if is_same_head else _answers(_details(each).at_head))
            for path, each in kept.items()
        }
        same = self._locator.have_same_answers(asked)
        return {path: each for path, each in kept.items() if path in same}

    def to_keep(self, path: str, content: bytes, result: LocatedFile) -> KeptResult | None:
        """Return what to keep of the file that was located last; None if that is not certain."""
        if not self._is_used:
            return None
        questions = self._locator.questions
        names = {path, *self._locator.former_paths(path), *map(normal_path, result.names)}
        if not questions.is_repeatable or not all(map(self._is_independent_of_head, names)):
            return None
        keys = sorted(set(result.keys))
        details = _Details(keys, _listed(questions.at_head))
        try:
            path.encode()
            return KeptResult(
                hashlib.sha256(content).digest(),
                sorted(names),
                list(self._locator.former_paths(path)),
                list(self._locator.last_sources),
                self._entries_digest(keys),
                _listed(questions.anywhere),
                zlib.compress(msgspec.msgpack.encode(details), 1),
                zlib.compress(result.encoded, 1),
            )
        except UnicodeEncodeError:  # a path or a key that is not UTF-8
            return None

    def put(self, path: str, kept: KeptResult) -> None:
        """Keep the result for a file."""
        self._is_changed = True
        self._new[path] = kept

    def _is_independent_of_head(self, name: str) -> bool:
        self._trail.lineages_in(name)
        return self._trail.is_independent_of_head(name)

    def save(self, count: int) -> None:
        """Save the results, if there are enough of them and something changed.

        Args:
            count: The number of annotations of all files.
        """
        log = self._trail.log
        is_worth_it = self._is_used and self._is_changed and count >= MIN_RESULTS
        if not is_worth_it or not self._locator.keeps_results or log.has_waiting:
            return
        try:
            checksum = log.checksum(self._log_end)
            if checksum is None or log.epoch != self._epoch:
                return
            file = _File(
                self._source,
                self._log_end,
                self._log_lines,
                checksum,
                self._head,
                self._manifest if self._manifest == _manifest_stamps(self._trail) else [],
                self._names,
                self._gone,
                self._new,
            )
            data = msgspec.msgpack.encode(file)
        except (OutdatedIndex, UnreadableFile, UnicodeEncodeError):
            return
        if len(data) <= _MAX_BYTES:
            write_large(self._name, [hashlib.sha256(data).digest(), data])

    def _open(self) -> _File | None:
        file = open_large(self._name)
        if file is None:
            return None
        with file:
            if os.fstat(file.fileno()).st_size > _MAX_BYTES + _DIGEST:
                return None
            whole = memoryview(file.read())
        if hashlib.sha256(whole[_DIGEST:]).digest() != whole[:_DIGEST]:
            return None
        try:
            saved = msgspec.msgpack.decode(whole[_DIGEST:], type=_File)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if saved.source != self._source:
            return None
        is_same = self._trail.log.checksum(saved.log_end) == saved.log_checksum
        return saved if is_same and saved.log_lines <= self._trail.line_count else None

    def _identity(self, kind: str, settings: str) -> tuple[str, str]:
        """Return the name of the file, and what everything in it depends on.

        Raises:
            OSError: That cannot be determined.
        """
        directory = self._trail.directory
        uses_git = bool(self._repository)
        place = repr((kind, directory.log.resolve(), directory.project.resolve(), uses_git))
        name = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        source = repr((_FORMAT, code_version(_PACKAGES), place, self._repository, settings))
        return f"found-{name}", hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def touched_names(trail: Trail, line: int) -> frozenset[str] | None:
    """Return the files whose results the lines after one may have changed; None if all.

    These are the files of new annotations, of those that new edges name or that edges connect with
    new annotations, and of the sessions that new lines name.
    """
    log = trail.log
    new = list(islice(log.lines_after(line), _MAX_NEW_LINES + 1))
    if len(new) > _MAX_NEW_LINES or log.unterminated:
        return None
    names = set(trail.files_changed_since(line))
    ends: set[str] = set()
    sessions: set[str] = set()
    for record in log.records(new):
        session = record.text("session_id")
        if session is not None:
            sessions.add(session)
        edges = [read_edge(record)] if record.type == "edge" else []
        if record.is_annotation:
            edges += log.edges(source=record.id, target=record.id)
            ends.add(record.id)
        ends.update(end for edge in edges for end in (edge.source, edge.target))
    for end in ends:
        records = [each for each in log.with_id(end) if each.is_annotation]
        connected = (one for lineage in trail.lineages_of(records) for one in lineage.members)
        names.update(normal_path(each.text("file_path") or "") for each in (*records, *connected))
    for session in sessions:
        names |= trail.files_of_session(session)
    return frozenset(names)


def _manifest_stamps(trail: Trail) -> list[tuple[int, ...]]:
    """Return what changes with any write to the manifest's files; empty if that is not certain."""
    stamps = trail.manifest.stamps
    paths = [trail.directory.manifest, *journal_files(trail.directory)]
    if stamps is None or [name for name, _ in stamps] != [each.name for each in paths]:
        return []
    found: list[tuple[int, ...]] = []
    for path, (_, stamp) in zip(paths, stamps, strict=True):
        try:
            status = path.stat()
        except OSError:
            return []
        if stamp_of(status) != stamp or not is_settled(max(status.st_mtime_ns, status.st_ctime_ns)):
            return []
        found.append((*stamp, status.st_ctime_ns))
    return found


def _stored(manifest: Manifest, key: str) -> bytes | None:
    return manifest.raw(key) if key in manifest else None


def _digest(value: object) -> bytes:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).digest()


def _details(kept: KeptResult) -> _Details:
    return msgspec.msgpack.decode(zlib.decompress(kept.details), type=_Details)


def _listed(answers: Answers) -> list[tuple[list[str], bytes]]:
    return [(list(question), digest) for question, digest in answers.items()]


def _answers(listed: Iterable[tuple[list[str], bytes]]) -> dict[Question, bytes]:
    return {tuple(question): digest for question, digest in listed}
