"""Starting and ending sessions, and delegating work from one to another (RFC 7.5, 7.7, 9.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vibes_lsp.index.records import LoggedSession
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.vocabulary import DelegationType, EdgeType, NodeType, RecordType, SessionEvent
from vibes_lsp.recording.arguments import Model, Tool, WrongArgument
from vibes_lsp.recording.checking import check_argument
from vibes_lsp.recording.context import Draft, Node, RecordingContext, present
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.results import Delegated, Ended, Session


@dataclass(frozen=True, slots=True)
class Start:
    """What is said of a session when it begins (RFC 7.5)."""

    description: str | None = None
    parent_session_id: str | None = None
    agent_name: str | None = None
    agent_type: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is said of work that is handed on (RFC 7.7)."""

    description: str | None = None
    files: Sequence[str] = ()
    type: DelegationType = DelegationType.TASK


def start_session(
    situation: RecordingContext, tool: Tool, model: Model, start: Start
) -> tuple[Draft, Session]:
    """Return the start of a session; one that names a parent is delegated by it, and the parent's record says so (RFC 9.2).

    Raises:
        UnknownId: The parent was never started.
    """
    check_argument("tool", tool, Tool)
    check_argument("model", model, Model)
    parent = start.parent_session_id
    known = None if parent is None else situation.session(parent)
    entries = Entries(situation)
    environment = entries.environment(tool, model)
    draft = Draft(situation.timestamp)
    identifier = situation.new_id()
    add_start(
        draft,
        situation,
        identifier,
        environment,
        replace(start, description=entries.clean_or_none(start.description)),
    )
    if known is not None:
        _add_delegation(situation, draft, known, identifier, environment=environment, task=Task())
    return draft, Session(identifier, environment)


def end_session(situation: RecordingContext, identifier: str) -> tuple[Draft, Ended]:
    """Return the end of a session; nothing when it has ended already. Whoever knows its id may close it.

    Raises:
        UnknownId: It was never started.
    """
    session = situation.session(identifier)
    draft = Draft(situation.timestamp)
    if session.is_open:
        started = max(start.moment for start in session.starts)
        add_end(
            draft, identifier, format_timestamp(max(situation.now, started))
        )  # a clock may go backwards
    return draft, Ended()


def delegate(
    situation: RecordingContext,
    parent: str,
    child: str | None,
    task: Task,
    *,
    start: Start,
    tool: Tool | None,
    model: Model | None,
) -> tuple[Draft, Delegated]:
    """Return the delegation of work; the child's session is started unless it was.

    Args:
        situation: The trail as it is now.
        parent: The session that hands work on.
        child: The session that gets it; None for a new one.
        task: The work.
        start: Of a new session.
        tool: Of a new session; by default the parent's environment is meant.
        model: As for `tool`.

    Raises:
        UnknownId: The parent was never started.
        WrongArgument: The child has another parent.
    """
    for name, author, kind in (("tool", tool, Tool), ("model", model, Model)):
        if author is not None:
            check_argument(name, author, kind)
    session = situation.session(parent)
    entries = Entries(situation)
    draft = Draft(situation.timestamp, parent)
    identifier = child or situation.new_id()
    known = situation.trail.log.session(identifier)
    if (tool is None) != (model is None):
        raise WrongArgument(
            "model" if model is None else "tool",
            "is required, as tool and model are given together",
        )
    if known is not None:
        if known.text("parent_session_id") != parent:
            raise WrongArgument("child_session_id", f"session {identifier!r} has another parent")
        environment = situation.environment_of(known)
    else:
        environment = (
            entries.environment(tool, model)
            if tool and model
            else situation.environment_of(session)
        )
        described = replace(
            start, description=entries.clean_or_none(start.description), parent_session_id=parent
        )
        add_start(draft, situation, identifier, environment, described)
    cleaned = Task(entries.clean_or_none(task.description), entries.files(task.files), task.type)
    _add_delegation(situation, draft, session, identifier, environment=environment, task=cleaned)
    return draft, Delegated(identifier, tuple(draft.edges), entries.masked, tuple(entries.left_out))


def add_start(
    draft: Draft, situation: RecordingContext, identifier: str, environment: str, start: Start
) -> None:
    """Add the start of a session."""
    draft.add(
        present(
            {
                "type": RecordType.SESSION.value,
                "event": SessionEvent.START.value,
                "session_id": identifier,
                "timestamp": draft.timestamp,
                "environment_hash": environment,
                "assurance_level": situation.level.value,
                "description": start.description,
                "parent_session_id": start.parent_session_id,
                "agent_name": start.agent_name,
                "agent_type": start.agent_type,
            }
        )
    )


def add_end(draft: Draft, identifier: str, timestamp: str) -> None:
    """Add the end of a session."""
    draft.add(
        {
            "type": RecordType.SESSION.value,
            "event": SessionEvent.END.value,
            "session_id": identifier,
            "timestamp": timestamp,
        },
    )


def _add_delegation(
    situation: RecordingContext,
    draft: Draft,
    parent: LoggedSession,
    child: str,
    *,
    environment: str,
    task: Task,
) -> None:
    if parent.id == child:
        raise WrongArgument("child_session_id", "a session cannot delegate to itself")
    if task.type not in set(DelegationType):
        raise WrongArgument("delegation_type", f"is one of {', '.join(DelegationType)}")
    draft.add(
        present(
            {
                "type": RecordType.DELEGATION.value,
                "parent_session_id": parent.id,
                "child_session_id": child,
                "timestamp": draft.timestamp,
                "task_description": task.description,
                "delegated_files": list(task.files) or None,
                "delegation_type": str(task.type),
                "parent_environment_hash": parent.text("environment_hash"),
                "child_environment_hash": environment,
            }
        )
    )
    known = situation.trail.log.edges(source=parent.id)
    if not any(edge.type == EdgeType.DELEGATED_TO and edge.target == child for edge in known):
        draft.edge(
            EdgeType.DELEGATED_TO, Node(parent.id, NodeType.SESSION), Node(child, NodeType.SESSION)
        )
