"""Record one event of an agent with the use cases of `recording`.

A session of the trail belongs to one agent, and its id follows from the agent's name and its own
id. One that is resumed after its end is another session of the trail.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vibes_lsp.agents.current_session import ModelUses
from vibes_lsp.agents.edited_lines import ResolvedEdit
from vibes_lsp.agents.events import (
    UNKNOWN,
    Agent,
    AgentEvent,
    AnnotationShown,
    Choice,
    ChoicesMade,
    CommandRun,
    FileEdit,
    FilesEdited,
    FilesRead,
    PromptSubmitted,
    ProvenanceAsked,
    SessionEnded,
    SessionKey,
    SessionStarted,
    TurnEnded,
)
from vibes_lsp.anchors.text import Text
from vibes_lsp.ingest.command_files import CommandFile
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import COMPARED_FILES, Action
from vibes_lsp.recording import (
    Command,
    CommandType,
    DecisionOption,
    EdgeType,
    EndSession,
    Model,
    NodeType,
    Prompt,
    PromptType,
    Reasoning,
    RecordAnnotation,
    RecordCommand,
    RecordDecision,
    RecordDelegation,
    RecordEdge,
    RecordPrompt,
    RecordRead,
    Tool,
    WrongArgument,
)
from vibes_lsp.recording.across_projects import (
    HomeSession,
    copy_prompt,
    find_home_session,
    start_once,
)
from vibes_lsp.recording.annotations import record_annotation
from vibes_lsp.recording.context import RecordingContext
from vibes_lsp.recording.edges import inform_session
from vibes_lsp.recording.paths import project_path
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.results import Informed, Recorded
from vibes_lsp.recording.reviews import HUMAN
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.records import LoggedSession
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

_NAMESPACE: Final = uuid.UUID("2d0c4d5c-7f0e-4a55-9f3f-8a6f0d1f4b7e")
_MAX_EXIT_CODE: Final = 2**32
CHOSEN: Final = "a person chose it when the agent asked"
"""The recorded reason of a decision."""
UNRESOLVED: Final = "the edited lines are unknown"
"""How that begins which is recorded of an edit whose lines are not certain."""


@dataclass(frozen=True, slots=True)
class EditedFile:
    """An edit of a file of the project.

    Attributes:
        path: The file, relative to the project.
        edit: The edit.
        resolved: Its lines; None where they are not certain.
        reason: Why they are not.
    """

    path: str
    edit: FileEdit
    resolved: ResolvedEdit | None
    reason: str = ""

    @property
    def doubt(self) -> str:
        """What is recorded of an edit whose lines are not certain."""
        return f"{UNRESOLVED}: {self.reason}" if self.reason else UNRESOLVED


class EventRecorder:
    """Records events of agents on one trail.

    Args:
        recorder: The recorder; its clock gives the time of each event.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._model_uses = ModelUses()
        self._versions: dict[tuple[Agent, str], str] = {}
        self._homes: dict[Path, Trail] = {}

    def record(
        self, event: AgentEvent, edited: Sequence[EditedFile], *, fallback_identity: str
    ) -> bool:
        """Record an event; return whether it was not reported before. Again, it changes nothing.

        Args:
            event: The event.
            edited: The files of the project that it edited.
            fallback_identity: The event's own file name; it identifies an event that has no
                identity.

        Raises:
            VibesError: It cannot be recorded.
        """
        identity = f"hook {event.session.id} {event.identity or fallback_identity}"
        if event.version is not None:
            self._versions[event.agent, event.session.id] = event.version
        if isinstance(event.action, TurnEnded):
            return True
        if not self._recorder.once(f"{event.agent.value} {identity}", by=fallback_identity):
            return False
        if isinstance(event.action, FilesEdited):
            self._copy_prompt(event)
            for number, file in enumerate(edited):
                self._edit(event, file, f"{identity} {number}")
        else:
            self._record(event, identity)
        return True

    def _copy_prompt(self, event: AgentEvent) -> None:
        """Record what the session of a visit was asked last in its own trail, if that is kept."""
        home = self._home_session(event)
        if home is not None and event.visit is not None and event.visit.keeps_prompt:
            session, _ = self._session(event)
            copy_prompt(self._recorder, session, home.prompt)

    def _home_session(self, event: AgentEvent) -> HomeSession | None:
        """Return an event's session in the trail of the agent's folder, where that is another."""
        if event.visit is None or event.visit.home is None:
            return None
        home = event.visit.home
        if home not in self._homes:
            self._homes[home] = Trail(AuditDir(home), uses_saved=True)
        return find_home_session(
            self._homes[home],
            lambda log: _find_session(log, event.agent, event.session.id)[1],
        )

    def _record(self, event: AgentEvent, identity: str) -> None:
        match event.action:
            case SessionStarted():
                if event.model is not None:  # else the first event that may know it starts it
                    self._session(event, resumes=event.session.parent is None)
            case SessionEnded():
                self._end(event)
            case PromptSubmitted(text=asked):
                session, _ = self._session(event, resumes=True)
                prompt = Prompt(asked, PromptType.USER_INSTRUCTION)
                self._recorder.execute(
                    RecordPrompt(
                        session_id=session, prompt=prompt, request_id=f"{session} {identity}"
                    )
                )
            case ChoicesMade(choices):
                for number, choice in enumerate(choices):
                    self._decide(event, choice, f"{identity} {number}")
            case CommandRun() as run:
                self._command(event, _command_of(event, run), identity)
            case FilesRead(paths):
                session, _ = self._session(event)
                self._recorder.execute(
                    RecordRead(session_id=session, files=paths, request_id=f"{session} {identity}")
                )
            case ProvenanceAsked(shown):
                self._inform(event, shown)

    def _decide(self, event: AgentEvent, choice: Choice, identity: str) -> None:
        """Record a person's choice as a decision that informs the session."""
        session, _ = self._session(event)
        decision = self._recorder.execute(
            RecordDecision(
                decision_point=choice.question,
                options=tuple(DecisionOption(*option) for option in choice.options),
                selected=choice.selected,
                rationale=CHOSEN,
                request_id=f"{session} {identity}",
            )
        )
        self._recorder.execute(
            RecordEdge(
                edge_type=EdgeType.INFORMED_BY,
                source_ref=session,
                source_type=NodeType.SESSION,
                target_ref=decision.decision_hash,
                target_type=NodeType.CONTEXT,
                session_id=session,
                request_id=f"{session} {identity} edge",
            )
        )

    def _inform(self, event: AgentEvent, shown: Sequence[AnnotationShown]) -> None:
        """Record which annotations of the project an answer told a session of."""
        session, _ = self._session(event)
        project = self._recorder.directory.project
        paths = (project_path(project, annotation.path) for annotation in shown)
        annotations = [
            (annotation.id, path) for annotation, path in zip(shown, paths, strict=True) if path
        ]
        self._recorder.write_derived(
            Informed, lambda context: inform_session(context, session, annotations)
        )

    def record_command_file(self, file: CommandFile) -> None:
        """Record a file that changed while a command ran; again, it changes nothing.

        Raises:
            VibesError: It cannot be recorded.
        """
        event = file.event
        identity = f"compared {file.moment} {file.path}"
        if file.content is None:
            doubt = f"{UNRESOLVED}: the file changed while a command ran: {file.run.text}"
            self._command(event, _unresolved(file.path, doubt), identity)
        else:
            session, origin = self._origin(replace(event, method=COMPARED_FILES))
            request = RecordAnnotation(
                file=file.path,
                line_start=1,
                line_end=len(Text(file.content).lines),
                action=Action.CREATE.value,
                text=file.content,
                command=_command_of(event, file.run),
                **origin,
            )
            self._recorder.write_derived(
                Recorded,
                lambda context: record_annotation(context, request, evidence="compared"),
                request_id=f"{session} {identity}",
            )

    def _edit(self, event: AgentEvent, file: EditedFile, identity: str) -> None:
        if file.edit.deletes:
            self._command(event, Command(f"delete {file.path}", CommandType.FILE_DELETE), identity)
        elif file.resolved is None:
            self._command(event, _unresolved(file.path, file.doubt), identity)
        else:
            session, origin = self._origin(event)
            for number, lines in enumerate(file.resolved.ranges):
                request = RecordAnnotation(
                    file=file.path,
                    line_start=lines.start,
                    line_end=lines.end,
                    action=lines.action.value,  # type: ignore[arg-type]  # create or modify
                    text=file.resolved.after,
                    request_id=f"{session} {identity} {number}",
                    **origin,
                )
                self._recorder.execute(request)

    def _command(self, event: AgentEvent, command: Command, identity: str) -> None:
        session, _ = self._session(event)
        self._recorder.execute(
            RecordCommand(session_id=session, command=command, request_id=f"{session} {identity}")
        )

    def _end(self, event: AgentEvent) -> None:
        _, session = self._latest_session(event.agent, event.session.id)
        if session is not None and session.is_open:
            self._recorder.execute(EndSession(session_id=session.id))

    def _origin(self, event: AgentEvent) -> tuple[str, dict[str, Any]]:
        """Return an event's session, and the origin of an edit in it with its reasoning."""
        session, origin = self._session(event)
        if event.reasoning and (event.visit is None or event.visit.keeps_prompt):
            origin["reasoning"] = Reasoning(event.reasoning)
        return session, origin

    def _session(self, event: AgentEvent, *, resumes: bool = False) -> tuple[str, dict[str, Any]]:
        """Return an event's session, started if it was not, and the origin of an edit in it.

        Args:
            event: The event.
            resumes: Whether it starts a session again that has ended.
        """
        use = None if event.model is not None else self._model_uses.find(event)
        name = event.model or (None if use is None else use.model)
        if name is None and (home := self._home_session(event)) is not None:
            name = home.model.name if home.model.name != UNKNOWN else None
        known = self._versions.get((event.agent, event.session.id))
        version = known or (None if use is None else use.version) or UNKNOWN
        tool, model = Tool(event.agent.value, version), Model(name or UNKNOWN, UNKNOWN)
        if event.session.parent is not None:
            parent, unknown = SessionKey(event.session.parent), Model(UNKNOWN, UNKNOWN)
            self._start(parent, event.agent, tool, unknown, resumes=False)
        session, recorded_model = self._start(
            event.session, event.agent, tool, model, resumes=resumes
        )
        if event.method is not None:
            tool = Tool(event.agent.value, version, (event.method,))
            model = Model(name or recorded_model, UNKNOWN)
        elif name in (None, recorded_model):
            return session, {"session_id": session}
        return session, {"session_id": session, "tool": tool, "model": model}

    def _start(
        self, key: SessionKey, agent: Agent, tool: Tool, model: Model, *, resumes: bool
    ) -> tuple[str, str]:
        """Return a session of the trail, started if it was not, and the name of its model."""
        number, known = self._latest_session(agent, key.id)
        if known is not None and (known.is_open or not resumes):
            return known.id, self._recorder.read(lambda context: _model_of(context, known, agent))
        identifier = session_id(agent, key.id, number + (known is not None))
        if key.parent is None:
            start_once(self._recorder, identifier, tool, model)
        else:
            _, parent = self._latest_session(agent, key.parent)
            self._recorder.execute(
                RecordDelegation(
                    parent_session_id=key.parent if parent is None else parent.id,
                    child_session_id=identifier,
                    tool=tool,
                    model=model,
                    agent_type=None if key.agent_type == HUMAN else key.agent_type,
                )
            )
        return identifier, model.name

    def _latest_session(self, agent: Agent, identifier: str) -> tuple[int, LoggedSession | None]:
        return self._recorder.read(
            lambda context: _find_session(context.trail.log, agent, identifier)
        )


