"""What the specification of 2026-05-21 demands of methods, transport, audit log and bundles, one function for each sentence.

A function gets an empty knowledge base and fails if the program does something else. The numbers
are those of the specification's sections.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

from tests.conformance.vouch.case_registry import case
from tests.conformance.vouch.server import METHODS, World, items

# 5: methods


@case("5")
def all_methods_are_there(world: World) -> None:
    assert set(METHODS) <= set(world.agent.call("capabilities")["methods"])


@case("9")
def the_capabilities_are_those_of_a_gated_knowledge_base(world: World) -> None:
    found = world.agent.call("capabilities")
    assert found["review_gated"] is True
    assert found["spec"] == "vouch-0.1"
    assert "jsonl" in found["transports"]
    assert found["knowledge_capability"]["audit_log"] is True


@case("5.1")
def the_status_counts_objects(world: World) -> None:
    before = world.agent.call("status")
    world.claim()
    world.propose("Another")
    after = world.agent.call("status")
    assert after["counts"]["claims"] == before["counts"]["claims"] + 1
    assert after["pending"] == 1
    assert after["last_audit_at"] == world.events()[-1]["created_at"]


@case("5.1")
def an_object_that_does_not_exist_is_null(world: World) -> None:
    for noun in ("claim", "page", "entity", "relation"):
        assert world.agent.call(f"read_{noun}", **{"id": "none", f"{noun}_id": "none"}) is None


@case("5.1")
def an_object_is_read_by_its_id(world: World) -> None:
    claim = world.claim("Read me")
    assert world.agent.call("read_claim", id=claim)["text"] == "Read me"


@case("5.1")
def lists_are_arrays_with_limit_and_offset(world: World) -> None:
    for number in range(4):
        world.claim(f"Claim number {number}")
    everything = world.agent.call("list_claims")
    assert isinstance(everything, list)
    part = world.agent.call("list_claims", limit=2, offset=1)
    assert part == everything[1:3]


@case("5.1")
def lists_can_be_filtered(world: World) -> None:
    source = world.source()
    fact = world.claim("A fact", evidence=[source], type="fact", claim_type="fact")
    world.claim("An observation", evidence=[source])
    found = items(world.agent.call("list_claims", filter={"type": "fact"}))
    assert [each["id"] for each in found] == [fact]


@case("5.1")
def a_search_returns_an_array_of_hits(world: World) -> None:
    claim = world.claim("The parser is recursive")
    found = world.agent.call("search", query="parser")
    assert isinstance(found, list)
    assert set(found[0]) >= {"kind", "id", "snippet", "score", "backend"}
    assert (found[0]["kind"], found[0]["id"]) == ("claim", claim)
    assert "<mark>parser</mark>" in found[0]["snippet"]


@case("5.1")
def a_search_is_limited_to_kinds(world: World) -> None:
    world.claim("Redis is used", evidence=[world.source("about redis")])
    found = items(world.agent.call("search", query="redis", kinds=["source"]))
    assert {each["kind"] for each in found} == {"source"}


@case("5.1")
def a_context_keeps_to_its_budget(world: World) -> None:
    for number in range(8):
        world.claim(f"Password rule {number}: " + "long " * 20)
    found = world.agent.call("context", task="change the password rules", max_chars=300)
    assert 0 < sum(len(each["summary"]) for each in found["items"]) <= 300
    assert found["quality"]["budget_truncated"] is True


@case("5.1")
def a_context_without_enough_items_is_not_ok(world: World) -> None:
    found = world.agent.call("context", task="quantum entanglement", min_items=3)
    assert found["quality"]["ok"] is False


@case("5.1")
def a_superseded_claim_is_in_no_context(world: World) -> None:
    old, new = world.claim("Tokens live ten minutes"), world.claim("Tokens live one hour")
    _supersede(world, old, new)
    found = world.agent.call("context", task="how long do tokens live")
    assert old not in [each["id"] for each in found["items"]]


@case("5.2")
def a_file_of_the_project_becomes_a_source(world: World) -> None:
    (world.project / "notes.txt").write_text("some notes\n")
    result = world.agent.call("register_source_from_path", path="notes.txt")
    assert result["id"] == hashlib.sha256(b"some notes\n").hexdigest()
    locator = world.object(f"sources/{result['id']}/meta.yaml")["locator"]
    assert not Path(locator).is_absolute()


@case("5.2", is_attack=True)
def a_file_outside_of_the_project_is_refused(world: World) -> None:
    outside = world.project.parent / "outside.txt"
    outside.write_text("secret")
    (world.project / "link.txt").symlink_to(outside)
    for path in (str(outside), "../outside.txt", "link.txt", "/etc/hostname"):
        world.agent.error("register_source_from_path", path=path)


@case("5.3")
def a_dry_run_writes_nothing(world: World) -> None:
    source = world.source()
    result = world.agent.call("propose_claim", text="Dry", evidence=[source], dry_run=True)
    assert result.get("valid", True)
    assert list((world.folder / "proposed").glob("*.yaml")) == []


@case("5.3")
def an_invalid_proposal_is_an_answer_with_errors(world: World) -> None:
    result = world.agent.call("propose_claim", text="x", evidence=["nothing"])
    assert result["valid"] is False
    assert result["errors"]


@case("5.3")
def all_kinds_can_be_proposed(world: World) -> None:
    claim = world.claim("Billing uses the ledger")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("entity", {"name": "Billing", "type": "api", "entity_type": "api"}),
        (
            "page",
            {"title": "Billing page", "body": "# Hi", "claims": [claim], "claim_ids": [claim]},
        ),
        (
            "relation",
            {"source": "billing", "src": "billing", "relation": "uses", "target": claim},
        ),
    ]
    for kind, params in asked:
        proposed = world.agent.call(f"propose_{kind}", **params)
        result = world.person.call("approve", proposal_id=proposed["proposal_id"])
        name = result.get("object_id") or result["id"]
        found = world.agent.call(f"read_{kind}", **{"id": name, f"{kind}_id": name})
        assert found["id"] == name


@case("5.5")
def a_citation_is_added_to_a_claim(world: World) -> None:
    claim, source = world.claim(), world.source("more")
    world.agent.call("cite", id=claim, claim_id=claim, evidence=source)
    assert source in world.object(f"claims/{claim}.yaml")["evidence"]


@case("5.5")
def a_confirmation_sets_its_time(world: World) -> None:
    claim = world.claim()
    world.agent.call("confirm", id=claim, claim_id=claim)
    assert world.object(f"claims/{claim}.yaml")["last_confirmed_at"]


@case("5.5")
def an_archived_claim_says_so(world: World) -> None:
    claim = world.claim()
    world.agent.call("archive", id=claim, claim_id=claim, reason="old")
    assert world.object(f"claims/{claim}.yaml")["status"] == "archived"


@case("5.6")
def a_session_collects_its_proposals(world: World) -> None:
    session = world.agent.call("session_start", task="look around")
    identifier = session.get("session_id") or session["id"]
    world.propose("In the session", session_id=identifier)
    ended = world.agent.call("session_end", session_id=identifier)
    assert ended["proposals"] == 1
    assert len(world.object(f"sessions/{identifier}.yaml")["proposal_ids"]) == 1


@case("5.6")
def a_crystallized_session_has_a_page(world: World) -> None:
    session = world.agent.call("session_start", task="<script>unreviewed words</script>")
    identifier = session.get("session_id") or session["id"]
    world.propose("From the session", session_id=identifier)
    world.agent.call("session_end", session_id=identifier)
    result = world.person.call("crystallize", session_id=identifier)
    assert result["claims_promoted"] == 1
    page = (world.folder / f"pages/{result['page_id']}.md").read_text()
    assert "unreviewed words" not in page


@case("5.7")
def the_index_is_rebuilt(world: World) -> None:
    world.claim()
    result = world.agent.call("index_rebuild")
    assert result["ok"] is True
    assert result["indexed"] >= 2


@case("5.7")
def lint_reports_a_broken_citation(world: World) -> None:
    claim = world.claim()
    path = world.folder / f"claims/{claim}.yaml"
    members = world.object(f"claims/{claim}.yaml")
    path.write_text(path.read_text().replace(members["evidence"][0], "vanished"))
    issues = world.agent.call("lint")["issues"]
    assert any(each["id"] == claim and each["severity"] == "error" for each in issues)


@case("5.7")
def doctor_reports_an_approved_proposal_without_its_object(world: World) -> None:
    claim = world.claim()
    (world.folder / f"claims/{claim}.yaml").unlink()
    found = world.agent.call("doctor")
    assert any(claim in each["message"] for each in found["issues"])


@case("5.7")
def doctor_reports_a_rejected_proposal_whose_object_exists(world: World) -> None:
    proposal = world.propose()
    result = world.person.call("approve", proposal_id=proposal)
    claim = result.get("object_id") or result["id"]
    path = world.folder / f"decided/{proposal}.yaml"
    path.write_text(path.read_text().replace("status: approved", "status: rejected"))
    found = world.agent.call("doctor")
    assert any(claim in each["message"] for each in found.get("issues", found.get("findings")))


# 6: transport


@case("6")
def an_unknown_method_has_its_code(world: World) -> None:
    assert world.agent.error("nonsense").code == "method_not_found"


@case("6")
def a_missing_parameter_has_its_code(world: World) -> None:
    assert world.agent.error("propose_claim", evidence=["x"]).code == "missing_param"
    assert world.agent.error("search", query=None).code == "missing_param"


@case("6")
def an_unknown_id_is_no_missing_parameter(world: World) -> None:
    error = world.agent.error("confirm", id="nothing", claim_id="nothing")
    assert error.code == "invalid_request"


@case("6")
def a_line_that_is_no_json_does_not_end_the_server(world: World) -> None:
    response = world.agent.ask(b'{"id": "1", "method')
    assert response["error"]["code"] == "invalid_request"
    assert world.agent.call("status")


@case("6")
def a_line_of_any_json_type_does_not_end_the_server(world: World) -> None:
    for line in (b"[]", b"3", b"null", b'"text"', b"true", b"[" * 50_000):
        assert world.agent.ask(line)["ok"] is False
    assert world.agent.call("status")


@case("6")
def a_request_without_id_or_method_is_invalid(world: World) -> None:
    for line in (b'{"method": "kb.status"}', b'{"id": "1"}', b'{"id": "", "method": "kb.status"}'):
        response = world.agent.ask(line)
        assert response["ok"] is False
        assert response["error"]["code"] == "invalid_request"


@case("6")
def parameters_that_are_no_object_are_invalid(world: World) -> None:
    response = world.agent.ask(b'{"id": "1", "method": "kb.status", "params": [1]}')
    assert response["error"]["code"] == "invalid_request"


@case("6")
def a_response_has_the_members_of_the_envelope_only(world: World) -> None:
    good = world.agent.ask(b'{"id": "1", "method": "kb.status", "extra": 1}')
    assert set(good) == {"id", "ok", "result"}
    bad = world.agent.ask(b'{"id": "2", "method": "kb.read_claim", "params": {}}')
    assert set(bad) == {"id", "ok", "error"}
    assert set(bad["error"]) == {"code", "message"}


@case("6")
def requests_can_be_sent_before_responses_are_read(world: World) -> None:
    for number in range(20):
        world.agent.send(json.dumps({"id": str(number), "method": "kb.status"}).encode())
    assert [world.agent.receive()["id"] for _ in range(20)] == [str(each) for each in range(20)]


@case("6")
def line_ends_of_windows_and_blank_lines_are_accepted(world: World) -> None:
    world.agent.send(b"")
    assert world.agent.ask(b'{"id": "1", "method": "kb.status"}\r')["ok"] is True


# 7: audit log


@case("7")
def every_event_has_its_members(world: World) -> None:
    world.claim()
    for event in world.events():
        assert {"id", "event", "actor", "created_at", "object_ids"} <= set(event)


@case("7")
def events_have_the_names_of_the_vocabulary(world: World) -> None:
    claim, other = world.claim("First claim"), world.claim("Second claim")
    world.person.call("reject", proposal_id=world.propose("Third"), reason="no")
    world.agent.call("confirm", id=claim, claim_id=claim)
    world.agent.call("archive", id=other, claim_id=other)
    names = {each["event"] for each in world.events()}
    assert {
        "source.register", "proposal.create", "proposal.approve", "claim.create",
        "proposal.reject", "claim.confirm", "claim.archive",
    } <= names  # fmt: skip


@case("7")
def the_last_events_are_an_array(world: World) -> None:
    world.claim()
    found = world.agent.call("audit", tail=2)
    assert isinstance(found, list)
    assert [each["id"] for each in found] == [each["id"] for each in world.events()[-2:]]


@case("7")
def events_can_be_filtered(world: World) -> None:
    world.claim()
    found = items(world.agent.call("audit", filter={"actor": "person"}))
    assert found
    assert {each["actor"] for each in found} == {"person"}


# 8: bundles


@case("8")
def a_bundle_lists_every_file_with_its_hash(world: World) -> None:
    world.claim()
    world.propose("Still pending")
    contents = _export(world)
    manifest = json.loads(contents["manifest.json"])
    assert set(manifest) >= {"version", "generated_at", "kb_name", "files"}
    for each in manifest["files"]:
        data = contents[each["path"]]
        assert (each["sha256"], each["bytes"]) == (hashlib.sha256(data).hexdigest(), len(data))
    assert {each["path"] for each in manifest["files"]} == set(contents) - {"manifest.json"}


@case("8")
def a_bundle_has_decisions_and_no_drafts(world: World) -> None:
    world.claim()
    world.propose("Still pending")
    folders = {name.split("/")[0] for name in _export(world)}
    assert "decided" in folders
    assert "config.yaml" in folders
    assert not folders & {"proposed", "state.db", "audit.log.jsonl"}


@case("8")
def a_bundle_can_be_imported_again(world: World) -> None:
    claim = world.claim()
    bundle = _export_path(world)
    (world.folder / f"claims/{claim}.yaml").unlink()
    checked = world.agent.call("import_check", path=bundle, bundle_path=bundle)
    assert checked["new"] == [f"claims/{claim}.yaml"]
    result = world.agent.call("import_apply", path=bundle, bundle_path=bundle)
    assert result["imported"] == 1
    assert world.agent.call("read_claim", id=claim, claim_id=claim)["id"] == claim


@case("8")
def a_conflict_is_skipped_unless_asked(world: World) -> None:
    claim = world.claim()
    bundle = _export_path(world)
    world.agent.call("confirm", id=claim, claim_id=claim)
    path = world.folder / f"claims/{claim}.yaml"
    present = path.read_bytes()
    world.agent.call("import_apply", path=bundle, bundle_path=bundle)
    assert path.read_bytes() == present
    world.agent.call("import_apply", path=bundle, bundle_path=bundle, on_conflict="overwrite")
    assert path.read_bytes() != present


@case("8")
def a_changed_bundle_is_refused(world: World) -> None:
    claim = world.claim()
    contents = _export(world)
    name = f"claims/{claim}.yaml"
    contents[name] = contents[name].replace(b"tokens", b"TOKENS")
    _write_bundle(world, contents)
    (world.folder / name).unlink()
    path = str(world.project / "changed.tar.gz")
    assert world.agent.call("export_check", path=path, bundle_path=path)["ok"] is False
    world.agent.error("import_apply", path=path, bundle_path=path)
    assert not (world.folder / name).exists()


@case("8", is_attack=True)
def a_member_that_leads_out_is_refused(world: World) -> None:
    for name in ("../escaped.yaml", "/tmp/escaped.yaml", "claims/../../escaped.yaml"):
        data = b"id: escaped\ntext: x\n"
        listed = {"path": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        manifest = {"version": "0.1", "generated_at": "2026-01-01T00:00:00Z", "kb_name": "x"}
        contents = {"manifest.json": json.dumps({**manifest, "files": [listed]}).encode()}
        _write_bundle(world, {**contents, name: data})
        path = str(world.project / "changed.tar.gz")
        world.agent.error("import_apply", path=path, bundle_path=path)
        assert not list(world.project.rglob("escaped.yaml"))


def _supersede(world: World, old: str, new: str) -> None:
    world.agent.call("supersede", old_id=old, new_id=new, old_claim_id=old, new_claim_id=new)


def _export_path(world: World) -> str:
    path = str(world.project / "bundle.tar.gz")
    world.agent.call("export", out=path, out_path=path)
    return path


def _export(world: World) -> dict[str, bytes]:
    with tarfile.open(_export_path(world)) as archive:
        return {
            member.name: (archive.extractfile(member) or io.BytesIO()).read()
            for member in archive
            if member.isfile()
        }


def _write_bundle(world: World, contents: dict[str, bytes]) -> None:
    with tarfile.open(world.project / "changed.tar.gz", "w:gz") as archive:
        for name, data in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
