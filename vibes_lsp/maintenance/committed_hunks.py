"""Write the commits of hunks into the log (R4) at a price that the next commit does not feel.

A hunk stands in the commit that brought its record just as the record says, so nothing is searched.
What does not is left to `maintenance.backfill`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from vibes_lsp.anchors.line_hashes import line_hash, split_hashes
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.log_additions import added_lines, record_id_of
from vibes_lsp.git.repository import Repository
from vibes_lsp.maintenance.superseding_records import SupersedingRecords
from vibes_lsp.model.canonical_json import object_or_none
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import Members, integer, text
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import Action, BackfillWhen, SupersedesReason
from vibes_lsp.store.audit_dir import AuditDir

CLOCK_SKEW: Final = timedelta(days=1)
"""How far the clock of a committer may be behind the clock of a recorder."""


def is_allowed(repository: Repository, commit: str, head: str, when: BackfillWhen) -> bool:
    """Whether a commit may be written into the log. Never HEAD, which may be amended."""
    if commit == head or when != BackfillWhen.LANDED:
        return commit != head
    branch = repository.upstream_commit()
    return branch is not None and repository.is_ancestor(commit, branch)


def committed_hunks(
    directory: AuditDir,
    repository: Repository,
    head: str,
    lines: Mapping[str, bytes],
    when: BackfillWhen,
) -> tuple[SupersedingRecords, bool]:
    """Return the records for the commits of pending hunks, and whether others are left.

    Args:
        directory: The trail.
        repository: Its repository.
        head: The commit of HEAD.
        lines: The lines of the log that have the hunks, by id.
        when: Which commits may be written.

    Raises:
        HistoryUnavailable: Git fails.
    """
    new, is_any_left = SupersedingRecords(SupersedesReason.COMMIT), False
    records = {identifier: object_or_none(line) or {} for identifier, line in lines.items()}
    commits = _commits(directory, repository, records)
    boundary = repository.shallow_boundary()
    prefix = repository.prefix_of(directory.project)
    for identifier, record in records.items():
        commit = commits.get(identifier)
        if commit is None or not is_allowed(repository, commit, head, when):
            continue
        path, made = text(record, "file_path") or "", repository.objects.commit(commit)
        content = (
            repository.objects.contents(f"{commit}:{prefix}{normal_path(path)}")
            if can_be_in_project(path)
            else None
        )
        if commit in boundary or content is None or made is None or not _stands(record, content):
            is_any_left = True
            continue
        changes: Members = {
            "action": Action.REBASE_REMAP.value,
            "file_content_hash": sha256(content),
        }
        new.add(identifier, record, changes, commit, made.moment)
    return new, is_any_left


def _commits(
    directory: AuditDir, repository: Repository, records: Mapping[str, Members]
) -> Mapping[str, str]:
    """Return the oldest commit that has each record."""
    moments = [parse_timestamp(text(record, "timestamp") or "") for record in records.values()]
    since = min((moment for moment in moments if moment is not None), default=None)
    revisions = ["HEAD"]
    if since is not None:
        revisions.insert(0, f"--since={int((since - CLOCK_SKEW).timestamp())}")
    commits: dict[str, str] = {}
    name = repository.relative_path(directory.log)
    for line, commit in added_lines(repository, revisions, name):
        if (identifier := record_id_of(line)) in records:
            commits.setdefault(identifier, commit)
    return commits


def _stands(record: Members, content: bytes) -> bool:
    """Whether the lines of a hunk are in a file where the record says."""
    start, end = integer(record, "line_start"), integer(record, "line_end")
    hashes = split_hashes(record.get("line_hashes"))
    if not hashes or start is None or end is None or start < 1:
        return False
    return hashes == tuple(map(line_hash, Text.from_bytes(content).lines[start - 1 : end]))
