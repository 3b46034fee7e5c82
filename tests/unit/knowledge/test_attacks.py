"""What a hostile repository, agent or program tries on a knowledge base; none of it works."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from vibes_lsp.errors import (
    ForbiddenSelfApproval,
    InvalidObject,
    RefusedWrite,
    UnreadableFile,
    VibesError,
)
from vibes_lsp.knowledge.actors import checked_actor, is_same_actor, system_user
from vibes_lsp.knowledge.audit_log import check_chain, event_hash
from vibes_lsp.knowledge.json_lines import answer_lines
from vibes_lsp.knowledge.knowledge_base import (
    KnowledgeBase,
    create_knowledge_base,
    find_knowledge_base,
)
from vibes_lsp.knowledge.method_context import InvalidParameter
from vibes_lsp.knowledge.methods import METHODS, KnowledgeMethods
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.store.files import TEMPORARY_SUFFIX

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
ESCAPES = [
    "../../outside", "..", "/etc/passwd", "a/b", "a\\b", "C:\\x", "a\x00b", "claims/../../x", "",
    ".hidden", "con", "x" * 5000, "a\u202eb", "a b", "https://x",
]  # fmt: skip


@pytest.fixture
def knowledge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.txt").write_text("swordfish\n")
    return create_knowledge_base(project)


def call(knowledge: KnowledgeBase, actor: str, method: str, **params: Any) -> Any:
    methods = KnowledgeMethods(knowledge, actor, now=lambda: NOW)
    try:
        return methods.call(f"kb.{method}", params)
    finally:
        methods.close()


def propose(knowledge: KnowledgeBase, actor: str = "agent", **params: Any) -> Any:
    source = call(knowledge, actor, "register_source", content="x", locator="note")["id"]
    wanted = {"text": "A claim", "evidence": [source], **params}
    return call(knowledge, actor, "propose_claim", **wanted)


def shown(knowledge: KnowledgeBase, method: str, **params: Any) -> str:
    """Return the result or the message of a method; any other exception fails the test."""
    try:
        return json.dumps(call(knowledge, "agent", method, **params), allow_nan=False)
    except VibesError as error:
        return f"{error.message} {error.hint}"


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder, but for the cache."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in path.parts
    }


@pytest.mark.parametrize("identifier", ESCAPES)
def test_no_parameter_leads_out_of_the_knowledge_base(
    knowledge: KnowledgeBase, tmp_path: Path, identifier: str
) -> None:
    (tmp_path / "outside.yaml").write_text("id: outside\ntext: swordfish\n")
    outside = {name: data for name, data in everything(tmp_path).items() if "project" not in name}
    source = call(knowledge, "agent", "register_source", content="x", locator="note")["id"]
    tried: list[tuple[str, dict[str, Any]]] = [
        *((f"read_{noun}", {"id": identifier}) for noun in ("claim", "page", "entity", "relation")),
        ("propose_claim", {"text": "t", "evidence": [identifier]}),
        ("propose_claim", {"text": "t", "evidence": [source], "slug_hint": identifier}),
        ("propose_claim", {"text": "t", "evidence": [source], "session_id": identifier}),
        ("propose_page", {"title": "t", "claims": [identifier], "sources": [identifier]}),
        ("propose_relation", {"source": identifier, "relation": "uses", "target": identifier}),
        *((method, {"proposal_id": identifier, "reason": "r"}) for method in ("approve", "reject")),
        ("supersede", {"old_id": identifier, "new_id": identifier}),
        ("contradict", {"a_id": identifier, "b_id": "b"}),
        *((method, {"id": identifier}) for method in ("archive", "confirm", "cite")),
        ("cite", {"id": identifier, "evidence": [{"path": identifier, "locator": "L1"}]}),
        *((method, {"session_id": identifier}) for method in ("session_end", "crystallize")),
        ("source_verify", {"id": identifier}),
        ("register_source_from_path", {"path": identifier or ".."}),
    ]
    for method, params in tried:
        assert "swordfish" not in shown(knowledge, method, **params)
    now = {name: data for name, data in everything(tmp_path).items() if "project" not in name}
    assert now == outside


def test_files_of_the_project_that_are_links_are_no_sources(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    (knowledge.project / "link.txt").symlink_to(tmp_path / "secret.txt")
    (knowledge.project / "folder").symlink_to(tmp_path)
    for path in ("link.txt", "folder/secret.txt", "../secret.txt", str(tmp_path / "secret.txt")):
        with pytest.raises(VibesError):
            call(knowledge, "agent", "register_source_from_path", path=path)
        evidence = [{"path": path, "locator": "L1"}]
        assert not call(knowledge, "agent", "propose_claim", text="t", evidence=evidence)["valid"]
    assert not knowledge.ids(Kind.SOURCE)


def test_a_knowledge_base_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    outside = create_knowledge_base(tmp_path)
    project = tmp_path / "clone"
    project.mkdir()
    (project / ".vouch").symlink_to(outside.path)
    with pytest.raises(UnreadableFile, match="is a link"):
        find_knowledge_base(project)
    with pytest.raises(RefusedWrite):
        create_knowledge_base(project)


@pytest.mark.parametrize("kind", [each for each in Kind if each is not Kind.SESSION])
def test_no_write_follows_a_folder_that_is_a_link(
    knowledge: KnowledgeBase, tmp_path: Path, kind: Kind
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (knowledge.path / kind).rmdir()
    (knowledge.path / kind).symlink_to(outside)
    tried: list[Callable[[], object]] = [
        lambda: call(knowledge, "person", "approve", proposal_id=propose(knowledge)["proposal_id"]),
        lambda: call(knowledge, "agent", "register_source", content="other", locator="n"),
    ]
    for work in tried:
        try:
            work()
        except VibesError:
            continue
    assert list(outside.iterdir()) == []


def test_no_rest_of_a_change_is_removed_behind_a_link(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    outside = tmp_path / "outside" / ".change"
    outside.mkdir(parents=True)
    names = {"journal", "seal", f"{'0' * 16}{TEMPORARY_SUFFIX}"}
    for name in names:
        (outside / name).write_text("x")
    (knowledge.path / "proposed").rmdir()
    (knowledge.path / "proposed").symlink_to(outside.parent)
    with pytest.raises(RefusedWrite):
        call(knowledge, "agent", "register_source", content="other", locator="n")
    assert {path.name for path in outside.iterdir()} == names


def test_a_user_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    pwd = pytest.importorskip("pwd")

    def no_entry(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    assert system_user() == f"uid-{os.getuid()}"


def test_a_user_of_windows_without_a_name_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_module() -> str:
        raise ModuleNotFoundError("pwd")

    monkeypatch.setattr("getpass.getuser", no_module)
    monkeypatch.delattr(os, "getuid", raising=False)
    assert checked_actor(system_user()) == "unknown-user"


@pytest.mark.parametrize("name", ["src/app.py", "data.tar.gz", "link", ".git/new", ".VOUCH/new"])
def test_an_export_replaces_bundles_only(knowledge: KnowledgeBase, name: str) -> None:
    for folder in ("src", ".git", ".VOUCH"):
        (knowledge.project / folder).mkdir(exist_ok=True)
    with tarfile.open(knowledge.project / "data.tar.gz", "w:gz") as archive:
        archive.add(knowledge.path / "config.yaml", "config.yaml")
    (knowledge.project / "src/app.py").write_text("print()\n")
    (knowledge.project / "link").symlink_to("src/app.py")
    before = everything(knowledge.path.parent)
    assert "cannot write" in shown(knowledge, "export", out=name)
    assert everything(knowledge.path.parent) == before


def test_an_export_replaces_an_older_bundle(knowledge: KnowledgeBase) -> None:
    counts = []
    for text in ("one", "two"):
        call(knowledge, "ada", "register_source", content=text, locator=text)
        counts.append(call(knowledge, "ada", "export", out="b.tar.gz")["files"])
    assert counts == [3, 5]  # settings, and two files for each source
    assert call(knowledge, "ada", "export_check", path="b.tar.gz")["files_checked"] == 4


@pytest.mark.parametrize("name", ["audit.log.jsonl", "audit.log.jsonl.lock", "config.yaml"])
def test_no_file_that_is_a_link_is_followed(
    knowledge: KnowledgeBase, tmp_path: Path, name: str
) -> None:
    (knowledge.path / name).unlink(missing_ok=True)
    (knowledge.path / name).symlink_to(tmp_path / "secret.txt")
    with pytest.raises(VibesError, match="link"):
        call(knowledge, "agent", "register_source", content="other", locator="n")
    assert "swordfish" not in shown(knowledge, "status")
    assert (tmp_path / "secret.txt").read_text() == "swordfish\n"


def test_nothing_of_a_linked_object_is_shown_or_exported(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "claim.yaml").write_text("id: linked\ntext: swordfish\nevidence: [a]\n")
    (knowledge.path / "claims/linked.yaml").symlink_to(tmp_path / "claim.yaml")
    source = call(knowledge, "agent", "register_source", content="x", locator="note")["id"]
    content = knowledge.content_file(source)
    content.unlink()
    content.symlink_to(tmp_path / "secret.txt")
    for method, params in (
        ("search", {"query": "fish"}),
        ("list_claims", {}),
        ("context", {"task": "sword fish"}),
        ("doctor", {}),
        ("source_verify", {}),
    ):
        assert "swordfish" not in shown(knowledge, method, **params)
    with pytest.raises(VibesError):
        call(knowledge, "agent", "read_claim", id="linked")
    call(knowledge, "agent", "export", out="x.tar.gz")
    unpacked = subprocess.run(
        ["tar", "-xzOf", str(knowledge.project / "x.tar.gz")], capture_output=True, check=True
    ).stdout
    assert b"swordfish" not in unpacked


HOSTILE_FILES = {
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\n",
    "depth": "a: " + "[" * 90 + "]" * 90,
    "values": "tags: [" + "a," * 600_000 + "]",
    "scalar": "text: " + "a" * (5 << 20),
    "twice": "id: hostile\ntext: good\ntext: evil\n",
    "twice, nested": "id: hostile\ntext: x\nmetadata: {a: 1, 'a': 2}\n",
    "binary": "id: hostile\ntext: x\nextra: !!binary '//79'\n",
    "set": "id: hostile\ntext: x\nextra: !!set {a, b}\n",
    "program": "id: hostile\ntext: !!python/object/apply:os.system [touch /tmp/x]\n",
    "infinite": "id: hostile\ntext: x\nextra: .inf\n",
    "number": "id: hostile\ntext: x\nextra: 0x" + "f" * 5000,
    "sexagesimal": "id: hostile\ntext: x\nextra: 1" + ":59" * 3000,
    "keys": "id: hostile\ntext: x\n? [a, b]\n: c\n",
    "number as key": "id: hostile\ntext: x\n1: c\n",
    "list": "[1, 2]",
    "documents": "id: hostile\ntext: x\n---\nid: b\n",
    "NUL": "id: hostile\ntext: \x00\n",
    "surrogate": 'id: hostile\ntext: "\\ud800"\n',
    "date": "id: hostile\ntext: x\ncreated_at: 2026-99-99\n",
    "year": "id: hostile\ntext: x\ncreated_at: 0001-01-01T00:00:00+14:00\n",
    "time": "id: hostile\ntext: x\nevidence: [a]\nupdated_at: 9999-12-31T23:59:59-14:00\n",
    "empty": "",
}


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_file_spoils_no_answer(knowledge: KnowledgeBase, name: str) -> None:
    made = propose(knowledge)
    call(knowledge, "person", "approve", proposal_id=made["proposal_id"])
    (knowledge.path / "claims/hostile.yaml").write_text(HOSTILE_FILES[name], "utf-8")
    (knowledge.path / "proposed/hostile.yaml").write_text(HOSTILE_FILES[name], "utf-8")
    begun = time.process_time()
    assert "a-claim" in [each["id"] for each in call(knowledge, "agent", "search", query="claim")]
    assert call(knowledge, "agent", "context", task="a claim")["items"]
    json.dumps(call(knowledge, "agent", "list_claims"), allow_nan=False)
    json.dumps(call(knowledge, "agent", "list_pending"), allow_nan=False)
    call(knowledge, "agent", "doctor")
    call(knowledge, "agent", "lint")
    assert "evil" not in shown(knowledge, "read_claim", id="hostile")
    assert propose(knowledge, text="Another")["valid"]
    assert time.process_time() - begun < 30


def test_a_member_that_is_there_twice_is_reported(knowledge: KnowledgeBase) -> None:
    """A person who reads the file sees the first text, a program the last one."""
    (knowledge.path / "claims/hostile.yaml").write_text(HOSTILE_FILES["twice"])
    found = call(knowledge, "agent", "lint")["findings"]
    assert "the member 'text' is there twice" in found[0]["message"]


def test_what_is_too_large_to_be_read_again_is_not_written(knowledge: KnowledgeBase) -> None:
    with pytest.raises(InvalidObject, match="at most"):
        propose(knowledge, text="x" * (5 << 20))
    with pytest.raises(InvalidParameter, match="reason"):
        call(knowledge, "person", "reject", proposal_id="x", reason="x" * 20_000)
    made = propose(knowledge)
    assert made["valid"]
    assert call(knowledge, "agent", "doctor")["ok"]


@pytest.mark.parametrize(
    "alike",
    [
        "codex",
        "Codex",
        " codex ",
        "code\u200bx",
        "c\u00f3dex",
        "c\u043edex",
        "\uff43\uff4f\uff44\uff45\uff58",
        "\u0441\u043ed\u0435\u0445",
    ],
)
def test_a_name_that_looks_alike_is_the_same_to_the_gate(
    knowledge: KnowledgeBase, alike: str
) -> None:
    made = propose(knowledge, "codex")
    with pytest.raises((ForbiddenSelfApproval, InvalidObject)):
        call(knowledge, alike, "approve", proposal_id=made["proposal_id"])
    assert not knowledge.exists(Kind.CLAIM, "a-claim")


def test_other_names_are_not_alike() -> None:
    assert not is_same_actor("ada", "adam")
    assert not is_same_actor("codex", "claude")
    assert checked_actor(" Ada Łovelace ") == "Ada Łovelace"


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x1b[31m", "a\u202eb", "x" * 101])
def test_a_name_that_hides_something_is_refused(knowledge: KnowledgeBase, name: str) -> None:
    with pytest.raises(InvalidObject, match="actor"):
        call(knowledge, name, "status")


def test_an_agent_cannot_choose_who_approves(knowledge: KnowledgeBase) -> None:
    made = propose(knowledge)
    for extra in ({"approver": "ada"}, {"by": "ada"}, {"may_approve_own": True}):
        with pytest.raises(ForbiddenSelfApproval):
            call(knowledge, "agent", "approve", proposal_id=made["proposal_id"], **extra)
    session = call(knowledge, "agent", "session_start")["session_id"]
    propose(knowledge, text="In a session", session_id=session)
    result = call(knowledge, "agent", "crystallize", session_id=session)
    assert (result["approved"], len(result["failures"])) == ([], 1)


def forged(event: dict[str, Any], previous: str) -> bytes:
    event = {**event, "prev_hash": previous}
    event["hash"] = event_hash(event)
    return json.dumps(event).encode() + b"\n"


def test_a_forged_log_is_reported(knowledge: KnowledgeBase) -> None:
    for number in range(3):
        made = propose(knowledge, text=f"Claim {number}")
        call(knowledge, "person", "approve", proposal_id=made["proposal_id"])
    whole = knowledge.audit_log.read_bytes()
    lines = whole.splitlines(keepends=True)
    tail = forged(json.loads(lines[-1]), "f" * 64)
    damaged = {
        "reordered": [*lines[:3], lines[4], lines[3], *lines[5:]],
        "without one": [*lines[:3], *lines[4:]],
        "a tail that continues nothing": [*lines, tail],
        "an unchained tail": [*lines, b'{"id": "x", "event": "claim.create"}\n'],
        "half a line": [*lines[:-1], lines[-1][:20]],
        "a line that is no JSON": [*lines, b"[1]\n"],
        "a line without an end": [*lines, b"{" * (3 << 20)],
    }
    for name, content in damaged.items():
        knowledge.audit_log.write_bytes(b"".join(content))
        codes = {each["code"] for each in call(knowledge, "agent", "doctor")["findings"]}
        assert codes & {"audit_chain_broken", "audit_events_without_hash"}, name
        assert call(knowledge, "agent", "audit", tail=3) is not None
    knowledge.audit_log.write_bytes(b"".join(lines[:-3]))  # the hashes are right, the end is gone
    assert check_chain(knowledge)[0] is None
    codes = {each["code"] for each in call(knowledge, "agent", "doctor")["findings"]}
    assert codes == {"decision_not_logged", "source_missing"}


def test_times_in_the_future_do_not_make_a_claim_fresh(knowledge: KnowledgeBase) -> None:
    made = propose(knowledge)
    call(knowledge, "person", "approve", proposal_id=made["proposal_id"])
    path = knowledge.file_of(Kind.CLAIM, "a-claim")
    later = (NOW + timedelta(days=4000)).isoformat()
    text = path.read_text().replace("last_confirmed_at: null", f"last_confirmed_at: '{later}'")
    assert later in text
    path.write_text(text)
    item = call(knowledge, "agent", "context", task="a claim")["items"][0]
    assert item["freshness"] == "unknown"
    found = call(knowledge, "agent", "lint")["findings"]
    assert [each["code"] for each in found] == ["time_in_future"]


@pytest.mark.parametrize("days", [-5, 0, 10**9, "x", ".inf"])
def test_settings_of_a_repository_expire_nothing(knowledge: KnowledgeBase, days: object) -> None:
    propose(knowledge)
    config = knowledge.path / "config.yaml"
    config.write_text(f"review: {{expire_pending_after_days: {days}}}\n")
    with pytest.raises(InvalidObject, match=r"config\.yaml"):
        call(knowledge, "agent", "status")
    assert len(knowledge.ids(Kind.PENDING)) == 1


def hostile_lines(count: int) -> Iterator[bytes]:
    """Yield lines that are requests, nearly requests, and noise."""
    chance = random.Random(19)
    values: list[Any] = [
        None, True, 0, -1, 2**70, 1.5, "", "x", "\ud800", "a\x00b", "../x", [], {}, [[]], {"a": {}},
        "x" * 3000, ["x"] * 50, {"path": "../x", "locator": "L1"}, "0" * 64, 10**400,
    ]  # fmt: skip
    names = [
        "id", "query", "text", "evidence", "limit", "offset", "filter", "kinds", "task", "path",
        "proposal_id", "reason", "title", "type", "session_id", "old_id", "new_id", "tail", "content",
        "locator", "confidence", "scope", "dry_run", "slug_hint", "source", "relation", "target",
        "max_chars", "stale_days", "name", "on_conflict", "tags",
    ]  # fmt: skip
    writes_anywhere = {"kb.export"}
    methods = [each for each in METHODS if each not in writes_anywhere]
    for number in range(count):
        params: Any = {
            chance.choice(names): chance.choice(values) for _ in range(chance.randrange(6))
        }
        request = {"id": f"r{number}", "method": chance.choice(methods), "params": params}
        if chance.random() < 0.3:
            request[chance.choice(["id", "method", "params"])] = chance.choice(values)
        line = json.dumps(request).encode()
        kind = chance.randrange(6)
        if kind == 0:
            at = chance.randrange(len(line))
            line = line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
        elif kind == 1:
            line = line[: chance.randrange(len(line))]
        elif kind == 2 and number % 7 == 0:
            line = json.dumps(chance.choice(values)).encode()
        yield line.replace(b"\n", b" ") + b"\n"


def test_no_line_of_ten_thousand_ends_the_server_or_breaks_the_envelope(
    knowledge: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    outside = set(knowledge.project.parent.iterdir())
    methods = KnowledgeMethods(knowledge, "agent")
    lines = list(hostile_lines(10_000))
    answers = list(answer_lines(methods, io.BytesIO(b"".join(lines))))
    methods.close()
    assert len(answers) == sum(bool(line.strip()) for line in lines)
    codes = set()
    for answer in answers:
        response = json.loads(answer)
        assert set(response) in ({"id", "ok", "result"}, {"id", "ok", "error"})
        if not response["ok"]:
            codes.add(response["error"]["code"])
            assert response["error"]["code"] != "internal_error", answer
    assert codes == {"method_not_found", "missing_param", "invalid_request"}
    assert set(knowledge.project.parent.iterdir()) - outside <= {knowledge.project.parent / "cache"}
    assert check_chain(knowledge) == (None, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
def test_a_line_that_never_ends_takes_bounded_memory(knowledge: KnowledgeBase) -> None:
    program = f"{sys.executable} -m vibes_lsp kb serve --transport jsonl"
    command = ["sh", "-c", f"ulimit -v {1 << 20}; exec {program}"]  # KiB
    with subprocess.Popen(
        command, cwd=knowledge.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for _ in range(1500):
            server.stdin.write(b"[" * (1 << 20))
        server.stdin.write(b'\n{"id": "2", "method": "kb.status"}\n')
        server.stdin.close()
        first, second = (json.loads(line) for line in server.stdout)
    assert first["error"]["code"] == "invalid_request"
    assert "MiB" in first["error"]["message"]
    assert (second["id"], second["ok"]) == ("2", True)