def _unresolved(path: str, doubt: str) -> Command:
    """Return what is recorded of an edit whose lines are not certain."""
    return Command(f"edit {path}", CommandType.FILE_WRITE, output_summary=doubt)


def _command_of(event: AgentEvent, run: CommandRun) -> Command:
    code = run.exit_code
    known = code if code is not None and abs(code) <= _MAX_EXIT_CODE else None
    return Command(run.text, CommandType.SHELL, known, run.output, event.folder or None)


def session_id(agent: Agent, identifier: str, number: int) -> str:
    """Return the id of an agent's session in the trail.

    Args:
        agent: The agent.
        identifier: The agent's own id of it.
        number: 1, and one more each time that it is resumed after its end.
    """
    return str(uuid.uuid5(_NAMESPACE, f"{agent.value} {identifier} {number}"))


def _find_session(log: LogIndex, agent: Agent, identifier: str) -> tuple[int, LoggedSession | None]:
    """Return the latest session of a trail for an agent's session, and its number."""
    number, session = 1, None
    while (later := log.session(session_id(agent, identifier, number))) is not None:
        session = later
        number += 1
    return max(number - 1, 1), session


def _model_of(context: RecordingContext, session: LoggedSession, agent: Agent) -> str:
    """Return the model of a session.

    Raises:
        WrongArgument: It is a session of another tool.
    """
    environment = context.entry_of(context.environment_of(session)) or {}
    if text(environment, "tool_name") != agent.value:
        raise WrongArgument("session_id", f"session {session.id!r} is not one of {agent.value}")
    return text(environment, "model_name") or UNKNOWN
