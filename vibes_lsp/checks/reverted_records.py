"""Records that a revert took out of the log together with their code: notes, not errors.

`git revert` undoes all of a commit, its records too. A commit message proves nothing, so a revert
counts only if the code of all records that it removed is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from vibes_lsp.anchors.line_hashes import is_distinctive
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.process import LOG_OPTIONS, run_git
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.canonical_json import object_or_none, parse_object
from vibes_lsp.model.members import Members, integer, mapping, text
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.model.vocabulary import RecordType
from vibes_lsp.store.audit_dir import LOG_NAME, MANIFEST_NAME, AuditDir

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

_REVERTED: Final = re.compile(rb"^This reverts commit ([0-9a-f]{40}|[0-9a-f]{64})\b", re.MULTILINE)
_MAX_REVERTS: Final = 200
"""Reverts of a branch that are looked at; records of further ones are removed records."""


@dataclass(frozen=True)
class Revert:
    """A commit that reverts another one.

    Attributes:
        commit: The commit.
        reverted: The commit that it reverts.
        parent: The first parent of that one; None for a first commit.
        lines: The lines of the log that the reverted commit added.
        entries: The keys of the manifest that it added.
    """

    commit: str
    reverted: str
    parent: str | None
    lines: frozenset[bytes]
    entries: frozenset[str]

    @property
    def words(self) -> str:
        """How a finding names it."""
        return f"by commit {self.commit[:8]}, which reverts {self.reverted[:8]} with its code"


@dataclass(frozen=True)
class Reverts:
    """The reverts between two commits that took records away together with their code.

    Attributes:
        repository: The repository.
        directory: The trail.
        base: The older commit.
        head: The newer one.
        log: The log as it is now.
    """

    repository: Repository
    directory: AuditDir
    base: str
    head: str
    log: LogIndex

    def of_record(self, line: bytes) -> Revert | None:
        """Return the revert that took a line of the log away; None if none did.

        An edge of an annotation that is still in the log is no part of a revert.
        """
        revert = next((revert for revert in self._clean if line in revert.lines), None)
        record = None if revert is None else object_or_none(line)
        if record is None or text(record, "type") != RecordType.EDGE:
            return revert
        ends = (text(record, name) for name in ("source_ref", "target_ref"))
        return None if any(end and self.log.by_id(end) is not None for end in ends) else revert

    def of_entry(self, key: str) -> Revert | None:
        """Return the revert that took an entry of the manifest away; None if none did."""
        return next((revert for revert in self._clean if key in revert.entries), None)

    @cached_property
    def _clean(self) -> tuple[Revert, ...]:
        return tuple(revert for revert in self._all() if self._is_clean(revert))

    def _all(self) -> Iterator[Revert]:
        options = ("-z", "--format=%H%n%B", "--grep=^This reverts commit", f"-{_MAX_REVERTS}")
        try:
            listed = run_git(
                self.repository.root, "log", *LOG_OPTIONS, *options, self.head, f"^{self.base}"
            )
        except HistoryUnavailable:
            return
        for message in filter(None, listed.split(b"\0")):
            commit = message.partition(b"\n")[0].decode("ascii")
            for match in _REVERTED.finditer(message):
                reverted = match[1].decode("ascii")
                if self.repository.objects.commit(reverted) is not None:
                    parent = self.repository.objects.commit_id(reverted, "^")
                    yield Revert(commit, reverted, parent, *self._added(reverted, parent))

    def _added(self, commit: str, parent: str | None) -> tuple[frozenset[bytes], frozenset[str]]:
        """Return the lines and entries that a commit added to the trail."""
        logs, manifests = (
            [
                b"" if revision is None else self._audit_file(revision, name)
                for revision in (parent, commit)
            ]
            for name in (LOG_NAME, MANIFEST_NAME)
        )
        before, after = map(_lines, logs)
        old, new = map(_keys, manifests)
        return after - before, new - old

    def _audit_file(self, commit: str, name: str) -> bytes:
        folder, path = self.directory.project, f"{self.directory.path.name}/{name}"
        try:
            return self.repository.read_file_below(commit, folder, path) or b""
        except HistoryUnavailable:
            return b""

    def _is_clean(self, revert: Revert) -> bool:
        """Whether the code of all records is gone that a revert took out of the log."""
        records = [record for line in revert.lines if (record := object_or_none(line)) is not None]
        annotations = [
            record
            for record in records
            if text(record, "type") in {RecordType.LINE, RecordType.FUNCTION}
        ]
        return bool(annotations) and all(
            self._is_gone(revert, record)
            for record in annotations
            if self.log.by_id(text(record, "annotation_id") or "") is None
        )

    def _is_gone(self, revert: Revert, record: Members) -> bool:
        """Whether a file has no line of a record any more, or is as before the record's commit."""
        path = text(record, "file_path") or ""
        if not can_be_in_project(path):
            return False
        now = self._file(self.head, path)
        if now is None or now == self._file(revert.parent, path):
            return True
        then = self._file(revert.reverted, path)
        start, end = (integer(record, name) for name in ("line_start", "line_end"))
        if then is None or start is None or end is None:
            return False
        written = Text.from_bytes(then).lines[max(start - 1, 0) : end]
        distinctive = {line.strip() for line in written if is_distinctive(line)}
        standing = {line.strip() for line in Text.from_bytes(now).lines}
        return bool(distinctive) and not distinctive & standing

    def _file(self, commit: str | None, path: str) -> bytes | None:
        prefix = self.repository.prefix_of(self.directory.project)
        name = f"{commit}:{prefix}{normal_path(path)}"
        return None if commit is None else self.repository.objects.contents(name)


def _lines(log: bytes) -> frozenset[bytes]:
    return frozenset(line.rstrip(b"\r") for line in log.split(b"\n") if line.strip())


def _keys(manifest: bytes) -> frozenset[str]:
    try:
        return frozenset(mapping(parse_object(manifest), "entries")) if manifest else frozenset()
    except ValueError:
        return frozenset()
