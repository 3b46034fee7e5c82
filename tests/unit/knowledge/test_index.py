"""The index is derived: whatever happens to it, answers come from the files."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vibes_lsp.knowledge.context_pack import build_context, keywords
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.method_parameters import ContextParameters
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import Claim, Entity, Kind, KnowledgeObject, Page

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)


def claim(identifier: str, text: str, **members: object) -> Claim:
    values = {"evidence": ["a"], "created_at": NOW, "updated_at": NOW, **members}
    return Claim.model_validate({"id": identifier, "text": text, **values})


def write(knowledge: KnowledgeBase, kind: Kind, found: KnowledgeObject) -> None:
    knowledge.file_of(kind, found.id).write_bytes(knowledge.dump(kind, found))


@pytest.fixture
def knowledge(tmp_path: Path) -> KnowledgeBase:
    found = create_knowledge_base(tmp_path)
    write(found, Kind.CLAIM, claim("jwt", "Auth uses JWT tokens", tags=["auth"]))
    write(found, Kind.CLAIM, claim("cache", "The cache lives for sixty seconds"))
    return found


def found(knowledge: KnowledgeBase, query: str) -> list[str]:
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        return [hit.id for hit in index.search(query)]


def test_words_match_in_other_forms_and_parts_as_a_last_resort(knowledge: KnowledgeBase) -> None:
    assert found(knowledge, "token") == ["jwt"]
    assert sorted(found(knowledge, "sixty tokens")) == ["cache", "jwt"]
    assert found(knowledge, "ixty sec") == ["cache"]
    assert found(knowledge, "100%") == []
    assert found(knowledge, '"; DROP TABLE object') == []
    assert found(knowledge, "") == []


def test_a_search_can_be_for_parts_only(knowledge: KnowledgeBase) -> None:
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        assert [hit.id for hit in index.search("token")] == ["jwt"]
        assert [hit.backend for hit in index.search("token", backend="substring")] == ["substring"]
        assert index.search("tokens jwt", backend="substring") == []


def test_a_title_counts_more_than_a_body(knowledge: KnowledgeBase) -> None:
    for name, title, body in (("a", "Ledger", "x"), ("b", "Other", "ledger")):
        page = Page(id=name, title=title, body=body, created_at=NOW, updated_at=NOW)
        write(knowledge, Kind.PAGE, page)
    assert found(knowledge, "ledger") == ["a", "b"]


def test_an_archived_object_comes_after_its_like(knowledge: KnowledgeBase) -> None:
    write(knowledge, Kind.CLAIM, claim("a-old", "Zebras are striped", status="archived"))
    write(knowledge, Kind.CLAIM, claim("b-new", "Zebras are striped"))
    assert found(knowledge, "zebras") == ["b-new", "a-old"]


def age(knowledge: KnowledgeBase) -> None:
    """Make files and folders as old as most are, so that their times show each change."""
    long_ago = time.time_ns() - 3_600_000_000_000
    for path in (*knowledge.path.rglob("*"), knowledge.path):
        os.utime(path, ns=(long_ago, long_ago))


def test_changes_in_old_folders_are_found(knowledge: KnowledgeBase) -> None:
    """A file that is written in place changes its own time and not its folder's."""
    age(knowledge)
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        folder = knowledge.path / "claims"
        before = folder.stat().st_mtime_ns
        write(knowledge, Kind.CLAIM, claim("jwt", "Zebras are striped"))
        assert folder.stat().st_mtime_ns == before
        index.refresh()
        assert [hit.id for hit in index.search("zebras")] == ["jwt"]
        for moment in ("created", "removed"):
            age(knowledge)
            index.refresh()
            index.refresh()
            if moment == "created":
                write(knowledge, Kind.CLAIM, claim("new", "Okapis are striped"))
            else:
                knowledge.file_of(Kind.CLAIM, "new").unlink()
            index.refresh()
            assert [hit.id for hit in index.search("okapis")] == ["new"] * (moment == "created")


def test_files_that_are_no_objects_are_left_out(knowledge: KnowledgeBase) -> None:
    (knowledge.path / "claims" / "README.md").write_text("zebras")
    age(knowledge)
    with closing(ObjectIndex(knowledge)) as index:
        for _ in range(3):
            index.refresh()
            assert index.counts()[Kind.CLAIM] == 2
            assert index.broken() == []
        (knowledge.path / "claims" / "README.md").unlink()
        index.refresh()
        assert index.counts()[Kind.CLAIM] == 2


def test_an_archived_claim_hides_no_better_one(knowledge: KnowledgeBase) -> None:
    for number in range(5):
        old = claim(f"a-{number}", "Zebras are striped", status="archived")
        write(knowledge, Kind.CLAIM, old)
    write(knowledge, Kind.CLAIM, claim("b", "Zebras are striped"))
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        assert [hit.id for hit in index.search("zebras", limit=1)] == ["b"]
        write(knowledge, Kind.CLAIM, claim("b", "Zebras are striped", status="archived"))
        write(knowledge, Kind.CLAIM, claim("a-3", "Zebras are striped"))
        index.refresh()
        assert [hit.id for hit in index.search("zebras", limit=1)] == ["a-3"]


def test_a_database_that_a_repository_ships_is_not_read(knowledge: KnowledgeBase) -> None:
    """The reference keeps its index in the project, where a clone can bring any."""
    shipped = sqlite3.connect(knowledge.path / "state.db")
    shipped.execute("CREATE TABLE object (row INTEGER PRIMARY KEY, id)")
    shipped.execute("CREATE TABLE claims_fts (id)")
    shipped.commit()
    shipped.close()
    before = (knowledge.path / "state.db").read_bytes()
    assert found(knowledge, "jwt") == ["jwt"]
    assert (knowledge.path / "state.db").read_bytes() == before


def test_the_bytes_of_a_source_that_is_a_link_are_not_searched(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("swordfish")
    folder = knowledge.path / "sources" / hashlib.sha256(b"x").hexdigest()
    folder.mkdir()
    (folder / "meta.yaml").write_text(f"id: {folder.name}\nlocator: note\n")
    (folder / "content").symlink_to(tmp_path / "secret")
    assert found(knowledge, "note") == [folder.name]
    assert found(knowledge, "swordfish") == []


def test_a_file_from_the_future_is_parsed_again_only_when_it_changes(
    knowledge: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = knowledge.file_of(Kind.CLAIM, "cache")
    later = time.time_ns() + 10**15
    os.utime(path, ns=(later, later))
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        parsed: list[str] = []
        parse = KnowledgeBase.parse

        def counting(base: KnowledgeBase, kind: Kind, identifier: str, data: bytes) -> object:
            parsed.append(identifier)
            return parse(base, kind, identifier, data)

        monkeypatch.setattr(KnowledgeBase, "parse", counting)
        index.refresh()
        assert parsed == []
        path.write_bytes(path.read_bytes().replace(b"sixty", b"forty"))
        os.utime(path, ns=(later, later))
        index.refresh()
        assert parsed == ["cache"]
        assert [hit.id for hit in index.search("forty")] == ["cache"]


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
    write(knowledge, Kind.CLAIM, old)
    entity = Entity(id="e", name="Token", type="api", created_at=NOW, updated_at=NOW)
    write(knowledge, Kind.ENTITY, entity)
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        pack = build_context(index, ContextParameters(task="What do we know of JWT tokens?"), NOW)
    assert [each["id"] for each in pack["items"]] == ["jwt", "e"]
    assert keywords("What do we know of JWT tokens?") == ["know", "jwt", "tokens"]
