"""Is every annotation tied to a commit, recorded or derived (RFC 9.2, R4, R17)?"""

from __future__ import annotations

from collections.abc import Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, Severity, counted
from vibes_lsp.checks.subject import Subject
from vibes_lsp.index.commits import derive_commits, recorded_commit


def check_commits(subject: Subject) -> Iterator[Finding]:
    """At most two findings: about annotations newer than HEAD, and about those that no commit can be found for."""
    pending = [lineage for lineage in subject.lineages if recorded_commit(lineage) is None]
    if not pending:
        return
    repository = subject.repository
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        where = "there is no git repository" if repository is None else "the repository has no commit"
        message = f"{counted(len(pending), 'annotation records', 'annotations record')} no commit, and {where} to derive it from"
        yield Finding(catalogue.COMMIT_UNKNOWN, message, subject.log_name, pending[0].first.line, "commit_hash", Severity.NOTE)
        return
    since = repository.commit_moment(head)
    derived = derive_commits(pending, repository, subject.directory)
    unknown = [lineage for lineage in pending if lineage.first.id not in derived]
    fresh = [lineage for lineage in unknown if lineage.first.moment >= since]
    stale = [lineage for lineage in unknown if lineage.first.moment < since]
    if fresh:
        message = f"{counted(len(fresh), 'annotation is', 'annotations are')} newer than HEAD and not committed yet"
        yield Finding(catalogue.COMMIT_UNKNOWN, message, subject.log_name, fresh[0].first.line, "commit_hash", Severity.NOTE)
    if stale:
        message = f"the commit of {counted(len(stale), 'annotation', 'annotations')} is neither recorded nor derivable"
        yield Finding(catalogue.COMMIT_UNKNOWN, message, subject.log_name, stale[0].first.line, "commit_hash")
