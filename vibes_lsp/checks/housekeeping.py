"""Does git treat the audit directory as it must (RFC 4.2, R13)? Asked only where the project lies in a work tree."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.repository import Repository
from vibes_lsp.store.housekeeping import IGNORED, NEEDED, missing_attributes


def check_housekeeping(subject: Subject) -> Iterator[Finding]:
    """Findings about `.gitignore`, `.gitattributes` and what is tracked."""
    if subject.repository is None:
        return
    yield from _check_ignored(subject, subject.repository)
    yield from _check_attributes(subject, subject.repository)
    try:
        tracked = subject.repository.tracked(subject.directory.path)
    except HistoryUnavailable:
        return
    for name in sorted(tracked):
        if any(fnmatch(name, pattern) or name.startswith(pattern) for pattern in IGNORED):
            yield Finding(catalogue.GIT_DERIVED, f"{name} is tracked", subject.file(name))
    directory = subject.directory
    for path in (directory.config, directory.manifest, directory.log):
        if path.name not in tracked and path.is_file() and subject.repository.ignores(path):
            weight = Severity.NOTE if path == directory.manifest else None
            yield Finding(catalogue.GIT_IGNORED, f"git ignores {path.name}", subject.file(path.name), override=weight)


def _check_ignored(subject: Subject, repository: Repository) -> Iterator[Finding]:
    directory = subject.directory
    folders = [folder for folder in (directory.journal, directory.spool) if folder.is_dir()]
    paths = [directory.database, *(folder / "entry" for folder in folders)]
    file = subject.file(directory.gitignore.name)
    taken = [path for path in paths if not repository.ignores(path)]
    if taken:
        names = ", ".join(path.name if path == directory.database else f"{path.parent.name}/" for path in taken)
        yield Finding(catalogue.GIT_IGNORE, f"git does not ignore {names}", file)
    elif not repository.ignored_for_all(directory.database):
        message = f"only settings of this machine ignore {directory.database.name}"
        yield Finding(catalogue.GIT_IGNORE, message, file)


def _check_attributes(subject: Subject, repository: Repository) -> Iterator[Finding]:
    directory = subject.directory
    try:
        wrong = [path.name for path in (directory.log, directory.manifest) if repository.attributes(path, NEEDED) != NEEDED]
    except HistoryUnavailable:
        return
    if not wrong:
        return
    own = missing_attributes(directory)
    message = f"no sufficient line for {', '.join(wrong)}"
    if not any(line.split()[0] in wrong for line in own):
        message = f"another attributes file, such as .git/info/attributes, overrides {', '.join(wrong)}"
    yield Finding(catalogue.GIT_ATTRIBUTES, message, subject.file(directory.gitattributes.name))
