"""The log as columns: for each line its offset, kind, id key and the members to find it by."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from itertools import accumulate, compress, islice, repeat
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from vibes_lsp.index.columns import (
    Column,
    LinesByName,
    Links,
    NamedEntries,
    Names,
    Parts,
    group_count,
    saved_links,
    saved_names,
)
from vibes_lsp.index.file_rows import FileRows, file_edges_to_save, file_lines_to_save
from vibes_lsp.index.id_keys import append_id_keys
from vibes_lsp.index.log_rows import (
    INDEXED,
    ROWS,
    BlankRow,
    BrokenLine,
    BrokenRow,
    Row,
    computed_id,
    read_rows,
)
from vibes_lsp.index.saved_columns import SavedFile
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType, RecordType, SupersedesReason
from vibes_lsp.store.log_batches import MAX_LINE, LineBatch


class LogLineKind(IntEnum):
    """What a line of the log contains."""

    BLANK = 0
    LINE = 1
    FUNCTION = 2
    SESSION = 3
    EDGE = 4
    DELEGATION = 5
    OTHER = 6
    BROKEN = 7


ANNOTATION_KINDS: Final = frozenset({LogLineKind.LINE, LogLineKind.FUNCTION})
EDGE_TYPES: Final = tuple(EdgeType)
REASONS: Final = tuple(SupersedesReason)
UNKNOWN: Final = 255
"""Code of an unknown edge type or reason."""
_ANNOTATION_MEMBERS: Final = (
    "annotation_id",
    *(member.name for member in INDEXED[RecordType.LINE]),
)
_GET_ID: Final = attrgetter("annotation_id")
_EDGE_CODES: Final[dict[str | None, int]] = {name: code for code, name in enumerate(EDGE_TYPES)}
_REASON_CODES: Final[dict[str | None, int]] = {name: code for code, name in enumerate(REASONS)}


_KINDS: Final[dict[type[Row], int]] = {
    BlankRow: LogLineKind.BLANK,
    **{row: LogLineKind[kind.name] for kind, row in ROWS.items()},
    Row: LogLineKind.OTHER,
    BrokenRow: LogLineKind.BROKEN,
}


def _mask(*kinds: LogLineKind) -> bytes:
    """Return a table for `bytes.translate` that marks lines of some kinds with 1."""
    return bytes(code in kinds for code in range(256))


_IS_ANNOTATION: Final = _mask(*ANNOTATION_KINDS)
_IS_EDGE: Final = _mask(LogLineKind.EDGE)
_IS_SESSION: Final = _mask(LogLineKind.SESSION)
_IS_DELEGATION: Final = _mask(LogLineKind.DELEGATION)
_SUPERSEDES: Final = EDGE_TYPES.index(EdgeType.SUPERSEDES)
_IS_SUPERSEDING: Final = bytes(code == _SUPERSEDES for code in range(256))
_MAX_SAVED_BROKEN: Final = 1_000


class _Facts(msgspec.Struct, array_like=True):
    """What is saved beside the columns.

    Attributes:
        broken: The broken lines with the reason.
        resolved: See `LogColumns`.
    """

    broken: list[BrokenLine]
    resolved: int = 0


class LogColumns:
    """All lines read so far, numbered from 1; the first of them may be in a saved file.

    Args:
        saved: A file with the columns that `to_save` gave.
        saved_facts: What it gave beside them.

    Attributes:
        saved: The file.
        files: What it has about each annotated file.
        ends: For each line, the offset after its newline, also where the last line has none.
        kinds: For each line, its `LogLineKind`.
        keys: For each line, the key of its record's id.
        annotation_lines: For each annotation, its line; the following columns are parallel to it.
        annotation_paths: Numbers of the recorded paths in `paths`.
        annotation_sessions: Numbers in `annotating_sessions`.
        paths: The recorded paths; one normal form may have several.
        annotation_environments: Numbers in `environments`.
        annotation_actions: Numbers in `actions`.
        annotation_levels: Numbers in `levels`.
        annotating_sessions: The sessions that annotations name.
        environments: The environments that annotations name.
        actions: Their actions.
        levels: Their assurance levels.
        annotations: Line numbers by `file_path`, as recorded.
        sessions: Line numbers of session records by `session_id`.
        delegations: Line numbers of delegations.
        prompts: The prompts that annotations name.
        decisions: The decisions that annotations name.
        edge_lines: For each edge, its line; the following columns are parallel to it.
        edge_types: Indexes into `EDGE_TYPES`, or `UNKNOWN`.
        edge_reasons: Indexes into `REASONS`, or `UNKNOWN`.
        edge_sources: Id keys.
        edge_targets: Id keys.
        superseding_edges: Numbers of the supersedes edges that name annotations, as resolved by
            `index.superseding`; the following columns are parallel to it. An edge may occur again
            with more known of it.
        superseding_newer: The line of the first annotation with the source's id; 0 for none.
        superseding_older: The line of the first annotation with the target's id; 0 for none.
        repeated: Lines of annotations whose id an annotation before them has.
        resolved: The line up to which these columns are complete.
        broken: Lines that are not records.
    """

    def __init__(self, saved: SavedFile | None = None, saved_facts: bytes = b"") -> None:
        facts = _Facts([]) if saved is None else msgspec.msgpack.decode(saved_facts, type=_Facts)

        def column(name: str, code: str) -> Column:
            found = Column(code, None if saved is None else saved.column(name))
            return self._columns.setdefault(name, found)

        def links(name: str, values: Column, *, are_numbers: bool = False) -> Links:
            found = None if saved is None else saved_links(saved, name)
            return Links(values, found, are_numbers=are_numbers)

        def names(name: str, normal_form: Callable[[str], str] = str) -> Names:
            return Names(normal_form, None if saved is None else saved_names(saved, name))

        def entries(name: str) -> NamedEntries:
            return NamedEntries(
                column(f"{name} lines", "I"),
                column(f"{name} keys", "Q"),
                None if saved is None else saved_links(saved, name),
            )

        self.saved, self.files = saved, None if saved is None else FileRows(saved)
        self._columns: dict[str, Column] = {}
        self.ends = column("ends", "Q")
        self.kinds = column("kinds", "B")
        self.keys = column("keys", "Q")
        self.annotation_lines = column("annotation lines", "I")
        self.annotation_paths = column("annotation paths", "I")
        self.annotation_sessions = column("annotation sessions", "I")
        self.annotation_environments = column("annotation environments", "I")
        self.annotation_actions = column("annotation actions", "I")
        self.annotation_levels = column("annotation levels", "I")
        self.session_lines = column("session lines", "I")
        self.session_names = column("session names", "I")
        self.delegations = column("delegations", "I")
        self.edge_lines = column("edge lines", "I")
        self.edge_types = column("edge types", "B")
        self.edge_reasons = column("edge reasons", "B")
        self.edge_sources = column("edge sources", "Q")
        self.edge_targets = column("edge targets", "Q")
        self.superseding_edges = column("superseding edges", "I")
        self.superseding_newer = column("superseding newer", "I")
        self.superseding_older = column("superseding older", "I")
        self.repeated = column("repeated", "I")
        self.resolved = facts.resolved
        self.prompts = entries("prompts")
        self.decisions = entries("decisions")
        self.paths = names("paths", normal_path)
        self.annotating_sessions = names("annotating sessions")
        self.logged_sessions = names("logged sessions")
        self.environments = names("environments")
        self.actions = names("actions")
        self.levels = names("levels")
        self.ids = links("ids", self.keys)
        self.edges_by_source = links("sources", self.edge_sources)
        self.edges_by_target = links("targets", self.edge_targets)
        self.by_session = links("by session", self.annotation_sessions, are_numbers=True)
        self._session_records = links("session records", self.session_names, are_numbers=True)
        self.annotations = LinesByName(
            self.paths,
            Links(self.annotation_paths),
            self.annotation_lines,
            None if self.files is None else self.files.lines,
        )
        self.sessions = LinesByName(self.logged_sessions, self._session_records, self.session_lines)
        self.broken = facts.broken
        self._files: dict[int, tuple[int, set[int]]] = {}
        self._edge_types_seen: tuple[int, set[int]] = (0, set())
        self._new_ends: tuple[int, set[int]] = (0, set())

    def __len__(self) -> int:
        return len(self.kinds)

    def to_save(self, resolve: Callable[[], None]) -> tuple[Parts, bytes] | None:
        """Return all columns and what is saved beside them; None if too many lines are broken.

        Args:
            resolve: Completes the columns of `index.superseding`, for which it reads the log.
        """
        if len(self.broken) > _MAX_SAVED_BROKEN:
            return None
        resolve()
        columns: dict[str, Sequence[array[int] | memoryview]] = {
            **{name: column.parts() for name, column in self._columns.items()},
            **self.prompts.to_save("prompts"),
            **self.decisions.to_save("decisions"),
            **self.paths.to_save("paths"),
            **self.annotating_sessions.to_save("annotating sessions"),
            **self.logged_sessions.to_save("logged sessions"),
            **self.environments.to_save("environments"),
            **self.actions.to_save("actions"),
            **self.levels.to_save("levels"),
            **self.ids.to_save("ids", group_count(len(self))),
            **self.edges_by_source.to_save("sources", group_count(len(self.edge_lines))),
            **self.edges_by_target.to_save("targets", group_count(len(self.edge_lines))),
            **self.by_session.to_save("by session", len(self.annotating_sessions)),
            **self._session_records.to_save("session records", len(self.logged_sessions)),
            **file_lines_to_save(self),
            **file_edges_to_save(self),
        }
        return columns, msgspec.msgpack.encode(_Facts(self.broken, self.resolved))

    def has_edges_of(self, edge_type: int) -> bool:
        """Whether any edge has a type, given by its index."""
        until, seen = self._edge_types_seen
        if until < len(self.edge_types):
            added = self.edge_types.added[until - self.edge_types.split :]
            for part in map(bytes, (added,) if until else self.edge_types.parts()):
                seen.update(code for code in range(len(EDGE_TYPES)) if code in part)
            self._edge_types_seen = len(self.edge_types), seen
        return edge_type in seen

    def ends_of_new_edges(self) -> AbstractSet[int]:
        """Return the keys that those supersedes edges name which are not in the saved file."""
        since, ends = self._new_ends
        for number in range(max(since, self.edge_lines.split), len(self.edge_lines)):
            if self.edge_types[number] == _SUPERSEDES:
                ends.update((self.edge_sources[number], self.edge_targets[number]))
        self._new_ends = len(self.edge_lines), ends
        return ends

    def annotation_mask(self) -> bytes:
        """Return for each line 1 if it is an annotation, else 0."""
        return b"".join(bytes(part).translate(_IS_ANNOTATION) for part in self.kinds.parts())

    def superseding_mask(self) -> bytes:
        """Return for each edge 1 if it is a supersedes edge, else 0."""
        return b"".join(bytes(part).translate(_IS_SUPERSEDING) for part in self.edge_types.parts())

    def lines_with_key(self, key: int) -> list[int]:
        """Return the lines whose record has this key."""
        return [index + 1 for index in self.ids.items(key)]

    def lines_of_session(self, session: str, limit: int) -> list[int]:
        """Return the lines of the last annotations of a session, in log order."""
        number = self.annotating_sessions.find(session) if session else None
        if number is None:
            return []
        last = islice(self.by_session.newest_first(number), limit)
        return [self.annotation_lines[index] for index in last][::-1]

    def files_of_session(self, session: str) -> AbstractSet[int]:
        """Return the numbers of the paths that a session's annotations name."""
        number = self.annotating_sessions.find(session) if session else None
        if number is None:
            return frozenset()
        until, files = self._files.get(number, (0, set()))
        unnamed = self.paths.find("")
        for index in self.by_session.newest_first(number):
            if index < until:
                break
            if (path := self.annotation_paths[index]) != unnamed:
                files.add(path)
        self._files[number] = len(self.annotation_paths), files
        return files

    def byte_range(self, line: int) -> tuple[int, int]:
        """Return the byte offset and length of a line, without its newline."""
        return self.byte_ranges((line,))[0]

    def byte_ranges(self, lines: Iterable[int]) -> list[tuple[int, int]]:
        """Return the byte offset and length of each of some lines, without their newlines."""
        ends = self.ends if self.ends.split else self.ends.added  # which is read in half the time
        return [
            (start := ends[line - 2] if line > 1 else 0, ends[line - 1] - 1 - start)
            for line in lines
        ]

    def append(self, batch: LineBatch) -> None:
        """Append a batch of lines; a broken line goes to `broken` and hides no other (R12)."""
        lines = batch.lines
        lengths = [batch.oversized] if batch.oversized is not None else list(map(len, lines))
        lengths[0] += self.ends[len(self) - 1] if len(self) else 0
        lengths[-1] += not lines[-1].endswith(b"\n")
        self.ends.added.fromlist(list(accumulate(lengths)))
        if batch.oversized is None:
            self._extend(read_rows(lines, batch.first, self.broken), batch)
        else:
            self.broken.append(BrokenLine(batch.first, f"longer than {MAX_LINE:,} bytes"))
            self._extend([BrokenRow()], batch)

    def _extend(self, rows: list[Row], batch: LineBatch) -> None:
        """Append decoded rows. The hot path: one C-level pass for each column, no loop."""
        kinds = bytes(map(_KINDS.__getitem__, map(type, rows)))
        self.kinds.added.frombytes(kinds)
        identifiers = list(map(_GET_ID, rows))
        if not all(identifiers):
            for index, identifier in enumerate(identifiers):
                if not identifier:
                    identifiers[index] = computed_id(batch.lines[index], rows[index])
        append_id_keys(self.keys.added, identifiers)
        numbers = range(batch.first, batch.first + len(rows))
        edges = kinds.translate(_IS_EDGE)
        if 1 in edges:
            self.edge_lines.added.fromlist(list(compress(numbers, edges)))
            self._add_edges(compress(rows, edges))
        placed = kinds.translate(_IS_ANNOTATION)
        if 1 in placed:
            self._add_annotations(list(compress(numbers, placed)), compress(rows, placed))
        sessions = kinds.translate(_IS_SESSION)
        if 1 in sessions:
            self.session_lines.added.extend(compress(numbers, sessions))
            _, names = _members(compress(rows, sessions))
            self.session_names.added.extend(self.logged_sessions.numbers(names))
        self.delegations.added.extend(compress(numbers, kinds.translate(_IS_DELEGATION)))

    def _add_annotations(self, lines: list[int], rows: Iterable[Row]) -> None:
        members = dict(zip(_ANNOTATION_MEMBERS, _members(rows), strict=True))
        self.annotation_lines.added.fromlist(lines)
        self.prompts.extend(lines, members["prompt_hash"])
        self.decisions.extend(lines, members["decision_hash"])
        for column, names, member in (
            (self.annotation_paths, self.paths, "file_path"),
            (self.annotation_sessions, self.annotating_sessions, "session_id"),
            (self.annotation_environments, self.environments, "environment_hash"),
            (self.annotation_actions, self.actions, "action"),
            (self.annotation_levels, self.levels, "assurance_level"),
        ):
            column.added.fromlist(list(names.numbers(members[member])))

    def _add_edges(self, rows: Iterable[Row]) -> None:
        _, types, source_refs, target_refs, source_ids, target_ids, metadata = _members(rows)
        self.edge_types.added.frombytes(bytes(map(_EDGE_CODES.get, types, repeat(UNKNOWN))))
        reasons = bytearray([UNKNOWN]) * len(metadata)
        for index in compress(range(len(metadata)), metadata):
            reasons[index] = _REASON_CODES.get(metadata[index].reason, UNKNOWN)
        self.edge_reasons.added.frombytes(reasons)
        append_id_keys(self.edge_sources.added, _either(source_refs, source_ids))
        append_id_keys(self.edge_targets.added, _either(target_refs, target_ids))


def _members(rows: Iterable[Row]) -> Iterator[tuple[Any, ...]]:
    """Return for each member the values that some rows of one type have."""
    return zip(*map(astuple, rows), strict=True)


def _either(refs: Sequence[str | None], identifiers: Sequence[str | None]) -> list[str]:
    """Return the ends of edges; older tools have other names for these members."""
    if all(refs):
        return list(refs)  # type: ignore[arg-type]
    return [ref or identifier or "" for ref, identifier in zip(refs, identifiers, strict=True)]
