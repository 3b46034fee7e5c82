"""What the specification of 2026-05-21 demands of files, validation and decisions, one function for each sentence.

A function gets an empty knowledge base and fails if the program does something else. The numbers
are those of the specification's sections.
"""

from __future__ import annotations

import hashlib
from typing import Any

from tests.conformance.vouch.case_registry import case
from tests.conformance.vouch.server import Refused, World, items

# 1: files


@case("1")
def proposals_are_ignored_by_git_and_decisions_are_not(world: World) -> None:
    ignored = (world.folder / ".gitignore").read_text().split()
    assert "proposed/" in ignored
    assert "state.db" in ignored
    assert not any("decided" in line for line in ignored)


@case("1")
def the_index_can_be_deleted_at_any_time(world: World) -> None:
    world.claim("The cache lives for sixty seconds")
    assert items(world.agent.call("search", query="sixty"))
    world.agent.close()
    del world._servers["agent-a"]
    for path in world.folder.glob("state.db*"):
        path.unlink()
    assert items(world.agent.call("search", query="sixty"))


@case("1")
def a_file_that_another_program_wrote_is_found_at_once(world: World) -> None:
    claim = world.claim("Deploys run on fridays")
    members = world.object(f"claims/{claim}.yaml")
    text = (world.folder / f"claims/{claim}.yaml").read_text()
    copied = text.replace(claim, "written-by-hand").replace(members["text"], "Zebras are striped")
    (world.folder / "claims/written-by-hand.yaml").write_text(copied)
    assert [each["id"] for each in items(world.agent.call("search", query="zebras"))] == [
        "written-by-hand"
    ]


@case("1")
def one_broken_file_hides_no_other(world: World) -> None:
    claim = world.claim()
    (world.folder / "claims/broken.yaml").write_text("id: [broken\n")
    assert claim in [each["id"] for each in items(world.agent.call("list_claims"))]


@case("1.2")
def a_source_is_named_by_the_hash_of_its_bytes(world: World) -> None:
    result = world.agent.call("register_source", content="grüße", locator="note")
    expected = hashlib.sha256("grüße".encode()).hexdigest()
    assert result["id"] == expected
    assert (world.folder / f"sources/{expected}/content").read_bytes() == "grüße".encode()
    assert world.object(f"sources/{expected}/meta.yaml")["hash"] == expected


@case("1.2")
def the_same_bytes_are_one_source(world: World) -> None:
    first = world.agent.call("register_source", content="same", locator="a")
    second = world.agent.call("register_source", content="same", locator="b")
    assert (first["deduplicated"], second["deduplicated"]) == (False, True)
    assert world.object(f"sources/{first['id']}/meta.yaml")["locator"] == "a"


@case("1.2")
def two_claims_with_one_text_get_two_ids(world: World) -> None:
    source = world.source()
    first, second = world.propose(evidence=[source]), world.propose(evidence=[source])
    assert first != second
    approved = [world.person.call("approve", proposal_id=each) for each in (first, second)]
    names = {each.get("object_id") or each.get("id") for each in approved}
    assert len(names) == 2


@case("1.2", is_attack=True)
def an_id_never_leads_out_of_the_folder(world: World) -> None:
    source = world.source()
    before = set(world.project.rglob("*"))
    for wished in ("../../outside", "/tmp/outside", "a/../../b", "..", "con\x00", ".hidden"):
        try:
            result = world.agent.call(
                "propose_claim", text="x", evidence=[source], slug_hint=wished
            )
            if result.get("valid", True):
                world.person.call("approve", proposal_id=result["proposal_id"])
        except Refused:
            continue
    known = {world.folder / name for name in ("claims", "proposed", "decided")}
    new = {path for path in set(world.project.rglob("*")) - before if path.is_file()}
    strays = [path for path in new if path.parent not in known and "state.db" not in path.name]
    assert [path for path in strays if "audit.log" not in path.name] == []


