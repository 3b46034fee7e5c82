"""Compare a project's files after each batch of events, and keep what they are like for the next.

`work_tree` reads and keeps the files, `unexplained_edits` decides. A project without git has no
baseline, so nothing is claimed there.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.index.project_files import read_source
from vibes_lsp.ingest.edited_lines import ResolvedEdit
from vibes_lsp.ingest.events import AgentEvent
from vibes_lsp.ingest.record_events import EditedFile
from vibes_lsp.ingest.unexplained_edits import (
    CommandEdit,
    Doubt,
    Window,
    active_sessions,
    advance_sessions,
    claim,
    confirmed,
    is_disturbed,
    is_disturbing,
    windows_of,
)
from vibes_lsp.ingest.work_tree import (
    SeenSession,
    WorkTreeChange,
    WorkTreeDiff,
    compare,
    load_baseline,
    take_baseline,
)
from vibes_lsp.recording.paths import is_bookkeeping, project_path
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir

_logger = logging.getLogger(__name__)

_WORD: Final = re.compile(r"[\w./+@-]+")
_MAX_NAMED: Final = 50
"""Files named by commands whose texts are compared with those of new files."""


class WorkTreeComparison:
    """Finds the lines that commands wrote.

    Args:
        directory: The trail.
        now: The time in nanoseconds.
    """

    def __init__(self, directory: AuditDir, now: Callable[[], int] = time.time_ns) -> None:
        self._directory = directory
        self._now = now

    @property
    def sessions(self) -> Mapping[str, SeenSession]:
        """The agents' sessions as they were after the last events."""
        stored = load_baseline(self._directory)
        return {} if stored is None else stored[0].sessions

    def claims(
        self,
        events: Sequence[tuple[AgentEvent, int]],
        edited: Collection[Sequence[EditedFile]],
    ) -> list[CommandEdit]:
        """Return the changes that commands made and no event explains; keep the files' state.

        Args:
            events: Events with the time of their receipt, in order.
            edited: The files that each of them edited.
        """
        if not events:
            return []
        try:
            return self._claims(events, edited)
        except HistoryUnavailable as error:  # no repository, or no git
            _logger.info("files are not compared: %s", error.message)
        except Exception as error:  # noqa: BLE001  # it must not block what is recorded next
            _logger.info("files are not compared: %s", type(error).__name__)
        return []

    def _claims(
        self, events: Sequence[tuple[AgentEvent, int]], edited: Collection[Sequence[EditedFile]]
    ) -> list[CommandEdit]:
        """Return the claims.

        Raises:
            HistoryUnavailable: Git fails.
        """
        stored = load_baseline(self._directory)
        baseline = None if stored is None else stored[0]
        sessions = {} if baseline is None else baseline.sessions
        now, until = self._now(), max(received for _, received in events)
        comparison = None if stored is None else compare(self._directory, *stored)
        found: list[CommandEdit] = []
        unclaimed = Counter({} if baseline is None else baseline.unclaimed)
        disturbed = 0 if baseline is None else baseline.disturbed
        suspects = {} if baseline is None else dict(baseline.suspects)
        following = advance_sessions(events, sessions)
        if comparison is not None and comparison.is_too_much:
            unclaimed[Doubt.NUMBER.value] += 1
            baseline = comparison = None
        elif comparison is not None:
            windows = windows_of(events, sessions)
            active = active_sessions(events, sessions)
            turn = min((seen.turn for seen in following.values()), default=until)
            for change, decided in self._decide(comparison, until, edited, windows, active):
                if decided is Doubt.TIME and is_disturbing(change, windows, turn):
                    suspects[change.path] = change.modified
                if isinstance(decided, CommandEdit):
                    found.append(decided)
                elif windows:
                    unclaimed[decided.value] += 1
            reported = {file.path for files in edited for file in files}
            suspects = {path: at for path, at in suspects.items() if path not in reported}
            others = confirmed(suspects, until)
            disturbed = max((disturbed, *others.values()))
            suspects = {path: at for path, at in suspects.items() if path not in others}
            doubtful = [each for each in found if suspects or is_disturbed(disturbed, each.moment)]
            unclaimed[Doubt.PERSON.value] += len(doubtful)
            found = [each for each in found if each not in doubtful]
        take_baseline(
            self._directory,
            baseline,
            comparison,
            now=now,
            until=until,
            sessions=following,
            unclaimed=+unclaimed,
            disturbed=disturbed,
            suspects=suspects,
        )
        return found

    def _decide(
        self,
        comparison: WorkTreeDiff,
        until: int,
        edited: Collection[Sequence[EditedFile]],
        windows: Sequence[Window],
        active: frozenset[str],
    ) -> Iterator[tuple[WorkTreeChange, CommandEdit | Doubt]]:
        explained: dict[str, list[ResolvedEdit | None]] = {}
        for each in (file for files in edited for file in files):
            explained.setdefault(each.path, []).append(each.resolved)
        others: list[str] | None = None
        for path, change in comparison.changes.items():
            if change.changed > until or not self._is_own(path):
                continue
            if change.is_new and others is None:
                others = list(self._other_texts(comparison, windows))
            decided = claim(change, explained.get(path, ()), windows, active, others or ())
            if decided is not None:
                yield change, decided

    def _other_texts(self, comparison: WorkTreeDiff, windows: Sequence[Window]) -> Iterator[str]:
        """Yield texts that a new file may have been copied from."""
        for change in comparison.changes.values():
            if change.before:
                yield change.before
        words = [
            (window.event.folder, word)
            for window in windows
            for word in _WORD.findall(window.command)
        ]
        named = {self._named_file(folder, word) for folder, word in words[: 10 * _MAX_NAMED]}
        for path in sorted(each for each in named if each is not None)[:_MAX_NAMED]:
            if path not in comparison.changes or not comparison.changes[path].is_new:
                try:
                    yield read_source(self._directory.project, path).content
                except UnreadableFile:
                    continue

    def _named_file(self, folder: str, word: str) -> str | None:
        project = self._directory.project
        path = project_path(project, f"{folder}/{word}" if folder and word[0] != "/" else word)
        try:
            return path if path is not None and (project / path).is_file() else None
        except (OSError, ValueError):
            return None

    def _is_own(self, path: str) -> bool:
        """Return whether a file is one of the project's own trail."""
        relative = project_path(self._directory.project, path)
        if relative is None or is_bookkeeping(self._directory.project, relative):
            return False
        parent = (self._directory.project / relative).parent
        return find_audit_dir(parent).path.resolve() == self._directory.path.resolve()


def unclaimed_changes(directory: AuditDir) -> Mapping[str, int]:
    """Return how many changed files were claimed for no one while commands ran, by the reason."""
    stored = load_baseline(directory)
    return {} if stored is None else stored[0].unclaimed
