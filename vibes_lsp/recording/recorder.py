"""`Recorder`: the one way to make an audit trail grow, for our own adapters and for other programs (`docs/recording.md`)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from vibes_lsp.errors import RefusedWrite, VibesError, report
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.vocabulary import DelegationType
from vibes_lsp.recording import (
    annotating,
    correcting,
    relating,
    reviewing,
    sessions,
)
from vibes_lsp.recording.arguments import Command, Decision, Function, Model, Origin, Prompt, Tool
from vibes_lsp.recording.checking import check_argument
from vibes_lsp.recording.completing import FORGOTTEN, InlineCompletion
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.execution import Execution
from vibes_lsp.recording.results import (
    Corrected,
    Delegated,
    Ended,
    Pending,
    Recorded,
    RecordedCommand,
    RecordedDecision,
    RecordedEdge,
    RecordedPrompt,
    Result,
    Reviewed,
    Session,
)
from vibes_lsp.recording.reviewed import Reviewing
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir

_R = TypeVar("_R", bound=Result)


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def _new_id() -> str:
    return str(uuid.uuid4())


class Recorder:
    """Records into one trail; threads may share it, and any number of programs may have one.

    What a method returns is written: it survives the end of any program. A `request_id` makes a request one that may come twice: the same id
    again changes nothing and returns the same result. Only `record_inline_completion` takes none: completions have ids of their own. Lines are 1-based and inclusive; paths are absolute or relative to the project.
    All methods raise `WrongArgument`, `UnknownId` and `RefusedWrite`, and then nothing was recorded.

    Attributes:
        directory: The trail.
        now: The clock.
        whereabouts: Takes in where annotations are, from a program that follows the texts that it records edits of.

    Args:
        place: The project, a file or folder in it, or its audit directory.
        now: The clock.
        new_id: Gives ids for new sessions.
        beside: Another follower of the trail in this program: what both need of it is read once.

    Raises:
        AuditDirNotFound: There is no audit directory at the place or above it.
    """

    def __init__(
        self,
        place: AuditDir | Path | str,
        *,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = _new_id,
        beside: Trail | None = None,
    ) -> None:
        self.directory: Final = (
            place if isinstance(place, AuditDir) else find_audit_dir(Path(place))
        )
        self.now: Final = now
        self._execution: Final = Execution(self.directory, now=now, new_id=new_id, beside=beside)
        self.whereabouts: Final = self._execution.whereabouts
        self.completions: Final = self._execution.completions

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Bring the manifest up to date, and everything to the disk; the recorder can still be used.

        Inline completions that wait for another part are recorded as they are.

        Raises:
            RefusedWrite: The manifest cannot be read or written. What was recorded is safe: new entries wait in the journal.
            UnsupportedVersion: The manifest is of a version that is not ours to change (R11).
        """
        self.completions.settle(others_after=FORGOTTEN)
        self._execution.close()

    def rest(self) -> None:
        """As `close`, for a pause of a program that goes on: what waits for another part goes on waiting; raises as that does.

        Nobody waits for another program that brings the manifest up to date: it does so for all.
        """
        self.completions.settle(own_after=FORGOTTEN, others_after=FORGOTTEN)
        self._execution.rest()

    def finish(self, *, wait: bool = True) -> VibesError | None:
        """Bring the manifest and the disk up to date after an answer, as `close`, or as `rest` if not `wait`; never raises.

        Returns:
            Why that failed. What was recorded is safe all the same, and must not be recorded again.
        """
        try:
            self.close() if wait else self.rest()
        except VibesError as error:
            return error
        except OSError as error:
            return RefusedWrite(
                f"{error.filename or self.directory.path} cannot be written: {error.strerror or error}"
            )
        except Exception as error:  # noqa: BLE001  # an answer that was given stands
            return report(error)
        return None

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
    ) -> Session:
        """Start a session (RFC 7.5); one with a parent is recorded as delegated by it."""
        start = sessions.Start(description, parent_session_id, agent_name, agent_type)
        return self._execution.once(
            Session,
            request_id,
            lambda situation: sessions.start_session(situation, tool, model, start),
        )

    def end_session(self, session_id: str, *, request_id: str | None = None) -> Ended:
        """End a session, whoever started it; nothing happens when it has ended already. What is held of it is recorded before."""
        self.completions.settle(session_id=session_id)
        ended = self._execution.once(
            Ended, request_id, lambda situation: sessions.end_session(situation, session_id)
        )
        self.finish()  # what fails now is tried again, and said, by whoever finishes
        return ended

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
        """Record that an AI created, modified, deleted or reviewed lines (RFC 7.3), with the edges that follow from it.

        Args:
            path: The file.
            start: First line, 1-based.
            end: Last line, inclusive.
            action: `create`, `modify`, `delete` or `review`.
            origin: Who wrote it, and why.
            text: The file's text where it is not saved: after the edit; for a deletion before it (R14).
            request_id: See the class.

        Raises:
            UnreadableFile: No text was given, and the file cannot be read.
        """
        edit = annotating.Edit(str(path), action, (start, end), None, text)
        return self.annotate(edit, origin, request_id=request_id)

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
        """Record that an AI wrote or changed a function, method or class (RFC 7.4); arguments as for `annotate_lines`.

        Args:
            path: The file.
            name: As in the source, qualified or not.
            action: What was done.
            origin: Who did it, and why.
            signature: Parameters and return type.
            lines: Where it stands; needed only where it cannot be found by its name.
            text: The file's text where it is not saved.
            request_id: See the class.
        """
        edit = annotating.Edit(str(path), action, lines, Function(name, signature), text)
        return self.annotate(edit, origin, request_id=request_id)

    def annotate(
        self, edit: annotating.Edit, origin: Origin, *, request_id: str | None = None
    ) -> Recorded:
        """Record an edit of lines or of a function."""
        check_argument("edit", edit, annotating.Edit, within=False)
        self._execution.settle_in(edit.path, edit.text)
        return self._execution.once(
            Recorded, request_id, lambda situation: annotating.annotate(situation, edit, origin)
        )

    def record_inline_completion(
        self, completion: InlineCompletion, origin: Origin
    ) -> Recorded | Pending:
        """Record an inline completion that a person accepted; one id, and within it one part, changes something only once.

        A part that is not the last is held. It is recorded when the last one comes, by `completions.settle`, and when its session ends.

        Raises:
            UnreadableFile: No text was given, and the file cannot be read.
        """
        check_argument("completion", completion, InlineCompletion, within=False)
        return self.completions.record(completion, origin)

    def record_prompt(
        self, session_id: str, prompt: Prompt, *, request_id: str | None = None
    ) -> RecordedPrompt:
        """Record what a session was asked, before it acts (RFC 9.1): its annotations without a prompt name the latest."""
        return self._execution.once(
            RecordedPrompt,
            request_id,
            lambda situation: relating.record_prompt(situation, session_id, prompt),
        )

    def record_command(
        self, session_id: str, command: Command, *, request_id: str | None = None
    ) -> RecordedCommand:
        """Record a command that a session has run (RFC 6.4)."""
        return self._execution.once(
            RecordedCommand,
            request_id,
            lambda situation: relating.record_command(situation, session_id, command),
        )

    def record_read(
        self, session_id: str, files: Sequence[str], *, request_id: str | None = None
    ) -> RecordedCommand:
        """Record that a session has read files; its next annotation is informed by them."""
        return self._execution.once(
            RecordedCommand,
            request_id,
            lambda situation: relating.record_read(situation, session_id, files),
        )

    def record_decision(
        self, decision: Decision, *, request_id: str | None = None
    ) -> RecordedDecision:
        """Record a decision (RFC 6.6); annotations may name its hash."""
        return self._execution.once(
            RecordedDecision,
            request_id,
            lambda situation: relating.record_decision(situation, decision),
        )

    def record_delegation(
        self,
        parent_session_id: str,
        *,
        child_session_id: str | None = None,
        task_description: str | None = None,
        delegated_files: Sequence[str] = (),
        delegation_type: DelegationType = DelegationType.TASK,
        tool: Tool | None = None,
        model: Model | None = None,
        agent_name: str | None = None,
        agent_type: str | None = None,
        request_id: str | None = None,
    ) -> Delegated:
        """Record that a session hands work to another (RFC 7.7), which is started unless it was.

        Args:
            parent_session_id: Who hands on.
            child_session_id: Who gets it; by default a new session.
            task_description: The work.
            delegated_files: The files that it is about.
            delegation_type: Its kind.
            tool: Of a new session; by default the parent's.
            model: Likewise.
            agent_name: Of a new session.
            agent_type: Of a new session.
            request_id: See the class.
        """
        task = sessions.Task(task_description, delegated_files, delegation_type)
        start = sessions.Start(task_description, parent_session_id, agent_name, agent_type)
        return self._execution.once(
            Delegated,
            request_id,
            lambda situation: sessions.delegate(
                situation,
                parent_session_id,
                child_session_id,
                task,
                start=start,
                tool=tool,
                model=model,
            ),
        )

    def record_edge(
        self, relation: relating.Relation, *, request_id: str | None = None
    ) -> RecordedEdge:
        """Record an edge between two things that are there (RFC 7.6)."""
        return self._execution.once(
            RecordedEdge, request_id, lambda situation: relating.record_edge(situation, relation)
        )

    def review(self, review: Reviewing, *, request_id: str | None = None) -> Reviewed:
        """Record a verdict on annotations (R6); the same one again, with nothing between them, changes nothing.

        Raises:
            NotAsShown: The reviewer was shown something else.
            UnreadableFile: The file cannot be read.
        """
        self._execution.settle_in(review.path, review.text)
        return self._execution.once(
            Reviewed, request_id, lambda situation: reviewing.review(situation, review)
        )

    def reanchor(
        self, wanted: correcting.Reanchoring, *, request_id: str | None = None
    ) -> Corrected:
        """Record a person's word that an annotation is at these lines; its anchors stay those of what the AI wrote (R14).

        Raises:
            UnreadableFile: The file cannot be read.
        """
        return self._execution.once(
            Corrected, request_id, lambda situation: correcting.reanchor(situation, wanted)
        )

    def mark_lost(self, annotation_id: str, *, request_id: str | None = None) -> Corrected:
        """Record a person's word that an annotation's lines are nowhere (RFC 7.3.1): only what is certain is still found."""
        return self._execution.once(
            Corrected, request_id, lambda situation: correcting.mark_lost(situation, annotation_id)
        )

    def write_derived(
        self,
        kind: type[_R],
        decide: Callable[[RecordingContext], tuple[Draft, _R]],
        *,
        dry_run: bool = False,
        request_id: str | None = None,
    ) -> _R:
        """Write records that follow from the trail and from git, such as those of a back-fill.

        Records that the log has already are not written again.

        Args:
            kind: The result's type; its `record_types` are all that `decide` may write.
            decide: Returns the records and the result.
            dry_run: Write nothing; the request id is not used up.
            request_id: See the class.

        Raises:
            UnreadableFile: The log cannot be read.
        """
        if request_id is not None and not dry_run:
            return self._execution.once(kind, request_id, decide)
        return self._execution.renew(decide, dry_run=dry_run)

    @property
    def warning(self) -> str | None:
        """What whoever records should be told: that the project's policy cannot be read, and what was recorded last went by the defaults."""
        return self._execution.warning
