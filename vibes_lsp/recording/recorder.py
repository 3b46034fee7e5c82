"""`Recorder`: executes requests on one trail, for our adapters and for other programs.

`docs/recording.md` is the guide for other programs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Final, Self, TypeVar, cast

from vibes_lsp.errors import RefusedWrite, VibesError, report
from vibes_lsp.model.members import Members
from vibes_lsp.recording.annotations import record_annotation
from vibes_lsp.recording.arguments import (
    Decision,
    Function,
    Model,
    Tool,
    WrongArgument,
)
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.corrections import mark_lost, reanchor
from vibes_lsp.recording.edges import record_edge
from vibes_lsp.recording.entries import (
    record_command,
    record_decision,
    record_prompt,
    record_read,
)
from vibes_lsp.recording.idempotent_execution import ABANDONED_AFTER, Execution
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
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir

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
        self._execution: Final = Execution(self.directory, now=now, new_id=new_id)

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
        self._execution.record_pending(others_after=ABANDONED_AFTER)
        self._execution.close()

    def flush(self) -> None:
        """As `close`, while a program pauses: recent inline completions go on waiting.

        It does not wait for another program that folds the journal: that one folds all entries.
        """
        self._execution.record_pending(own_after=ABANDONED_AFTER, others_after=ABANDONED_AFTER)
        self._execution.flush()

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
        """Execute a request and return its result; the other methods only build requests."""
        return cast("R", self._execute(request))

    def execute_json(self, request: Request[Any]) -> Members:
        """Execute a request that was parsed from JSON; names in errors are in camel case."""
        try:
            return as_json(self._execute(request))
        except WrongArgument as error:
            raise error.in_camel_case() from None

    def _execute(self, request: Request[Any]) -> Result:
        match request:
            case RecordInlineCompletion():
                return self._execution.execute_completion(request)
            case RecordAnnotation() | RecordReview():
                self._execution.record_pending_in(request.path, request.text)
            case EndSession():
                self._execution.record_pending(session_id=request.session_id)
        if type(request) not in _USE_CASES:
            raise WrongArgument("request", f"expected a request, not {shortened(request)}")
        kind, decide = _USE_CASES[type(request)]
        result = self._execution.execute(
            kind, request.request_id, lambda context: decide(context, request)
        )
        if isinstance(request, EndSession):
            self.finish()  # what fails now is tried again, and reported, at the next finish
        return result

    def start_session(
        self,
        tool: Tool,
        model: Model,
        *,
        description: str | None = None,
        parent_session_id: str | None = None,
        agent_name: str | None = None,
        agent_type: str | None = None,
        request_id: str | None = None,
    ) -> StartedSession:
        """Start a session (RFC 7.5); one with a parent is recorded as delegated by it."""
        return self.execute(
            StartSession(
                tool=tool,
                model=model,
                description=description,
                parent_session_id=parent_session_id,
                agent_name=agent_name,
                agent_type=agent_type,
                request_id=request_id,
            )
        )

    def end_session(self, session_id: str, *, request_id: str | None = None) -> Ended:
        """End a session; nothing happens when it has ended. Its pending completions go first."""
        return self.execute(EndSession(session_id=session_id, request_id=request_id))

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

    def annotate_function(
        self,
        path: Path | str,
        name: str,
        action: str,
        origin: Origin,
        *,
        signature: str | None = None,
        lines: tuple[int, int] | None = None,
        text: str | None = None,
        request_id: str | None = None,
    ) -> Recorded:
        """Record that an AI wrote or changed a function, method or class (RFC 7.4).

        Args:
            path: The file.
            name: As in the source, qualified or not.
            action: As for `annotate_lines`.
            origin: Who did it, and why.
            signature: Parameters and return type.
            lines: Its lines; needed only where it cannot be found by its name.
            text: As for `annotate_lines`.
            request_id: See the class.
        """
        start, end = lines or (None, None)
        return self.execute(
            RecordAnnotation(
                file=str(path),
                function=Function(name, signature),
                line_start=start,
                line_end=end,
                action=action,  # type: ignore[arg-type]  # checked by the request
                text=text,
                request_id=request_id,
                **_members_of(origin),
            )
        )

    def record_read(
        self, session_id: str, files: Sequence[str], *, request_id: str | None = None
    ) -> RecordedCommand:
        """Record that a session has read files; they inform its next annotation."""
        return self.execute(
            RecordRead(
                session_id=session_id,
                files=files,  # type: ignore[arg-type]  # any sequence
                request_id=request_id,
            )
        )

    def record_decision(
        self, decision: Decision, *, request_id: str | None = None
    ) -> RecordedDecision:
        """Record a decision (RFC 6.6); annotations may refer to its hash."""
        if not isinstance(decision, Decision):
            raise WrongArgument("decision", f"expected a Decision, not {shortened(decision)}")
        members = {member.name: getattr(decision, member.name) for member in fields(Decision)}
        return self.execute(RecordDecision(request_id=request_id, **members))

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
        return self._execution.record_pending(
            texts, paths=paths, session_id=session_id, others_after=others_after
        )

    def has_pending_completions(self) -> bool:
        """Return whether any program has an inline completion that waits for more parts."""
        return self._execution.has_pending()

    def once(self, identity: str, *, by: str) -> bool:
        """Return whether something is done for the first time, or again by what did it first.

        Args:
            identity: What is done; it is remembered as long as a request id.
            by: What does it; the same again if it was interrupted.
        """
        claimed = self._execution.execute(
            Claimed, identity, lambda context: (Draft(context.timestamp), Claimed(by))
        )
        return claimed.by == by

    def read(self, look: Callable[[RecordingContext], _T]) -> _T:
        """Return what a function finds in the trail, which it must not write.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        return self._execution.read(look)

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
        if request_id is not None and not dry_run:
            return self._execution.execute(kind, request_id, decide, at_once=at_once)
        return self._execution.execute_derived(decide, dry_run=dry_run, at_once=at_once)

    @property
    def warning(self) -> str | None:
        """The warning that the policy is unreadable and defaults were used, if any."""
        return self._execution.warning


def _members_of(origin: Origin) -> dict[str, Any]:
    """Return the members that requests have in common with an origin."""
    if not isinstance(origin, Origin):
        raise WrongArgument("origin", f"expected an Origin, not {shortened(origin)}")
    return {name: getattr(origin, name) for name in Origin.model_fields}
