"""The faults that an editor shows in a file are those that the knowledge base has with it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from vibes_lsp.knowledge.citations import read_snapshot
from vibes_lsp.knowledge.file_checks import FileFault, check_file
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.object_format import Span

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)


@pytest.fixture
def knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return create_knowledge_base(tmp_path / "project")


def faults(knowledge: KnowledgeBase, path: str) -> list[FileFault]:
    """Return the faults of a file as it is on disk."""
    text = (knowledge.path / path).read_text()
    return check_file(read_snapshot(knowledge.path), path, text, NOW)


def test_a_setting_that_was_appended_counts_and_is_no_fault(knowledge: KnowledgeBase) -> None:
    settings = knowledge.path / "config.yaml"
    settings.write_text("review:\n  approver_role: nobody\nreview:\n  approver_role: human\n")
    assert knowledge.config().review.approver_role == "human"
    assert faults(knowledge, "config.yaml") == []
    settings.write_text("review:\n  approver_role: human\nreview:\n  approver_role: nobody\n")
    [fault] = faults(knowledge, "config.yaml")
    assert (fault.code, fault.span) == ("unknown_role", Span(3, 17, 23))
