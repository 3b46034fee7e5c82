"""`Recorder`: executes requests on one trail, for our adapters and for other programs.

A use case is decided on the trail's current state and written whole, once for each request id. One
thread of the program does so at a time; the spool's lock keeps programs with the same request
apart. `docs/recording.md` is the guide for other programs.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Final, Self, TypeVar, cast

from vibes_lsp.errors import OutdatedIndex, RefusedWrite, VibesError, report
from vibes_lsp.git.given_up_commits import take_back
from vibes_lsp.git.missing_trail import refuse_missing_trail
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.model.members import Members
from vibes_lsp.recording.accepted_completions import AcceptedCompletions
from vibes_lsp.recording.annotations import record_annotation
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.corrections import mark_lost, reanchor
from vibes_lsp.recording.edges import record_edge
from vibes_lsp.recording.entries import (
    record_command,
    record_decision,
    record_prompt,
    record_read,
)
from vibes_lsp.recording.paths import project_path
from vibes_lsp.recording.requests import (
    EndSession,
    MarkLost,
    Origin,
    R,
    Reanchor,
    RecordAnnotation,
    RecordCommand,
    RecordDecision,
    RecordDelegation,
    RecordEdge,
    RecordInlineCompletion,
    RecordPrompt,
    RecordRead,
    RecordReview,
    Request,
    StartSession,
)
from vibes_lsp.recording.results import (
    Claimed,
    Corrected,
    Delegated,
    Ended,
    Recorded,
    RecordedCommand,
    RecordedDecision,
    RecordedEdge,
    RecordedPrompt,
    Result,
    Reviewed,
    StartedSession,
    as_json,
)
from vibes_lsp.recording.reviews import record_review
from vibes_lsp.recording.sessions import end_session, record_delegation, start_session
from vibes_lsp.recording.spool import CompletedRequest, Spool, request_name
from vibes_lsp.store.audit_dir import CONFIG_NAME, AuditDir, find_audit_dir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.writer import AuditWriter
from vibes_lsp.trail.trail import Trail

_USE_CASES: Final[
    dict[type[Request[Any]], tuple[type[Result], Callable[..., tuple[Draft, Any]]]]
] = {
    StartSession: (StartedSession, start_session),
    EndSession: (Ended, end_session),
    RecordAnnotation: (Recorded, record_annotation),
    RecordPrompt: (RecordedPrompt, record_prompt),
    RecordCommand: (RecordedCommand, record_command),
    RecordRead: (RecordedCommand, record_read),
    RecordDecision: (RecordedDecision, record_decision),
    RecordDelegation: (Delegated, record_delegation),
    RecordEdge: (RecordedEdge, record_edge),
    RecordReview: (Reviewed, record_review),
    Reanchor: (Corrected, reanchor),
    MarkLost: (Corrected, mark_lost),
}
"""The type of each request's result, and the function that decides which records it writes."""


ABANDONED_AFTER: Final = 30.0
"""Seconds after which any program may record another's pending completion: the other one has died,
or it would have recorded it."""

_T = TypeVar("_T")


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def _new_id() -> str:
    return str(uuid.uuid4())


