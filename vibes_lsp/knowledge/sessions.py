"""Sessions: what an agent proposed in one block of work, and its summary (vouch 2.6, 5.6)."""

from __future__ import annotations

import re
import uuid
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from vibes_lsp.errors import InvalidObject, UnknownId, VibesError
from vibes_lsp.knowledge.changes import Change, changing
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.objects import Kind, Page, Proposal, Session, proposed_kind
from vibes_lsp.knowledge.review_gate import ReviewGate

_LINK: Final = re.compile(r"- \[\[[^\[\]]+\]\]")


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
        notes = [text for text in (session.note, note) if text]
        ended = session.model_copy(
            update={
                "ended_at": now,
                "note": "\n".join(notes) or None,
                "proposal_ids": [proposal.id for proposal in _proposals(knowledge, session)],
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
) -> dict[str, Any]:
    """Approve what a session proposed, write a page that lists it, and return the result of both.

    Each proposal is approved by the rules of the review gate: none by who made it. Those that
    name the session, but were made by others or not while it was open, are failures. The page
    has no text of the agent, which is not reviewed.

    Raises:
        UnknownId: There is no such session.
        VibesError: The knowledge base cannot be read or written.
    """
    session = _session(knowledge, session_id)
    approved: list[str] = []
    claims: list[str] = []
    failures: list[dict[str, str]] = []
    for pending in [proposal for proposal in gate.pending() if proposal.session_id == session.id]:
        try:
            if not _is_of(session, pending):
                raise InvalidObject(
                    f"proposal {pending.id} was not made by {session.agent} in the open session",
                    hint="approve it by itself",
                )
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
    with changing(knowledge, actor, now) as change:
        page_id = _summarize(change, session) if with_page else None
        identifiers = [session.id] if page_id is None else [session.id, page_id]
        details = {"approved": len(approved), "failures": len(failures)}
        change.record("session.crystallize", identifiers, details)
    return {
        "page_id": page_id,
        "claims_promoted": len(claims),
        "session_id": session_id,
        "approved": approved,
        "failures": failures,
        "summary_page_id": page_id,
    }


def _summarize(change: Change, session: Session) -> str | None:
    """Write the page of all that a session created; return its id, None if that is nothing.

    A page of that name which a person wrote or changed stays as it is: a free name is used.
    """
    created = _created(change.knowledge, session)
    if not created:
        return None
    page_id, summary = _summary_page(change.knowledge, session)
    listed = "\n".join(f"- [[{identifier}]]" for _, identifier in created)
    content: dict[str, Any] = {
        "claims": [identifier for kind, identifier in created if kind is Kind.CLAIM],
        "body": f"{_heading(session)}\n\n{listed}\n",
    }
    if summary is None:
        page = Page(
            id=page_id,
            title=f"Session {session.id}",
            type="session",
            status="active",
            created_at=change.moment,
            updated_at=change.moment,
            **content,
        )
        change.create(Kind.PAGE, page)
        change.record("page.create", [page_id], {"session_id": session.id})
    elif _lines(summary.body) != _lines(content["body"]) or summary.claims != content["claims"]:
        change.replace(
            Kind.PAGE, summary.model_copy(update={**content, "updated_at": change.moment})
        )
        change.record("page.update", [page_id], {"session_id": session.id})
    return page_id


def _summary_page(knowledge: KnowledgeBase, session: Session) -> tuple[str, Page | None]:
    """Return the id of a session's summary, and the page if it is there."""
    start = page_id = f"session-{session.id}"
    number = 1
    while knowledge.exists(Kind.PAGE, page_id):
        with suppress(VibesError):
            page = knowledge.read(Kind.PAGE, page_id)
            if isinstance(page, Page) and _is_summary(page, session):
                return page_id, page
        number += 1
        page_id = f"{start}-{number}"
    return page_id, None


def _is_summary(page: Page, session: Session) -> bool:
    """Return whether a page says nothing but what a summary of a session does."""
    heading, lines = _lines(_heading(session)), _lines(page.body)
    return (
        page.type == "session"
        and lines[: len(heading)] == heading
        and all(_LINK.fullmatch(line) for line in lines[len(heading) :])
    )


def _heading(session: Session) -> str:
    return f"# Session {session.id}\n\nApproved in this session:"


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _created(knowledge: KnowledgeBase, session: Session) -> list[tuple[Kind, str]]:
    """Return the objects that approved proposals of a session created, in their order."""
    created: list[tuple[Kind, str]] = []
    for proposal in _proposals(knowledge, session):
        kind, identifier = proposed_kind(proposal.kind), str(proposal.payload.get("id"))
        is_approved = proposal.status == "approved"
        if is_approved and kind is not None and knowledge.exists(kind, identifier):
            created.append((kind, identifier))
    return created


def _session(knowledge: KnowledgeBase, session_id: str) -> Session:
    session = knowledge.read(Kind.SESSION, session_id)
    if not isinstance(session, Session):
        raise UnknownId(f"no session {session_id}")
    return session


def _proposals(knowledge: KnowledgeBase, session: Session) -> list[Proposal]:
    """Return the proposals of a session with their decisions, in their order."""
    proposals = {
        proposal.id: proposal
        for kind in (Kind.PENDING, Kind.DECISION)
        for proposal in knowledge.proposals(kind)
        if _is_of(session, proposal)
    }
    return [proposals[identifier] for identifier in sorted(proposals)]


def _is_of(session: Session, proposal: Proposal) -> bool:
    """Return whether the agent of a session made a proposal in it while it was open.

    A proposal may name any session, as in the reference implementation.
    """
    return (
        proposal.session_id == session.id
        and proposal.proposed_by == session.agent
        and session.started_at <= proposal.proposed_at
        and (session.ended_at is None or proposal.proposed_at <= session.ended_at)
    )
