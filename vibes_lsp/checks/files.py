"""Check the three audit files as files (RFC 4.1, 6.1, 7.10, 8.1) and their git setup (R13)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Check, Finding, Severity, pluralize
from vibes_lsp.errors import HistoryUnavailable, MalformedJson, VibesError
from vibes_lsp.git.attribute_files import attribute_values
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.json_positions import find_character, find_member
from vibes_lsp.model.members import text
from vibes_lsp.model.validation import Problem
from vibes_lsp.store.config import LoadedConfig
from vibes_lsp.store.initialise import IGNORE_LINES, REQUIRED_ATTRIBUTES, missing_attributes
from vibes_lsp.store.manifest import Manifest, ManifestForm, conflicting_keys
from vibes_lsp.store.manifest_format import check_strict
from vibes_lsp.store.versions import STANDARD, SUPPORTED_MAJOR, major_version, may_write

_EXPECTED: Final = {"standard": repr(STANDARD), "version": "a string such as '1.0'"}


def check_config(context: CheckContext) -> Iterator[Finding]:
    """Yield findings about `config.json`."""
    yield from config_findings(context.config, context.config_name)


def config_findings(config: LoadedConfig, name: str) -> Iterator[Finding]:
    """Yield findings about a policy, which may be a text that is being edited.

    Args:
        config: The policy.
        name: The path of its file, relative to the project.
    """
    if not config.present:
        yield Finding(catalogue.CONFIG_MISSING, "config.json is missing", name)
    elif config.problem is not None:
        yield _broken(catalogue.CONFIG_JSON, config.problem, name)
    source = config.data.decode("utf-8", "replace")
    for problem in config.problems:
        yield _field(problem, source, name)
    declared = text(config.members, "standard_version")
    if declared is not None:
        yield from _version(declared, name, config.data, "standard_version")


def _field(problem: Problem, source: str, name: str) -> Finding:
    path = problem.field.split(".")
    character = None if problem.offset is None else find_character(source, path, problem.offset)
    place = character or find_member(source, path) or (1, None)
    message = f"{problem.field}: {problem.message}"
    # the standard allows members that we do not know
    weight = Severity.WARNING if problem.kind == "unknown" else None
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
    """Yield findings about the top level of `manifest.json` and about the journal."""
    manifest, name = context.trail.manifest, context.manifest_name
    if manifest.form == ManifestForm.ABSENT:
        published = context.repository is None or not context.repository.is_ignored(
            context.directory.manifest
        )
        words = (
            "manifest.json is missing"
            if published
            else "manifest.json is not in the repository: git ignores it"
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
            f"entry {key[:8]} occurs again with different content",
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
    if manifest.unfolded:
        yield Finding(
            catalogue.JOURNAL_PENDING,
            pluralize(len(manifest.unfolded), "entry is", "entries are")
            + " not in the manifest yet",
            name,
        )


def check_log(context: CheckContext) -> Iterator[Finding]:
    """Yield findings about the log as a file: invalid lines and its end."""
    log, name = context.trail.log, context.log_name
    if log.problem is not None:
        yield _broken(catalogue.FILE_UNREADABLE, log.problem, name)
        return
    if not context.directory.log.exists():
        yield Finding(catalogue.LOG_MISSING, "annotations.jsonl is missing", name)
    for broken in context.trail.broken_lines():
        marker = broken.reason.startswith("merge-conflict")
        check = catalogue.CONFLICT_MARKER if marker else catalogue.LOG_LINE
        where = ", in what waits for a commit" if log.is_waiting(broken.line) else ""
        yield context.in_log(check, broken.reason + where, broken.line)
    lines = context.trail.line_count
    if log.unterminated:
        yield context.in_log(catalogue.LOG_END, "the last record has no newline", lines)
    elif log.incomplete_tail():
        yield context.in_log(
            catalogue.LOG_END,
            "the last record is incomplete and not read",
            lines + 1,
        )


def existing_files(context: CheckContext) -> list[str]:
    """Return the names of the audit files that exist, in the order of the guide."""
    directory = context.directory
    files: tuple[Path, ...] = (directory.config, directory.manifest, directory.log)
    return [path.name for path in files if path.exists()]


def _frame(context: CheckContext) -> Iterator[Finding]:
    manifest, name = context.trail.manifest, context.manifest_name
    for field, value in (("standard", manifest.standard), ("version", manifest.version)):
        if value is None:
            yield Finding(catalogue.MANIFEST_FRAME, f"{field} is missing", name, 1, field)
        elif not isinstance(value, str) or (field == "standard" and value != STANDARD):
            place = _member(manifest.data, field)
            yield Finding(
                catalogue.MANIFEST_FRAME,
                f"invalid {field} {repr(value)[:40]}: expected {_EXPECTED[field]}",
                name,
                place[0] if place else 1,
                field,
            )
    if isinstance(manifest.version, str):
        yield from _version(manifest.version, name, manifest.data, "version")


def _member(content: bytes, name: str) -> tuple[int, int] | None:
    """Return the place of a member; not called for a sound file, which may be large."""
    return find_member(content.decode("utf-8", "replace"), [name])


def _outside_entries(manifest: Manifest, name: str) -> Iterator[Finding]:
    """Yield what prevents rewriting the manifest (R10), except in entries, checked elsewhere."""
    try:
        check_strict(manifest)
    except MalformedJson as error:
        entries = all(manifest.entry(key) is not None for key in manifest.stored)
        if entries and not conflicting_keys(manifest.data):
            yield _broken(catalogue.MANIFEST_JSON, error, name)


def _version(declared: str, name: str, content: bytes, field: str) -> Iterator[Finding]:
    if may_write(declared):
        return
    place = _member(content, field)
    kind = "invalid" if major_version(declared) is None else "unsupported"
    message = (
        f"{kind} {field} {declared[:40]!r}: expected {SUPPORTED_MAJOR}.x; the file is not written"
    )
    yield Finding(catalogue.VERSION_UNSUPPORTED, message, name, place[0] if place else 1, field)


def _broken(check: Check, problem: VibesError, name: str) -> Finding:
    if not isinstance(problem, MalformedJson):
        return Finding(catalogue.FILE_UNREADABLE, problem.message, name)
    marker = problem.reason.startswith("merge-conflict")
    return Finding(
        catalogue.CONFLICT_MARKER if marker else check, problem.reason, name, problem.line
    )


def check_git_setup(context: CheckContext) -> Iterator[Finding]:
    """Yield findings about `.gitignore`, `.gitattributes` and the files that git tracks."""
    if context.repository is None:
        return
    yield from _check_ignored(context, context.repository)
    yield from _check_attributes(context, context.repository)
    try:
        tracked = _tracked_in_trail(context, context.repository)
    except HistoryUnavailable:
        return
    for name in sorted(tracked):
        if any(fnmatch(name, pattern) or name.startswith(pattern) for pattern in IGNORE_LINES):
            yield Finding(catalogue.GIT_DERIVED, f"git tracks {name}", context.relative_name(name))
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


def _tracked_in_trail(context: CheckContext, repository: Repository) -> frozenset[str]:
    """Return the files of the audit directory that git tracks, relative to it.

    Raises:
        HistoryUnavailable: Git fails.
    """
    folder = context.directory.path
    if folder.is_symlink() or os.path.lexists(folder / ".git"):  # it may be in another repository
        return repository.tracked_files(folder)
    below = f"{folder.name}/"
    return frozenset(name[len(below) :] for name in context.tracked_files if name.startswith(below))


def _check_ignored(context: CheckContext, repository: Repository) -> Iterator[Finding]:
    directory = context.directory
    folders = [folder for folder in (directory.journal, directory.spool) if folder.is_dir()]
    paths = [directory.database, *(folder / "entry" for folder in folders)]
    file = context.relative_name(directory.gitignore.name)
    ignored = repository.ignored(paths)
    not_ignored = [path for path in paths if path not in ignored]
    if not_ignored:
        names = ", ".join(
            path.name if path == directory.database else f"{path.parent.name}/"
            for path in not_ignored
        )
        yield Finding(catalogue.GIT_IGNORE, f"git does not ignore {names}", file)
    elif not ignored[directory.database]:
        message = f"{directory.database.name} is ignored only by settings of this machine"
        yield Finding(catalogue.GIT_IGNORE, message, file)


def _check_attributes(context: CheckContext, repository: Repository) -> Iterator[Finding]:
    directory = context.directory
    try:
        files = (directory.log, directory.manifest)
        values = attribute_values(repository.root, map(str, files), *REQUIRED_ATTRIBUTES)
        wrong = [path.name for path in files if values[str(path)] != REQUIRED_ATTRIBUTES]
    except HistoryUnavailable:
        return
    if not wrong:
        return
    own = missing_attributes(directory)
    message = f"missing attributes for {', '.join(wrong)}"
    if not any(line.split()[0] in wrong for line in own):
        message = (
            f"attributes of {', '.join(wrong)} are overridden, for example in .git/info/attributes"
        )
    yield Finding(
        catalogue.GIT_ATTRIBUTES, message, context.relative_name(directory.gitattributes.name)
    )
