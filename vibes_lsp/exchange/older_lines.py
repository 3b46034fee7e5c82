"""Find the edits of an import whose lines git had before them (R14): another edit wrote them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.exchange.import_plan import ImportedEdit, session_spans
from vibes_lsp.git.file_changes import FileChange, file_changes
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.trail.lineage_commits import edit_begin
from vibes_lsp.trail.trail import Trail

_MAX_BYTES: Final = 8 << 20
"""Bytes of the newest versions of a file that are compared."""
_MAX_COMPARED: Final = 16
"""How many of those that have the lines of an edit are compared line by line."""


def older_edits(trail: Trail, edits: Mapping[int, ImportedEdit]) -> frozenset[int]:
    """Return the numbers of the edits whose lines git had before them, if the others are recorded.

    A session begins with the first edit of it that is recorded, so refusing that one may make
    another older than its session.

    Args:
        trail: The trail, refreshed.
        edits: The edits that are new.
    """
    repository = open_repository(trail.directory.project) if edits else None
    if repository is None:
        return frozenset()
    with closing(repository):
        return _older_edits(trail, repository, edits)


def _older_edits(
    trail: Trail, repository: Repository, edits: Mapping[int, ImportedEdit]
) -> frozenset[int]:
    project = trail.directory.project
    older: set[int] = set()
    versions = _versions(repository, project, {edit.path for edit in edits.values()})
    while True:
        left = {number: edit for number, edit in edits.items() if number not in older}
        starts = _session_starts(trail, left.values())
        by_path: dict[str, list[int]] = defaultdict(list)
        for number, edit in left.items():
            by_path[edit.path].append(number)
        newly_older: set[int] = set()
        for path, numbers in by_path.items():
            file = _FileVersions(repository, project, path, versions.get(path, ()))
            newly_older.update(number for number in numbers if file.had(edits[number], starts))
        if not newly_older:
            return frozenset(older)
        older |= newly_older


def _versions(
    repository: Repository, project: Path, paths: Iterable[str]
) -> Mapping[str, Sequence[FileChange]]:
    """Return what HEAD and its ancestors did to files, newest first; nothing if git fails."""
    prefix, changes = repository.prefix_of(project), defaultdict[str, list[FileChange]](list)
    with suppress(HistoryUnavailable):
        for change in file_changes(repository, ["HEAD"], [prefix + path for path in paths]):
            changes[change.path.removeprefix(prefix)].append(change)
    return changes


def _session_starts(trail: Trail, edits: Iterable[ImportedEdit]) -> dict[str, datetime]:
    """Return when each session began: as the trail has it, else with its first edit."""
    starts: dict[str, datetime] = {}
    for identifier, (first, _) in session_spans(edits).items():
        known = trail.log.session(identifier)
        start = known.start if known is not None else None
        starts[identifier] = first if start is None else start.moment
    return starts


class _FileVersions:
    """The versions of a file that git has, newest first, up to a limit of their bytes.

    Args:
        repository: The repository.
        project: The project's folder.
        path: The file, relative to it.
        versions: What commits did to it.
    """

    def __init__(
        self, repository: Repository, project: Path, path: str, versions: Sequence[FileChange]
    ) -> None:
        self._repository, self._project, self._path = repository, project, path
        self._versions = versions
        self._texts: dict[str, Text] = {}
        left = _MAX_BYTES
        for version in versions:
            blob = version.blob
            content = None if blob in self._texts else repository.objects.contents(blob)
            left -= len(content or b"")
            if left < 0:
                break
            if content is not None:
                self._texts[blob] = Text.from_bytes(content)
        self._lines = {blob: frozenset(text.lines) for blob, text in self._texts.items()}
        self._text_of = lru_cache(maxsize=4)(self._read_text)
        self._came_from = lru_cache(maxsize=_MAX_COMPARED)(
            lambda blob, commit: came_from(self._texts[blob].lines, self._text_of(commit).lines)
        )

    def had(self, edit: ImportedEdit, starts: Mapping[str, datetime]) -> bool:
        """Whether a version from before an edit has all its lines where the edit has them."""
        begin = edit_begin(edit.moment, starts.get(edit.session.id) if edit.session else None)
        numbers = range(edit.start - 1, edit.end)
        text = self._text_of(edit.commit)
        lines = frozenset(text.lines[edit.start - 1 : edit.end])
        candidates = dict.fromkeys(
            version.blob
            for version in self._before(edit.commit)
            if version.moment < begin and lines <= self._lines.get(version.blob, frozenset())
        )
        return len(text.lines) >= edit.end and any(
            all(self._came_from(blob, edit.commit)[number] >= 0 for number in numbers)
            for blob in list(candidates)[:_MAX_COMPARED]
        )

    def _before(self, commit: str | None) -> Sequence[FileChange]:
        """Return the versions before a commit, by order and not by clock; all if it made none."""
        made = [number for number, version in enumerate(self._versions) if version.commit == commit]
        return self._versions[made[0] + 1 :] if made else self._versions

    def _read_text(self, commit: str | None) -> Text:
        """Return the file at a commit, or as it is saved; an empty one if it cannot be read."""
        if commit is None:
            try:
                return read_source(self._project, self._path)
            except UnreadableFile:
                return Text("")
        name = self._repository.prefix_of(self._project) + self._path
        content = self._repository.objects.contents(f"{commit}:{name}")
        return Text.from_bytes(content or b"")
