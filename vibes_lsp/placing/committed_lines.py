"""Whose committed lines are: git's blame names the commit, and its records the edit (R31).

Of a line that blame gives to a commit no rule here names another commit's edit, but for a block
that the commit moved, and for what a formatter changed, which is shown as edited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from vibes_lsp.anchors.line_hashes import MASKED, line_hash
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import compact
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.file_changes import LastChange, last_changes
from vibes_lsp.git.git_cache import digest_of
from vibes_lsp.git.line_origins import LineOrigin, line_origins
from vibes_lsp.git.repository import Repository
from vibes_lsp.placing.commit_facts import Blob
from vibes_lsp.placing.commit_records import CommitRecords
from vibes_lsp.placing.edits import LineOwner
from vibes_lsp.placing.moved_blocks import MIN_MOVED
from vibes_lsp.placing.trail_records import TrailRecords

_IGNORED: Final = ".git-blame-ignore-revs"
_MAX_IGNORED_FILE: Final = 1 << 16
_HASH: Final = re.compile(rb"^[ \t]*([0-9a-f]{40,64})[ \t\r]*(?:#.*)?$", re.MULTILINE)
_CLOCKS: Final = timedelta(days=1)
"""How much the clocks of two machines may differ."""
_MAX_MOVES: Final = 4
"""How often a block is followed from place to place."""

_MAX_KEPT: Final = 1_000
"""Files that are kept while others are asked about."""

_Owners = list[LineOwner | None]


def line_kind(owner: LineOwner | None, line: str) -> LineKind:
    """Return what is known of a line with an owner."""
    if owner is None:
        return LineKind.UNRECORDED
    if not owner.is_sure:
        return LineKind.CLAIMED
    return LineKind.AI if owner.hash == line_hash(line) else LineKind.EDITED


@dataclass(frozen=True)
class FileInHead:
    """A file as HEAD has it, and whose its lines are: facts of git that are asked once.

    Attributes:
        path: The file, relative to the project.
        lines: Its lines.
        owners: What says whose each line is.
        origins: Where each line comes from; None for those from before `since`.
        since: The time before which no commit was asked; None if all were.
        is_asked: Whether git said where the lines come from. If not, a line is the edit's for sure
            only by a record of this very text.
        is_nested: Whether commits of a repository that is not asked have it: then only what was
            recorded with this very text is sure.
    """

    path: str
    lines: Sequence[str] = ()
    owners: Sequence[LineOwner | None] = ()
    origins: Sequence[LineOrigin | None] = ()
    since: datetime | None = None
    is_asked: bool = True
    is_nested: bool = False

    @property
    def is_unread(self) -> bool:
        """Whether git could not even say which lines HEAD has: then nothing is sure."""
        return not (self.is_asked or self.lines)

    @cached_property
    def kinds(self) -> Sequence[LineKind]:
        """What is known of each line."""
        return [line_kind(*pair) for pair in zip(self.owners, self.lines, strict=True)]


class CommittedOwners:
    """Whose the lines of files of commits are, for one state of the log.

    Args:
        repository: The repository.
        prefix: The project's folder from the top of the work tree: empty, or ending with a slash.
        records: The records of the log.
        state: What the records follow from, beside the commits; None if that is not known.
    """

    def __init__(
        self, repository: Repository, prefix: str, records: TrailRecords, state: str | None = None
    ) -> None:
        self._repository = repository
        self._prefix = prefix
        self._records = records
        self._state = state
        self.commits = CommitRecords(repository, prefix, records)
        self._owners: dict[tuple[str, str], _Owners] = {}
        self._origins: dict[tuple[str, str], list[LineOrigin | None]] = {}
        self._failed: set[tuple[str, str]] = set()
        self._changes: dict[str, Mapping[str, LastChange]] = {}

    def known_file(self, commit: str, path: str) -> FileInHead:
        """Return a file of a commit with the owners and origins of its lines.

        Args:
            commit: A full hash.
            path: Relative to the project.

        Raises:
            HistoryUnavailable: Git cannot read the file.
        """
        if len(self._origins) > _MAX_KEPT:
            for kept in (self._owners, self._origins):
                kept.clear()
            self.commits.forget()
        lines = self.file(commit, path).text.lines
        if not lines:
            return FileInHead(path)
        name, since = self._prefix + path, self._since(commit)
        try:
            origins = self._origins_of(commit, name)
            owners = self._kept_owners(commit, name, len(lines))
        except HistoryUnavailable:
            owners, origins = self.commits.owners_without_history(commit, name), [None] * len(lines)
            return FileInHead(path, lines, owners, origins, is_asked=False)
        return FileInHead(path, lines, owners, origins, since)

    def _kept_owners(self, commit: str, name: str, count: int) -> _Owners:
        """Return the owners of the lines of a file: a fact about a commit and its records."""
        if self._state is None:
            return self._owners_of(commit, name, _MAX_MOVES)
        boundary = digest_of(sorted(self.commits.boundary))
        key = f"owners {boundary} {commit} {self._since(commit)} {self._state} {name}"
        owners = self._repository.cache.get(key, _Owners)
        if owners is None or len(owners) != count:
            owners = self._owners_of(commit, name, _MAX_MOVES)
            self._repository.cache.put(key, owners)
        return owners

    def with_all_origins(self, commit: str, file: FileInHead) -> FileInHead:
        """Return a file of a commit with the origins of lines from before all records too."""
        try:
            origins = line_origins(self._repository, self._prefix + file.path, commit)
        except HistoryUnavailable:
            return file
        return replace(file, origins=origins, since=None)

    def file(self, commit: str, path: str) -> Blob:
        """Return a file of a commit; an empty one if the commit does not have it.

        Raises:
            HistoryUnavailable: Git cannot read it.
        """
        return self.commits.blob(commit, self._prefix + path)

    def _origins_of(self, commit: str, name: str) -> Sequence[LineOrigin | None]:
        """Return where each line of a file comes from; None for lines from before all records.

        Raises:
            HistoryUnavailable: Git fails; it is not asked again.
        """
        key = commit, name
        if key in self._failed:
            raise HistoryUnavailable(f"git failed before about a file of commit {commit}")
        if key not in self._origins:
            if self._records.oldest() is None:
                self._origins[key] = [None] * len(self.commits.blob(commit, name).text.lines)
            else:
                try:
                    self._origins[key] = self._blame(commit, name)
                except HistoryUnavailable:
                    self._failed.add(key)
                    raise
        return self._origins[key]

    def _blame(
        self, commit: str, name: str, ignored: Sequence[str] = (), *, ignore_space: bool = False
    ) -> list[LineOrigin | None]:
        since = self._since(commit)
        last = self._last_changes(commit, since).get(name)
        numbers = range(len(self.commits.blob(commit, name).text.lines))
        if last is None:
            return [None] * len(numbers)
        if last.is_whole:
            moment = self._repository.commit_time(last.commit)
            origins: list[LineOrigin | None] = [
                LineOrigin(last.commit, name, number, moment) for number in numbers
            ]
        else:
            origins = line_origins(
                self._repository,
                name,
                last.commit,
                since=since,
                ignored=ignored,
                ignore_space=ignore_space,
            )
        if not (ignored or ignore_space):
            self.commits.keep_brought_lines(last.commit, name, origins)
        return origins

    def _last_changes(self, commit: str, since: datetime | None) -> Mapping[str, LastChange]:
        """Return where blame of each file starts: so it stays known while HEAD moves.

        Raises:
            HistoryUnavailable: Git fails.
        """
        if commit not in self._changes:
            key = f"changes {digest_of(sorted(self.commits.boundary))} {commit} {since}"
            known = self._repository.cache.get(key, dict[str, LastChange])
            if known is None:
                known = last_changes(self._repository, commit, since)
                self._repository.cache.put(key, known)
            self._changes[commit] = known
        return self._changes[commit]

    def _since(self, commit: str) -> datetime | None:
        """Return the time before which no edit was committed.

        None if that is not known: there is one of a later time than the commit, so that the clock
        of the commits or that of the records was wrong.
        """
        oldest = self._records.oldest()
        known = self._repository.objects.commit(commit)
        if oldest is None or oldest.year == 1 or known is None:
            return None
        since = oldest - _CLOCKS
        return None if known.moment < since and self._records.is_any_logged() else since

    def _owners_of(self, commit: str, name: str, moves: int) -> _Owners:
        key = commit, name
        if key not in self._owners:
            self._owners[key] = self._find_owners(commit, name, moves)
        return self._owners[key]

    def _find_owners(self, commit: str, name: str, moves: int) -> _Owners:
        origins = self._origins_of(commit, name)
        owners = self._recorded(origins)
        for file, lines in _without_owner(origins, owners).items():
            for number, owner in self.commits.early(*file, lines.keys()).items():
                owners[lines[number]] = owner
        if moves:
            self._follow(origins, owners, moves)
        self._see_through_formatters(commit, name, owners)
        return owners

    def _recorded(self, origins: Sequence[LineOrigin | None]) -> _Owners:
        """Return the owners by the records of the commit that brought each line."""
        files = dict.fromkeys((origin.commit, origin.path) for origin in origins if origin)
        incomplete = self._incomplete_in(origins)
        self.commits.brought(incomplete)  # at once
        owners = {
            file: self.commits.owners(*file) if file in incomplete else self.commits.exact(*file)
            for file in files
        }
        return [
            owners[origin.commit, origin.path].get(origin.number) if origin else None
            for origin in origins
        ]

    def _incomplete_in(self, origins: Sequence[LineOrigin | None]) -> set[tuple[str, str]]:
        """Return the files of commits of whose lines some have no record made for that text."""
        return {
            (origin.commit, origin.path)
            for origin in origins
            if origin and origin.number not in self.commits.exact(origin.commit, origin.path)
        }

    def _follow(self, origins: Sequence[LineOrigin | None], owners: _Owners, moves: int) -> None:
        """Give lines without owner that of the lines that their commit moved here."""
        for (commit, name), lines in _without_owner(origins, owners).items():
            if len(lines) < MIN_MOVED:
                continue
            for number, (parent, (source, there)) in self.commits.moved(
                commit, name, lines.keys()
            ).items():
                before = self._owners_of(parent, source, moves - 1)
                if there < len(before):
                    owners[lines[number]] = before[there]

    def _see_through_formatters(self, commit: str, name: str, owners: _Owners) -> None:
        """Give lines without owner that of the lines from which white space was changed.

        So too for what a commit of `.git-blame-ignore-revs` changed in any way. All are edited.
        """
        origins = self._origins_of(commit, name)
        left = _without_owner(origins, owners)
        if not left or not self._is_incomplete(name, owners):
            return
        ignored = self._ignored(commit)
        is_renamed = any(origin is not None and origin.path != name for origin in origins)
        if not any(
            file[0] in ignored or is_renamed or self.commits.may_be_reformatted(*file, lines.keys())
            for file, lines in left.items()
        ):
            return
        through = self._blame(commit, name, ignored, ignore_space=True)
        lines = self.commits.blob(commit, name).text.lines
        for number, owner in enumerate(self._recorded(through)):
            plain, seen = origins[number], through[number]
            if owner is None or owners[number] is not None or plain is None or seen is None:
                continue
            before = self.commits.blob(seen.commit, seen.path).text.lines
            if plain.commit in ignored or compact(before[seen.number]) == compact(lines[number]):
                is_same = owner.hash == line_hash(lines[number])
                owners[number] = owner._replace(hash=MASKED) if is_same else owner

    def _is_incomplete(self, name: str, owners: _Owners) -> bool:
        """Whether a record of a file has lines that own none of it now."""
        known = {(owner.record, owner.hash) for owner in owners if owner}
        return any(
            not record.hashes or any((record.id, line) not in known for line in record.hashes)
            for record in self._records.of_file(name.removeprefix(self._prefix))
        )

    def _ignored(self, commit: str) -> list[str]:
        """Return the commits whose changes a project asks blame to ignore."""
        listed = self._repository.objects.contents(f"{commit}:{_IGNORED}", _MAX_IGNORED_FILE)
        names = [name.decode("ascii") for name in _HASH.findall(listed or b"")]
        return [name for name in names if self._repository.objects.commit(name) is not None]


def _without_owner(
    origins: Sequence[LineOrigin | None], owners: _Owners
) -> Mapping[tuple[str, str], dict[int, int]]:
    """Return lines without owner by the file of the commit that brought them.

    For each the number of the line, by its number in that file.
    """
    unowned: dict[tuple[str, str], dict[int, int]] = {}
    for number, (origin, owner) in enumerate(zip(origins, owners, strict=True)):
        if origin is not None and owner is None:
            unowned.setdefault((origin.commit, origin.path), {})[origin.number] = number
    return unowned
