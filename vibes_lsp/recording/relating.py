"""Recording what is not an edit: commands, reads, decisions, and edges between anything (RFC 6.4, 6.6, 7.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vibes_lsp.errors import UnknownId
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import AssuranceLevel, EdgeType, NodeType
from vibes_lsp.recording.arguments import Command, Decision, Prompt, WrongArgument
from vibes_lsp.recording.checking import check_argument
from vibes_lsp.recording.context import Draft, Node, RecordingContext
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.results import (
    RecordedCommand,
    RecordedDecision,
    RecordedEdge,
    RecordedPrompt,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge as its caller gives it (RFC 7.6): "source [edge_type] target"."""

    edge_type: str
    source_ref: str
    source_type: str
    target_ref: str
    target_type: str
    session_id: str | None = None
    metadata: Members | None = None


def record_prompt(
    situation: RecordingContext, session: str, prompt: Prompt
) -> tuple[Draft, RecordedPrompt]:
    """Return what a session was asked, before it does anything: the session's next work is caused by it (RFC 9.1).

    Raises:
        UnknownId: The session was never started.
    """
    check_argument("prompt", prompt, Prompt)
    situation.session(session)
    draft = Draft(situation.timestamp, session)
    if situation.level == AssuranceLevel.LOW:
        return draft, RecordedPrompt(None, withheld=("prompt",))
    entries = Entries(situation)
    key = entries.prompt(prompt)
    draft.edge(EdgeType.CAUSED_BY, Node(session, NodeType.SESSION), Node(key, NodeType.CONTEXT))
    return draft, RecordedPrompt(
        key, tuple(draft.edges), entries.masked, left_out=tuple(entries.left_out)
    )


def record_command(
    situation: RecordingContext, session: str, command: Command
) -> tuple[Draft, RecordedCommand]:
    """Return a command that a session has run: the session caused it.

    Raises:
        UnknownId: The session was never started.
    """
    check_argument("command", command, Command)
    situation.session(session)
    entries = Entries(situation)
    key = entries.command(command)
    draft = Draft(situation.timestamp, session)
    draft.edge(EdgeType.CAUSED_BY, Node(key, NodeType.CONTEXT), Node(session, NodeType.SESSION))
    return draft, RecordedCommand(key, tuple(draft.edges), entries.masked, tuple(entries.left_out))


def record_read(
    situation: RecordingContext, session: str, files: Sequence[str]
) -> tuple[Draft, RecordedCommand]:
    """Return that a session has read files of the project: they inform it, and its next annotation.

    Raises:
        UnknownId: The session was never started.
        WrongArgument: No file inside the project is named.
    """
    situation.session(session)
    entries = Entries(situation)
    kept = entries.files(files)
    if not kept:
        raise WrongArgument("files", "name no file inside the project")
    key = entries.read(kept)
    draft = Draft(situation.timestamp, session)
    draft.edge(EdgeType.INFORMED_BY, Node(session, NodeType.SESSION), Node(key, NodeType.CONTEXT))
    return draft, RecordedCommand(key, tuple(draft.edges), entries.masked, tuple(entries.left_out))


def record_decision(
    situation: RecordingContext, decision: Decision
) -> tuple[Draft, RecordedDecision]:
    """Return a decision; annotations name it by its hash."""
    check_argument("decision", decision, Decision)
    entries = Entries(situation)
    key = entries.decision(decision)
    return Draft(situation.timestamp), RecordedDecision(key, entries.masked)


def record_edge(situation: RecordingContext, relation: Relation) -> tuple[Draft, RecordedEdge]:
    """Return an edge between two things that are there.

    Raises:
        UnknownId: An end, or the session, is not there.
        WrongArgument: A type is not what it may be.
    """
    check_argument("relation", relation, Relation, within=False)
    if relation.edge_type not in set(EdgeType):
        raise WrongArgument(
            "edge_type", f"is one of {', '.join(EdgeType)}, not {relation.edge_type!r}"
        )
    if relation.session_id is not None:
        situation.session(relation.session_id)
    draft = Draft(situation.timestamp, relation.session_id)
    source = _end(situation, "source", relation.source_ref, relation.source_type)
    target = _end(situation, "target", relation.target_ref, relation.target_type)
    return draft, RecordedEdge(
        draft.edge(EdgeType(relation.edge_type), source, target, relation.metadata)
    )


def _end(situation: RecordingContext, end: str, reference: str, kind: str) -> Node:
    log = situation.trail.log
    match kind:
        case NodeType.ANNOTATION:
            there = log.by_id(reference) is not None
        case NodeType.CONTEXT:
            there = reference in situation.trail.manifest
        case NodeType.SESSION:
            there = reference in log.columns.sessions
        case _:
            raise WrongArgument(f"{end}_type", f"is one of {', '.join(NodeType)}, not {kind!r}")
    if not there:
        raise UnknownId(f"{end}_ref: no {kind} has the id {reference!r}", hint="give whole ids")
    return Node(reference, NodeType(kind))
