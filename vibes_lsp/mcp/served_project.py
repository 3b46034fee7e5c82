"""The project that an MCP server answers for: its trail and policy as they are at each request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from vibes_lsp.errors import AuditDirNotFound, OutdatedIndex
from vibes_lsp.git.given_up_commits import take_back
from vibes_lsp.git.missing_trail import explained
from vibes_lsp.git.repository import nearest_ancestor
from vibes_lsp.ingest.fold import fold_for_reader
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.store.audit_dir import find_audit_dir, named_audit_dir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.versions import unsupported_versions
from vibes_lsp.trail.trail import Trail

R = TypeVar("R")


class ServedProject:
    """A trail and its policy; what asks them begins with a `refresh`.

    Args:
        folder: Where the server was started.
        audit_dir: The audit directory, if it was named.

    Attributes:
        warnings: What could not be read at the last refresh.
    """

    def __init__(self, folder: Path, audit_dir: Path | None = None) -> None:
        self._folder = folder
        self._audit_dir = audit_dir
        self._trail: Trail | None = None
        self._locator: ProjectLocator | None = None
        self._config: LoadedConfig | None = None
        self.warnings: list[str] = []

    def refresh(self) -> None:
        """Record the events of agents that wait, and read what has changed on disk.

        The audit directory is looked for each time, so one that is created later is found.

        Raises:
            AuditDirNotFound: There is none.
            UnreadableFile: The log cannot be read.
        """
        try:
            directory = (
                find_audit_dir(self._folder)
                if self._audit_dir is None
                else named_audit_dir(self._audit_dir)
            )
        except AuditDirNotFound as error:
            raise explained(error, self._folder) from None
        if self._trail is None or self._trail.directory != directory:
            self.close()
            nearest = partial(nearest_ancestor, directory.project)
            self._trail = Trail(directory, nearest_commit=nearest, uses_saved=True)
            self._locator = self._config = None
        take_back(directory)
        fold_for_reader(directory)
        self.trail.refresh()
        if self.trail.log.problem is not None:
            raise self.trail.log.problem
        self._config = load_config(directory, self._config)
        self.warnings = _problems(self.trail, self.config)

    def answered(self, answer: Callable[[], R]) -> R:
        """Refresh and answer; once more if lines of the log were replaced meanwhile.

        Raises:
            VibesError: As `refresh` and the answer raise it.
        """
        self.refresh()
        try:
            return answer()
        except OutdatedIndex:
            self.refresh()
            return answer()

    @property
    def trail(self) -> Trail:
        """The trail as of the last refresh."""
        if self._trail is None:
            raise AssertionError("refresh comes first")
        return self._trail

    @property
    def config(self) -> LoadedConfig:
        """The policy as of the last refresh."""
        if self._config is None:
            raise AssertionError("refresh comes first")
        return self._config

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.trail.directory.project

    def scorer(self) -> Scorer:
        """Return what scores annotations by the project's policy."""
        return Scorer(self.trail, self.config.policy)

    def locator(self) -> ProjectLocator:
        """Return what locates annotations in the project's files as they are now.

        It is kept: where text has moved between files is then looked up once, not at each request.
        """
        if self._locator is None:
            self._locator = ProjectLocator(self.trail, use_cache=True)
        else:
            self._locator.refresh({})
        return self._locator

    def close(self) -> None:
        """End git's process and close the index."""
        if self._locator is not None:
            self._locator.close()
        if self._trail is not None:
            self._trail.close()


def _problems(trail: Trail, config: LoadedConfig) -> list[str]:
    """Return what of a trail cannot be read, in words."""
    broken = len(trail.broken_lines())
    manifest = trail.manifest.problem
    versions = unsupported_versions(config, trail.manifest)
    problems = [f"{fault}; it is read as far as possible" for fault in versions]
    if broken:
        lines = "a line" if broken == 1 else f"{broken:,} lines"
        problems.append(f"{lines} of the log cannot be read: `vibes check` lists them")
    if manifest is not None:
        problems.append(f"the manifest is damaged, so prompts may be missing: {manifest.message}")
    if config.problem is not None:
        problems.append(f"the policy cannot be read, so defaults apply: {config.problem.message}")
    return problems