class Recorder:
    """Executes requests on one trail; threads may share it, and other programs may have their own.

    What a method has returned is written and survives the end of any program. The same `request_id`
    again changes nothing and returns the same result. An inline completion has an id of its own.
    Lines are 1-based and inclusive; paths are absolute or relative to the project. Methods raise
    `WrongArgument`, `UnknownId` and `RefusedWrite`; then nothing was recorded.

    Attributes:
        directory: The trail.
        now: The clock.

    Args:
        place: The project, a file or folder in it, or its audit directory.
        now: The clock.
        new_id: Makes ids for new sessions.

    Raises:
        AuditDirNotFound: There is no audit directory at the place or above it.
    """

    def __init__(
        self,
        place: AuditDir | Path | str,
        *,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        self.directory: Final = (
            place if isinstance(place, AuditDir) else find_audit_dir(Path(place))
        )
        self.now: Final = now
        self._new_id = new_id
        self._trail: Final = Trail(self.directory, uses_saved=True)
        self._writer: Final = AuditWriter(self.directory)
        self._at_once: Final = AuditWriter(self.directory, waits=False)
        self._stored_files: Final = StoredFiles(self.directory.project)
        self._spool: Final = Spool(self.directory)
        self._completions: Final = AcceptedCompletions(
            self._spool, self._context, self._append_missing
        )
        self._config: LoadedConfig | None = None
        self._threads: Final = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Fold the journal into the manifest and flush the disk; the recorder can still be used.

        Inline completions that wait for another part are recorded as they are.

        Raises:
            RefusedWrite: The manifest cannot be read or written. What was recorded is safe: new
                entries stay in the journal.
            UnsupportedVersion: The manifest is of a version that we must not change (R11).
        """
        with self._threads:
            self._completions.record_pending(others_after=ABANDONED_AFTER)
            self._trail.close()
        self._spool.remove_old()
        self._writer.close()
        self._at_once.fold_own()

    def flush(self) -> None:
        """As `close`, while a program pauses: recent inline completions go on waiting.

        It does not wait for another program that folds the journal: that one folds all entries.
        """
        with self._threads:
            self._completions.record_pending(
                own_after=ABANDONED_AFTER, others_after=ABANDONED_AFTER
            )
        self._spool.remove_old()
        self._writer.close(wait=False)
        self._at_once.fold_own(wait=False)
        with self._threads:
            self._trail.refresh()

    def finish(self, *, wait: bool = True) -> VibesError | None:
        """Close, or flush if not `wait`, after an answer was given; never raises.

        Returns:
            Why that failed. What was recorded is safe and must not be recorded again.
        """
        try:
            self.close() if wait else self.flush()
        except VibesError as error:
            return error
        except OSError as error:
            return RefusedWrite(
                f"{error.filename or self.directory.path} cannot be written: "
                f"{error.strerror or error}"
            )
        except Exception as error:  # noqa: BLE001  # an answer that was given stands
            return report(error)
        return None

    def execute(self, request: Request[R]) -> R:
        """Execute a request and return its result."""
        return cast("R", self._execute(request))

    def execute_json(self, request: Request[Any]) -> Members:
        """Execute a request that was parsed from JSON; names in errors are in camel case."""
        try:
            return as_json(self._execute(request))
        except WrongArgument as error:
            raise error.in_camel_case() from None

    def _execute(self, request: Request[Any]) -> Result:
        if isinstance(request, RecordInlineCompletion):
            with self._threads:
                return self._completions.accept(request)
        if type(request) not in _USE_CASES:
            raise WrongArgument("request", f"expected a request, not {shortened(request)}")
        if isinstance(request, RecordAnnotation | RecordReview):
            self._record_pending_in(request.path, request.text)
        elif isinstance(request, EndSession):
            self.record_pending_completions(session_id=request.session_id)
        kind, decide = _USE_CASES[type(request)]
        result = self._execute_once(
            kind, request.request_id, lambda context: decide(context, request), self._writer
        )
        if isinstance(request, EndSession):
            self.finish()  # what fails now is tried again, and reported, at the next finish
        return result

    def annotate_lines(
        self,
        path: Path | str,
        start: int,
        end: int,
        action: str,
        origin: Origin,
        *,
        text: str | None = None,
        request_id: str | None = None,
    ) -> Recorded:
        """Record that an AI created, modified, deleted or reviewed lines (RFC 7.3).

        Args:
            path: The file.
            start: First line, 1-based.
            end: Last line, inclusive.
            action: `create`, `modify`, `delete` or `review`.
            origin: Who wrote it, and why.
            text: The file's text where it is not saved: after the edit; for a deletion before it.
            request_id: See the class.

        Raises:
            UnreadableFile: No text was given, and the file cannot be read.
        """
        return self.execute(
            RecordAnnotation(
                file=str(path),
                line_start=start,
                line_end=end,
                action=action,  # type: ignore[arg-type]  # checked by the request
                text=text,
                request_id=request_id,
                **_members_of(origin),
            )
        )

    def record_pending_completions(
        self,
        texts: Mapping[str, str] | None = None,
        *,
        paths: Collection[str] | None = None,
        session_id: str | None = None,
        others_after: float = 0,
    ) -> bool:
        """Record inline completions that wait for more parts; return whether there were any.

        Args:
            texts: Current texts by path relative to the project; completions that are no longer in
                them are not recorded.
            paths: Only completions in these files.
            session_id: Only completions of this session.
            others_after: Of other programs only those whose last part is so many seconds old.
        """
        with self._threads:
            return self._completions.record_pending(
                texts, paths=paths, session_id=session_id, others_after=others_after
            )

    def has_pending_completions(self) -> bool:
        """Return whether any program has an inline completion that waits for more parts."""
        with self._threads:
            return any(True for _ in self._spool.list_pending())

    def once(self, identity: str, *, by: str) -> bool:
        """Return whether something is done for the first time, or again by what did it first.

        Args:
            identity: What is done; it is remembered as long as a request id.
            by: What does it; the same again if it was interrupted.
        """
        claimed = self._execute_once(
            Claimed, identity, lambda context: (Draft(context.timestamp), Claimed(by)), self._writer
        )
        return claimed.by == by

    def read(self, look: Callable[[RecordingContext], _T]) -> _T:
        """Return what a function finds in the trail, which it must not write.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        with self._threads:
            return look(self._whole_context(self._writer))

    def write_derived(
        self,
        kind: type[R],
        decide: Callable[[RecordingContext], tuple[Draft, R]],
        *,
        dry_run: bool = False,
        request_id: str | None = None,
        at_once: bool = False,
    ) -> R:
        """Write records that follow from the trail and from git, such as those of a back-fill.

        Records that the log has already are not written again.

        Args:
            kind: The result's type; its `record_types` are all that `decide` may write.
            decide: Returns the records and the result.
            dry_run: Write nothing; the request id is not used up.
            request_id: See the class.
            at_once: Whether the records go into the log and do not wait for a commit (R29).

        Raises:
            UnreadableFile: The log cannot be read.
        """
        writer = self._at_once if at_once else self._writer
        if request_id is not None and not dry_run:
            return self._execute_once(kind, request_id, decide, writer)
        with self._threads:
            draft, result = decide(self._whole_context(writer))
            if not dry_run:
                self._append_missing(draft.records, writer)
            return result

    @property
    def warning(self) -> str | None:
        """The warning that the policy is unreadable and defaults were used, if any."""
        problem = None if self._config is None else self._config.problem
        if problem is None:
            return None
        return f"recorded with the default policy: {CONFIG_NAME} cannot be read: {problem.message}"

    def _execute_once(
        self,
        kind: type[R],
        request_id: str | None,
        decide: Callable[[RecordingContext], tuple[Draft, R]],
        writer: AuditWriter,
    ) -> R:
        """Execute a use case; a request that was executed before returns the same result.

        Args:
            kind: The type of the result.
            request_id: The id of the request; None executes it in any case.
            decide: Returns the records and the result.
            writer: Writes them.

        Raises:
            RefusedWrite: The trail cannot be locked or written.
        """
        with self._threads:
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

    def _record_pending_in(self, path: str | None, text: str | None) -> None:
        """Record a file's pending completions before anything else about it is recorded.

        What was accepted first must come first in the log.
        """
        relative = None if path is None else project_path(self.directory.project, path)
        if relative is not None:
            texts = {} if text is None else {relative: text}
            self.record_pending_completions(texts, paths={relative})

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
        take_back(self.directory)
        if not self.directory.log.exists():
            refuse_missing_trail(self.directory.project)
        self._trail.refresh()
        self._config = load_config(self.directory, self._config)
        return RecordingContext(
            self._trail,
            self._config,
            writer or self._writer,
            self.now(),
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


def _members_of(origin: Origin) -> dict[str, Any]:
    """Return the members that requests have in common with an origin."""
    if not isinstance(origin, Origin):
        raise WrongArgument("origin", f"expected an Origin, not {shortened(origin)}")
    return {name: getattr(origin, name) for name in Origin.model_fields}
