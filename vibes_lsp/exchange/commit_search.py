"""Find the commits that introduced the lines of edits, in the history of HEAD.

Commits are walked from the oldest on. At each version of a file, the edits that no earlier commit
has are replayed over the version before it (`replay`). So lines belong to the last edit that wrote
them, a rebase or squash changes nothing, and lines that were there before belong to none. A file
that a commit renames is found by git's rename detection.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Final, Self

from vibes_lsp.agents.edited_lines import text_lines
from vibes_lsp.agents.events import FileEdit
from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.replay import (
    Attribution,
    Owner,
    Writer,
    attribute_lines,
)
from vibes_lsp.git.file_changes import FileChange, changes_since
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.renames import renames_in
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.vocabulary import Action

_SECOND: Final = timedelta(seconds=1)
"""The resolution of a commit's time."""
_MAX_VERSIONS: Final = 32
"""Versions of its file in which an edit is searched."""
_MAX_BYTES: Final = 4 << 20
_MAX_TEXTS: Final = 64

NOT_COMMITTED: Final = "no commit has changed the file since"
OVERWRITTEN: Final = "a later edit replaced the lines before they were committed"
NOTHING_ADDED: Final = "the edit only removed lines"
NOT_APPLIED: Final = "the edit does not fit the file's text"
MADE_TWICE: Final = "two edits and two commits make the same change"
NOT_FOUND: Final = "no commit certainly has the lines"


@dataclass(frozen=True, slots=True)
class DatedEdit:
    """An edit of a file.

    Attributes:
        path: The file from the top of the work tree.
        moment: When it was edited.
        edit: The edit; whole texts may be in `texts` instead.
        texts: The whole texts before and after, compressed: agents note them with every edit.
    """

    path: str
    moment: datetime
    edit: FileEdit
    texts: tuple[bytes | None, bytes | None] = (None, None)

    @classmethod
    def compressed(cls, path: str, moment: datetime, edit: FileEdit) -> DatedEdit:
        """Return an edit whose whole texts are compressed."""
        without = replace(edit, before=None, after=None)
        return cls(path, moment, without, (_compress(edit.before), _compress(edit.after)))

    def whole_edit(self) -> FileEdit:
        """Return the edit with the whole texts."""
        before, after = map(_decompress, self.texts)
        if before is None and after is None:
            return self.edit
        return replace(self.edit, before=before, after=after)


@dataclass(frozen=True, slots=True)
class FoundLines:
    """Lines of an edit in the commit that introduced them; 1-based and inclusive.

    Attributes:
        edit: The edit, by its number.
        commit: The commit's full hash.
        path: The file in that commit, from the top of the work tree.
        text: The version.
        start: First line.
        end: Last line.
        action: What the edit did to them.
        is_exact: Whether the edits make this version of the one before it.
    """

    edit: int
    commit: str
    path: str
    text: Text
    start: int
    end: int
    action: Action
    is_exact: bool


@dataclass(frozen=True, slots=True)
class _RepeatedLines:
    """What edits wrote that may be in another commit, which makes the same version.

    Attributes:
        lines: The lines.
        edits: These edits and those that made the same version before, by number.
    """

    lines: list[FoundLines]
    edits: frozenset[int]


@dataclass(slots=True)
class _Pending:
    """An edit that no commit has yet."""

    number: int
    dated: DatedEdit
    versions: int = 0
    reason: str = NOT_COMMITTED


