"""Check that annotations are about files of the project, and about tracked ones (R19, R26)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, pluralize
from vibes_lsp.git.project_files import why_foreign
from vibes_lsp.trail.trail import AnnotatedPath


@dataclass(slots=True)
class _PathTally:
    """What is added up of some paths: a trail may have a million of them."""

    first_line: int = 0
    annotations: int = 0
    files: int = 0

    def add(self, path: AnnotatedPath) -> None:
        """Add a path with its annotations."""
        self.first_line = min(self.first_line or path.first_line, path.first_line)
        self.annotations += path.annotations
        self.files += 1

    @property
    def counts(self) -> str:
        """The numbers in words."""
        annotations = pluralize(self.annotations, "annotation in ", "annotations in ")
        return annotations + pluralize(self.files, "file", "files")


def check_paths(context: CheckContext) -> Iterator[Finding]:
    """Yield one finding about missing files and one about untracked files."""
    project, tracking = context.directory.project, context.config.tracking
    foreign, untracked = _PathTally(), _PathTally()
    reasons: Counter[str] = Counter()
    for annotated in context.trail.count_by_path():
        if not annotated.path:
            continue
        if (reason := why_foreign(annotated.path, project)) is not None:
            foreign.add(annotated)
            reasons[reason] += 1
        if not tracking.tracks(annotated.path):
            untracked.add(annotated)
    if reasons:
        listed = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
        message = f"not in this checkout: {foreign.counts} ({listed})"
        yield context.in_log(catalogue.PATH_FOREIGN, message, foreign.first_line, "file_path")
    if untracked.files:
        message = f"not tracked by the project: {untracked.counts}"
        yield context.in_log(catalogue.PATH_UNTRACKED, message, untracked.first_line, "file_path")
