"""Checks of the three files (RFC 4.1, 6.1, 7.10, 8.1) and of what git does with them (R13)."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Check, Finding, Severity, pluralize
from vibes_lsp.errors import HistoryUnavailable, MalformedJson, VibesError
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.json_positions import find_character, find_member
from vibes_lsp.model.members import text
from vibes_lsp.model.validation import Problem
from vibes_lsp.store.initialise import IGNORE_LINES, REQUIRED_ATTRIBUTES, missing_attributes
from vibes_lsp.store.manifest import Manifest, ManifestForm, conflicting_keys
from vibes_lsp.store.manifest_format import check_strict
from vibes_lsp.store.versions import STANDARD, SUPPORTED_MAJOR, major_version, may_write


def check_config(context: CheckContext) -> Iterator[Finding]:
    """Findings about `config.json`."""
    config, name = context.config, context.config_name
    if not config.present:
        yield Finding(catalogue.CONFIG_MISSING, "config.json is missing", name)
    elif config.problem is not None:
        yield _broken(catalogue.CONFIG_JSON, config.problem, name)
    source = config.data.decode("utf-8", "replace")
    for problem in config.problems:
        yield _field(problem, source, name)
    declared = text(config.members, "standard_version")
    if declared is not None:
        yield from _version(declared, name, source, "standard_version")


def _field(problem: Problem, source: str, name: str) -> Finding:
    path = problem.field.split(".")
    character = None if problem.offset is None else find_character(source, path, problem.offset)
    place = character or find_member(source, path) or (1, None)
    message = f"{problem.field}: {problem.message}"
    weight = (
        Severity.WARNING if problem.kind == "unknown" else None
    )  # the standard allows it, we do not know it
    return Finding(
        catalogue.CONFIG_FIELD,
        message,
        name,
        place[0],
        problem.field,
        weight,
        place[1] if character else None,
    )


def check_manifest(context: CheckContext) -> Iterator[Finding]:
    """Findings about the frame of `manifest.json` and about the journal."""
    manifest, name = context.trail.manifest, context.manifest_name
    if manifest.form == ManifestForm.ABSENT:
        published = context.repository is None or not context.repository.is_ignored(
            context.directory.manifest
        )
        words = (
            "manifest.json is missing"
            if published
            else "manifest.json is not published: git ignores it"
        )
        yield Finding(
            catalogue.MANIFEST_MISSING, words, name, override=None if published else Severity.NOTE
        )
    elif manifest.problem is not None:
        yield _broken(catalogue.MANIFEST_JSON, manifest.problem, name)
    elif manifest.form == ManifestForm.JSONL:
        yield Finding(
            catalogue.MANIFEST_JSONL,
            f"{pluralize(len(manifest), 'entry', 'entries')} in JSONL form",
            name,
        )
    else:
        yield from _frame(context)
        yield from _outside_entries(manifest, name)
    for key, line in conflicting_keys(manifest.data):
        yield Finding(
            catalogue.MANIFEST_DUPLICATE,
            f"entry {key[:16]} stands here again, with another content",
            name,
            line,
        )
    for journal, problem in manifest.journal_problems:
        message = problem.reason if isinstance(problem, MalformedJson) else problem.message
        yield Finding(
            catalogue.JOURNAL_BROKEN,
            message,
            context.relative_name(f"{context.directory.journal.name}/{journal}"),
        )
    if manifest.pending:
        yield Finding(
            catalogue.JOURNAL_PENDING,
            f"{pluralize(len(manifest.pending), 'entry waits', 'entries wait')} to be folded in",
            name,
        )


def check_log(context: CheckContext) -> Iterator[Finding]:
    """Findings about the log as a file: its lines, its end."""
    log, name = context.trail.log, context.log_name
    if log.problem is not None:
        yield _broken(catalogue.FILE_UNREADABLE, log.problem, name)
        return
    if not context.directory.log.exists():
        yield Finding(catalogue.LOG_MISSING, "annotations.jsonl is missing", name)
    for broken in log.columns.broken:
        marker = broken.reason.startswith("merge-conflict")
        check = catalogue.CONFLICT_MARKER if marker else catalogue.LOG_LINE
        yield context.in_log(check, broken.reason, broken.line)
    if log.unterminated:
        yield context.in_log(catalogue.LOG_END, "the last record has no newline", len(log.columns))
    elif log.incomplete_tail():
        yield context.in_log(
            catalogue.LOG_END,
            "the last record was never finished; it is not read",
            len(log.columns) + 1,
        )


def existing_files(context: CheckContext) -> list[str]:
    """Return the names of the three files that are there, in the order of the guide."""
    directory = context.directory
    wanted: tuple[Path, ...] = (directory.config, directory.manifest, directory.log)
    return [path.name for path in wanted if path.exists()]


def _frame(context: CheckContext) -> Iterator[Finding]:
    manifest, name = context.trail.manifest, context.manifest_name
    source = manifest.data.decode("utf-8", "replace")
    for field, value in (("standard", manifest.standard), ("version", manifest.version)):
        if value is None:
            yield Finding(catalogue.MANIFEST_FRAME, f"{field} is missing", name, 1, field)
        elif not isinstance(value, str) or (field == "standard" and value != STANDARD):
            place = find_member(source, [field])
            yield Finding(
                catalogue.MANIFEST_FRAME,
                f"{field} is {str(value)[:40]!r}",
                name,
                place[0] if place else 1,
                field,
            )
    if isinstance(manifest.version, str):
        yield from _version(manifest.version, name, source, "version")


def _outside_entries(manifest: Manifest, name: str) -> Iterator[Finding]:
    """Say what keeps the manifest from being rewritten (R10) where no entry is at fault: those are checked one by one."""
    try:
        check_strict(manifest)
    except MalformedJson as error:
        entries = all(manifest.entry(key) is not None for key in manifest.stored)
        if entries and not conflicting_keys(manifest.data):
            yield _broken(catalogue.MANIFEST_JSON, error, name)


def _version(declared: str, name: str, source: str, field: str) -> Iterator[Finding]:
    if may_write(declared):
        return
    place = find_member(source, [field])
    what = (
        "is no version"
        if major_version(declared) is None
        else f"is not a version {SUPPORTED_MAJOR}"
    )
    message = f"{field} {declared[:40]!r} {what}: read as far as possible, never written"
    yield Finding(catalogue.VERSION_UNSUPPORTED, message, name, place[0] if place else 1, field)


def _broken(check: Check, problem: VibesError, name: str) -> Finding:
    if not isinstance(problem, MalformedJson):
        return Finding(catalogue.FILE_UNREADABLE, problem.message, name)
    marker = problem.reason.startswith("merge-conflict")
    return Finding(
        catalogue.CONFLICT_MARKER if marker else check, problem.reason, name, problem.line
    )


def check_git_setup(context: CheckContext) -> Iterator[Finding]:
    """Findings about `.gitignore`, `.gitattributes` and what is tracked."""
    if context.repository is None:
        return
    yield from _check_ignored(context, context.repository)
    yield from _check_attributes(context, context.repository)
    try:
        tracked = context.repository.tracked_files(context.directory.path)
    except HistoryUnavailable:
        return
    for name in sorted(tracked):
        if any(fnmatch(name, pattern) or name.startswith(pattern) for pattern in IGNORE_LINES):
            yield Finding(catalogue.GIT_DERIVED, f"{name} is tracked", context.relative_name(name))
    directory = context.directory
    for path in (directory.config, directory.manifest, directory.log):
        if path.name not in tracked and path.is_file() and context.repository.is_ignored(path):
            weight = Severity.NOTE if path == directory.manifest else None
            yield Finding(
                catalogue.GIT_IGNORED,
                f"git ignores {path.name}",
                context.relative_name(path.name),
                override=weight,
            )


def _check_ignored(context: CheckContext, repository: Repository) -> Iterator[Finding]:
    directory = context.directory
    folders = [folder for folder in (directory.journal, directory.spool) if folder.is_dir()]
    paths = [directory.database, *(folder / "entry" for folder in folders)]
    file = context.relative_name(directory.gitignore.name)
    taken = [path for path in paths if not repository.is_ignored(path)]
    if taken:
        names = ", ".join(
            path.name if path == directory.database else f"{path.parent.name}/" for path in taken
        )
        yield Finding(catalogue.GIT_IGNORE, f"git does not ignore {names}", file)
    elif not repository.is_ignored_in_every_clone(directory.database):
        message = f"only settings of this machine ignore {directory.database.name}"
        yield Finding(catalogue.GIT_IGNORE, message, file)


def _check_attributes(context: CheckContext, repository: Repository) -> Iterator[Finding]:
    directory = context.directory
    try:
        wrong = [
            path.name
            for path in (directory.log, directory.manifest)
            if repository.attributes(path, REQUIRED_ATTRIBUTES) != REQUIRED_ATTRIBUTES
        ]
    except HistoryUnavailable:
        return
    if not wrong:
        return
    own = missing_attributes(directory)
    message = f"no sufficient line for {', '.join(wrong)}"
    if not any(line.split()[0] in wrong for line in own):
        message = (
            f"another attributes file, such as .git/info/attributes, overrides {', '.join(wrong)}"
        )
    yield Finding(
        catalogue.GIT_ATTRIBUTES, message, context.relative_name(directory.gitattributes.name)
    )
