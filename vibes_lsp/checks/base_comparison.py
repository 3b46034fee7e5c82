"""Detect tampering: compare the trail on disk with a base revision and with HEAD (`base-*`).

The log is append-only and manifest entries are immutable (RFC 12.2, 12.3). A branch can violate
this for what the base has, for what its own earlier commits added, and by a HEAD that differs from
the disk. Both commits are read from git's objects, since attributes and filters change files on
checkout.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from vibes_lsp.checks import base_catalogue
from vibes_lsp.checks.changed_entries import ChangedEntries, changed_entries, split_lines
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Check, Finding, Severity, pluralize
from vibes_lsp.checks.log_lines import LineSet, LinesOnDisk, lines_at
from vibes_lsp.checks.policy_changes import check_policy
from vibes_lsp.checks.reverted_records import Revert, Reverts
from vibes_lsp.errors import BrokenBlob, HistoryUnavailable, MalformedJson
from vibes_lsp.git.contributors import require_whole_branch
from vibes_lsp.git.diff import TreeChange, tree_changes
from vibes_lsp.git.file_changes import commits_by_file
from vibes_lsp.git.log_additions import added_lines, record_id_of
from vibes_lsp.git.objects import TreeEntry
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.canonical_json import object_or_none, same_value
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.audit_dir import (
    AUDIT_FILES,
    CONFIG_NAME,
    LOG_NAME,
    MANIFEST_NAME,
    AuditDir,
)
from vibes_lsp.store.config import LoadedConfig, parse_config
from vibes_lsp.store.reasoning import blob_name_matches, unpacked
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME
from vibes_lsp.trail.lineage_groups import repeated
from vibes_lsp.trail.records import LogRecord

_SHARED_FILES: Final = frozenset(
    {
        *AUDIT_FILES,
        ".gitignore",
        ".gitattributes",
        "attestation.json",
        "attestation.json.ots",
        "attestation.intoto.jsonl",
        "attestation.intoto.jsonl.ots",
    }
)
_OWN_BLOB: Final = re.compile(r"blobs/[0-9a-f]{64}\.json\.gz")


@dataclass(frozen=True, slots=True)
class Revisions:
    """The two commits that are compared with the trail on disk; both are whole hashes."""

    repository: Repository
    base: str
    head: str


def check_base(
    context: CheckContext, revision: str, changes: Mapping[str, TreeChange] | None = None
) -> Iterator[Finding]:
    """Yield findings about records, entries, policy and files that differ from the base.

    Args:
        context: The trail.
        revision: The base.
        changes: What differs between the base and HEAD, if it is known.

    Raises:
        HistoryUnavailable: There is no repository, the revision names no commit, or a shallow clone
            lacks commits since then.
    """
    repository = context.repository
    if repository is None:
        raise HistoryUnavailable("--base requires a git repository", hint="run it in a work tree")
    revisions = Revisions(repository, repository.resolve(revision), repository.resolve("HEAD"))
    require_whole_branch(repository, revisions.head, revisions.base)
    yield from _symbolic_links(context)
    before = policy_at(repository, context.directory, revisions.base)
    yield from check_policy(context, before, context.config, revisions.base)
    committed = _committed_policy(context, revisions)
    if committed is not None:
        yield from check_policy(context, before, committed, revisions.base, " in HEAD")
    on_disk = LinesOnDisk(context.directory)
    reverts = Reverts(
        repository, context.directory, revisions.base, revisions.head, context.trail.log
    )
    yield from _base_records(context, revisions, on_disk, reverts)
    base_entries = _entries_at(context, revisions, revisions.base)
    yield from _base_entries(context, revisions.base, base_entries, reverts)
    if changes is None:
        changes = tree_changes(
            repository, revisions.base, revisions.head, context.directory.project
        )
    yield from _file_modes(context, changes)
    yield from _nested_trails(context, revisions, changes)
    yield from _committed_log(context, revisions, on_disk)
    head_entries = _entries_at(context, revisions, revisions.head)
    yield from _committed_manifest(context, head_entries, base_entries)
    yield from _branch_records(context, revisions, on_disk, reverts)
    yield from _branch_entries(context, revisions, reverts)
    yield from _duplicate_records(context, revisions)


def policy_at(repository: Repository, directory: AuditDir, commit: str) -> LoadedConfig:
    """Return the policy of a commit; an empty one if the commit has none.

    Raises:
        HistoryUnavailable: Git cannot be run.
    """
    content = read_audit_file(repository, directory, commit, CONFIG_NAME)
    return LoadedConfig() if content is None else parse_config(content)


def read_audit_file(
    repository: Repository, directory: AuditDir, commit: str, name: str
) -> bytes | None:
    """Return a file of the trail as a commit has it; symbolic links on disk are not followed."""
    return repository.read_file_below(commit, directory.project, f"{directory.path.name}/{name}")


def _same_entry(committed: Members | None, on_disk: Members | None) -> bool:
    """Whether two entries are equal except `created_at`, which keys do not cover (RFC 5.2)."""
    if committed is None or on_disk is None:
        return False
    return same_value({**committed, "created_at": None}, {**on_disk, "created_at": None})


def _committed_policy(context: CheckContext, revisions: Revisions) -> LoadedConfig | None:
    """Return the policy of HEAD if it differs from the one on disk."""
    content = read_audit_file(revisions.repository, context.directory, revisions.head, CONFIG_NAME)
    if content is None or split_lines(content) == split_lines(context.config.data):
        return None
    return parse_config(content)


# --- the base against the disk -----------------------------------------------------------------


def _symbolic_links(context: CheckContext) -> Iterator[Finding]:
    if context.directory.path.is_symlink():
        yield Finding(
            base_catalogue.BASE_FILE,
            "the audit directory is a symbolic link",
            context.directory.path.name,
        )
    for name in AUDIT_FILES:
        if (context.directory.path / name).is_symlink():
            yield Finding(
                base_catalogue.BASE_FILE, f"{name} is a symbolic link", context.relative_name(name)
            )


def _base_records(
    context: CheckContext, revisions: Revisions, on_disk: LinesOnDisk, reverts: Reverts
) -> Iterator[Finding]:
    base_lines = lines_at(context.directory, revisions.repository, revisions.base)
    for number, line in on_disk.missing(base_lines):
        record = object_or_none(line)
        if record is None:
            continue
        identifier = text(record, "annotation_id") or annotation_id(record)
        now = context.trail.log.by_id(identifier)
        where = f"record {identifier[:8]} (line {number} of commit {revisions.base[:8]})"
        if now is None and (revert := reverts.of_record(line)) is not None:
            yield _reverted(context, base_catalogue.BASE_RECORD, where, revert)
        elif now is None:
            yield context.in_log(
                base_catalogue.BASE_RECORD, f"{where} was removed, or changed together with its id"
            )
        elif not same_value(now.members, record):
            yield context.in_log(base_catalogue.BASE_RECORD, f"{where} was changed", now.line)


def _reverted(context: CheckContext, check: Check, where: str, revert: Revert) -> Finding:
    is_record = check is base_catalogue.BASE_RECORD
    return Finding(
        check,
        f"{where} was removed {revert.words}",
        context.relative_name(LOG_NAME) if is_record else context.manifest_name,
        override=Severity.NOTE,
    )


def _base_entries(
    context: CheckContext, base: str, before: ChangedEntries, reverts: Reverts
) -> Iterator[Finding]:
    manifest = context.trail.manifest
    for key in before.entries:
        entry = before.entry(key)
        if key not in manifest and (revert := reverts.of_entry(key)) is not None:
            where = f"entry {key[:8]} of commit {base[:8]}"
            yield _reverted(context, base_catalogue.BASE_ENTRY, where, revert)
        elif key not in manifest:
            yield Finding(
                base_catalogue.BASE_ENTRY,
                f"entry {key[:8]} of commit {base[:8]} was removed",
                context.manifest_name,
            )
        elif entry is not None and not _same_entry(entry, manifest.entry(key)):
            yield context.in_entry(
                base_catalogue.BASE_ENTRY,
                f"entry {key[:8]} of commit {base[:8]} was changed",
                key,
            )


def _entries_at(context: CheckContext, revisions: Revisions, commit: str) -> ChangedEntries:
    directory = context.directory
    name = f"{directory.path.name}/{MANIFEST_NAME}"
    return changed_entries(
        revisions.repository, commit, directory.project, name, context.trail.manifest
    )


# --- HEAD against the base and the disk --------------------------------------------------------


def _file_modes(context: CheckContext, changes: Mapping[str, TreeChange]) -> Iterator[Finding]:
    folder = context.directory.path.name
    whole = changes.get(folder)
    if (
        whole is not None
        and whole.now is not None
        and not _has_mode(whole.before, whole.now)
        and not context.directory.path.is_symlink()
    ):
        message = f"the audit directory is {_mode_name(whole.now)} in HEAD"
        yield Finding(base_catalogue.BASE_FILE, message, folder)
    for name in AUDIT_FILES:
        change = changes.get(f"{folder}/{name}")
        if (
            change is None
            or change.now is None
            or change.now.is_file
            or _has_mode(change.before, change.now)
        ):
            continue
        if not (context.directory.path / name).is_symlink():
            yield Finding(
                base_catalogue.BASE_FILE,
                f"{name} is {_mode_name(change.now)} in HEAD",
                context.relative_name(name),
            )
    for path, change in changes.items():
        if path.startswith(f"{folder}/") and change.now is not None:
            yield from _other_files(context, path, change.now)


def _other_files(context: CheckContext, path: str, now: TreeEntry) -> Iterator[Finding]:
    """Yield a finding about a file that is not one of a trail: code could hide there."""
    inside = path.partition("/")[2]
    if inside in _SHARED_FILES:
        return
    if inside.startswith(("wal/", "spool/", "audit.db")) or inside.endswith(".lock"):
        message = "the branch contains this file, which is for one machine only"
        yield Finding(base_catalogue.BASE_FILE, message, path)
    elif not _OWN_BLOB.fullmatch(inside):
        message = "this is not a file of a trail; annotations in it are gated as in other files"
        yield Finding(base_catalogue.BASE_FILE, message, path, override=Severity.WARNING)
    elif not _fits_its_name(context, path, now):
        message = "the name of this blob is not the hash of its content"
        yield Finding(base_catalogue.BASE_FILE, message, path, override=Severity.WARNING)


def _fits_its_name(context: CheckContext, path: str, now: TreeEntry) -> bool:
    repository = context.repository
    content = None if repository is None else repository.objects.contents(now.id)
    try:
        return content is not None and blob_name_matches(path, unpacked(content, path), {})
    except BrokenBlob:
        return False


def _has_mode(before: TreeEntry | None, now: TreeEntry) -> bool:
    return before is not None and before.mode == now.mode


def _mode_name(entry: TreeEntry) -> str:
    return "a submodule" if entry.is_submodule else "not a regular file"


def _nested_trails(
    context: CheckContext, revisions: Revisions, changes: Mapping[str, TreeChange]
) -> Iterator[Finding]:
    """Yield trails in subfolders: files below them belong to the nearest trail, not to this one."""
    objects = revisions.repository.objects
    prefix = revisions.repository.prefix_of(context.directory.project)

    def has_folder(commit: str, folder: str) -> bool:
        entry = objects.entry(commit, prefix + folder)
        return entry is not None and entry.is_folder

    for folder, changed in _trails_below(changes, context.directory.path.name).items():
        was_there = any(change.before for change in changed) or has_folder(revisions.base, folder)
        if not (any(change.now for change in changed) or has_folder(revisions.head, folder)):
            continue
        if not was_there:
            yield Finding(
                base_catalogue.BASE_TRAIL, "the branch adds an audit trail for this folder", folder
            )
        else:
            message = "the branch changes this trail; run the gate in its folder too"
            yield Finding(base_catalogue.BASE_TRAIL, message, folder, override=Severity.WARNING)


def _trails_below(
    changes: Mapping[str, TreeChange], own: str
) -> Mapping[str, Sequence[TreeChange]]:
    """Return what changed in each other audit directory, by its path."""
    changes_by_folder: dict[str, list[TreeChange]] = defaultdict(list)
    for name, change in changes.items():
        parts = name.split("/")
        depth = next(
            (number for number, part in enumerate(parts) if part.casefold() == AUDIT_DIR_NAME), None
        )
        if depth is not None and parts[: depth + 1] != [own]:
            changes_by_folder["/".join(parts[: depth + 1])].append(change)
    return changes_by_folder


def _committed_log(
    context: CheckContext, revisions: Revisions, on_disk: LinesOnDisk
) -> Iterator[Finding]:
    repository, directory = revisions.repository, context.directory
    missing = on_disk.missing(lines_at(directory, repository, revisions.head))
    first = next(missing, None)
    if first is None:
        return
    # a line of the base has its own finding
    base = LineSet(lines_at(directory, repository, revisions.base))
    count = sum(line not in base for _, line in chain((first,), missing))
    if count:
        lines_are = pluralize(count, "log line of HEAD is", "log lines of HEAD are")
        message = f"{lines_are} missing on disk"
        yield context.in_log(base_catalogue.BASE_CHECKOUT, message)


def _committed_manifest(
    context: CheckContext, committed: ChangedEntries, base: ChangedEntries
) -> Iterator[Finding]:
    if committed.is_broken:
        yield Finding(
            base_catalogue.BASE_CHECKOUT,
            "the manifest of HEAD cannot be read",
            context.manifest_name,
        )
    for key, raw in committed.entries.items():
        if base.entries.get(key) == raw:  # it has its own finding
            continue
        if not _same_entry(committed.entry(key), context.trail.manifest.entry(key)):
            yield context.in_entry(
                base_catalogue.BASE_CHECKOUT,
                f"entry {key[:8]} of HEAD is missing or different on disk",
                key,
            )


# --- the commits of the branch against the disk ------------------------------------------------


def _branch_records(
    context: CheckContext, revisions: Revisions, on_disk: LinesOnDisk, reverts: Reverts
) -> Iterator[Finding]:
    """Yield records that a commit since the base added and a later one changed or removed."""
    missing: dict[str, dict[bytes, str]] = defaultdict(dict)
    for added, commit in _lines_of_branch(context, revisions):
        line = added.rstrip(b"\r\n")
        if line not in on_disk and (identifier := record_id_of(line)):
            missing[identifier].setdefault(line, commit)
    for identifier, lines in sorted(missing.items()):
        records = list(context.trail.log.with_id(identifier))
        for line, commit in lines.items():
            where = f"record {identifier[:8]}, added in commit {commit[:8]},"
            if not records and (revert := reverts.of_record(line)) is not None:
                yield _reverted(context, base_catalogue.BASE_RECORD, where, revert)
                break
            if not records:
                yield context.in_log(base_catalogue.BASE_RECORD, f"{where} was removed")
                break
            if not any(same_value(object_or_none(line), record.members) for record in records):
                yield context.in_log(
                    base_catalogue.BASE_RECORD, f"{where} was changed", records[0].line
                )


def _lines_of_branch(context: CheckContext, revisions: Revisions) -> Iterator[tuple[bytes, str]]:
    try:
        name = revisions.repository.relative_path(context.directory.log)
    except ValueError:  # the log is a link out of the repository, which has its own finding
        return
    branch = (revisions.head, f"^{revisions.base}")
    yield from added_lines(revisions.repository, branch, name)


def _branch_entries(
    context: CheckContext, revisions: Revisions, reverts: Reverts
) -> Iterator[Finding]:
    """Yield entries that a commit since the base added and a later one changed or removed."""
    manifest, repository, directory = (
        context.trail.manifest,
        revisions.repository,
        context.directory,
    )
    seen: set[tuple[str, bytes]] = set()
    name = f"{repository.prefix_of(directory.project)}{directory.path.name}/{MANIFEST_NAME}"
    branch = (revisions.head, f"^{revisions.base}")
    for commit in sorted(commits_by_file(repository, branch, [name]).get(name, ())):
        for key, entry in _entries_at(context, revisions, commit).entries.items():
            if (key, entry) in seen:
                continue
            seen.add((key, entry))
            where = f"entry {key[:8]}, added in commit {commit[:8]},"
            if key not in manifest and (revert := reverts.of_entry(key)) is not None:
                yield _reverted(context, base_catalogue.BASE_ENTRY, where, revert)
            elif key not in manifest:
                yield Finding(
                    base_catalogue.BASE_ENTRY, f"{where} was removed", context.manifest_name
                )
            elif not _same_entry(object_or_none(entry), manifest.entry(key)):
                yield context.in_entry(base_catalogue.BASE_ENTRY, f"{where} was changed", key)


def _duplicate_records(context: CheckContext, revisions: Revisions) -> Iterator[Finding]:
    """Yield records that share an id but differ, unless the base has all of them.

    Readers use only the first one (R3), so a copy above it would replace it.
    """
    log = context.trail.log
    first_records: dict[str, LogRecord] = {}
    base: LineSet | None = None
    lines = sorted(line for same in repeated(log) for line, _ in same)
    for _, record in log.decode(lines):
        if isinstance(record, MalformedJson):
            continue
        first = first_records.setdefault(record.id, record)
        if first is record or same_value(first.members, record.members):
            continue
        if base is None:
            base = LineSet(lines_at(context.directory, revisions.repository, revisions.base))
        if not all(log.raw(copy.line) in base for copy in (first, record)):
            message = f"record {record.id[:8]} is on line {first.line} too, with different content"
            yield context.in_log(base_catalogue.BASE_RECORD, message, record.line)
