"""What commits brought: their files, the records that their own change of the log has, and moves.

All of it are facts about objects of git, asked once. `commit_facts` decides what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property, partial
from typing import Final, TypeAlias

from vibes_lsp.anchors.line_hashes import is_long, line_hash
from vibes_lsp.anchors.text import compact
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.line_origins import LineOrigin, line_origins
from vibes_lsp.git.log_additions import ids_added
from vibes_lsp.git.objects import Commit
from vibes_lsp.git.patches import FilePatch, commit_patch, had_line
from vibes_lsp.git.repository import Repository
from vibes_lsp.placing.commit_facts import Blob, exact_owners, placed_owners
from vibes_lsp.placing.edits import LineOwner, RecordedEdit
from vibes_lsp.placing.hash_placement import consecutive
from vibes_lsp.placing.moved_blocks import MIN_MOVED, Place, PlacedLines, moved_lines
from vibes_lsp.placing.trail_records import TrailRecords

LOG: Final = ".ai-audit/annotations.jsonl"
_Moves: TypeAlias = list[tuple[Place, tuple[str, Place]]]
"""Where lines are now, and the commit and place that they were moved from."""
_REVERTED: Final = re.compile(r"This reverts commit ([0-9a-f]{40,64})\b")
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)
"""What git cuts off the time of a commit."""
_MAX_LOG: Final = 256 << 20
"""Bytes of the largest log in which ids are looked for."""


class CommitRecords:
    """What commits brought to the files and to the log of a project.

    Args:
        repository: The repository.
        prefix: The project's folder from the top of the work tree: empty, or ending with a slash.
        records: The records.

    Attributes:
        blob: Returns a file of a commit by its name from the top; an empty one if it has none.
            Raises `HistoryUnavailable` if git cannot read it.
        exact: Returns whose lines of a file of a commit are, by records made for this very text.
            Raises the same.
        owners: Returns whose the lines are that a commit brought to a file. Raises the same.
    """

    def __init__(self, repository: Repository, prefix: str, records: TrailRecords) -> None:
        self._repository = repository
        self._prefix = prefix
        self._records = records
        self.blob = cache(self._read)
        self.exact = cache(self._find_exact)
        self.owners = cache(self._find_owners)
        self._brought: dict[tuple[str, str], Sequence[RecordedEdit]] = {}
        self._brought_lines: dict[tuple[str, str], AbstractSet[int]] = {}
        self._moves: dict[str, Mapping[Place, tuple[str, Place]]] = {}

    def _read(self, commit: str, name: str) -> Blob:
        return Blob(self._repository.objects.certain_contents(commit, name) or b"")

    def _find_exact(self, commit: str, name: str) -> Mapping[int, LineOwner]:
        content = self.blob(commit, name).content
        records = [
            record
            for record in self._records.of_file(self._path(name))
            if record.is_of_text(content)
        ]
        if not records:
            return {}
        latest, end = self._latest_parent(commit) + _SECOND, self._end(commit)
        is_certain = all(latest <= record.moment < end for record in records)
        if is_certain and not _overlap(records):
            return exact_owners(records, self.blob(commit, name))
        own = {record.id for record in self.brought([(commit, name)])[commit, name]}
        mine = [record for record in records if record.id in own or record.is_of(commit)]
        mine.sort(key=lambda record: (record.id in own, record.moment), reverse=True)
        # A text that was committed before the edit is not the edit's.
        others = [record for record in records if record not in mine and record.moment < end]
        if others:  # a text that a commit took away, and that is there again, is not an edit's
            log = self._log_at(commit, name)
            others = [
                record for record in others if log is not None and record.id.encode() not in log
            ]
        return exact_owners([*mine, *others], self.blob(commit, name))

    def brought(
        self, files: Iterable[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Sequence[RecordedEdit]]:
        """Return the records that commits added to the log with their lines, by commit and file.

        Args:
            files: A commit, and the name in it of a file of the project.

        Raises:
            HistoryUnavailable: Git fails.
        """
        wanted = {(commit, name): (commit, self._log(name)) for commit, name in files}
        missing: dict[str, list[str]] = {}
        for commit, log in dict.fromkeys(wanted.values()):
            if (commit, log) not in self._brought:
                missing.setdefault(log, []).append(commit)
        for log, commits in missing.items():
            for commit, ids in ids_added(self._repository, commits, log).items():
                added = map(self._records.of_id, ids)
                # A back-fill comes with a later commit than its lines.
                self._brought[commit, log] = [
                    record for record in added if record is not None and not record.is_remap
                ]
        return {file: self._brought[key] for file, key in wanted.items()}

    def early(self, commit: str, name: str, numbers: AbstractSet[int]) -> Mapping[int, LineOwner]:
        """Return whose lines are that a commit brought, by records that came before the lines did.

        A rebase that changes the order of commits, and merges the log line by line, makes such
        records. The commit has the record, and none of its ancestors had the text. What stands
        beside the lines of a record is a copy of them.

        Args:
            commit: The commit.
            name: The file.
            numbers: Lines that it brought.

        Raises:
            HistoryUnavailable: Git fails.
        """
        blob = self.blob(commit, name)
        lines, distinctive = blob.text.lines, numbers & blob.hashed.distinctive
        proofs = {blob.hashed.hashes[number]: lines[number] for number in distinctive}
        moment, parents = self._commit(commit).moment, self._parents(commit)
        standing = {owner.record for owner in self.owners(commit, name).values()}
        candidates = [
            record
            for record in self._records.of_file(self._path(name))
            if record.id not in standing
            and not record.is_remap
            and record.moment < moment + _SECOND
            and not proofs.keys().isdisjoint(record.hashes)
        ]
        if not candidates or commit in self.boundary:
            return {}
        log = self._log_at(commit, name) or b""
        wanted = [
            record
            for record in candidates
            if record.id.encode() in log
            and not had_line(
                self._repository,
                parents,
                name,
                next(proofs[line] for line in record.hashes if line in proofs),
            )
        ]
        wanted.sort(key=lambda record: record.moment, reverse=True)
        return placed_owners(wanted, blob, numbers)

    def owners_without_history(self, commit: str, name: str) -> list[LineOwner | None]:
        """Return whose the lines of a file are where git cannot say who brought them.

        Sure only by records that were made for this very text, and that no other text had before;
        all others are claims.

        Raises:
            HistoryUnavailable: Git cannot read the file.
        """
        blob = self.blob(commit, name)
        try:
            owners = dict(self.exact(commit, name))
        except HistoryUnavailable:
            owners = {}
        path = self._path(name)
        records = sorted(
            (record for record in self._records.of_file(path) if record.hashes),
            key=lambda record: record.moment,
            reverse=True,
        )
        free = set(range(len(blob.text.lines))) - owners.keys()
        owners |= placed_owners(records, blob, free, is_boundary=True)
        return [owners.get(number) for number in range(len(blob.text.lines))]

    def may_be_reformatted(self, commit: str, name: str, numbers: AbstractSet[int]) -> bool:
        """Whether a commit may have changed only white space of lines that it brought to a file.

        Args:
            commit: The commit.
            name: The file, which it did not rename.
            numbers: Lines that it brought.

        Raises:
            HistoryUnavailable: Git fails.
        """
        text = self.blob(commit, name).text
        wanted = {compact(text.lines[number]) for number in numbers if is_long(text.lines[number])}
        return bool(wanted) and any(
            not wanted.isdisjoint(map(compact, self.blob(parent, name).text.lines))
            for parent in self._parents(commit)
        )

    def moved(
        self, commit: str, name: str, numbers: AbstractSet[int]
    ) -> Mapping[int, tuple[str, Place]]:
        """Return where a commit took lines away that it brought to a file: commit, file and line.

        Of a commit that reverts another one, also where that one took them away.

        Args:
            commit: The commit.
            name: The file.
            numbers: Lines that it brought.

        Raises:
            HistoryUnavailable: Git fails.
        """
        wanted, recorded = self._long(commit, name, numbers), self._records.line_hashes()
        if recorded is not None:
            wanted &= recorded
        if not wanted or commit in self.boundary:
            return {}
        if commit not in self._moves:
            key = f"moves {self._key} {commit}"
            known = self._repository.cache.get(key, _Moves)
            if known is None:
                known = list(self._find_moves(commit).items())
                self._repository.cache.put(key, known)
            self._moves[commit] = dict(known)
        moves, lines = self._moves[commit], self.blob(commit, name).text.lines
        return {
            number: moves[name, number]
            for block in consecutive(sorted(n for n in numbers if (name, n) in moves))
            if len(block) >= MIN_MOVED and any(is_long(lines[number]) for number in block)
            for number in block
        }

    def forget(self) -> None:
        """Drop what is kept of single files."""
        for kept in (self.blob, self.exact, self.owners):
            kept.cache_clear()
        self._brought_lines.clear()

    def keep_brought_lines(
        self, commit: str, name: str, origins: Iterable[LineOrigin | None]
    ) -> None:
        """Keep which lines a commit brought to a file, of which git was asked where all are from.

        Args:
            commit: The commit.
            name: The file.
            origins: What git's blame of the file in this very commit says of each line.
        """
        self._brought_lines[commit, name] = _lines_from(commit, origins)

    @cached_property
    def _key(self) -> str:
        return digest_of(sorted(self.boundary))

    @cached_property
    def boundary(self) -> frozenset[str]:
        """The commits of a shallow clone whose parents are missing."""
        return self._repository.shallow_boundary()

    def _find_owners(self, commit: str, name: str) -> Mapping[int, LineOwner]:
        exact = dict(self.exact(commit, name))
        path, blob = self._path(name), self.blob(commit, name)
        brought = [  # those of other files may stand in it completely
            record
            for record in self.brought([(commit, name)])[commit, name]
            if record.path == path or (record.hashes and record.hashes[0] in blob.hashed.places)
        ]
        of_file = self._records.of_file(path)
        of_text = [record for record in of_file if record.is_of_text(blob.content)]
        written = {record.hashes for record in (*brought, *of_text)}
        named = [
            record
            for record in of_file
            if record.is_of(commit) and not (record.is_remap and record.hashes in written)
        ]
        records = {record.id: record for record in (*brought, *named) if record not in of_text}
        moved = {
            record.id
            for record in records.values()
            if record.path != path and self._has_left(commit, record, blob)
        }
        wanted = sorted(
            (record for record in records.values() if record.path == path or record.id in moved),
            key=lambda record: record.moment,
            reverse=True,
        )
        if not wanted:
            return exact
        is_boundary = commit in self.boundary
        free = self._lines_of(commit, name) - exact.keys()
        placed = placed_owners(wanted, blob, free, is_boundary=is_boundary, moved=moved)
        return {**exact, **placed}

    def _commit(self, name: str) -> Commit:
        known = self._repository.objects.commit(name)
        if known is None:
            raise HistoryUnavailable(f"git cannot read commit {name}")
        return known

    def _parents(self, commit: str) -> Sequence[str]:
        """Return the parents of a commit; none at the boundary of a shallow clone."""
        return () if commit in self.boundary else self._commit(commit).parents

    def _log_at(self, commit: str, name: str) -> bytes | None:
        """Return the log in a commit, by the name of a file of its project; None without one."""
        log = self._log(name)
        return self._repository.objects.certain_contents(commit, log, _MAX_LOG)

    def _latest_parent(self, commit: str) -> datetime:
        """Return when the latest parent was committed: no parent has a record from after that."""
        parents = map(self._commit, self._parents(commit))
        return max((parent.moment for parent in parents), default=_NEVER)

    def _end(self, commit: str) -> datetime:
        """Return the time from which on no edit is committed by a commit."""
        return self._commit(commit).moment + _SECOND

    def _lines_of(self, commit: str, name: str) -> AbstractSet[int]:
        """Return the lines of a file that blame gives to the commit."""
        parents = self._parents(commit)
        if not parents:
            return set(range(len(self.blob(commit, name).text.lines)))
        if (commit, name) not in self._brought_lines:
            origins = line_origins(self._repository, name, commit, excluded=parents)
            self.keep_brought_lines(commit, name, origins)
        return self._brought_lines[commit, name]

    def _has_left(self, commit: str, record: RecordedEdit, blob: Blob) -> bool:
        """Whether most of what is distinctive of a record in a file does not stand in its own."""
        hashes = blob.hashed.hashes
        wanted = {hashes[number] for number in blob.hashed.distinctive}.intersection(record.hashes)
        own = self.blob(commit, self._prefix + record.path).hashed
        return 2 * len(wanted.intersection(own.places)) < len(wanted)

    def _long(self, commit: str, name: str, numbers: AbstractSet[int]) -> set[str]:
        """Return the hashes of the long ones among lines of a file of a commit."""
        lines = self.blob(commit, name).text.lines
        return {
            line_hash(lines[number])
            for number in numbers
            if number < len(lines) and is_long(lines[number])
        }

    def _find_moves(self, commit: str) -> Mapping[Place, tuple[str, Place]]:
        patches = self._patch(commit)
        if patches is None:
            return {}
        added = _blocks(patches[1], is_removed=False)
        sources = [patches]
        reverted = _REVERTED.search(self._commit(commit).message)
        if reverted is not None and (undone := self._patch(reverted[1])) is not None:
            sources.append(undone)
        moves: dict[Place, tuple[str, Place]] = {}
        for parent, patch in sources:
            removed = _blocks(patch, is_removed=True)
            before = partial(self._lines, parent)
            for here, there in moved_lines(removed, added, before).items():
                moves.setdefault(here, (parent, there))
        return moves

    def _lines(self, commit: str, name: str) -> Sequence[str]:
        return self.blob(commit, name).text.lines

    def _patch(self, commit: str) -> tuple[str, list[FilePatch]] | None:
        """Return a commit's only parent and what it does to its files; None for other commits.

        Raises:
            HistoryUnavailable: Git fails.
        """
        known = self._repository.objects.commit(commit)
        if known is None or len(known.parents) != 1 or known.id in self.boundary:
            return None
        parent = known.parents[0]
        return parent, commit_patch(self._repository, parent, known.id)

    def _path(self, name: str) -> str:
        """Return the path of a file in records; it had no prefix before a subtree was merged."""
        return name.removeprefix(self._prefix)

    def _log(self, name: str) -> str:
        """Return the name that the log had in a commit in which a file had this name."""
        return self._prefix + LOG if name.startswith(self._prefix) else LOG


def _lines_from(commit: str, origins: Iterable[LineOrigin | None]) -> set[int]:
    """Return the numbers of the lines that come from a commit."""
    return {number for number, origin in enumerate(origins) if origin and origin.commit == commit}


def _overlap(records: Sequence[RecordedEdit]) -> bool:
    """Whether two records of different edits are about the same line."""
    ordered = sorted(records, key=lambda record: record.first)
    end, edit = -1, ""
    for record in ordered:
        if record.first < end and record.edit_id != edit:
            return True
        end, edit = max(end, record.first + record.count), record.edit_id
    return False


def _blocks(patches: Iterable[FilePatch], *, is_removed: bool) -> list[PlacedLines]:
    """Return the blocks that patches take away or add, less those of trails."""
    return [
        PlacedLines(
            patch.path,
            hunk.old_start if is_removed else hunk.new_start,
            [
                line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
                for line in (hunk.removed if is_removed else hunk.added)
            ],
        )
        for patch in patches
        for hunk in patch.hunks
        if f"/{LOG}".partition("/annotations")[0] + "/" not in f"/{patch.path}"
    ]
