"""How a use case is carried out: decided on the trail as it is now, and then written whole; by one thread at a time, and once for each request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar

from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members
from vibes_lsp.recording.context import Draft, KnownLocations, RecordingContext
from vibes_lsp.recording.idempotency import CompletedRequests
from vibes_lsp.recording.inline_completions import Completions
from vibes_lsp.recording.paths import project_path
from vibes_lsp.recording.results import Result
from vibes_lsp.store.audit_dir import CONFIG_NAME, AuditDir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.writer import AuditWriter

_R = TypeVar("_R", bound=Result)


class Execution:
    """Carries out the use cases of one trail.

    Args:
        directory: The trail.
        now: The clock.
        new_id: Gives ids for new sessions.
        beside: Another follower of the trail in this program.

    Attributes:
        known_locations: Where annotations are known to be.
        completions: Those that wait for another part.
    """

    def __init__(
        self,
        directory: AuditDir,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        beside: Trail | None,
    ) -> None:
        self._directory: Final = directory
        self._trail: Final = Trail(directory, shared_with=beside)
        self._writer: Final = AuditWriter(directory, manifest_cache=self._trail.manifest_cache)
        self._repeats: Final = CompletedRequests(directory)
        self._now = now
        self._new_id = new_id
        self._config: LoadedConfig | None = None
        self._threads: Final = threading.RLock()
        self.known_locations: Final = KnownLocations()
        self.completions: Final = Completions(
            directory, self._situation, self._write, self._threads
        )

    def once(
        self,
        kind: type[_R],
        request_id: str | None,
        decide: Callable[[RecordingContext], tuple[Draft, _R]],
    ) -> _R:
        """Carry a use case out and return its result; that of the first time, where the request was carried out before."""
        with self._threads:
            if request_id is not None:
                return self._repeats.once(
                    kind, request_id, lambda: decide(self._situation()), self._write
                )
            draft, result = decide(self._situation())
            self._write(draft.records)
            return result

    def renew(self, decide: Callable[[RecordingContext], tuple[Draft, _R]], *, dry_run: bool) -> _R:
        """Carry out a use case that makes the same records again when it is repeated; those that are there are not written.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        with self._threads:
            context = self._situation()
            if (
                self._trail.log.problem is not None
            ):  # what was read of it says nothing of what is there
                raise self._trail.log.problem
            draft, result = decide(context)
            if not dry_run:
                self._write(draft.records, repeated=True)
            return result

    def settle_in(self, path: str | None, text: str | None) -> None:
        """Record what is held of a file before anything else about it, for what came first must stand first."""
        relative = None if path is None else project_path(self._directory.project, path)
        if relative is not None:
            self.completions.settle({} if text is None else {relative: text}, paths={relative})

    def close(self) -> None:
        """Forget old requests; bring the manifest up to date, and everything to the disk. Raises as `AuditWriter.close` does."""
        self._repeats.forget_old()
        self._writer.close()

    def rest(self) -> None:
        """As `close`, without waiting for another program that does so for all; and take in what it came to."""
        self._repeats.forget_old()
        self._writer.close(wait=False)
        with self._threads:
            self._trail.refresh()

    @property
    def warning(self) -> str | None:
        """That the project's policy cannot be read, and what was recorded last went by the defaults."""
        problem = None if self._config is None else self._config.problem
        return (
            None
            if problem is None
            else f"recorded, but by the defaults: {CONFIG_NAME} cannot be read: {problem.message}"
        )

    def _situation(self) -> RecordingContext:
        self._trail.refresh()
        self._config = load_config(self._directory, self._config)
        return RecordingContext(
            self._trail, self._config, self._writer, self._now(), self._new_id, self.known_locations
        )

    def _write(self, records: list[Members], repeated: bool = False) -> None:  # noqa: FBT001, FBT002  # a callable's arguments
        if not repeated:
            self._writer.append(records)
            return
        self._trail.refresh()
        self._writer.append(
            records, known=lambda identifier: self._trail.log.by_id(identifier) is not None
        )
