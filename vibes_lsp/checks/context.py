"""What every check reads: the trail, its policy and its repository, loaded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from typing import TypeAlias

from vibes_lsp.checks.finding import Check, Finding, Severity
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.model.json_positions import find_member
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.manifest import ManifestForm
from vibes_lsp.trail.trail import Trail

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass
class CheckContext:
    """The input of all checks, with shortcuts to create findings.

    Attributes:
        trail: The log and the manifest, refreshed.
        config: The project's policy.
        repository: The git repository of the project, if any.
        now: The current time.
        progress: Called as the work proceeds.
    """

    trail: Trail
    config: LoadedConfig
    repository: Repository | None
    now: datetime
    progress: Progress = field(default=lambda *_: None)

    @property
    def directory(self) -> AuditDir:
        """The audit directory."""
        return self.trail.directory

    def relative_name(self, name: str) -> str:
        """Return the path of a file of the audit directory, relative to the project."""
        return f"{self.directory.path.name}/{name}"

    @property
    def log_name(self) -> str:
        """The path of the log, relative to the project."""
        return self.relative_name(LOG_NAME)

    @property
    def manifest_name(self) -> str:
        """The path of the manifest, relative to the project."""
        return self.relative_name(MANIFEST_NAME)

    @property
    def config_name(self) -> str:
        """The path of the policy, relative to the project."""
        return self.relative_name(CONFIG_NAME)

    @property
    def can_resolve_entries(self) -> bool:
        """Whether a hash without an entry is dangling; a missing manifest is reported only once."""
        return self.trail.manifest.form in (ManifestForm.OBJECT, ManifestForm.JSONL)

    @cached_property
    def entry_types(self) -> dict[str, str | None]:
        """The type of each entry; None if it has none."""
        manifest = self.trail.manifest
        return {key: text(manifest.entry(key) or {}, "type") for key in manifest}

    @cached_property
    def session_ids(self) -> frozenset[str]:
        """The ids of all sessions with a record."""
        return frozenset(self.trail.session_ids())

    @cached_property
    def tracked_files(self) -> frozenset[str]:
        """The files of the project that git tracks; none without git."""
        if self.repository is None:
            return frozenset()
        try:
            return self.repository.tracked_files(self.directory.project)
        except HistoryUnavailable:
            return frozenset()

    @cached_property
    def entry_counts(self) -> dict[str, int]:
        """The number of entries of each type; unknown types count as `other`."""
        counts = Counter(
            kind if kind in set(ContextType) else "other" for kind in self.entry_types.values()
        )
        return {kind: counts[kind] for kind in (*ContextType, "other")}

    def in_log(
        self,
        check: Check,
        message: str,
        line: int | None = None,
        field: str | None = None,
        override: Severity | None = None,
    ) -> Finding:
        """Return a finding about the log; a record that waits for a commit has no line there."""
        if line is not None and self.trail.log.is_waiting(line):
            line = None
        return Finding(check, message, self.log_name, line, field, override)

    def in_entry(
        self,
        check: Check,
        message: str,
        key: str,
        field: str | None = None,
        override: Severity | None = None,
    ) -> Finding:
        """Return a finding about an entry of the manifest."""
        return Finding(
            check, message, self.manifest_name, self.entry_line(key, field), field, override
        )

    def entry_line(self, key: str, field: str | None = None) -> int | None:
        """Return the line of an entry or of its member; None for an entry in the journal."""
        line = self.trail.manifest.line_of(key)
        if line is None or field is None:
            return line
        place = find_member(
            self.trail.manifest.raw(key).decode("utf-8", "replace"), field.split(".")
        )
        return line if place is None else line + place[0] - 1


def open_context(
    directory: AuditDir,
    now: datetime,
    progress: Progress | None = None,
    *,
    waiting: bool = True,
) -> CheckContext:
    """Load the trail, the policy and the repository of an audit directory.

    Args:
        directory: The trail.
        now: The time.
        progress: Called while the log is read.
        waiting: Whether to read what waits for a commit as well (R29).
    """
    repository = open_repository(directory.project)
    nearest = repository.nearest_ancestor if repository else None
    trail = Trail(directory, nearest_commit=nearest, waiting=waiting)
    size = 0
    with suppress(OSError):  # a log that cannot be read is a finding
        size = directory.log.stat().st_size
    trail.refresh(progress=None if progress is None else partial(_log_progress, progress, size))
    context = CheckContext(trail, load_config(directory), repository, now)
    if progress is not None:
        context.progress = progress
    return context


def _log_progress(progress: Progress, size: int, done: int) -> None:
    progress("log", done, size)
