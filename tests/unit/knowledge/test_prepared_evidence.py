"""Evidence and payloads that others prepared: none stands for what a person cites or approves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.knowledge.test_attacks import NOW, call, propose
from vibes_lsp.errors import InvalidObject
from vibes_lsp.knowledge.actors import is_same_actor
from vibes_lsp.knowledge.changes import changing
from vibes_lsp.knowledge.citations import current_evidence, read_snapshot
from vibes_lsp.knowledge.citing_lines import CitedLines, reanchor_at
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.object_format import dump_yaml, load_yaml
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.knowledge.provenance_bridge import authorship_of_claims


@pytest.fixture
def knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return create_knowledge_base(tmp_path / "project")


def evidence_at(knowledge: KnowledgeBase, path: str) -> list[str]:
    """Return the evidence at the lines of a file."""
    snapshot = read_snapshot(knowledge.path)
    return [str(each.evidence["id"]) for each, _ in snapshot.lines_in(path)]


def test_evidence_is_at_the_file_that_was_cited_not_at_its_copy(knowledge: KnowledgeBase) -> None:
    for name in ("a.py", "b.py"):
        (knowledge.project / name).write_text("one()\ntwo()\n")
    call(knowledge, "agent", "register_source_from_path", path="a.py")
    cited = {"path": "b.py", "locator": "L2"}
    proposed = call(knowledge, "agent", "propose_claim", text="Two", evidence=[cited])
    claim = call(knowledge, "ada", "approve", proposal_id=proposed["proposal_id"])["object_id"]
    [first] = evidence_at(knowledge, "b.py")
    lines = CitedLines("b.py", b"one()\ntwo()\n", 1, 1)
    second = reanchor_at(knowledge, claim, first, lines, "ada", NOW)
    assert evidence_at(knowledge, "b.py") == [second]
    assert evidence_at(knowledge, "a.py") == []


def test_a_locator_names_no_other_file_than_the_path(knowledge: KnowledgeBase) -> None:
    (knowledge.project / "a.py").write_text("one()\n")
    cited = {"path": "a.py", "locator": "e.py#L1"}
    proposed = call(knowledge, "agent", "propose_claim", text="One", evidence=[cited])
    assert "names another file" in proposed["errors"][0]


@pytest.mark.parametrize(
    "forged", [{"locator": "e.py#L1"}, {"quote": "evil()"}, {"replaces": "ev-other"}]
)
def test_prepared_evidence_is_not_taken_for_the_cited_lines(
    knowledge: KnowledgeBase, forged: dict[str, str]
) -> None:
    (knowledge.project / "a.py").write_text("safe()\n")
    cited = {"path": "a.py", "locator": "L1"}
    call(knowledge, "ada", "propose_claim", text="First", evidence=[cited])
    [path] = (knowledge.path / "evidence").glob("ev-*.yaml")
    path.write_bytes(dump_yaml({**load_yaml(path.read_bytes(), path.name), **forged}))
    with pytest.raises(InvalidObject, match="says something else"):
        call(knowledge, "ada", "propose_claim", text="Second", evidence=[cited])


def test_wrong_captured_bytes_are_replaced_by_the_right_ones(knowledge: KnowledgeBase) -> None:
    (knowledge.project / "a.py").write_text("safe()\n")
    source = call(knowledge, "ada", "register_source_from_path", path="a.py")["id"]
    content = knowledge.content_file(source)
    content.write_text("evil()\n")
    cited = {"source_id": source, "locator": "L1"}
    proposed = call(knowledge, "ada", "propose_claim", text="First", evidence=[cited])
    assert "captured bytes have changed" in proposed["errors"][0]
    assert call(knowledge, "ada", "register_source_from_path", path="a.py")["deduplicated"]
    assert content.read_text() == "safe()\n"


def test_a_payload_decides_nothing_that_a_reviewer_did_not_see(knowledge: KnowledgeBase) -> None:
    proposal = propose(knowledge)["proposal_id"]
    path = knowledge.file_of(Kind.PENDING, proposal)
    members = load_yaml(path.read_bytes(), path.name)
    members["payload"] |= {
        "status": "stable",
        "last_confirmed_at": "2026-11-21T00:00:00Z",
        "approved_by": "grace",
        "supersedes": ["other"],
        "contradicts": ["other"],
    }
    path.write_bytes(dump_yaml(members))
    claim = call(knowledge, "ada", "approve", proposal_id=proposal)["object_id"]
    found = call(knowledge, "ada", "read_claim", id=claim)
    assert (found["status"], found["approved_by"]) == ("working", "ada")
    assert found["last_confirmed_at"] is None
    assert (found["supersedes"], found["contradicts"]) == ([], [])


@pytest.mark.parametrize(
    ("replaces", "current"),
    [
        ({"a": "a"}, ["a"]),
        ({"a": "b", "b": "a"}, ["a", "b"]),
        ({"a": None, "b": "a"}, ["b"]),
        ({"a": "b", "b": "a", "c": "a"}, ["b", "c"]),
    ],
)
def test_evidence_that_replaces_itself_stays(
    replaces: dict[str, str | None], current: list[str]
) -> None:
    evidence = {name: {"replaces": older} for name, older in replaces.items()}
    assert current_evidence(list(replaces), evidence) == current


def test_missing_evidence_supports_nothing(knowledge: KnowledgeBase) -> None:
    source = call(knowledge, "ada", "register_source", content="x", locator="note", type="message")
    members = {"id": "c", "text": "t", "evidence": ["ev-missing", "0" * 64, source["id"]]}
    (knowledge.path / "claims/c.yaml").write_bytes(dump_yaml(members))
    [claim] = authorship_of_claims(read_snapshot(knowledge.path))
    assert [each.supports for each in claim.evidence] == [False, False, True]


@pytest.mark.parametrize("name", ["\u039dora", "\u039c\u0391\u03a7", "\u0396o\u0435", "Me\u0261"])
def test_capitals_of_other_scripts_are_the_letters_they_look_like(name: str) -> None:
    plain = {"\u039dora": "Nora", "\u039c\u0391\u03a7": "MAX", "\u0396o\u0435": "Zoe"}
    assert is_same_actor(name, plain.get(name, "Meg"))


@pytest.mark.parametrize("path", [".git/config", ".vouch/config.yaml", "sub/../.git/config", "l"])
def test_files_of_git_and_of_the_knowledge_base_are_no_sources(
    knowledge: KnowledgeBase, path: str
) -> None:
    (knowledge.project / "sub").mkdir()
    (knowledge.project / ".git").mkdir()
    (knowledge.project / ".git/config").write_text("token\n")
    (knowledge.project / "l").symlink_to(".git/config")
    with pytest.raises(InvalidObject):
        call(knowledge, "agent", "register_source_from_path", path=path)
    assert not list(knowledge.files(Kind.SOURCE))


def test_no_change_has_an_invisible_actor(knowledge: KnowledgeBase) -> None:
    with pytest.raises(InvalidObject, match="actor"), changing(knowledge, "a\u200bda", NOW):
        pass


def test_an_import_never_overwrites_evidence(knowledge: KnowledgeBase) -> None:
    (knowledge.project / "a.py").write_text("safe()\n")
    cited = {"path": "a.py", "locator": "L1"}
    call(knowledge, "ada", "propose_claim", text="First", evidence=[cited])
    call(knowledge, "ada", "export", out="b.tar.gz")
    [path] = (knowledge.path / "evidence").glob("ev-*.yaml")
    path.write_bytes(dump_yaml({**load_yaml(path.read_bytes(), path.name), "quote": "own"}))
    before = path.read_bytes()
    result = call(knowledge, "ada", "import_apply", path="b.tar.gz", on_conflict="overwrite")
    assert (result["skipped"], path.read_bytes()) == (1, before)
