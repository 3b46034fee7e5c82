"""Is everything that a base revision holds still there, unchanged (RFC 12.2, 12.3)?"""

from __future__ import annotations

from collections.abc import Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import HistoryUnavailable, MalformedJson
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.canonical import parse_object, same_value
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.manifest import parse_manifest


def check_base(subject: Subject, revision: str) -> Iterator[Finding]:
    """Findings about records and entries of `revision` that are gone or changed.

    Raises:
        HistoryUnavailable: There is no repository, or the revision names no commit.
    """
    repository = subject.repository
    if repository is None:
        raise HistoryUnavailable("--base needs a git repository", hint="run it inside the work tree")
    commit = repository.resolve(revision)
    yield from _records(subject, repository, commit)
    yield from _entries(subject, repository, commit)


def _records(subject: Subject, repository: Repository, commit: str) -> Iterator[Finding]:
    before = repository.read(commit, subject.directory.log) or b""
    for number, line in enumerate(before.split(b"\n"), 1):
        record = _record(line)
        if record is None:
            continue
        identifier = text(record, "annotation_id") or annotation_id(record)
        now = subject.trail.log.by_id(identifier)
        where = f"record {identifier[:16]} (line {number} at {commit[:12]})"
        if now is None:
            yield subject.in_log(catalogue.BASE_RECORD, f"{where} is gone, or was changed together with its id")
        elif not same_value(now.members, record):
            yield subject.in_log(catalogue.BASE_RECORD, f"{where} was changed", now.line)


def _entries(subject: Subject, repository: Repository, commit: str) -> Iterator[Finding]:
    manifest = subject.trail.manifest
    before = parse_manifest(repository.read(commit, subject.directory.manifest))
    for key in before:
        entry = before.entry(key)
        if key not in manifest:
            yield Finding(catalogue.BASE_ENTRY, f"entry {key[:16]} of {commit[:12]} is gone", subject.manifest_name)
        elif entry is not None and not same_value(entry, manifest.entry(key)):
            yield subject.in_entry(catalogue.BASE_ENTRY, f"entry {key[:16]} was changed since {commit[:12]}", key)


def _record(line: bytes) -> Members | None:
    if not line.strip():
        return None
    try:
        return parse_object(line)
    except MalformedJson:
        return None
