"""What was added to a trail since a base: which records are new, which commits carried them, who made those."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.contributors import Contributors, configured_user, contributors_of
from vibes_lsp.history.log_additions import added_record_ids
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.log_columns import EDGE_TYPES
from vibes_lsp.index.records import Edge, LogRecord, read_edge
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.store.audit_dir import LOG_NAME
from vibes_lsp.store.files import read_file

_HASH: Final = re.compile(r"[0-9a-fA-F]{4,64}")


@dataclass(frozen=True)
class TrailDiff:
    """A change: the commits from a base to HEAD, and the work tree.

    Attributes:
        repository: Where it was made.
        trail: As it is now.
        commit: The base, a whole hash.
    """

    repository: Repository
    trail: Trail
    commit: str

    @property
    def revisions(self) -> tuple[str, str]:
        """The commits of the change, as for `git log`."""
        return "HEAD", f"^{self.commit}"

    @cached_property
    def new_lines(self) -> frozenset[int]:
        """The lines of the log, from 1, that the base's log does not have."""
        known = self._lines_in(self.commit)
        return frozenset(
            number
            for number, line in enumerate(self._lines_now(), 1)
            if line.strip() and number not in known
        )

    def _lines_now(self) -> list[bytes]:
        try:
            return (read_file(self.trail.directory.log) or b"").split(b"\n")
        except UnreadableFile:
            return []

    def is_new(self, record: LogRecord) -> bool:
        """Whether the base does not have a record."""
        return record.line in self.new_lines

    @cached_property
    def superseding_edges(self) -> tuple[Edge, ...]:
        """The new edges by which records replace or join others."""
        columns, code = self.trail.log.columns, EDGE_TYPES.index(EdgeType.SUPERSEDES)
        lines = [
            line
            for line, kind in zip(columns.edge_lines, columns.edge_types, strict=True)
            if kind == code and line in self.new_lines
        ]
        return tuple(map(read_edge, self.trail.log.records(lines)))

    @cached_property
    def superseded_ids(self) -> frozenset[str]:
        """The ids of annotations that new edges replace or join."""
        return frozenset(
            end for edge in self.superseding_edges for end in (edge.source, edge.target)
        )

    @cached_property
    def commits_by_record(self) -> Mapping[str, frozenset[str]]:
        """The commits of the change that brought records, by the record's id."""
        found: dict[str, set[str]] = defaultdict(set)
        try:
            for identifier, commit in added_record_ids(
                self.repository, self.revisions, self.trail.directory.log
            ):
                found[identifier].add(commit)
        except ValueError:  # the log is a link out of the repository, which is a finding of its own
            return {}
        return {identifier: frozenset(commits) for identifier, commits in found.items()}

    @cached_property
    def makers(self) -> Mapping[str, Contributors]:
        """Who made the commits of the change."""
        return contributors_of(self.repository, self.revisions)

    @cached_property
    def user(self) -> Contributors:
        """Who works here: whoever made what no commit holds yet."""
        return configured_user(self.repository)

    def authors_of(self, record: LogRecord) -> list[Contributors]:
        """Return who brought a new record: everybody who made a commit of the change, where it is committed and nobody can tell by whom."""
        known = self.authors_of_commits(self.commits_by_record.get(record.id, frozenset()))
        if known or record.line not in self._committed:
            return known or [self.user]
        return list(self.makers.values())

    def is_committed(self, record: LogRecord) -> bool:
        """Whether HEAD has a record, to the byte."""
        return record.line in self._committed

    @property
    def uncommitted(self) -> list[int]:
        """The new lines of the log that HEAD does not have."""
        return sorted(self.new_lines - self._committed)

    @cached_property
    def _committed(self) -> frozenset[int]:
        """The lines of the log, from 1, that HEAD's log has."""
        return self._lines_in("HEAD")

    def _lines_in(self, revision: str) -> frozenset[int]:
        """Return the lines of the log as it is, from 1, that stand in a revision's, too."""
        directory = self.trail.directory
        held = (
            self.repository.read_file_below(
                revision, directory.project, f"{directory.path.name}/{LOG_NAME}"
            )
            or b""
        )
        lines = frozenset(map(_stripped, held.split(b"\n")))
        return frozenset(
            number for number, line in enumerate(self._lines_now(), 1) if _stripped(line) in lines
        )

    def authors_of_commits(self, commits: Iterable[str]) -> list[Contributors]:
        """Return who made commits of the change; others are left out."""
        return [self.makers[commit] for commit in sorted(commits) if commit in self.makers]

    def authors_at(self, commit: str) -> list[Contributors]:
        """Return who made a commit that a record names by its hash; nobody where there is none: a ref is not what a record can name."""
        try:
            found = self.repository.resolve(commit) if _HASH.fullmatch(commit) else ""
            return (
                list(contributors_of(self.repository, [found], alone=True).values())
                if found.startswith(commit.lower()) and found
                else []
            )
        except HistoryUnavailable:
            return []


def _stripped(line: bytes) -> bytes:
    return line.rstrip(b"\r")
