"""Does git treat the audit directory as it must (RFC 4.2, R13)? Asked only where the project lies in a work tree."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.store.housekeeping import IGNORED, missing_attributes, missing_ignores


def check_housekeeping(subject: Subject) -> Iterator[Finding]:
    """Findings about `.gitignore`, `.gitattributes` and what is tracked."""
    if subject.repository is None:
        return
    ignores = missing_ignores(subject.directory)
    if ignores:
        yield Finding(catalogue.GIT_IGNORE, f"missing: {', '.join(ignores)}", subject.file(".gitignore"))
    attributes = missing_attributes(subject.directory)
    if attributes:
        files = ", ".join(line.split()[0] for line in attributes)
        yield Finding(catalogue.GIT_ATTRIBUTES, f"no sufficient line for {files}", subject.file(".gitattributes"))
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
