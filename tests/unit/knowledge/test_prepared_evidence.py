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
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.knowledge.provenance_bridge import authorship_of_claims


@pytest.fixture
def knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return create_knowledge_base(tmp_path / "project")


def evidence_at(knowledge: KnowledgeBase, path: str) -> list[str]:
    """Return the evidence at the lines of a file."""
    snapshot = read_snapshot(ObjectIndex(knowledge))
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
    [claim] = authorship_of_claims(read_snapshot(ObjectIndex(knowledge)))
    assert [each.supports for each in claim.evidence] == [False, False, True]


def findings(knowledge: KnowledgeBase) -> list[tuple[str, tuple[str, ...]]]:
    """Return what lint finds, as codes and ids."""
    return [
        (each["code"], tuple(each["object_ids"]))
        for each in call(knowledge, "ada", "lint")["findings"]
    ]


def write(knowledge: KnowledgeBase, kind: Kind, identifier: str, **members: object) -> None:
    """Write a file as another program or a clone may bring it."""
    path = knowledge.file_of(kind, identifier)
    times = {"created_at": NOW.isoformat(), "updated_at": NOW.isoformat()}
    path.write_bytes(dump_yaml({"id": identifier, **times, **members}))


def test_a_redacted_claim_stays_redacted(knowledge: KnowledgeBase) -> None:
    old, new = (
        call(knowledge, "ada", "approve", proposal_id=propose(knowledge, text=text)["proposal_id"])
        for text in ("A secret", "No secret")
    )
    path = knowledge.file_of(Kind.CLAIM, old["object_id"])
    members = load_yaml(path.read_bytes(), path.name)
    path.write_bytes(dump_yaml({**members, "text": "Removed", "status": "redacted"}))
    content, other = path.read_bytes(), knowledge.file_of(Kind.CLAIM, new["object_id"])
    other_content = other.read_bytes()
    for method, params in (
        ("archive", {"id": old["object_id"]}),
        ("supersede", {"old_id": old["object_id"], "new_id": new["object_id"]}),
    ):
        with pytest.raises(InvalidObject, match="is redacted"):
            call(knowledge, "ada", method, **params)
    assert (path.read_bytes(), other.read_bytes()) == (content, other_content)
    assert findings(knowledge) == []


def test_an_approver_that_no_decision_names_is_found(knowledge: KnowledgeBase) -> None:
    proposal = propose(knowledge)["proposal_id"]
    claim = call(knowledge, "ada", "approve", proposal_id=proposal)["object_id"]
    evidence = call(knowledge, "ada", "read_claim", id=claim)["evidence"]
    assert findings(knowledge) == []
    path = knowledge.file_of(Kind.CLAIM, claim)
    approved = path.read_bytes()
    members = load_yaml(approved, path.name)
    for forged in ({"approved_by": "grace"}, {"text": "Another claim"}):
        path.write_bytes(dump_yaml({**members, **forged}))
        assert findings(knowledge) == [("claim_without_decision", (claim,))], forged
    path.write_bytes(dump_yaml({**members, "status": "redacted", "text": "[redacted]"}))
    assert findings(knowledge) == []
    path.write_bytes(approved)
    write(knowledge, Kind.CLAIM, "shipped", text="Trust me", evidence=evidence, approved_by="ada")
    assert findings(knowledge) == [("claim_without_decision", ("shipped",))]
    call(knowledge, "ada", "confirm", id=claim)
    assert findings(knowledge) == [("claim_without_decision", ("shipped",))]


def half_approved(knowledge: KnowledgeBase, **members: object) -> tuple[str, str]:
    """Write the claim of a proposal as an approval leaves it that another program began."""
    proposed = propose(knowledge)
    pending = knowledge.file_of(Kind.PENDING, proposed["proposal_id"])
    payload = load_yaml(pending.read_bytes(), pending.name)["payload"]
    write(knowledge, Kind.CLAIM, **{**payload, "identifier": payload.pop("id"), **members})
    return proposed["proposal_id"], proposed["claim_id"]


@pytest.mark.parametrize("named", ["ada", "grace", None])
def test_who_completes_an_approval_is_its_approver(
    knowledge: KnowledgeBase, named: str | None
) -> None:
    """The name in a shipped claim may be anyone's; one that a crash left is not stranded."""
    proposal, claim = half_approved(knowledge, approved_by=named, proposed_by="agent", note="n")
    assert call(knowledge, "ada", "approve", proposal_id=proposal)["ok"]
    found = call(knowledge, "ada", "read_claim", id=claim)
    assert (found["approved_by"], found["note"]) == ("ada", "n")
    assert findings(knowledge) == []