class CommitSearch:
    """Searches the commits of some edits; a context manager, because it keeps git running.

    Args:
        repository: The repository.
        edits: The edits, in the order of time.

    Attributes:
        reasons: Why the other edits were not found, by number; complete after the search.
    """

    def __init__(self, repository: Repository, edits: Sequence[DatedEdit]) -> None:
        self.reasons: dict[int, str] = {}
        self._repository = repository
        self._objects = GitObjects(repository.root, limit=_MAX_BYTES)
        self._pending: dict[str, list[_Pending]] = defaultdict(list)
        self._boundary = repository.shallow_boundary()
        self._since = min((edit.moment for edit in edits), default=None)
        self._text = lru_cache(maxsize=_MAX_TEXTS)(self._read_text)
        self._repeated: dict[tuple[str, str | None], _RepeatedLines] = {}
        for number, edit in enumerate(edits):
            self._pending[edit.path].append(_Pending(number, edit))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._objects.close()

    def search(self) -> Iterator[FoundLines]:
        """Yield the lines of edits, those of one version together, parents before children.

        Raises:
            HistoryUnavailable: Git fails.
        """
        if self._since is not None and self._repository.head() is not None:
            changes = changes_since(self._repository, self._since - _SECOND)
            for commit, files in groupby(changes, lambda change: change.commit):
                if commit not in self._boundary:
                    yield from self._search_commit(list(files))
        for repeated in self._repeated.values():
            yield from repeated.lines
        for pending in self._pending.values():
            self.reasons.update(
                (pending_edit.number, pending_edit.reason) for pending_edit in pending
            )

    def _search_commit(self, files: Sequence[FileChange]) -> Iterator[FoundLines]:
        gone = {file.path: file for file in files if not file.is_file and self._has(file.path)}
        renamed: dict[str, str] = {}
        if gone and any(file.is_file and file.is_new for file in files):
            commit = files[0].commit
            renames, _ = renames_in(self._repository, [commit])
            renamed = {new: old for old, new in renames.get(commit, {}).items() if old in gone}
        for file in files:
            if not file.is_file:
                continue
            earlier = self._repeated.pop((file.path, file.blob), None)
            if earlier is not None:
                self.reasons.update(dict.fromkeys(earlier.edits, MADE_TWICE))
            old = renamed.get(file.path)
            if old is not None:
                pending = [*self._pending.pop(old), *self._pending.get(file.path, ())]
                self._pending[file.path] = sorted(
                    pending, key=lambda pending_edit: pending_edit.dated.moment
                )
                file = file._replace(before=gone[old].before)  # noqa: PLW2901
            if self._has(file.path):
                yield from self._search_version(file)

    def _has(self, path: str) -> bool:
        return bool(self._pending.get(path))

    def _search_version(self, file: FileChange) -> Iterator[FoundLines]:
        pending = self._pending[file.path]
        due = [
            pending_edit
            for pending_edit in pending
            if pending_edit.dated.moment < file.moment + _SECOND
        ]
        text = self._text(file.blob)
        bases = [base for blob in file.before if (base := self._text(blob)) is not None]
        if not due or text is None or len(bases) < len(file.before):
            return
        attribution = _attribute(due, bases, text, file.authored)
        lines = list(_found_lines(due, attribution, file.commit, file.path, text))
        repeated = frozenset(due[number].number for number in attribution.repeated)
        if repeated:
            repeated_lines = [found_lines for found_lines in lines if found_lines.edit in repeated]
            lines = [found_lines for found_lines in lines if found_lines.edit not in repeated]
            self._repeated[file.path, file.blob] = _RepeatedLines(repeated_lines, repeated)
        yield from lines
        self._settle(file.path, due, attribution)

    def _settle(self, path: str, due: Sequence[_Pending], attribution: Attribution) -> None:
        """Drop the edits that were found, and those that cannot be found any more."""
        claimed = {owner.edit for owner in attribution.owners if owner is not None}
        last = max(claimed, default=-1)
        done: set[int] = set()
        for number, pending_edit in enumerate(due):
            pending_edit.reason = NOT_FOUND
            if number in claimed:
                done.add(pending_edit.number)
            elif number in attribution.empty:
                pending_edit.reason = NOTHING_ADDED
            elif number in attribution.lost:
                pending_edit.reason = OVERWRITTEN
            elif number in attribution.unplaced:
                pending_edit.reason = NOT_APPLIED
            if (
                number not in claimed
                and number < last
                and number in attribution.lost | attribution.empty
            ):
                self.reasons[pending_edit.number] = pending_edit.reason
                done.add(pending_edit.number)
            pending_edit.versions += 1
            if pending_edit.versions >= _MAX_VERSIONS and pending_edit.number not in done:
                self.reasons[pending_edit.number] = pending_edit.reason
                done.add(pending_edit.number)
        self._pending[path] = [
            pending_edit for pending_edit in self._pending[path] if pending_edit.number not in done
        ]

    def _read_text(self, blob: str | None) -> Text | None:
        """Return a version's text; None for one that is too large, binary or missing."""
        content = None if blob is None else self._objects.contents(blob)
        return None if content is None or b"\0" in content else Text.from_bytes(content)


def _compress(content: str | None) -> bytes | None:
    if content is None:
        return None
    return zlib.compress(content.encode("utf-8", "surrogatepass"), 1)


def _decompress(compressed: bytes | None) -> str | None:
    return (
        None if compressed is None else zlib.decompress(compressed).decode("utf-8", "surrogatepass")
    )


def _attribute(
    edits: Sequence[_Pending], bases: Sequence[Text], text: Text, authored: datetime
) -> Attribution:
    before = sum(pending_edit.dated.moment < authored + _SECOND for pending_edit in edits)
    return attribute_lines(
        [text_lines(base.content) for base in bases],
        text_lines(text.content),
        [pending_edit.dated.whole_edit() for pending_edit in edits],
        {count for count in (before, len(edits)) if count},
    )


def _found_lines(
    edits: Sequence[_Pending], attribution: Attribution, commit: str, path: str, text: Text
) -> Iterator[FoundLines]:
    """Yield the lines of each edit, those that follow each other together."""
    for owners, start, end in _stretches(attribution.owners):
        edit = owners[0].edit
        is_created = all(owner.action == Action.CREATE for owner in owners)
        yield FoundLines(
            edits[edit].number,
            commit,
            path,
            text,
            start + 1,
            end,
            Action.CREATE if is_created else Action.MODIFY,
            attribution.is_exact,
        )


def _stretches(owners: Sequence[Owner]) -> Iterator[tuple[list[Writer], int, int]]:
    """Yield the stretches of lines of one edit with their writers, first line and end."""
    run: list[Writer] = []
    for place, owner in enumerate((*owners, None)):
        if run and (owner is None or owner.edit != run[0].edit):
            yield run, place - len(run), place
            run = []
        if owner is not None:
            run.append(owner)
