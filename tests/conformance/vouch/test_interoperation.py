"""Whole knowledge bases go to the reference implementation and back."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conformance.vouch.programs import EACH_REFERENCE, ours, reference, reference_command
from tests.conformance.vouch.server import Program, World
from vibes_lsp.knowledge.audit_log import check_chain
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase


@pytest.fixture(params=EACH_REFERENCE)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    project = tmp_path / "project"
    project.mkdir()
    found = World(ours(), project)
    yield found
    found.close()


def vouch(version: str, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(reference_command(version)), *arguments],
        cwd=project,
        env={**os.environ, "VOUCH_AGENT": "reference", "HOME": str(project)},
        capture_output=True,
        text=True,
        check=False,
    )


def fill(world: World) -> list[str]:
    """Write objects of all kinds; return the ids of two claims."""
    first, second = world.claim("The cache lives a minute"), world.claim("It lives an hour")
    world.agent.call("supersede", old_id=first, new_id=second)
    for kind, params in (
        ("entity", {"name": "Cache", "type": "system"}),
        ("relation", {"source": "cache", "relation": "uses", "target": second}),
        ("page", {"title": "Caching", "body": f"See [[{second}]].\n", "claims": [second]}),
    ):
        proposed = world.agent.call(f"propose_{kind}", **params)
        world.person.call("approve", proposal_id=proposed["proposal_id"])
    session = world.agent.call("session_start", task="more")["session_id"]
    world.propose("From a session", session_id=session)
    world.agent.call("session_end", session_id=session)
    world.person.call("crystallize", session_id=session)
    world.person.call("reject", proposal_id=world.propose("Wrong"), reason="wrong")
    return [first, second]


def test_the_reference_finds_nothing_wrong_in_what_we_wrote(version: str, world: World) -> None:
    fill(world)
    found = vouch(version, world.project, "doctor")
    codes = set(re.findall(r"\[(\w+)\]", found.stdout))
    assert codes <= {"index_missing"}, found.stdout  # its own index, which it has yet to make
    assert found.returncode == 0


def test_the_reference_reads_and_changes_what_we_wrote(version: str, world: World) -> None:
    _, claim = fill(world)
    server = reference(version).start(world.project, "reference")
    try:
        found = server.call("read_claim", id=claim, claim_id=claim)
        assert found["text"] == "It lives an hour"
        server.call("confirm", id=claim, claim_id=claim)
    finally:
        server.close()
    assert world.agent.call("read_claim", id=claim)["last_confirmed_at"]
    assert world.agent.call("doctor")["ok"]


def test_what_the_reference_wrote_is_read_without_being_changed(
    version: str, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    world = World(reference(version), theirs)
    claim = world.claim("Written by the reference")
    world.close()
    files = contents(world.folder)
    server = ours().start(theirs, "reader")
    try:
        assert server.call("read_claim", id=claim)["text"] == "Written by the reference"
        assert claim in [each["id"] for each in server.call("search", query="reference")]
        assert server.call("doctor")["ok"]
    finally:
        server.close()
    assert contents(world.folder) == files


@pytest.mark.parametrize("ours_proposes", [True, False])
def test_one_program_proposes_and_the_other_approves(
    version: str, ours_proposes: bool, tmp_path: Path
) -> None:
    programs: list[Program] = [ours(), reference(version)]
    if not ours_proposes:
        programs.reverse()
    project = tmp_path / "project"
    project.mkdir()
    world = World(programs[0], project)
    proposal = world.propose("Both can read this")
    world.close()
    approver = programs[1].start(project, "person")
    result = approver.call("approve", proposal_id=proposal)
    approver.close()
    claim = result.get("object_id") or result["id"]
    assert world.object(f"claims/{claim}.yaml")["approved_by"] == "person"
    assert world.object(f"decided/{proposal}.yaml")["status"] == "approved"


def test_bundles_go_both_ways(version: str, world: World, tmp_path: Path) -> None:
    _, claim = fill(world)
    bundle = tmp_path / "ours.tar.gz"
    world.agent.call("export", out=str(bundle), without_decided=True)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    assert vouch(version, theirs, "init").returncode == 0
    assert vouch(version, theirs, "import-apply", str(bundle)).returncode == 0
    assert (theirs / f".vouch/claims/{claim}.yaml").exists()

    back = tmp_path / "theirs.tar.gz"
    assert vouch(version, theirs, "export", "--out", str(back)).returncode == 0
    checked = world.agent.call("import_check", path=str(back))
    assert checked["ok"], checked["issues"]
    assert f"claims/{claim}.yaml" in checked["identical"]


def test_both_append_to_one_chain_at_the_same_time(world: World) -> None:
    claims = [world.claim("Ours"), world.claim("Theirs")]  # the reference writes in place
    with closing(reference("1.5.0").start(world.project, "reference")) as theirs:
        servers = [theirs, world.agent]
        for number in range(20):
            for server, claim in zip(servers, claims, strict=True):
                params = {"id": claim, "claim_id": claim}
                request = {"id": str(number), "method": "kb.confirm", "params": params}
                server.send(json.dumps(request).encode())
        for _ in range(20):
            answers = [server.receive() for server in servers]
            assert all(answer["ok"] for answer in answers), answers
    assert check_chain(KnowledgeBase(world.folder)) == (None, 0)
    assert sum(event["event"] == "claim.confirm" for event in world.events()) == 40


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a knowledge base, without what is derived."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "state.db" not in path.name and not path.name.endswith(".lock")
    }
