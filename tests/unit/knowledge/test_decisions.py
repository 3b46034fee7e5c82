"""A decision is taken once, however many programs race for it."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from vibes_lsp.errors import DecidedOtherwise, InvalidObject
from vibes_lsp.knowledge.audit_log import check_chain, read_events
from vibes_lsp.knowledge.citations import read_snapshot
from vibes_lsp.knowledge.drafts import ClaimDraft
from vibes_lsp.knowledge.health import doctor
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.knowledge.object_format import dump_yaml
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import Kind, Proposal
from vibes_lsp.knowledge.review_gate import ReviewGate
from vibes_lsp.knowledge.sources import register_source

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills forked processes")

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
FORK = multiprocessing.get_context("fork") if os.name != "nt" else None


def propose(knowledge: KnowledgeBase, text: str = "Auth uses tokens") -> str:
    content = b"Tokens are signed."
    source = register_source(knowledge, content, locator="n", actor="a", now=NOW).source.id
    draft = ClaimDraft(text=text, evidence=[source])
    proposed = ReviewGate(knowledge).propose(draft, actor="agent")
    assert not proposed.errors
    return proposed.proposal.id


def findings(knowledge: KnowledgeBase) -> list[str]:
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        found = doctor(knowledge, index, NOW)
    return [each.message for each in found if each.severity == "error"]


def race(project: Path, proposals: list[str], number: int, results: Any) -> None:
    """Decide on all proposals in an order of one's own, half of them each way."""
    gate = ReviewGate(KnowledgeBase(project / ".vouch"))
    done: list[tuple[str, str]] = []
    for index in range(len(proposals)):
        proposal = proposals[(index * 7 + number * 3) % len(proposals)]
        verdict = "approved" if (index + number) % 2 else "rejected"
        try:
            if verdict == "approved":
                gate.approve(proposal, actor=f"person-{number}")
            else:
                gate.reject(proposal, actor=f"person-{number}", reason="no")
            done.append((proposal, verdict))
        except (DecidedOtherwise, InvalidObject):
            continue
    results.put(done)


@pytest.mark.parametrize(
    "count",
    [
        60,
        pytest.param(240, marks=pytest.mark.nightly),  # a minute of the same
    ],
)
def test_racing_programs_take_each_decision_once(tmp_path: Path, count: int) -> None:
    assert FORK is not None
    knowledge = create_knowledge_base(tmp_path)
    proposals = [propose(knowledge, f"Claim number {number}") for number in range(count)]
    results = FORK.Queue()
    racers = [
        FORK.Process(target=race, args=(tmp_path, proposals, number, results))
        for number in range(4)
    ]
    for racer in racers:
        racer.start()
    taken = [each for _ in racers for each in results.get(timeout=500)]
    for racer in racers:
        racer.join()
    verdicts: dict[str, set[str]] = {}
    for proposal, verdict in taken:
        verdicts.setdefault(proposal, set()).add(verdict)
    assert set(verdicts) == set(proposals)
    assert all(len(each) == 1 for each in verdicts.values())
    assert findings(knowledge) == []
    assert check_chain(knowledge) == (None, 0)
    decided = Counter(
        each["object_ids"][0]
        for each in read_events(knowledge)
        if each["event"] in ("proposal.approve", "proposal.reject")
    )
    assert decided == dict.fromkeys(proposals, 1)


def test_a_rejection_is_logged_as_one_whatever_its_reason(tmp_path: Path) -> None:
    knowledge = create_knowledge_base(tmp_path)
    first, second = propose(knowledge), propose(knowledge, "Sessions end")
    ReviewGate(knowledge).reject(first, actor="ada", reason="expired")
    later = ReviewGate(knowledge, lambda: datetime.now(UTC) + timedelta(days=91))
    assert [each.proposal.id for each in later.expire(actor="ada")] == [second]
    events = {each["object_ids"][0]: each["event"] for each in read_events(knowledge)}
    assert (events[first], events[second]) == ("proposal.reject", "proposal.expire")
    assert findings(knowledge) == []


def test_a_proposal_whose_object_another_program_wrote_does_not_expire(tmp_path: Path) -> None:
    knowledge = create_knowledge_base(tmp_path)
    begun, waiting = propose(knowledge), propose(knowledge, "Sessions end")
    proposal = knowledge.read(Kind.PENDING, begun)
    assert isinstance(proposal, Proposal)
    payload = proposal.payload
    path = knowledge.file_of(Kind.CLAIM, payload["id"])
    path.write_bytes(dump_yaml({**payload, "approved_by": "ada"}))
    gate = ReviewGate(knowledge, lambda: datetime.now(UTC) + timedelta(days=91))
    assert [overdue.id for overdue in gate.overdue()] == [waiting]
    assert [decision.proposal.id for decision in gate.expire(actor="ada")] == [waiting]
    assert findings(knowledge) == []
    assert gate.approve(begun, actor="ada").object_id == payload["id"]
    assert findings(knowledge) == []


def test_all_say_alike_which_proposals_wait(tmp_path: Path) -> None:
    knowledge = create_knowledge_base(tmp_path)
    waiting, decided, says_so = (propose(knowledge, text) for text in ("One", "Two", "Three"))
    kept = knowledge.file_of(Kind.PENDING, decided)
    content = kept.read_bytes()
    ReviewGate(knowledge).reject(decided, actor="ada", reason="no")
    kept.write_bytes(content)  # as a merge in git may bring it back
    path = knowledge.file_of(Kind.PENDING, says_so)  # only decided/ says what was decided
    path.write_bytes(path.read_bytes().replace(b"status: pending", b"status: approved"))
    both = sorted([waiting, says_so])
    gate = ReviewGate(knowledge, lambda: datetime.now(UTC) + timedelta(days=91))
    with closing(KnowledgeMethods(knowledge, "agent")) as methods:
        listed = methods.call("kb.list_pending", {})
        assert [proposal["id"] for proposal in listed] == both
        assert {proposal["status"] for proposal in listed} == {"pending"}
        assert methods.call("kb.status", {})["pending"] == 2
    assert [proposal.id for proposal in gate.pending()] == both
    assert list(read_snapshot(ObjectIndex(knowledge)).objects[Kind.PENDING]) == both
    assert gate.approve(says_so, actor="ada").object_id == "three"
    assert [expired.proposal.id for expired in gate.expire(actor="ada")] == [waiting]
    assert findings(knowledge) == [f"proposal {decided} is in proposed/ and in decided/"]
