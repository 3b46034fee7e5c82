"""The recording commands as JSON objects: members in camel case, checked, and carried out by one use case each.

The shell and every other adapter share them, so that a command means the same wherever it comes from.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError
from typing_extensions import override

from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Confidence, DelegationType, EdgeType, NodeType
from vibes_lsp.recording.annotating import Edit
from vibes_lsp.recording.arguments import (
    Command,
    Decision,
    DecisionOption,
    Function,
    Model,
    NonEmpty,
    Origin,
    Prompt,
    Reasoning,
    RiskSignal,
    Tool,
    WrongArgument,
)
from vibes_lsp.recording.completion_form import RecordInlineCompletion
from vibes_lsp.recording.forms import InText, Request
from vibes_lsp.recording.judging import MarkLostRequest, ReanchorRequest, ReviewRequest
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.relating import Relation
from vibes_lsp.recording.results import Result


class StartSession(Request):
    """`vibes.startSession`."""

    tool: Tool
    model: Model
    description: str | None = None
    parent_session_id: NonEmpty | None = None
    agent_name: str | None = None
    agent_type: str | None = None

    @override
    def _record(self, recorder: Recorder) -> Result:
        return recorder.start_session(
            self.tool,
            self.model,
            description=self.description,
            parent_session_id=self.parent_session_id,
            agent_name=self.agent_name,
            agent_type=self.agent_type,
            request_id=self.request_id,
        )


class EndSession(Request):
    """`vibes.endSession`."""

    session_id: NonEmpty

    @override
    def _record(self, recorder: Recorder) -> Result:
        return recorder.end_session(self.session_id, request_id=self.request_id)


class Annotate(InText):
    """`vibes.recordAnnotation`."""

    action: NonEmpty
    function: Function | None = None
    tool: Tool | None = None
    model: Model | None = None
    session_id: NonEmpty | None = None
    prompt: Prompt | None = None
    prompt_hash: NonEmpty | None = None
    reasoning: Reasoning | None = None
    command: Command | None = None
    decision: NonEmpty | Decision | None = None
    informed_by: tuple[NonEmpty, ...] = ()
    signals: tuple[RiskSignal, ...] = ()

    @override
    def _record(self, recorder: Recorder) -> Result:
        if self.path is None:
            raise WrongArgument("file", "is required, or a uri")
        edit = Edit(self.path, self.action, self.lines(), self.function, self.text)
        origin = Origin(
            self.session_id,
            self.tool,
            self.model,
            self.prompt,
            self.reasoning,
            self.command,
            self.decision,
            self.informed_by,
            self.signals,
            self.prompt_hash,
        )
        return recorder.annotate(edit, origin, request_id=self.request_id)


class RecordPrompt(Request):
    """`vibes.recordPrompt`."""

    session_id: NonEmpty
    prompt: Prompt

    @override
    def _record(self, recorder: Recorder) -> Result:
        return recorder.record_prompt(self.session_id, self.prompt, request_id=self.request_id)


class RecordCommand(Request):
    """`vibes.recordCommand`."""

    session_id: NonEmpty
    command: Command

    @override
    def _record(self, recorder: Recorder) -> Result:
        return recorder.record_command(self.session_id, self.command, request_id=self.request_id)


class RecordRead(Request):
    """`vibes.recordRead`."""

    session_id: NonEmpty
    files: tuple[NonEmpty, ...]

    @override
    def _record(self, recorder: Recorder) -> Result:
        return recorder.record_read(self.session_id, self.files, request_id=self.request_id)


class RecordDecision(Request):
    """`vibes.recordDecision`."""

    decision_point: str
    options: tuple[DecisionOption, ...]
    selected: str
    rationale: str
    confidence: Confidence | None = None

    @override
    def _record(self, recorder: Recorder) -> Result:
        decision = Decision(
            self.decision_point, self.options, self.selected, self.rationale, self.confidence
        )
        return recorder.record_decision(decision, request_id=self.request_id)


class RecordDelegation(Request):
    """`vibes.recordDelegation`."""

    parent_session_id: NonEmpty
    child_session_id: NonEmpty | None = None
    task_description: str | None = None
    delegated_files: tuple[NonEmpty, ...] = ()
    delegation_type: DelegationType = DelegationType.TASK
    tool: Tool | None = None
    model: Model | None = None
    agent_name: str | None = None
    agent_type: str | None = None

    @override
    def _record(self, recorder: Recorder) -> Result:
        return recorder.record_delegation(
            self.parent_session_id,
            child_session_id=self.child_session_id,
            task_description=self.task_description,
            delegated_files=self.delegated_files,
            delegation_type=self.delegation_type,
            tool=self.tool,
            model=self.model,
            agent_name=self.agent_name,
            agent_type=self.agent_type,
            request_id=self.request_id,
        )


class RecordEdge(Request):
    """`vibes.recordEdge`."""

    edge_type: EdgeType
    source_ref: NonEmpty
    source_type: NodeType
    target_ref: NonEmpty
    target_type: NodeType
    session_id: NonEmpty | None = None
    metadata: dict[str, Any] | None = None

    @override
    def _record(self, recorder: Recorder) -> Result:
        relation = Relation(
            self.edge_type,
            self.source_ref,
            self.source_type,
            self.target_ref,
            self.target_type,
            self.session_id,
            self.metadata,
        )
        return recorder.record_edge(relation, request_id=self.request_id)


REQUESTS: Final[dict[str, type[Request]]] = {
    "session-start": StartSession,
    "session-end": EndSession,
    "annotate": Annotate,
    "inline-completion": RecordInlineCompletion,
    "prompt": RecordPrompt,
    "command": RecordCommand,
    "read": RecordRead,
    "decision": RecordDecision,
    "delegation": RecordDelegation,
    "edge": RecordEdge,
    "review": ReviewRequest,
    "reanchor": ReanchorRequest,
    "mark-lost": MarkLostRequest,
}
"""The commands by their names in the shell."""


def parse(kind: type[Request], members: Members) -> Request:
    """Return a command from its JSON object.

    Raises:
        WrongArgument: A member is missing, unknown or not what it may be.
    """
    try:
        return kind.model_validate_json(canonical_json(members))
    except ValidationError as error:
        raise _wrong(kind, error) from None
    except (TypeError, ValueError) as error:  # a lone surrogate is no text
        raise WrongArgument("", f"this cannot be read as JSON text: {error}") from None


_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_BRANCHES: Final = frozenset({"constrained-str", "Decision"})
"""What pydantic puts into the place of an error for the two forms of a decision."""


def _wrong(kind: type[Request], error: ValidationError) -> WrongArgument:
    """Return the error about one member: an unknown one first, for it is often what is missing under another name."""
    items = error.errors(include_url=False, include_input=False)
    item = min(
        items, key=lambda each: (each["type"] not in _UNKNOWN, "constrained-str" in each["loc"])
    )
    parts = [str(part) for part in item["loc"] if part not in _BRANCHES]
    member = ".".join(parts)
    if item["type"] == "missing":
        return WrongArgument(member, "is required")
    if item["type"] in _UNKNOWN:
        names = ", ".join(sorted(field.alias or name for name, field in kind.model_fields.items()))
        return WrongArgument(
            member,
            f"is not a member; there are {names}" if len(parts) == 1 else "is not a member of it",
        )
    return WrongArgument(member, item["msg"][:1].lower() + item["msg"][1:])
