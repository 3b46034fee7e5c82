"""Start and end sessions, and record delegations between them (RFC 7.5, 7.7, 9.2)."""

from __future__ import annotations

from collections.abc import Sequence

from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.vocabulary import DelegationType, EdgeType, NodeType, RecordType, SessionEvent
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.context import Draft, Node, RecordingContext, present
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.requests import EndSession, RecordDelegation, StartSession
from vibes_lsp.recording.results import Delegated, Ended, StartedSession


def start_session(context: RecordingContext, request: StartSession) -> tuple[Draft, StartedSession]:
    """Return the start of a session; a parent's delegation of it is recorded as well (RFC 9.2).

    Raises:
        UnknownId: The parent was never started.
    """
    parent_id = request.parent_session_id
    parent = None if parent_id is None else context.session(parent_id)
    entries = Entries(context)
    environment = entries.environment(request.tool, request.model)
    draft = Draft(context.timestamp)
    identifier = context.new_id()
    add_start(
        draft,
        context,
        identifier,
        environment,
        description=entries.clean_or_none(request.description),
        parent_session_id=parent_id,
        agent_name=request.agent_name,
        agent_type=request.agent_type,
    )
    if parent is not None:
        ends = (parent.id, parent.text("environment_hash")), (identifier, environment)
        add_delegation(draft, *ends)
    return draft, StartedSession(identifier, environment)


def end_session(context: RecordingContext, request: EndSession) -> tuple[Draft, Ended]:
    """Return the end of a session; nothing when it has ended already. Any program may end it.

    Raises:
        UnknownId: It was never started.
    """
    session = context.session(request.session_id)
    draft = Draft(context.timestamp)
    if session.is_open:
        started = max(start.moment for start in session.starts)
        add_end(
            draft, session.id, format_timestamp(max(context.now, started))
        )  # the clock may have been set back
    return draft, Ended()


def record_delegation(
    context: RecordingContext, request: RecordDelegation
) -> tuple[Draft, Delegated]:
    """Return the delegation of work; the child's session is started unless it was.

    Raises:
        UnknownId: The parent was never started.
        WrongArgument: The child has another parent.
    """
    tool, model = request.tool, request.model
    parent = context.session(request.parent_session_id)
    entries = Entries(context)
    draft = Draft(context.timestamp, parent.id)
    child_id = request.child_session_id or context.new_id()
    if parent.id == child_id:
        raise WrongArgument("child_session_id", "a session cannot delegate to itself")
    child = context.trail.log.session(child_id)
    if (tool is None) != (model is None):
        raise WrongArgument(
            "model" if model is None else "tool",
            "is required, as tool and model are given together",
        )
    description = entries.clean_or_none(request.task_description)
    if child is not None:
        if child.text("parent_session_id") != parent.id:
            raise WrongArgument("child_session_id", f"session {child_id!r} has another parent")
        environment = context.environment_of(child)
    else:
        environment = (
            entries.environment(tool, model) if tool and model else context.environment_of(parent)
        )
        add_start(
            draft,
            context,
            child_id,
            environment,
            description=description,
            parent_session_id=parent.id,
            agent_name=request.agent_name,
            agent_type=request.agent_type,
        )
    edges = context.trail.log.edges(source=parent.id, edge_type=EdgeType.DELEGATED_TO)
    add_delegation(
        draft,
        (parent.id, parent.text("environment_hash")),
        (child_id, environment),
        description=description,
        files=entries.files(request.delegated_files),
        kind=request.delegation_type,
        has_edge=any(edge.target == child_id for edge in edges),
    )
    return draft, Delegated(child_id, tuple(draft.edges), entries.masked, tuple(entries.left_out))


def add_start(
    draft: Draft,
    context: RecordingContext,
    identifier: str,
    environment: str,
    *,
    description: str | None = None,
    parent_session_id: str | None = None,
    agent_name: str | None = None,
    agent_type: str | None = None,
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
                "assurance_level": context.level.value,
                "description": description,
                "parent_session_id": parent_session_id,
                "agent_name": agent_name,
                "agent_type": agent_type,
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


def add_delegation(
    draft: Draft,
    parent: tuple[str, str | None],
    child: tuple[str, str],
    *,
    description: str | None = None,
    files: Sequence[str] = (),
    kind: DelegationType = DelegationType.TASK,
    has_edge: bool = False,
) -> None:
    """Add a delegation and its edge.

    Args:
        draft: Where to add them.
        parent: The session that delegates and its environment.
        child: The session that gets the work and its environment.
        description: The work.
        files: The files that it is about.
        kind: Its kind.
        has_edge: Whether the trail has the edge.
    """
    draft.add(
        present(
            {
                "type": RecordType.DELEGATION.value,
                "parent_session_id": parent[0],
                "child_session_id": child[0],
                "timestamp": draft.timestamp,
                "task_description": description,
                "delegated_files": list(files) or None,
                "delegation_type": str(kind),
                "parent_environment_hash": parent[1],
                "child_environment_hash": child[1],
            }
        )
    )
    if not has_edge:
        draft.edge(
            EdgeType.DELEGATED_TO,
            Node(parent[0], NodeType.SESSION),
            Node(child[0], NodeType.SESSION),
        )
