"""Check that annotations are about files of the project, and about tracked ones (R19, R26).

What is found of a path is a byte at its number, because a trail may have a million paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, pluralize
from vibes_lsp.index.project_files import why_foreign


def check_paths(context: CheckContext) -> Iterator[Finding]:
    """Yield one finding about missing files and one about untracked files."""
    paths, project = context.trail.log.columns.paths, context.directory.project
    foreign, untracked = bytearray(len(paths)), bytearray(len(paths))
    reasons: Counter[str] = Counter()
    for number, path in enumerate(paths):
        if not path:
            continue
        if (reason := why_foreign(path, project)) is not None:
            foreign[number] = 1
            reasons[reason] += 1
        untracked[number] = not context.config.tracking.tracks(path)
    if reasons:
        line, counts = _annotations_in(context, foreign)
        listed = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
        message = f"not in this checkout: {counts} ({listed})"
        yield context.in_log(catalogue.PATH_FOREIGN, message, line, "file_path")
    if 1 in untracked:
        line, counts = _annotations_in(context, untracked)
        message = f"not tracked by the project: {counts}"
        yield context.in_log(catalogue.PATH_UNTRACKED, message, line, "file_path")


def _annotations_in(context: CheckContext, marked: bytearray) -> tuple[int, str]:
    """Return the first line of annotations in the marked files, and how many there are."""
    columns = context.trail.log.columns
    is_marked = bytes(map(marked.__getitem__, columns.annotation_paths))
    annotations = pluralize(is_marked.count(1), "annotation in ", "annotations in ")
    files = pluralize(marked.count(1), "file", "files")
    return columns.annotation_lines[is_marked.index(1)], annotations + files
