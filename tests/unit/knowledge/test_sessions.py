"""What crystallizing a session approves, and the page that lists it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from vibes_lsp.knowledge.audit_log import check_chain, read_events
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.knowledge.objects import Kind, Page

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)


class Worked:
    """A knowledge base with an open session of an agent."""

    def __init__(self, project: Path) -> None:
        self.knowledge: KnowledgeBase = create_knowledge_base(project)
        self.now = NOW
        registered = self.call("agent", "register_source", content="Tokens are signed.")
        self.source = registered["id"]
        self.session = self.call("agent", "session_start")["session_id"]

    def call(self, actor: str, method: str, **params: Any) -> Any:
        self.now += timedelta(minutes=1)
        methods = KnowledgeMethods(self.knowledge, actor, now=lambda: self.now)
        try:
            return methods.call(f"kb.{method}", params)
        finally:
            methods.close()

    def propose(self, text: str, actor: str = "agent") -> str:
        proposed = self.call(
            actor, "propose_claim", text=text, evidence=[self.source], session_id=self.session
        )
        assert proposed["valid"], proposed
        return str(proposed["proposal_id"])

    def crystallize(self) -> Any:
        return self.call("person", "crystallize", session_id=self.session)

    def page(self, identifier: str) -> Page:
        found = self.knowledge.read(Kind.PAGE, identifier)
        assert isinstance(found, Page)
        return found


@pytest.fixture
def worked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worked:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return Worked(tmp_path / "project")


def test_the_page_lists_all_that_the_session_created(worked: Worked) -> None:
    worked.call("person", "approve", proposal_id=worked.propose("One"))
    worked.call("person", "reject", proposal_id=worked.propose("Wrong"), reason="no")
    worked.propose("Two")
    first = worked.crystallize()
    assert (first["approved"], first["claims_promoted"]) == (["two"], 1)
    worked.propose("Three")
    second = worked.crystallize()
    assert second["page_id"] == first["page_id"] == f"session-{worked.session}"
    page = worked.page(second["page_id"])
    assert page.claims == ["one", "two", "three"]
    assert [line for line in page.body.splitlines() if line.startswith("- ")] == [
        "- [[one]]", "- [[two]]", "- [[three]]",
    ]  # fmt: skip
    assert worked.crystallize()["page_id"] == first["page_id"]
    assert worked.page(first["page_id"]) == page  # nothing new: it stays as it is
    assert check_chain(worked.knowledge) == (None, 0)


def test_a_page_of_a_person_keeps_its_text(worked: Worked) -> None:
    """A page with the name of the summary is approved by the same call that writes a summary."""
    name = f"session-{worked.session}"
    worked.call(
        "agent", "propose_page", title="Notes", body="By hand.\n", slug_hint=name,
        session_id=worked.session,
    )  # fmt: skip
    worked.propose("One")
    result = worked.crystallize()
    assert set(result["approved"]) == {name, "one"}
    assert worked.page(name).body.strip() == "By hand."
    assert result["page_id"] == f"{name}-2"
    assert worked.page(f"{name}-2").claims == ["one"]
    worked.propose("Two")
    assert worked.crystallize()["page_id"] == f"{name}-2"


def test_a_summary_that_a_person_extended_keeps_its_text(worked: Worked) -> None:
    worked.propose("One")
    name = worked.crystallize()["page_id"]
    path = worked.knowledge.file_of(Kind.PAGE, name)
    extended = path.read_text() + "\nSee the review of May.\n"
    path.write_text(extended)
    worked.propose("Two")
    assert worked.crystallize()["page_id"] == f"{name}-2"
    assert path.read_text() == extended


def test_only_what_its_agent_proposed_while_it_was_open_is_approved(worked: Worked) -> None:
    worked.propose("Mine")
    foreign = [worked.propose("Slipped in", actor="other")]
    ended = worked.call("agent", "session_end", session_id=worked.session)
    assert ended["proposals"] == 1
    foreign += [worked.propose("Too late"), worked.propose("Both", actor="other")]
    result = worked.crystallize()
    assert result["approved"] == ["mine"]
    assert [each["proposal_id"] for each in result["failures"]] == foreign
    assert {each["error_type"] for each in result["failures"]} == {"invalid-object"}
    worked.call("person", "approve", proposal_id=foreign[0])  # a person may, one by one
    assert worked.page(worked.crystallize()["page_id"]).claims == ["mine"]
    assert "session.crystallize" in [each["event"] for each in read_events(worked.knowledge)]
