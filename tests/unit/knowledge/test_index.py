"""The index is derived: whatever happens to it, answers come from the files."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vibes_lsp.knowledge.context_pack import ContextRequest, build_context, keywords
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.object_index import ObjectIndex, open_index
from vibes_lsp.knowledge.objects import Claim, Entity, Kind, Page

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)


def claim(identifier: str, text: str, **members: object) -> Claim:
    values = {"evidence": ["a"], "created_at": NOW, "updated_at": NOW, **members}
    return Claim.model_validate({"id": identifier, "text": text, **values})


@pytest.fixture
def knowledge(tmp_path: Path) -> KnowledgeBase:
    found = create_knowledge_base(tmp_path)
    found.create(Kind.CLAIM, claim("jwt", "Auth uses JWT tokens", tags=["auth"]))
    found.create(Kind.CLAIM, claim("cache", "The cache lives for sixty seconds"))
    return found


def found(knowledge: KnowledgeBase, query: str) -> list[str]:
    with open_index(knowledge) as index:
        index.refresh()
        return [hit.id for hit in index.search(query)]


def test_words_match_in_other_forms_and_parts_as_a_last_resort(knowledge: KnowledgeBase) -> None:
    assert found(knowledge, "token") == ["jwt"]
    assert sorted(found(knowledge, "sixty tokens")) == ["cache", "jwt"]
    assert found(knowledge, "ixty sec") == ["cache"]
    assert found(knowledge, "100%") == []
    assert found(knowledge, '"; DROP TABLE vibes_object') == []
    assert found(knowledge, "") == []


def test_a_title_counts_more_than_a_body(knowledge: KnowledgeBase) -> None:
    for name, title, body in (("a", "Ledger", "x"), ("b", "Other", "ledger")):
        page = Page(id=name, title=title, body=body, created_at=NOW, updated_at=NOW)
        knowledge.create(Kind.PAGE, page)
    assert found(knowledge, "ledger") == ["a", "b"]


def test_an_archived_object_comes_after_its_like(knowledge: KnowledgeBase) -> None:
    knowledge.create(Kind.CLAIM, claim("a-old", "Zebras are striped", status="archived"))
    knowledge.create(Kind.CLAIM, claim("b-new", "Zebras are striped"))
    assert found(knowledge, "zebras") == ["b-new", "a-old"]


@pytest.mark.parametrize("damage", [b"no database", b"", b"SQLite format 3\x00" + b"x" * 5000])
def test_a_broken_database_is_made_again(knowledge: KnowledgeBase, damage: bytes) -> None:
    assert found(knowledge, "jwt") == ["jwt"]
    for path in knowledge.path.glob("state.db*"):
        path.unlink()
    knowledge.state.write_bytes(damage)
    assert found(knowledge, "jwt") == ["jwt"]


def test_a_locked_or_linked_database_is_not_waited_for(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    assert found(knowledge, "jwt") == ["jwt"]
    other = sqlite3.connect(knowledge.state, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    knowledge.create(Kind.CLAIM, claim("new", "Written while it is locked"))
    assert found(knowledge, "written") == ["new"]
    other.close()
    for path in knowledge.path.glob("state.db*"):
        path.unlink()
    (tmp_path / "elsewhere").write_bytes(b"precious")
    knowledge.state.symlink_to(tmp_path / "elsewhere")
    assert found(knowledge, "jwt") == ["jwt"]
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"


def test_tables_that_somebody_else_made_are_replaced(knowledge: KnowledgeBase) -> None:
    database = sqlite3.connect(knowledge.state)
    database.execute("CREATE TABLE vibes_object (row INTEGER PRIMARY KEY, id)")
    database.execute("CREATE TABLE claims_fts (id)")  # the reference's own
    database.commit()
    database.close()
    assert found(knowledge, "jwt") == ["jwt"]
    with open_index(knowledge) as index:
        assert index.count(Kind.CLAIM) == 2
    database = sqlite3.connect(knowledge.state)
    assert database.execute("SELECT count(*) FROM claims_fts").fetchone() == (0,)
    database.close()


def test_a_change_of_the_same_length_is_noticed(knowledge: KnowledgeBase) -> None:
    index = ObjectIndex(knowledge)
    index.refresh()
    path = knowledge.file_of(Kind.CLAIM, "cache")
    path.write_bytes(path.read_bytes().replace(b"sixty", b"forty"))
    index.refresh()
    assert [hit.id for hit in index.search("forty")] == ["cache"]
    path.unlink()
    index.refresh()
    assert index.search("forty") == []
    index.close()


def test_a_context_leaves_out_what_is_outdated(knowledge: KnowledgeBase) -> None:
    old = claim("old", "JWT tokens live for a day", status="superseded", superseded_by="jwt")
    knowledge.create(Kind.CLAIM, old)
    entity = Entity(id="e", name="Token", type="api", created_at=NOW, updated_at=NOW)
    knowledge.create(Kind.ENTITY, entity)
    with open_index(knowledge) as index:
        index.refresh()
        pack = build_context(index, ContextRequest("What do we know of JWT tokens?"), NOW)
    assert [each["id"] for each in pack["items"]] == ["jwt", "e"]
    assert keywords("What do we know of JWT tokens?") == ["know", "jwt", "tokens"]
