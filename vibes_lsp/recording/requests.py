"""The requests that make a trail grow: one type for each use case, in Python and as JSON.

`Recorder.execute` executes a request; its methods only build one. The shell and the server parse
JSON objects, whose members are in camel case, into the same types (`parse`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import Field
from typing_extensions import override

from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Confidence, DelegationType, EdgeType, NodeType, Verdict
from vibes_lsp.placing.live_risk import MAX_CUSTOM_SIGNALS
from vibes_lsp.recording.arguments import (
    Checked,
    Command,
    Decision,
    DecisionOption,
    Function,
    JsonObject,
    Lenient,
    Model,
    NonEmpty,
    Part,
    Prompt,
    Range,
    Reasoning,
    RiskSignal,
    Shown,
    Tool,
    WrongArgument,
)
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
    StartedSession,
)

R = TypeVar("R", bound=Result)
Texts: TypeAlias = Lenient[tuple[NonEmpty, ...]]


class ReviewScope(StrEnum):
    """What a review covers: annotations, a file, or all with the same prompt or session."""

    ANNOTATION = "annotation"
    FILE = "file"
    PROMPT = "prompt"
    SESSION = "session"


class Request(Checked, Generic[R]):
    """What all requests have; `R` is the type of the result.

    Attributes:
        uri: The file as a URI, or any file of the project.
        file: The same as a path, absolute or relative to the project.
        request_id: The same id again changes nothing and returns the same result.
    """

    uri: NonEmpty | None = None
    file: NonEmpty | None = None
    request_id: NonEmpty | None = None

    @property
    def path(self) -> str | None:
        """The file as a path.

        Raises:
            WrongArgument: The URI is not that of a file.
        """
        return self.file if self.uri is None else _path_of(self.uri)

    @property
    def required_path(self) -> str:
        """The file as a path.

        Raises:
            WrongArgument: There is none, or the URI is not that of a file.
        """
        if self.path is None:
            raise WrongArgument("file", "is required, or a uri")
        return self.path


class LinesRequest(Request[R]):
    """A request about lines of a file.

    Attributes:
        range: The lines as an LSP range, instead of `line_start` and `line_end`.
        line_start: First line, 1-based.
        line_end: Last line, inclusive.
        text: The file's text, if it is not saved.
    """

    range: Range | None = None
    line_start: int | None = None
    line_end: int | None = None
    text: str | None = None

    @property
    def lines(self) -> tuple[int, int] | None:
        """First and last line, 1-based and inclusive; None when none are given."""
        if self.range is not None:
            return self.range.lines
        if self.line_start is None or self.line_end is None:
            return None
        return self.line_start, self.line_end

    @override
    def _check_together(self) -> None:
        if self.range is None and (self.line_start is None) != (self.line_end is None):
            missing = "line_end" if self.line_end is None else "line_start"
            raise WrongArgument(missing, "is required, as both are given together")


class Origin(Checked):
    """Who wrote an edit, and why.

    Attributes:
        session_id: The session; required without `tool` and `model`.
        tool: The tool; by default that of the session.
        model: The model; given together with the tool.
        prompt: What was asked.
        prompt_hash: The hash of a recorded prompt instead; by default the session's latest.
        reasoning: The AI's reasoning.
        command: The command that made the edit.
        decision: The decision behind it, or the hash of a recorded one.
        informed_by: What the AI had read: hashes of entries, ids of annotations or sessions,
            files of the project.
        signals: Risk signals of the caller; kept if the project scores risk.
    """

    session_id: NonEmpty | None = None
    tool: Tool | None = None
    model: Model | None = None
    prompt: Prompt | None = None
    prompt_hash: NonEmpty | None = None
    reasoning: Reasoning | None = None
    command: Command | None = None
    decision: NonEmpty | Decision | None = None
    informed_by: Texts = ()
    signals: Lenient[tuple[RiskSignal, ...]] = ()

    @override
    def _check_together(self) -> None:
        super()._check_together()
        if len(self.signals) > MAX_CUSTOM_SIGNALS:
            raise WrongArgument("signals", f"are {MAX_CUSTOM_SIGNALS} at most")
        names = [signal.signal for signal in self.signals]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise WrongArgument(f"signals.{number}.signal", f"{name!r} is given twice")


class StartSession(Request[StartedSession]):
    """`vibes.startSession`: a session starts (RFC 7.5).

    Attributes:
        tool: The tool that runs it.
        model: The model that it uses.
        description: What it is for.
        parent_session_id: The session that delegates to it.
        agent_name: The name of its agent, such as `worker-1`.
        agent_type: The kind of its agent.
    """

    tool: Tool
    model: Model
    description: str | None = None
    parent_session_id: NonEmpty | None = None
    agent_name: str | None = None
    agent_type: str | None = None


class EndSession(Request[Ended]):
    """`vibes.endSession`: a session ends.

    Attributes:
        session_id: The session.
    """

    session_id: NonEmpty


class RecordAnnotation(Origin, LinesRequest[Recorded]):
    """`vibes.recordAnnotation`: an AI created, modified, deleted or reviewed lines or a function.

    Attributes:
        action: What the AI did.
        function: The function, instead of lines; with lines if it cannot be found by its name.
        text: The file's text, if it is not saved: after the edit, for a deletion before it (R14).
    """

    action: Literal["create", "modify", "delete", "review"]
    function: Function | None = None

    @override
    def _check_together(self) -> None:
        super()._check_together()
        _ = self.required_path


class RecordInlineCompletion(Origin, Request[Recorded | Pending]):
    """`vibes.recordInlineCompletion`: a person accepted a completion, or a part of one.

    Attributes:
        completion_id: Its id: the same one again is recorded once, without `request_id` too.
        range: What the completion replaced, in the text before it was accepted.
        new_text: What was inserted.
        partial: The part, if the completion is accepted in parts.
        text: The file's text before the completion was accepted, if that is not what is saved.
        current_text: The text now, if it may have changed since then.
    """

    completion_id: NonEmpty
    range: Range
    new_text: str
    partial: Part | None = None
    text: str | None = None
    current_text: str | None = None

    @property
    def part(self) -> int:
        """The number of the part, from 1."""
        return 1 if self.partial is None else self.partial.part

    @property
    def is_final(self) -> bool:
        """Whether no part follows."""
        return self.partial is None or self.partial.final

    @override
    def _check_together(self) -> None:
        super()._check_together()
        _ = self.required_path


class RecordPrompt(Request[RecordedPrompt]):
    """`vibes.recordPrompt`: what a session was asked, before it acts (RFC 9.1).

    Attributes:
        session_id: The session.
        prompt: What it was asked.
    """

    session_id: NonEmpty
    prompt: Prompt


class RecordCommand(Request[RecordedCommand]):
    """`vibes.recordCommand`: a session has run a command (RFC 6.4).

    Attributes:
        session_id: The session.
        command: The command.
    """

    session_id: NonEmpty
    command: Command


class RecordRead(Request[RecordedCommand]):
    """`vibes.recordRead`: a session has read files, which inform its next annotation.

    Attributes:
        session_id: The session.
        files: The files, absolute or relative to the project.
    """

    session_id: NonEmpty
    files: Texts


class RecordDecision(Request[RecordedDecision]):
    """`vibes.recordDecision`: a choice between options (RFC 6.6).

    Attributes:
        decision_point: The question.
        options: The alternatives.
        selected: The id of the option that was chosen.
        rationale: Why.
        confidence: How certain the choice is.
    """

    decision_point: str
    options: Lenient[tuple[DecisionOption, ...]]
    selected: str
    rationale: str
    confidence: Lenient[Confidence] | None = None


class RecordDelegation(Request[Delegated]):
    """`vibes.recordDelegation`: a session hands work to another (RFC 7.7).

    Attributes:
        parent_session_id: The session that delegates.
        child_session_id: The session that gets the work; by default a new one, which is started.
        task_description: The work.
        delegated_files: The files that it is about.
        delegation_type: The kind of work.
        tool: The tool of a new session; by default the parent's.
        model: The model of a new session; given together with the tool.
        agent_name: The name of a new session's agent.
        agent_type: The kind of a new session's agent.
    """

    parent_session_id: NonEmpty
    child_session_id: NonEmpty | None = None
    task_description: str | None = None
    delegated_files: Texts = ()
    delegation_type: Lenient[DelegationType] = DelegationType.TASK
    tool: Tool | None = None
    model: Model | None = None
    agent_name: str | None = None
    agent_type: str | None = None


class RecordEdge(Request[RecordedEdge]):
    """`vibes.recordEdge`: a relation, read as "source edge_type target" (RFC 7.6).

    Attributes:
        edge_type: The relation.
        source_ref: The id or hash that the edge starts from.
        source_type: Its kind: `context` is an entry of the manifest.
        target_ref: The id or hash that the edge leads to.
        target_type: Its kind.
        session_id: The session that the edge belongs to.
        metadata: Members of your own.
    """

    edge_type: Lenient[EdgeType]
    source_ref: NonEmpty
    source_type: Lenient[NodeType]
    target_ref: NonEmpty
    target_type: Lenient[NodeType]
    session_id: NonEmpty | None = None
    metadata: JsonObject | None = None


class RecordReview(LinesRequest[Reviewed]):
    """`vibes.review`: a verdict on annotations (R6).

    Attributes:
        verdict: The verdict.
        line_start: First line, 1-based; every annotation that the lines touch is reviewed, whole.
        annotation_ids: The annotations, instead of lines.
        note: The reviewer's remark.
        reviewer: The reviewer's name; by default an editor's setting `reviewer`, else git's user.
        scope: What the review covers; `file` needs neither lines nor ids.
        reviewer_kind: Whether a person or an AI reviews.
        session_id: The session of an AI that reviews.
        tool: The tool of an AI that reviews without a session.
        model: Its model, given together with the tool.
        shown: What the reviewer saw, by annotation id; if it has changed, nothing is recorded.
    """

    verdict: Lenient[Verdict]
    annotation_ids: Texts = ()
    note: str | None = None
    reviewer: NonEmpty | None = None
    scope: Lenient[ReviewScope] = ReviewScope.ANNOTATION
    reviewer_kind: Literal["human", "ai"] = "human"
    session_id: NonEmpty | None = None
    tool: Tool | None = None
    model: Model | None = None
    shown: dict[NonEmpty, Shown] = Field(default_factory=dict)


class Reanchor(LinesRequest[Corrected]):
    """`vibes.reanchor`: a person corrects an annotation's lines, in the file as it is named now.

    Attributes:
        annotation_id: Its id, or that of any record of its lineage.
    """

    annotation_id: NonEmpty

    @property
    def required_lines(self) -> tuple[int, int]:
        """First and last line, 1-based and inclusive.

        Raises:
            WrongArgument: None are given.
        """
        if self.lines is None:
            raise WrongArgument("range", "is required")
        return self.lines

    @override
    def _check_together(self) -> None:
        super()._check_together()
        _ = self.required_path, self.required_lines


class MarkLost(Request[Corrected]):
    """`vibes.markLost`: a person records that an annotation's lines are gone (RFC 7.3.1).

    Attributes:
        annotation_id: Its id, or that of any record of its lineage.
    """

    annotation_id: NonEmpty


REQUESTS: Final[dict[str, type[Request[Any]]]] = {
    "session-start": StartSession,
    "session-end": EndSession,
    "annotate": RecordAnnotation,
    "inline-completion": RecordInlineCompletion,
    "prompt": RecordPrompt,
    "command": RecordCommand,
    "read": RecordRead,
    "decision": RecordDecision,
    "delegation": RecordDelegation,
    "edge": RecordEdge,
    "review": RecordReview,
    "reanchor": Reanchor,
    "mark-lost": MarkLost,
}
"""The requests by their names in the shell."""

_Q = TypeVar("_Q", bound=Checked)


def parse(kind: type[_Q], members: Members) -> _Q:
    """Return a request, or other arguments, from a JSON object.

    Raises:
        WrongArgument: A member is missing, unknown or invalid.
    """
    try:
        return kind.model_validate_json(canonical_json(members), by_alias=True, by_name=False)
    except (TypeError, ValueError) as error:  # a lone surrogate is no text
        raise WrongArgument("", f"this cannot be read as JSON text: {error}") from None


def _path_of(uri: str) -> str:
    """Return the path that a file URI names.

    Raises:
        WrongArgument: It is the URI of something else.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:  # a bracket in the place of a host
        parts = None
    if parts is None or parts.scheme != "file":
        raise WrongArgument("uri", f"expected a file URI, not {uri!r}")
    path = unquote(parts.path)
    if len(path) > 2 and path[0] == "/" and path[2] == ":":  # /C:/folder
        path = path[1:]
    return f"//{parts.netloc}{path}" if parts.netloc not in {"", "localhost"} else path
