"""Why an edit was made: its prompt, reasoning, command, decision and session, and what it read."""

from __future__ import annotations

from typing import Final

from vibes_lsp.errors import BrokenBlob
from vibes_lsp.mcp.annotation_answers import annotation_members, named
from vibes_lsp.mcp.answers import (
    DecisionAnswer,
    Informant,
    OptionAnswer,
    Reason,
    RecordedText,
    SessionAnswer,
)
from vibes_lsp.mcp.recorded_text import Quotations, name, path_text
from vibes_lsp.model.members import Members, objects, text
from vibes_lsp.model.vocabulary import ContextType, EdgeType, NodeType
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.authors import Authors
from vibes_lsp.store.reasoning import reasoning_text
from vibes_lsp.trail.records import Edge
from vibes_lsp.trail.trail import Trail

_LONG: Final = 4_000
_MEDIUM: Final = 2_000
_BRIEF: Final = 500
_MAX_OPTIONS: Final = 10
_MAX_INFORMANTS: Final = 10


def reason(trail: Trail, placement: Placement, facts: Members, quotations: Quotations) -> Reason:
    """Return an annotation with all that is recorded about why it was made."""
    record = placement.current
    informants = _informants(trail, placement)
    command = _entry(trail, record.text("command_hash"), ContextType.COMMAND)
    session = record.text("session_id")
    return Reason(
        **annotation_members(placement, facts, quotations, prompt=_LONG),
        decision=_decision(trail, record.text("decision_hash"), quotations),
        reasoning=_reasoning(trail, record.text("reasoning_hash"), quotations),
        command=quotations.quote(text(command, "command_text"), _BRIEF),
        session=session_answer(trail, session, quotations) if session else None,
        informed_by=[_informant(trail, edge, quotations) for edge in informants[:_MAX_INFORMANTS]],
        more_informants=max(0, len(informants) - _MAX_INFORMANTS),
    )


def session_answer(trail: Trail, identifier: str, quotations: Quotations) -> SessionAnswer | None:
    """Return a session; None if the log has none with this id."""
    session = trail.log.session(identifier)
    if session is None:
        return None
    author = Authors(trail).of(session.text("environment_hash"))
    return SessionAnswer(
        session_id=name(session.id) or "",
        description=quotations.quote(session.text("description"), _BRIEF),
        agent_name=name(session.text("agent_name")),
        agent_type=name(session.text("agent_type")),
        parent_session_id=name(session.text("parent_session_id")),
        started_at=name(session.start.text("timestamp")) if session.start else None,
        ended_at=name(session.ends[-1].text("timestamp")) if session.ends else None,
        tool=named({"name": author.tool, "version": author.tool_version}),
        model=named({"name": author.model, "version": author.model_version}),
    )


def _informants(trail: Trail, placement: Placement) -> list[Edge]:
    """Return the edges to what an edit was informed by, each target once."""
    outgoing, _ = trail.edges_of(placement.lineage)
    edges = (edge for edge in outgoing if edge.type == EdgeType.INFORMED_BY)
    return list({edge.target: edge for edge in edges}.values())


def _informant(trail: Trail, edge: Edge, quotations: Quotations) -> Informant:
    quoted: RecordedText | None = None
    path: str | None = None
    if edge.target_type == NodeType.CONTEXT:
        entry = trail.manifest.entry(edge.target) or {}
        quoted = quotations.quote(text(entry, "command_text") or text(entry, "prompt_text"), _BRIEF)
    elif edge.target_type == NodeType.ANNOTATION:
        record = trail.log.by_id(edge.target)
        path = None if record is None else path_text(record.text("file_path"))
        prompt = None if record is None else record.text("prompt_hash")
        entry = _entry(trail, prompt, ContextType.PROMPT)
        quoted = quotations.quote(text(entry, "prompt_text"), _BRIEF)
    return Informant(
        kind=name(edge.target_type) or "", id=name(edge.target) or "", text=quoted, file_path=path
    )


def _decision(trail: Trail, key: str | None, quotations: Quotations) -> DecisionAnswer | None:
    entry = _entry(trail, key, ContextType.DECISION)
    if not entry:
        return None
    return DecisionAnswer(
        decision_point=quotations.quote(text(entry, "decision_point"), _BRIEF),
        selected=name(entry.get("selected")),
        rationale=quotations.quote(text(entry, "rationale"), _MEDIUM),
        confidence=name(entry.get("confidence")),
        options=[
            OptionAnswer(
                id=name(option.get("id")) or "",
                description=quotations.quote(text(option, "description"), _BRIEF),
            )
            for option in objects(entry.get("options"))[:_MAX_OPTIONS]
        ],
    )


def _reasoning(trail: Trail, key: str | None, quotations: Quotations) -> RecordedText | None:
    entry = _entry(trail, key, ContextType.REASONING)
    if not entry:
        return None
    try:
        return quotations.quote(reasoning_text(entry, trail.directory), _MEDIUM)
    except BrokenBlob:  # `vibes check` says why
        return None


def _entry(trail: Trail, key: str | None, kind: ContextType) -> Members:
    entry = trail.manifest.entry(key) if key else None
    return entry if entry is not None and entry.get("type") == kind else {}
