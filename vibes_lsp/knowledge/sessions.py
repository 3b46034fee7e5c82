"""Sessions: what an agent proposed in one block of work, and its summary (vouch 2.6, 5.6)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from vibes_lsp.errors import UnknownId, VibesError
from vibes_lsp.knowledge.changes import changing
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.objects import Kind, Page, Proposal, Session
from vibes_lsp.knowledge.review_gate import ReviewGate


@dataclass(frozen=True, slots=True)
class Crystallized:
    """What became of a session's proposals.

    Attributes:
        approved: The ids of the objects that were created.
        claims: Those of them that are claims.
        failures: The proposals that could not be approved, and why.
        page_id: The summary; None without one.
    """

    approved: tuple[str, ...]
    claims: tuple[str, ...]
    failures: tuple[dict[str, str], ...]
    page_id: str | None


def start_session(
    knowledge: KnowledgeBase,
    *,
    actor: str,
    now: datetime,
    task: str | None = None,
    note: str | None = None,
) -> Session:
    """Start a session and return it.

    Raises:
        VibesError: The knowledge base cannot be written.
    """
    identifier = f"sess-{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"
    session = Session(id=identifier, agent=actor, task=task, note=note, started_at=now)
    with changing(knowledge, actor, now) as change:
        change.create(Kind.SESSION, session)
        change.record("session.start", [session.id], {"task": task})
    return session


def end_session(
    knowledge: KnowledgeBase, session_id: str, *, actor: str, now: datetime, note: str | None = None
) -> Session:
    """End a session, list its proposals in it, and return it; an ended one is returned as it is.

    Raises:
        UnknownId: There is no such session.
        VibesError: The knowledge base cannot be read or written.
    """
    with changing(knowledge, actor, now) as change:
        session = _session(knowledge, session_id)
        if session.ended_at is not None:
            return session
        notes = [each for each in (session.note, note) if each]
        ended = session.model_copy(
            update={
                "ended_at": now,
                "note": "\n".join(notes) or None,
                "proposal_ids": _proposals(knowledge, session.id),
            }
        )
        change.replace(Kind.SESSION, ended)
        change.record("session.end", [session.id], {"proposals": len(ended.proposal_ids)})
        return ended


def crystallize(
    knowledge: KnowledgeBase,
    gate: ReviewGate,
    session_id: str,
    *,
    actor: str,
    now: datetime,
    with_page: bool = True,
) -> Crystallized:
    """Approve what a session proposed, and write a page that lists it.

    Each proposal is approved by the rules of the review gate: none by who made it. The page has
    no text of the agent, which is not reviewed.

    Raises:
        UnknownId: There is no such session.
        VibesError: The knowledge base cannot be read or written.
    """
    session = _session(knowledge, session_id)
    approved: list[str] = []
    claims: list[str] = []
    failures: list[dict[str, str]] = []
    for pending in [each for each in gate.pending() if each.session_id == session.id]:
        try:
            decision = gate.approve(
                pending.id, actor=actor, reason=f"crystallized with session {session.id}"
            )
        except VibesError as error:
            failures.append(
                {"proposal_id": pending.id, "error": error.message, "error_type": error.code}
            )
            continue
        approved.append(decision.object_id or "")
        if decision.kind is Kind.CLAIM:
            claims.append(decision.object_id or "")
    page_id = None
    with changing(knowledge, actor, now) as change:
        if with_page and approved:
            page_id = f"session-{session.id}"
            listed = "\n".join(f"- [[{each}]]" for each in approved)
            page = Page(
                id=page_id,
                title=f"Session {session.id}",
                type="session",
                status="active",
                claims=claims,
                created_at=now,
                updated_at=now,
                body=f"# Session {session.id}\n\nApproved in this session:\n\n{listed}\n",
            )
            is_new = change.create(Kind.PAGE, page)
            if not is_new:
                change.replace(Kind.PAGE, page)
            event = "page.create" if is_new else "page.update"
            change.record(event, [page_id], {"session_id": session.id})
        identifiers = [session.id] if page_id is None else [session.id, page_id]
        details = {"approved": len(approved), "failures": len(failures)}
        change.record("session.crystallize", identifiers, details)
    return Crystallized(tuple(approved), tuple(claims), tuple(failures), page_id)


def _session(knowledge: KnowledgeBase, session_id: str) -> Session:
    session = knowledge.read(Kind.SESSION, session_id)
    if not isinstance(session, Session):
        raise UnknownId(f"no session {session_id}")
    return session


def _proposals(knowledge: KnowledgeBase, session_id: str) -> list[str]:
    """Return the ids of all proposals of a session, in their order."""
    found: set[str] = set()
    for kind in (Kind.PENDING, Kind.DECISION):
        for file in knowledge.files(kind):
            try:
                proposal = knowledge.read(kind, file.id)
            except VibesError:
                continue
            if isinstance(proposal, Proposal) and proposal.session_id == session_id:
                found.add(proposal.id)
    return sorted(found)
