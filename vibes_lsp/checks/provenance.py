"""Does every edit say what caused it, and every remap what it replaces (RFC 7.3.1, 9.2)?"""

from __future__ import annotations

from collections.abc import Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.subject import Subject
from vibes_lsp.index.columns import EDGE_TYPES
from vibes_lsp.index.keys import key_of
from vibes_lsp.model.vocabulary import Action, EdgeType

_REBASED = (Action.REBASE_REMAP, Action.REBASE_ORPHAN)


def check_causes(subject: Subject) -> Iterator[Finding]:
    """One finding about all edits without a cause; an edge of any member of a lineage is one of all (R7)."""
    caused = _sources(subject, EdgeType.CAUSED_BY)
    lines = [
        lineage.first.line
        for lineage in subject.lineages
        if lineage.action != Action.REVIEW and not any(key_of(identifier) in caused for identifier in lineage.ids)
    ]
    if lines:
        message = f"{len(lines):,} of {len(subject.lineages):,} annotations have no caused_by edge"
        yield subject.in_log(catalogue.CAUSE_MISSING, message, lines[0])


def check_remaps(subject: Subject) -> Iterator[Finding]:
    """Findings about remapped records that no supersedes edge ties to their original; an orphan only should have one."""
    tied = _sources(subject, EdgeType.SUPERSEDES)
    for lineage in subject.lineages:
        for member in lineage.members:
            if member.text("action") in _REBASED and key_of(member.id) not in tied:
                message = f"{member.text('action')} without a supersedes edge"
                weight = None if member.text("action") == Action.REBASE_REMAP else Severity.WARNING
                yield Finding(catalogue.REMAP_EDGE, message, subject.log_name, member.line, "action", weight)


def _sources(subject: Subject, kind: EdgeType) -> frozenset[int]:
    columns, code = subject.trail.log.columns, EDGE_TYPES.index(kind)
    return frozenset(key for key, each in zip(columns.edge_sources, columns.edge_types, strict=True) if each == code)
