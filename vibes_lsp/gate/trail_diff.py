"""The records that a branch adds to the trail, and who contributed them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from vibes_lsp.checks.log_lines import LinesOnDisk, lines_at
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.contributors import (
    Contributors,
    commits_of,
    configured_user,
    contributors_of,
)
from vibes_lsp.git.log_additions import ids_added
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.trail.records import LogRecord, read_edge
from vibes_lsp.trail.trail import Trail


@dataclass(frozen=True)
class TrailDiff:
    """The difference between the trail on disk and the trail of a base commit.

    Attributes:
        repository: The repository of the project.
        trail: The trail on disk.
        commit: The base, a whole hash.
        head: The commit of HEAD, a whole hash.
    """

    repository: Repository
    trail: Trail
    commit: str
    head: str

    @property
    def revisions(self) -> tuple[str, str]:
        """The commits of the branch, as arguments of `git log`."""
        return self.head, f"^{self.commit}"

    @cached_property
    def new_lines(self) -> frozenset[int]:
        """The 1-based lines of the log that the log of the base does not have."""
        return self._lines_not_in(self.commit)

    def is_new(self, record: LogRecord) -> bool:
        """Whether the base lacks a record."""
        return record.line in self.new_lines

    @cached_property
    def superseded_ids(self) -> frozenset[str]:
        """The ids at both ends of the added `supersedes` edges."""
        lines = self.trail.log.lines_of_edges(EdgeType.SUPERSEDES)
        new = self.trail.log.records([line for line in lines if line in self.new_lines])
        edges = map(read_edge, new)
        return frozenset(end for edge in edges for end in (edge.source, edge.target))

    @cached_property
    def commits_by_record(self) -> Mapping[str, frozenset[str]]:
        """The commits of the branch that added a record, by the record's id."""
        commits_by_record: dict[str, set[str]] = defaultdict(set)
        try:
            name = self.repository.relative_path(self.trail.directory.log)
        except ValueError:  # the log is a link out of the repository, which has its own finding
            return {}
        for commit, identifiers in ids_added(
            self.repository, list(self.contributors), name
        ).items():
            for identifier in identifiers:
                commits_by_record[identifier].add(commit)
        return {identifier: frozenset(commits) for identifier, commits in commits_by_record.items()}

    @cached_property
    def contributors(self) -> Mapping[str, Contributors]:
        """The contributors of each commit of the branch.

        Where a commit does not certainly say who made it, everyone who contributed to the branch
        may have.
        """
        contributors = contributors_of(
            self.repository, commits_of(self.repository, self.head, self.commit)
        )
        everyone = frozenset[str]().union(*(person.names for person in contributors.values()))
        return {commit: _possibly(person, everyone) for commit, person in contributors.items()}

    @cached_property
    def user(self) -> Contributors:
        """Git's configured user, to whom uncommitted changes are attributed."""
        return configured_user(self.repository)

    def contributors_of_record(self, record: LogRecord) -> list[Contributors]:
        """Return who added a record; all contributors of the branch if that is unknown."""
        known = self.contributors_of_commits(self.commits_by_record.get(record.id, frozenset()))
        if known or not self.is_committed(record):
            return known or [self.user]
        return list(self.contributors.values())

    def is_committed(self, record: LogRecord) -> bool:
        """Whether HEAD has exactly this record."""
        return record.line not in self._not_committed

    @property
    def uncommitted(self) -> list[int]:
        """The added lines that HEAD does not have."""
        return sorted(self.new_lines & self._not_committed)

    @cached_property
    def _not_committed(self) -> frozenset[int]:
        """The 1-based lines of the log that HEAD does not have."""
        return self._lines_not_in(self.head)

    def _lines_not_in(self, commit: str) -> frozenset[int]:
        """Return the 1-based lines of the log that a commit does not have, and those that wait."""
        directory = self.trail.directory
        lines = partial(lines_at, directory, self.repository, commit)
        return LinesOnDisk(directory).not_in(lines).union(self.trail.log.waiting_lines())

    def contributors_of_commits(self, commits: Iterable[str]) -> list[Contributors]:
        """Return the contributors of commits; those outside the branch are ignored."""
        return [
            self.contributors[commit] for commit in sorted(commits) if commit in self.contributors
        ]

    def contributors_at(self, commit: str) -> list[Contributors]:
        """Return the contributors of a commit that a record names; empty if it is unknown.

        Only a hash counts: a branch could point a ref at any commit.
        """
        known = self.repository.objects.commit(commit)
        if known is None:
            return []
        try:
            person = contributors_of(self.repository, [known.id])[known.id]
        except HistoryUnavailable:
            return []
        branch = (contributors.names for contributors in self.contributors.values())
        return [_possibly(person, frozenset[str]().union(*branch))]


def _possibly(person: Contributors, everyone: frozenset[str]) -> Contributors:
    """Return the contributors of a commit; everyone if it does not certainly say who they are."""
    return replace(person, names=everyone | person.names) if person.doubt else person
