"""Check all lineages (R4, R7): causes, remaps and commits, without keeping their records.

Most annotations are a lineage by themselves, whose facts come from the one record. The others are
those that a supersedes edge may join, and those whose id occurs twice: they are grouped by the
index of the log, and decoded some groups at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, Severity, pluralize
from vibes_lsp.git.commit_resolution import CommitResolver
from vibes_lsp.model.vocabulary import (
    IMPORTED_FROM,
    REMAP_ACTIONS,
    Action,
    EdgeType,
)
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import recorded_commit, resolve_commits
from vibes_lsp.trail.lineage_groups import LineageGroups, build_group
from vibes_lsp.trail.records import LogRecord

Rank: TypeAlias = tuple[datetime, int]

_LINES_AT_ONCE: Final = 8_192
_RESOLVED_AT_ONCE: Final = 100_000
"""Lineages whose commits are searched at once: some 70 MB."""
_RESOLVING_MEMBERS: Final = ("type", "action", "file_path", "timestamp", "commit_hash")
"""What the search for the commit of an annotation reads of its record."""


@dataclass
class LineageFacts:
    """What is known of some lineages.

    Attributes:
        count: Their number.
        uncaused: The number of edits without a cause.
        first_uncaused: The rank of the oldest of these.
        imported: The number of lineages that were imported from another tool.
        uncommitted: The lines of single records without a commit.
        joined_uncommitted: Lineages of several records, none of which names a commit.
        first_uncommitted: The rank of the oldest lineage without a commit.
    """

    count: int = 0
    uncaused: int = 0
    first_uncaused: Rank | None = None
    imported: int = 0
    uncommitted: array[int] = field(default_factory=lambda: array("q"))
    joined_uncommitted: list[Lineage] = field(default_factory=list)
    first_uncommitted: Rank | None = None

    def add_record(self, record: LogRecord, caused: Container[int]) -> None:
        """Add the lineage of an annotation that is the only one of its lineage.

        Args:
            record: The annotation.
            caused: The lines of annotations with a cause.
        """
        self.count += 1
        self.imported += IMPORTED_FROM in record.members
        if record.line not in caused and record.members.get("action") != Action.REVIEW:
            self.uncaused += 1
            self.first_uncaused = _least(self.first_uncaused, record.rank)
        if not record.text("commit_hash"):
            self.uncommitted.append(record.line)
            self.first_uncommitted = _least(self.first_uncommitted, record.rank)

    def add_lineage(self, lineage: Lineage, caused: Container[int]) -> None:
        """Add a lineage of any records; see `add_record`."""
        self.count += 1
        if lineage.action != Action.REVIEW and not any(
            member.line in caused for member in lineage.members
        ):
            self.uncaused += 1
            self.first_uncaused = _least(self.first_uncaused, lineage.first.rank)
        self.imported += IMPORTED_FROM in lineage.first.members
        if recorded_commit(lineage) is None:
            self.joined_uncommitted.append(
                Lineage(tuple(map(_slim, lineage.members)), _slim(lineage.current))
            )
            self.first_uncommitted = _least(self.first_uncommitted, lineage.first.rank)


def _least(left: Rank | None, right: Rank | None) -> Rank | None:
    if left is None or right is None:
        return left or right
    return min(left, right)


def _slim(record: LogRecord) -> LogRecord:
    members = record.members
    return msgspec.structs.replace(
        record, members={name: members[name] for name in _RESOLVING_MEMBERS if name in members}
    )


def joined_facts(context: CheckContext, groups: LineageGroups) -> LineageFacts:
    """Return the facts of all lineages that may have several records."""
    log, facts = context.trail.log, LineageFacts()
    nearest = None if context.repository is None else context.repository.nearest_ancestor
    batches = list(groups.joined_batches())
    for number, batch in enumerate(batches):
        caused = log.sources_among(batch[0], EdgeType.CAUSED_BY)
        for lineage in build_group(log, batch, nearest):
            facts.add_lineage(lineage, caused)
        context.progress("lineages", number, len(batches))
    return facts


def all_facts(context: CheckContext) -> LineageFacts:
    """Return the facts of all lineages; decodes every annotation."""
    groups = LineageGroups(context.trail.log)
    facts = joined_facts(context, groups)
    log, single = context.trail.log, groups.single_annotations()
    while lines := list(islice(single, _LINES_AT_ONCE)):
        caused = log.sources_among(lines, EdgeType.CAUSED_BY)
        for line, record in log.decode(lines):
            if isinstance(record, LogRecord):
                facts.add_record(record, caused)
            else:
                log.undecodable[line] = record.reason
    return facts


def check_causes(context: CheckContext, facts: LineageFacts) -> Iterator[Finding]:
    """Yield one finding about all edits without a cause; lineage members share edges (R7)."""
    if facts.first_uncaused is not None:
        message = f"{facts.uncaused:,} of {facts.count:,} annotations have no caused_by edge"
        yield context.in_log(catalogue.CAUSE_MISSING, message, facts.first_uncaused[1])


def check_remap(
    context: CheckContext, record: LogRecord, groups: LineageGroups
) -> Iterator[Finding]:
    """Yield a remapped record without a supersedes edge; for an orphan it is only recommended."""
    action = record.text("action")
    if (
        action in REMAP_ACTIONS
        and record.line not in groups.copies
        and not context.trail.log.sources_among([record.line], EdgeType.SUPERSEDES)
    ):
        message = f"the {action} record has no supersedes edge"
        weight = None if action == Action.REBASE_REMAP else Severity.WARNING
        yield context.in_log(catalogue.REMAP_EDGE, message, record.line, "action", weight)


def check_commits(context: CheckContext, facts: LineageFacts) -> Iterator[Finding]:
    """Yield a finding about annotations newer than HEAD, and one about those without any commit."""
    if facts.first_uncommitted is None:
        return
    repository = context.repository
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        reason = (
            "there is no git repository" if repository is None else "the repository has no commits"
        )
        number = len(facts.uncommitted) + len(facts.joined_uncommitted)
        count = pluralize(number, "annotation has", "annotations have")
        message = f"{count} no commit, and it cannot be derived: {reason}"
        yield _commit_unknown(context, facts.first_uncommitted[1], message, Severity.NOTE)
        return
    since = repository.commit_time(head)
    fresh: list[Rank] = []
    stale: list[Rank] = []
    resolver = CommitResolver(repository, context.directory.project, context.directory.log)
    pending = _uncommitted(context, facts)
    while batch := list(islice(pending, _RESOLVED_AT_ONCE)):
        derived = resolve_commits(batch, resolver)
        for lineage in batch:
            if lineage.first.id not in derived:
                (fresh if lineage.first.moment >= since else stale).append(lineage.rank)
    if fresh:
        count = pluralize(len(fresh), "annotation is", "annotations are")
        message = f"{count} newer than HEAD and not committed yet"
        yield _commit_unknown(context, min(fresh)[1], message, Severity.NOTE)
    if stale:
        count = pluralize(len(stale), "annotation", "annotations")
        message = f"the commit of {count} is neither recorded nor derivable"
        yield _commit_unknown(context, min(stale)[1], message)


def _uncommitted(context: CheckContext, facts: LineageFacts) -> Iterator[Lineage]:
    yield from facts.joined_uncommitted
    for _, record in context.trail.log.decode(facts.uncommitted):
        if isinstance(record, LogRecord):
            slim = _slim(record)
            yield Lineage((slim,), slim)


def _commit_unknown(
    context: CheckContext, line: int, message: str, override: Severity | None = None
) -> Finding:
    return context.in_log(catalogue.COMMIT_UNKNOWN, message, line, "commit_hash", override)