@pytest.mark.parametrize(
    "later", [{"status": "stable"}, {"supersedes": ["other"]}, {"text": "Another claim"}]
)
def test_a_claim_with_other_decisions_is_no_approval_that_was_begun(
    knowledge: KnowledgeBase, later: dict[str, object]
) -> None:
    proposal, claim = half_approved(knowledge, approved_by="ada", **later)
    before = knowledge.file_of(Kind.CLAIM, claim).read_bytes()
    with pytest.raises(InvalidObject, match="exists"):
        call(knowledge, "ada", "approve", proposal_id=proposal)
    assert call(knowledge, "ada", "reject", proposal_id=proposal, reason="taken")["ok"]
    assert knowledge.file_of(Kind.CLAIM, claim).read_bytes() == before


def test_members_that_the_schemas_do_not_name_are_kept(knowledge: KnowledgeBase) -> None:
    """The schemas allow them, and newer versions of the reference write some."""
    proposal = propose(knowledge)["proposal_id"]
    path = knowledge.file_of(Kind.PENDING, proposal)
    members = load_yaml(path.read_bytes(), path.name)
    members["payload"] |= {"note": "n", "proposed_by": "grace", "auto_approved": True}
    path.write_bytes(dump_yaml(members))
    claim = call(knowledge, "ada", "approve", proposal_id=proposal)["object_id"]
    found = call(knowledge, "ada", "read_claim", id=claim)
    assert found["note"] == "n"
    assert not {"proposed_by", "auto_approved"} & found.keys()


def test_evidence_that_replaces_itself_is_found(knowledge: KnowledgeBase) -> None:
    source = call(knowledge, "ada", "register_source", content="x", locator="note")["id"]
    for name, older in (("a", "b"), ("b", "a"), ("c", "a"), ("d", None), ("e", "gone")):
        members = {"source_id": source, "locator": "L1", "replaces": older}
        write(knowledge, Kind.EVIDENCE, name, **members)
    expected = [("replacement_cycle", ("a",)), ("replacement_cycle", ("b",))]
    assert findings(knowledge) == expected
    write(knowledge, Kind.EVIDENCE, "d", source_id=source, locator="L1", replaces=["a"])
    assert findings(knowledge) == [("broken_object", ("d",)), *expected]
    assert set(read_snapshot(ObjectIndex(knowledge)).objects[Kind.EVIDENCE]) == {"a", "b", "c", "e"}


def test_a_locator_of_a_source_names_no_other_file(knowledge: KnowledgeBase) -> None:
    for name, text in (("a.py", "one()\n"), ("copy.py", "one()\n"), ("other.py", "two()\n")):
        (knowledge.project / name).write_text(text)
    source = call(knowledge, "agent", "register_source_from_path", path="a.py")["id"]

    def errors(locator: str) -> list[str]:
        cited = {"source_id": source, "locator": locator}
        result = call(knowledge, "agent", "propose_claim", text="One", evidence=[cited])
        return [str(each) for each in result["errors"]]

    for locator in ("L1", "a.py#L1", "copy.py#L1"):
        assert errors(locator) == []
    for locator in ("other.py#L1", "missing.py#L1"):
        assert "names another file than its source" in errors(locator)[0]


def test_what_names_no_lines_of_its_source_supports_nothing(knowledge: KnowledgeBase) -> None:
    (knowledge.project / "a.py").write_text("one()\ntwo()\n")
    (knowledge.project / "decoy.py").write_text("one()\nthree()\n")
    source = call(knowledge, "ada", "register_source_from_path", path="a.py")["id"]
    locators = {
        "lines": "L1",
        "beyond": "b9000-9001",
        "section": "#sec-3",
        "copied": "decoy.py#L1",
        "decoy": "decoy.py#L2",
    }
    for name, locator in locators.items():
        write(knowledge, Kind.EVIDENCE, name, source_id=source, locator=locator)
    write(knowledge, Kind.CLAIM, "c", text="t", evidence=[*locators, source])
    [claim] = authorship_of_claims(read_snapshot(ObjectIndex(knowledge)))
    supports = {each.id: each.supports for each in claim.evidence}
    expected = dict.fromkeys(locators, False) | {"lines": True, "copied": True, source: True}
    assert supports == expected
    assert {each.path for each in claim.evidence} == {"a.py", "decoy.py"}


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
    assert not knowledge.ids(Kind.SOURCE)


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
