"""Execute use cases on a trail: decided on its current state, written whole, once per request.

One thread of the program at a time; the spool's lock keeps programs with the same request apart.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final, TypeVar

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.git.given_up_commits import take_back
from vibes_lsp.git.missing_trail import refuse_missing_trail
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.model.members import Members
from vibes_lsp.recording.annotations import recorded
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.inline_completions import accept_part, redraft
from vibes_lsp.recording.paths import project_path, required_path
from vibes_lsp.recording.requests import RecordInlineCompletion
from vibes_lsp.recording.results import Pending, Recorded, Result
from vibes_lsp.recording.spool import (
    CompletedCompletion,
    CompletedRequest,
    PendingCompletion,
    Spool,
    completion_name,
    request_name,
)
from vibes_lsp.store.audit_dir import CONFIG_NAME, AuditDir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.writer import AuditWriter
from vibes_lsp.trail.trail import Trail

ABANDONED_AFTER: Final = 30.0
"""Seconds after which any program may record another's pending completion: the other one has died,
or it would have recorded it."""

R = TypeVar("R", bound=Result)
_T = TypeVar("_T")


class Execution:
    """Executes the use cases of one trail.

    Args:
        directory: The trail.
        now: The clock.
        new_id: Makes ids for new sessions.
    """

    def __init__(
        self,
        directory: AuditDir,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._directory: Final = directory
        self._trail: Final = Trail(directory, uses_saved=True)
        self._writer: Final = AuditWriter(directory)
        self._at_once: Final = AuditWriter(directory, waits=False)
        self._spool: Final = Spool(directory)
        self._stored_files: Final = StoredFiles(directory.project)
        self._now = now
        self._new_id = new_id
        self._config: LoadedConfig | None = None
        self._threads: Final = threading.RLock()
        self._accepted_texts: Final[dict[str, Text]] = {}
        """The texts of the pending completions that this program has accepted a part of."""

    def execute(
        self,
        kind: type[R],
        request_id: str | None,
        decide: Callable[[RecordingContext], tuple[Draft, R]],
        *,
        at_once: bool = False,
    ) -> R:
        """Execute a use case; a request that was executed before returns the same result.

        Args:
            kind: The type of the result.
            request_id: The id of the request; None executes it in any case.
            decide: Returns the records and the result.
            at_once: Whether the records go into the log and do not wait for a commit (R29).

        Raises:
            RefusedWrite: The trail cannot be locked or written.
        """
        with self._exclusive():
            writer = self._at_once if at_once else self._writer
            if request_id is None:
                draft, result = self._decide(decide, writer)
                writer.append(draft.records)
                return result
            name, requests = request_name(kind, request_id), self._spool.requests(kind)
            with self._spool.lock():
                done = requests.read(name)
                if done is not None:
                    self._append_missing(done.records, writer)
                    return done.result
                draft, result = self._decide(decide, writer)
                requests.write(name, CompletedRequest(tuple(draft.records), result))
                writer.append(draft.records)
            return result

    def execute_derived(
        self,
        decide: Callable[[RecordingContext], tuple[Draft, R]],
        *,
        dry_run: bool,
        at_once: bool = False,
    ) -> R:
        """Execute a use case that drafts the same records again when it is repeated.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        with self._exclusive():
            writer = self._at_once if at_once else self._writer
            draft, result = decide(self._whole_context(writer))
            if not dry_run:
                self._append_missing(draft.records, writer)
            return result

    def read(self, look: Callable[[RecordingContext], _T]) -> _T:
        """Return what a function finds in the trail.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        with self._exclusive():
            return look(self._whole_context(self._writer))

    def execute_completion(self, request: RecordInlineCompletion) -> Recorded | Pending:
        """Record an inline completion, or store a part of it; a repeat changes nothing.

        Raises:
            WrongArgument: An argument does not fit the file or the trail.
            UnknownId: A session or an informant is not in the trail.
            UnreadableFile: No text was given and the file cannot be read.
            RefusedWrite: The trail cannot be locked or written.
        """
        with self._exclusive():
            context = self._context()
            path = required_path(context.project, request.required_path)
            if not context.config.tracking.tracks(path):
                return Recorded(None, untracked=True)
            name = completion_name(path, request.completion_id)
            with self._spool.lock():
                done, pending = self._spool.completions.read(name), self._spool.pending.read(name)
                if done is not None and (done.final or request.part in done.pending.parts):
                    return self._finish(name, done, repeated=True)
                if pending is not None and request.part in pending.parts and not request.is_final:
                    return Pending()
                earlier = pending or (None if done is None else done.pending)
                accepted = accept_part(
                    context, path, request, earlier, self._accepted_texts.get(name)
                )
                if accepted.is_separate and pending is not None:
                    self._complete(name, pending, None, final=False)
                self._accepted_texts[name] = accepted.text
                if not request.is_final:
                    self._spool.pending.write(name, accepted.pending)
                    return Pending()
                now = request.current_text
                current = None if now is None or now == accepted.text.content else Text(now)
                return self._complete(name, accepted.pending, current, final=True)

    def record_pending(
        self,
        texts: Mapping[str, str] | None = None,
        *,
        paths: Collection[str] | None = None,
        session_id: str | None = None,
        own_after: float = 0,
        others_after: float = 0,
    ) -> bool:
        """Record pending completions as they are; return whether there were any.

        The arguments are those of `Recorder.record_pending_completions`; `own_after` selects those
        of this program whose last part is so many seconds old.

        Raises:
            RefusedWrite: The trail cannot be locked or written.
        """
        is_any = False
        with self._exclusive():
            for name, age, seen in list(self._spool.list_pending()):
                is_due = age >= (own_after if name in self._accepted_texts else others_after)
                is_selected = (paths is None or seen.path in paths) and session_id in (
                    None,
                    seen.contexts.session_id,
                )
                if not is_due or not is_selected:
                    continue
                with self._spool.lock():
                    pending = self._spool.pending.read(name)
                    if pending is not None:
                        content = (texts or {}).get(pending.path)
                        current = None if content is None else Text(content)
                        self._complete(name, pending, current, final=False)
                        is_any = True
        return is_any

    def record_pending_in(self, path: str | None, text: str | None) -> None:
        """Record a file's pending completions before anything else about it is recorded.

        What was accepted first must come first in the log.
        """
        relative = None if path is None else project_path(self._directory.project, path)
        if relative is not None:
            self.record_pending({} if text is None else {relative: text}, paths={relative})

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Let no other thread use the trail, and end what was read of its index."""
        with self._threads:
            try:
                yield
            finally:
                self._trail.end_answer()

    def has_pending(self) -> bool:
        """Return whether any program has a pending completion that can be recorded."""
        with self._exclusive():
            return any(True for _ in self._spool.list_pending())

    def close(self) -> None:
        """Remove old requests, fold the journal, flush the disk; raises as `AuditWriter.close`."""
        with self._exclusive():
            self._trail.close()
        self._spool.remove_old()
        self._writer.close()
        self._at_once.fold_own()

    def flush(self) -> None:
        """As `close`, without waiting for another program that folds; refresh the trail."""
        self._spool.remove_old()
        self._writer.close(wait=False)
        self._at_once.fold_own(wait=False)
        with self._exclusive():
            self._trail.refresh()

    @property
    def warning(self) -> str | None:
        """The warning that the project's policy is unreadable and defaults were used, if any."""
        problem = None if self._config is None else self._config.problem
        if problem is None:
            return None
        return f"recorded with the default policy: {CONFIG_NAME} cannot be read: {problem.message}"

    def _decide(
        self, decide: Callable[[RecordingContext], tuple[Draft, R]], writer: AuditWriter
    ) -> tuple[Draft, R]:
        try:
            return decide(self._context(writer))
        except OutdatedIndex:  # nothing was recorded yet, and the log itself is read now
            return decide(self._context(writer))

    def _whole_context(self, writer: AuditWriter) -> RecordingContext:
        context = self._context(writer)
        if self._trail.log.problem is not None:  # a part of the log says nothing of the rest
            raise self._trail.log.problem
        return context

    def _context(self, writer: AuditWriter | None = None) -> RecordingContext:
        take_back(self._directory)
        if not self._directory.log.exists():
            refuse_missing_trail(self._directory.project)
        self._trail.refresh()
        self._config = load_config(self._directory, self._config)
        return RecordingContext(
            self._trail,
            self._config,
            writer or self._writer,
            self._now(),
            self._new_id,
            self._stored_files,
        )

    def _append_missing(
        self, records: Sequence[Members], writer: AuditWriter | None = None
    ) -> None:
        self._trail.refresh()
        (writer or self._writer).append(
            records, known=lambda identifier: self._trail.log.by_id(identifier) is not None
        )

    def _complete(
        self, name: str, pending: PendingCompletion, current: Text | None, *, final: bool
    ) -> Recorded:
        """Record a completion unless a program that died has already decided on its records."""
        done = self._spool.completions.read(name)
        is_new = done is None or set(done.pending.parts) < set(pending.parts)
        if done is None or is_new:
            records: Sequence[Members] = pending.records
            if current is not None and pending.lines is not None:
                accepted_text = self._accepted_texts.get(name)
                records = redraft(self._context(), pending, current, accepted_text)
            result = recorded(records, pending.contexts) if records else Recorded(None, gone=True)
            done = CompletedCompletion(pending, final, tuple(map(dict, records)), result)
            self._spool.completions.write(name, done)
        return self._finish(name, done, repeated=not is_new)

    def _finish(self, name: str, done: CompletedCompletion, *, repeated: bool) -> Recorded:
        if repeated:
            self._append_missing(done.records)
        else:
            self._writer.append(done.records)
        self._spool.remove_pending(name)
        self._accepted_texts.pop(name, None)
        return done.result
