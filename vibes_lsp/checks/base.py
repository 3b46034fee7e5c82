"""Is everything that a base revision holds still there, unchanged (RFC 12.2, 12.3), and the policy no looser?"""

from __future__ import annotations

from collections.abc import Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.carried import check_carried, check_copies
from vibes_lsp.checks.checkout import Sides, check_checkout, committed_policy, lines_of, log_on_disk, read_trail, same_entry
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.loosening import Change, changes
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import HistoryUnavailable, MalformedJson
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.canonical import parse_object, same_value
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.positions import find_member
from vibes_lsp.store.config import LoadedConfig, parse_config
from vibes_lsp.store.layout import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.manifest import parse_manifest


def check_base(subject: Subject, revision: str) -> Iterator[Finding]:
    """Findings about records and entries of `revision` that are gone or changed, and about a policy that is looser.

    Raises:
        HistoryUnavailable: There is no repository, or the revision names no commit.
    """
    repository = subject.repository
    if repository is None:
        raise HistoryUnavailable("--base needs a git repository", hint="run it inside the work tree")
    commit = repository.resolve(revision)
    sides = Sides(repository, commit, repository.resolve("HEAD"))
    yield from _links(subject)
    before = policy_at(repository, subject.directory, commit)
    yield from _policy(subject, before, subject.config, commit)
    committed = committed_policy(subject, sides)
    if committed is not None:
        yield from _policy(subject, before, committed, commit, " in HEAD")
    yield from _records(subject, repository, commit)
    yield from _entries(subject, repository, commit)
    yield from check_checkout(subject, sides)
    yield from check_carried(subject, sides)
    yield from check_copies(subject, sides)


def policy_at(repository: Repository, directory: AuditDir, commit: str) -> LoadedConfig:
    """Return the policy that a commit holds; one that gives nothing where it holds none.

    Raises:
        HistoryUnavailable: Git cannot be run.
    """
    data = read_trail(repository, directory, commit, CONFIG_NAME)
    return LoadedConfig() if data is None else parse_config(data)


def _links(subject: Subject) -> Iterator[Finding]:
    if subject.directory.path.is_symlink():
        yield Finding(catalogue.BASE_FILE, "the audit directory is a link", subject.directory.path.name)
    for name in (CONFIG_NAME, LOG_NAME, MANIFEST_NAME):
        if (subject.directory.path / name).is_symlink():
            yield Finding(catalogue.BASE_FILE, f"{name} is a link", subject.file(name))


def _policy(subject: Subject, before: LoadedConfig, now: LoadedConfig, commit: str, where: str = "") -> Iterator[Finding]:
    if not before.present:
        return
    if not now.present or now.problem is not None:
        state = "gone" if not now.present else f"broken: {now.problem.message if now.problem else ''}"
        yield Finding(catalogue.BASE_POLICY, f"the policy of {commit[:12]} is {state}{where}", subject.config_name)
        return
    for change in changes(before, now):
        check = catalogue.BASE_LEVEL if change.field == "assurance_level" else catalogue.BASE_POLICY
        override = None if change.loosens else Severity.NOTE
        yield Finding(check, f"{change.sentence}{where}", subject.config_name, _line(now, change), change.field, override)


def _line(config: LoadedConfig, change: Change) -> int | None:
    place = find_member(config.data.decode("utf-8", "replace"), change.field.split("."))
    return None if place is None else place[0]


def _records(subject: Subject, repository: Repository, commit: str) -> Iterator[Finding]:
    kept = frozenset(log_on_disk(subject.directory))
    for number, line in enumerate(lines_of(read_trail(repository, subject.directory, commit, LOG_NAME)), 1):
        record = None if line in kept else _record(line)
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
    before = parse_manifest(read_trail(repository, subject.directory, commit, MANIFEST_NAME))
    for key in before:
        if key in manifest and before.raw(key) == manifest.raw(key):
            continue
        entry = before.entry(key)
        if key not in manifest:
            yield Finding(catalogue.BASE_ENTRY, f"entry {key[:16]} of {commit[:12]} is gone", subject.manifest_name)
        elif entry is not None and not same_entry(entry, manifest.entry(key)):
            yield subject.in_entry(catalogue.BASE_ENTRY, f"entry {key[:16]} was changed since {commit[:12]}", key)


def _record(line: bytes) -> Members | None:
    if not line.strip():
        return None
    try:
        return parse_object(line)
    except MalformedJson:
        return None