@case("1.2", is_attack=True)
def a_read_never_leaves_its_folder(world: World) -> None:
    (world.project / "secret.yaml").write_text("id: secret\ntext: a secret\nname: a\ntype: api\n")
    for method in ("read_claim", "read_entity"):
        for name in ("../../secret", "../config", "/etc/passwd"):
            try:
                found = world.agent.call(method, id=name, claim_id=name, entity_id=name)
            except Refused as error:
                found = error.message if "a secret" in error.message else None
            assert found is None


# 3: validation


@case("3.1")
def a_claim_without_citation_is_no_proposal(world: World) -> None:
    _is_refused(world, "propose_claim", text="x", evidence=[])


@case("3.1")
def a_claim_with_an_unknown_citation_is_no_proposal(world: World) -> None:
    _is_refused(world, "propose_claim", text="x", evidence=["nothing"])


@case("3.1")
def a_citation_that_vanished_stops_the_approval(world: World) -> None:
    source = world.source("vanishes")
    proposal = world.propose(evidence=[source])
    for path in (world.folder / f"sources/{source}").iterdir():
        path.unlink()
    world.person.error("approve", proposal_id=proposal)
    assert list((world.folder / "claims").glob("auth-uses*")) == []


@case("3")
def values_outside_a_vocabulary_are_refused_when_proposed(world: World) -> None:
    source = world.source()
    claim = {"text": "x", "evidence": [source]}
    _is_refused(world, "propose_claim", **claim, type="nonsense", claim_type="nonsense")
    _is_refused(world, "propose_claim", **claim, confidence=5)
    _is_refused(world, "propose_entity", name="x", type="nonsense", entity_type="nonsense")
    _is_refused(world, "propose_claim", text="   ", evidence=[source])


@case("3.3")
def bytes_that_do_not_hash_to_the_id_are_reported(world: World) -> None:
    source = world.source("original")
    (world.folder / f"sources/{source}/content").write_text("changed")
    result = world.agent.call("source_verify")
    assert isinstance(result, dict)
    assert result["ok"] is False
    assert source in [each["id"] for each in result["issues"]]


@case("3.4")
def supersession_is_directional(world: World) -> None:
    old, new = world.claim("Deploys on fridays"), world.claim("Deploys on mondays")
    _supersede(world, old, new)
    assert world.object(f"claims/{old}.yaml")["status"] == "superseded"
    assert world.object(f"claims/{old}.yaml")["superseded_by"] == new
    assert world.object(f"claims/{new}.yaml")["supersedes"] == [old]


@case("3.4")
def cycles_of_supersession_are_refused(world: World) -> None:
    first, second, third = (world.claim(f"Fact number {each}") for each in "abc")
    _supersede(world, first, second)
    _supersede(world, second, third)
    for old, new in ((second, first), (third, first), (third, third)):
        params = {"old_id": old, "new_id": new, "old_claim_id": old, "new_claim_id": new}
        world.agent.error("supersede", **params)
    assert world.object(f"claims/{third}.yaml")["status"] != "superseded"


@case("3.5")
def contradiction_is_symmetric(world: World) -> None:
    first, second = world.claim("It is black"), world.claim("It is white")
    world.agent.call("contradict", a_id=first, b_id=second, claim_a=first, claim_b=second)
    assert world.object(f"claims/{first}.yaml")["contradicts"] == [second]
    assert world.object(f"claims/{second}.yaml")["contradicts"] == [first]


@case("3.5")
def a_claim_cannot_contradict_itself(world: World) -> None:
    claim = world.claim()
    world.agent.error("contradict", a_id=claim, b_id=claim, claim_a=claim, claim_b=claim)


# 4: review gate


@case("4")
def a_proposal_is_a_file_and_an_event(world: World) -> None:
    proposal = world.propose("A text to summarize")
    members = world.object(f"proposed/{proposal}.yaml")
    assert (members["status"], members["proposed_by"]) == ("pending", "agent-a")
    assert members["payload"]["text"] == "A text to summarize"
    created = [each for each in world.events() if proposal in each["object_ids"]]
    assert [each["event"] for each in created] == ["proposal.create"]


