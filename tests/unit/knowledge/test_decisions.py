"""A decision is taken once: after a kill at any step, and when programs race."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from vibes_lsp.errors import DecidedOtherwise, InvalidObject
from vibes_lsp.knowledge.audit_log import check_chain, read_events
from vibes_lsp.knowledge.drafts import ClaimDraft
from vibes_lsp.knowledge.health import doctor
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.object_index import open_index
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.knowledge.review_gate import ReviewGate
from vibes_lsp.knowledge.sources import register_source

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills forked processes")

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
WRITES = ("link", "replace", "rename", "unlink", "write", "fsync")
FORK = multiprocessing.get_context("fork") if os.name != "nt" else None


def propose(knowledge: KnowledgeBase, text: str = "Auth uses tokens") -> str:
    content = b"Tokens are signed."
    source = register_source(knowledge, content, locator="n", actor="a", now=NOW).source.id
    draft = ClaimDraft(text=text, evidence=[source])
    proposed = ReviewGate(knowledge).propose(draft, actor="agent")
    assert not proposed.errors
    return proposed.proposal.id


def kill_at(step: int, work: Callable[[], object]) -> bool:
    """Do something in a process that is killed before its n-th write; return whether it was."""
    child = os.fork()
    if child == 0:
        left = [step]

        def killing(original: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **options: Any) -> Any:
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
                return original(*arguments, **options)

            return call

        for name in WRITES:
            setattr(os, name, killing(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def findings(knowledge: KnowledgeBase) -> list[str]:
    with open_index(knowledge) as index:
        index.refresh()
        found = doctor(knowledge, index, NOW)
    return [each.message for each in found if each.severity == "error"]


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_kill_at_any_step_leaves_one_decision_or_none(verdict: str, tmp_path: Path) -> None:
    was_killed, step = True, 0
    while was_killed:
        project = tmp_path / str(step)
        project.mkdir()
        knowledge = create_knowledge_base(project)
        proposal = propose(knowledge)

        def decide(knowledge: KnowledgeBase = knowledge, proposal: str = proposal) -> object:
            gate = ReviewGate(knowledge)
            if verdict == "approve":
                return gate.approve(proposal, actor="person")
            return gate.reject(proposal, actor="person", reason="no")

        was_killed = kill_at(step, decide)
        decide()  # completes what was begun, or does it
        claims = [each.id for each in knowledge.files(Kind.CLAIM)]
        assert claims == (["auth-uses-tokens"] if verdict == "approve" else [])
        assert [each.id for each in knowledge.files(Kind.DECISION)] == [proposal]
        assert list(knowledge.files(Kind.PENDING)) == []
        assert findings(knowledge) == []
        events = Counter(
            each["event"] for each in read_events(knowledge) if proposal in each["object_ids"]
        )
        assert events == {"proposal.create": 1, f"proposal.{verdict}": 1}
        step += 1
    assert step > 5


def test_the_opposite_of_a_decision_that_was_begun_is_refused(tmp_path: Path) -> None:
    refused, step, was_killed = 0, 0, True
    while was_killed:
        project = tmp_path / str(step)
        project.mkdir()
        knowledge = create_knowledge_base(project)
        proposal = propose(knowledge)
        gate = ReviewGate(knowledge)
        was_killed = kill_at(step, partial(gate.approve, proposal, actor="person"))
        try:
            gate.reject(proposal, actor="person", reason="no")
        except DecidedOtherwise:
            refused += 1
        assert findings(knowledge) == []
        step += 1
    assert 0 < refused < step


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


@pytest.mark.slow
def test_racing_programs_take_each_decision_once(tmp_path: Path) -> None:
    assert FORK is not None
    knowledge = create_knowledge_base(tmp_path)
    proposals = [propose(knowledge, f"Claim number {number}") for number in range(60)]
    results = FORK.Queue()
    racers = [
        FORK.Process(target=race, args=(tmp_path, proposals, number, results))
        for number in range(4)
    ]
    for racer in racers:
        racer.start()
    taken = [each for _ in racers for each in results.get(timeout=100)]
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
