"""Decide which approvals count at the gate (R6).

An approval must come from a person. With a base it must also be committed, and given by someone who
neither wrote nor committed the code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.gate.trail_diff import TrailDiff
from vibes_lsp.git.contributors import Contributors, parse_identity
from vibes_lsp.git.file_changes import commits_by_file
from vibes_lsp.git.line_origins import line_origins
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.vocabulary import REMAP_ACTIONS, NodeType, ReviewerKind, Verdict
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.authors import UNKNOWN, Authors
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LoggedSession
from vibes_lsp.trail.reviews import Review

_MAX_PARENTS = 100


_DEPENDENT = "not independent"


@dataclass(frozen=True, slots=True)
class RefusedApproval:
    """A review that does not count.

    Attributes:
        placement: The annotation.
        review: The review.
        reason: Why, as a clause for the finding.
        short: Why, in a few words for the row of the annotation.
    """

    placement: Placement
    review: Review
    reason: str
    short: str


@dataclass
class Reviewers:
    """Decides which reviews count.

    Attributes:
        locator: The locator of the project.
        diff: The records of the branch; None without a base.
    """

    locator: ProjectLocator
    diff: TrailDiff | None
    _asked: dict[tuple[str, str], RefusedApproval | None] = field(default_factory=dict)
    _committed: dict[str, bool] = field(default_factory=dict)
    _touching: Mapping[str, frozenset[str]] | None = None

    @property
    def refused(self) -> list[RefusedApproval]:
        """The approvals that do not count, of those that were asked about."""
        return [refused for refused in self._asked.values() if refused is not None]

    def counts(self, placement: Placement, review: Review) -> bool:
        """Whether a review counts.

        A rejection always does. An AI's review is not filtered, since it releases nothing anyway.
        """
        return self._refused(placement, review) is None

    def objection(self, placement: Placement, review: Review) -> str | None:
        """Return why a review does not count, in a few words; None if it does."""
        refused = self._refused(placement, review)
        return None if refused is None else refused.short

    def _refused(self, placement: Placement, review: Review) -> RefusedApproval | None:
        if review.verdict == Verdict.REJECTED or review.kind == ReviewerKind.AI:
            return None
        key = placement.lineage.first.id, review.edge.record.id
        if key not in self._asked:
            why = self._objection(placement, review)
            self._asked[key] = None if why is None else RefusedApproval(placement, review, *why)
        return self._asked[key]

    def _objection(self, placement: Placement, review: Review) -> tuple[str, str] | None:
        """Return why an approval does not count, as a clause and in a few words; else None."""
        log = self.locator.trail.log
        identifier = _session_of(review)
        session = log.session(identifier) if identifier else None
        if session is not None and _is_an_ai(session, Authors(self.locator.trail)):
            return "it was given in an AI's session", "in an AI's session"
        if self.diff is None or not self.diff.is_new(review.edge.record):
            return None
        if review.kind == ReviewerKind.HUMAN and session is None:
            return "its session is not in the log", "in an unknown session"
        wrote = {member.text("session_id") for member in placement.lineage.members} - {None}
        if wrote & set(self._sessions(review, identifier)):
            return "it was given in the session that wrote the code", _DEPENDENT
        same = self._same_people(self.diff, placement, review, session)
        if same is not None:
            return same, _DEPENDENT
        if not self.diff.is_committed(review.edge.record):
            return "it is not committed", "not committed"
        return None

    def _same_people(
        self,
        diff: TrailDiff,
        placement: Placement,
        review: Review,
        session: LoggedSession | None,
    ) -> str | None:
        writers = list(self._writers(diff, placement))
        carriers = diff.contributors_of_record(review.edge.record)
        doubt = next((person.doubt for person in (*writers, *carriers) if person.doubt), "")
        if doubt:
            return f"a commit with it or with the code does not certainly say who made it: {doubt}"
        names = frozenset[str]().union(*(person.names for person in writers))
        reviewers = [
            name
            for name in (
                review.reviewer,
                session.text("agent_name") if session is not None else None,
            )
            if name
        ]
        same = next((name for name in reviewers if parse_identity(name) & names), None)
        if same is not None:
            return f"{same} contributed to the code"
        carrier = next((person for person in carriers if person.names & names), None)
        if carrier is not None:
            return f"it was recorded by {carrier.label}, who contributed to the code"
        if not diff.is_committed(review.edge.record):
            return None
        committed = frozenset[str]().union(*(person.names for person in carriers))
        other = next((name for name in reviewers if not parse_identity(name) & committed), None)
        if other is not None and carriers:
            return f"it names {other}, but {carriers[0].label} committed it"
        return None

    def _writers(self, diff: TrailDiff, placement: Placement) -> Iterator[Contributors]:
        """Yield the contributors of the records of an edit and of its lines in this branch."""
        lineage = placement.lineage
        edits = [member for member in lineage.members if member.text("action") not in REMAP_ACTIONS]
        for member in edits:
            if diff.is_new(member):
                yield from diff.contributors_of_record(member)
        if not any(diff.is_new(member) for member in edits):
            commit = self._commit(lineage)
            yield from diff.contributors_at(commit) if commit else ()
        yield from diff.contributors_of_commits(self._commits_of_lines(diff, placement))
        if not self._is_committed(diff, placement.path):
            yield diff.user

    def _commit(self, lineage: Lineage) -> str | None:
        if lineage.first.id not in self.locator.resolved_commits:
            self.locator.resolve_commits([lineage])
        resolved = self.locator.resolved_commits.get(lineage.first.id)
        named = next(
            (commit for member in lineage.members if (commit := member.text("commit_hash"))), None
        )
        return resolved.commit if resolved is not None else named

    def _commits_of_lines(self, diff: TrailDiff, placement: Placement) -> frozenset[str]:
        """Return the branch's commits that added lines, or that touched a file which HEAD has not.

        Times of commits play no part: a branch can choose them.
        """
        path = placement.path
        start, end = placement.located.start, placement.located.end
        if self._is_committed(diff, path) and start is not None and end is not None:
            name = _name(diff.repository, self.locator, path)
            with suppress(HistoryUnavailable):
                origins = line_origins(diff.repository, name, diff.head, excluded=(diff.commit,))
                return frozenset(origin.commit for origin in origins[start - 1 : end] if origin)
        return self._commits_of_file(diff, path)

    def _is_committed(self, diff: TrailDiff, path: str) -> bool:
        """Whether HEAD has the lines of a file; a sparse checkout leaves files out on disk."""
        if path not in self._committed:
            project = self.locator.trail.directory.project
            committed = diff.repository.read_file_below(diff.head, project, path)
            try:
                is_same = (
                    committed is not None
                    and Text.from_bytes(committed).lines == read_source(project, path).lines
                )
            except UnreadableFile:
                is_same = not os.path.lexists(project / path)
            self._committed[path] = is_same
        return self._committed[path]

    def _commits_of_file(self, diff: TrailDiff, path: str) -> frozenset[str]:
        """Return the commits of the branch that touched a file."""
        if self._touching is None:
            self._touching = commits_by_file(diff.repository, diff.revisions)
        return self._touching.get(_name(diff.repository, self.locator, path), frozenset())

    def _sessions(self, review: Review, identifier: str | None) -> Iterator[str]:
        """Yield the sessions that gave and recorded a review, and their parents."""
        log = self.locator.trail.log
        pending = [
            session_id
            for session_id in (identifier, review.edge.record.text("session_id"))
            if session_id
        ]
        seen: set[str] = set()
        while pending and len(seen) < _MAX_PARENTS:
            session_id = pending.pop()
            if session_id in seen:
                continue
            seen.add(session_id)
            yield session_id
            session = log.session(session_id)
            parent = session.text("parent_session_id") if session is not None else None
            pending += [parent] if parent else []


def _session_of(review: Review) -> str | None:
    """Return the session at either end of the edge."""
    edge = review.edge
    ends: Iterable[tuple[str, str]] = (
        (edge.source, edge.source_type),
        (edge.target, edge.target_type),
    )
    return next((end for end, kind in ends if kind == NodeType.SESSION), None)


def _is_an_ai(session: LoggedSession, authors: Authors) -> bool:
    """Whether any record of a session names a model; a person's environment names none (R6)."""
    session_authors = [
        authors.of(record.text("environment_hash")) for record in (*session.starts, *session.ends)
    ]
    return any(not author.is_human and author.model != UNKNOWN for author in session_authors)


def _name(repository: Repository, locator: ProjectLocator, path: str) -> str:
    return repository.prefix_of(locator.trail.directory.project) + path
