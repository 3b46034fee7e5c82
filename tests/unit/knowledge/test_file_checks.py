"""The faults that an editor shows in a file are those that the knowledge base has with it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from vibes_lsp.errors import InvalidObject
from vibes_lsp.knowledge.citations import read_snapshot
from vibes_lsp.knowledge.file_checks import FileFault, check_file
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.object_format import Span, dump_yaml
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.knowledge.review_gate import ReviewGate

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)


@pytest.fixture
def knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return create_knowledge_base(tmp_path / "project")


def faults(knowledge: KnowledgeBase, path: str) -> list[FileFault]:
    """Return the faults of a file as it is on disk."""
    text = (knowledge.path / path).read_text()
    return check_file(read_snapshot(ObjectIndex(knowledge)), path, text, NOW)


def test_a_setting_that_was_appended_counts_and_is_no_fault(knowledge: KnowledgeBase) -> None:
    settings = knowledge.path / "config.yaml"
    settings.write_text("review:\n  approver_role: nobody\nreview:\n  approver_role: human\n")
    assert knowledge.config().review.approver_role == "human"
    assert faults(knowledge, "config.yaml") == []
    settings.write_text("review:\n  approver_role: human\nreview:\n  approver_role: nobody\n")
    [fault] = faults(knowledge, "config.yaml")
    assert (fault.code, fault.span) == ("unknown_role", Span(3, 17, 23))


def test_a_proposal_has_the_faults_for_which_the_gate_refuses_it(knowledge: KnowledgeBase) -> None:
    (knowledge.path / "config.yaml").write_text("review:\n  require_citations: false\n")
    gate, path = ReviewGate(knowledge), "proposed/p.yaml"
    payload = {"id": "c", "text": "Uncited", "evidence": [], "status": "stable"}
    members = {"id": "p", "kind": "claim", "proposed_by": "agent", "proposed_at": NOW.isoformat()}
    waiting = dump_yaml({**members, "status": "pending", "payload": payload})
    (knowledge.path / path).write_bytes(waiting)
    assert faults(knowledge, path) == []

    other = knowledge.file_of(Kind.CLAIM, "c")
    other.write_bytes(dump_yaml({"id": "c", "text": "Another", "evidence": []}))
    [fault] = faults(knowledge, path)
    assert (fault.code, fault.message) == ("cannot_be_approved", "id: claim c exists")
    assert waiting.splitlines()[fault.span.line].strip() == b"id: c"
    with pytest.raises(InvalidObject, match="id: claim c exists"):
        gate.approve("p", actor="ada")

    other.unlink()
    assert gate.approve("p", actor="ada").object_id == "c"
    (knowledge.path / path).write_bytes(waiting)  # as a merge in git may bring it back
    assert faults(knowledge, path) == []