@case("4")
def an_approval_writes_the_object_and_moves_the_proposal(world: World) -> None:
    proposal = world.propose()
    result = world.person.call("approve", proposal_id=proposal, reason="seen")
    claim = result.get("object_id") or result["id"]
    assert world.object(f"claims/{claim}.yaml")["approved_by"] == "person"
    decided = world.object(f"decided/{proposal}.yaml")
    assert decided["status"] == "approved"
    assert (decided["decided_by"], decided["decision_reason"]) == ("person", "seen")
    assert not (world.folder / f"proposed/{proposal}.yaml").exists()


@case("4")
def a_rejection_writes_no_object(world: World) -> None:
    proposal = world.propose()
    world.person.call("reject", proposal_id=proposal, reason="not true")
    assert list((world.folder / "claims").glob("auth-uses*")) == []
    assert world.object(f"decided/{proposal}.yaml")["decision_reason"] == "not true"


@case("4")
def a_rejection_needs_a_reason(world: World) -> None:
    proposal = world.propose()
    world.person.error("reject", proposal_id=proposal, reason="  ")
    assert (world.folder / f"proposed/{proposal}.yaml").exists()


@case("4")
def the_same_decision_again_is_the_same_answer(world: World) -> None:
    approved, rejected = world.propose("One"), world.propose("Two")
    first = world.person.call("approve", proposal_id=approved)
    assert world.person.call("approve", proposal_id=approved) == first
    world.person.call("reject", proposal_id=rejected, reason="no")
    world.person.call("reject", proposal_id=rejected, reason="no")
    count = sum(rejected in each["object_ids"] for each in world.events())
    assert count == 2


@case("3.6")
def the_opposite_decision_is_refused(world: World) -> None:
    approved, rejected = world.propose("One"), world.propose("Two")
    world.person.call("approve", proposal_id=approved)
    world.person.call("reject", proposal_id=rejected, reason="no")
    world.person.error("reject", proposal_id=approved, reason="no")
    world.person.error("approve", proposal_id=rejected)


@case("4")
def an_approval_that_was_interrupted_is_completed(world: World) -> None:
    proposal = world.propose()
    pending = (world.folder / f"proposed/{proposal}.yaml").read_bytes()
    result = world.person.call("approve", proposal_id=proposal)
    claim = world.folder / f"claims/{result.get('object_id') or result['id']}.yaml"
    content = claim.read_bytes()
    (world.folder / f"decided/{proposal}.yaml").unlink()
    (world.folder / f"proposed/{proposal}.yaml").write_bytes(pending)
    world.person.call("approve", proposal_id=proposal)
    assert claim.read_bytes() == content
    assert world.object(f"decided/{proposal}.yaml")["status"] == "approved"


@case("5.4")
def nobody_approves_their_own_proposal(world: World) -> None:
    proposal = world.propose()
    error = world.agent.error("approve", proposal_id=proposal)
    assert "forbidden_self_approval" in error.message
    assert (world.folder / f"proposed/{proposal}.yaml").exists()


@case("5.4")
def a_parameter_does_not_change_who_approves(world: World) -> None:
    proposal = world.propose()
    world.agent.error("approve", proposal_id=proposal, approver="person")


@case("5.4")
def a_trusted_agent_may_approve_its_own(world: World) -> None:
    world.set_config(review={"approver_role": "trusted-agent", "require_citations": True})
    world.agent.call("approve", proposal_id=world.propose())


def _is_refused(world: World, method: str, **params: Any) -> None:
    """Whether nothing is proposed, by an error or by an answer with errors."""
    try:
        result = world.agent.call(method, **params)
    except Refused:
        result = {"valid": False}
    assert result.get("valid") is False, result
    assert list((world.folder / "proposed").glob("*.yaml")) == []


def _supersede(world: World, old: str, new: str) -> None:
    world.agent.call("supersede", old_id=old, new_id=new, old_claim_id=old, new_claim_id=new)
