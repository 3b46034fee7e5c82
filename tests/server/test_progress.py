"""A large log is indexed in the background, with progress; most requests wait until it is done.

Its index is saved: the next server answers at once.
"""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from benchmarks.corpus import CorpusSize, generate
from tests.placements import placed_by_records
from tests.server.conftest import START
from tests.server.project import STORY
from tests.server.wire import Wire, hover_at
from tests.trails import TrailWriter
from tests.trails.content import anchors
from vibes_lsp.anchors.text import Text
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vibes_lsp.placing.placements import Placement

TEXT = "    total = sum(item.price for item in basket)\n" * 2000
INDEXING = "indexing the audit trail …"
REQUEST_CANCELLED: Final = -32800
ABLE: dict[str, Any] = {"window": {"workDoneProgress": True}}
HEARS_PYGLS: Final = f"""
import logging
logging.getLogger("pygls.protocol.language_server").setLevel(logging.WARNING)
{START}"""
"""The server, but the warnings of pygls are in its log: only these tell which tokens it knows."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CorpusSize]:
    """A project of ten thousand annotations."""
    root = tmp_path_factory.mktemp("large")
    size = generate(root, 10_000)
    assert size.log_bytes > 4 << 20, "smaller ones are read at once"
    hottest = root / size.hottest_file
    hottest.parent.mkdir(parents=True)
    hottest.write_text(TEXT, encoding="utf-8")
    (root / "certain.py").write_text(STORY, encoding="utf-8")
    record = {
        "type": "line",
        "annotation_id": "f" * 64,
        "file_path": "certain.py",
        "line_start": 4,
        "line_end": 7,
        "action": "create",
        "assurance_level": "low",
        "timestamp": "2026-02-03T10:00:00.000Z",
        **anchors(STORY, 4, 7).members(),
    }
    with (root / ".ai-audit/annotations.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(record) + "\n")
    return root, size


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of indexes, empty at first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/vibes-lsp/trail"


@pytest.fixture
def wire(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Wire]:
    """A server, started by another command where a test asks for one."""
    with Wire(tmp_path / "server.log", command=getattr(request, "param", None)) as wire:
        yield wire
        assert "Traceback" not in wire.logged()


def received(wire: Wire, method: str) -> dict[str, Any]:
    """Read until a message of this method has come."""
    while (message := wire.receive()).get("method") != method:
        wire.notifications.append(message)
    return message


def pushed(wire: Wire) -> list[list[str]]:
    """Return the messages of all diagnostics that were pushed so far."""
    sent = [
        each
        for each in wire.notifications
        if each.get("method") == "textDocument/publishDiagnostics"
    ]
    return [
        [diagnostic["message"] for diagnostic in each["params"]["diagnostics"]] for each in sent
    ]


def answer_to(wire: Wire, number: int) -> dict[str, Any]:
    """Return the answer to a request that may have come before."""
    before = (each for each in wire.notifications if each.get("id") == number)
    return next((each for each in before if "method" not in each), None) or wire.answer(number)


def placements(root: Path, path: str) -> list[Placement]:
    """Return the annotations of a file with the text `TEXT`, of a log that this process reads."""
    trail = Trail(AuditDir(root / ".ai-audit"))
    trail.refresh()
    return placed_by_records(trail, path, Text.from_bytes(TEXT.encode()))


def until_it_ends(wire: Wire) -> list[dict[str, Any]]:
    """Return what a progress tells, to its end."""
    told: list[dict[str, Any]] = []
    while not told or told[-1]["value"]["kind"] != "end":
        told.append(received(wire, "$/progress")["params"])
    return told


def test_a_client_sees_it_begin_grow_and_end(wire: Wire, corpus: tuple[Path, CorpusSize]) -> None:
    root, size = corpus
    uri = (root / size.hottest_file).as_uri()
    wire.initialize(root, ABLE, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
    asked = received(wire, "window/workDoneProgress/create")
    wire.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}},
    )
    document = {"textDocument": {"uri": uri}}
    early = wire.request("vibes/provenance", {**document, "lines": True})["result"]
    nothing = {"placements": [], "lines": [], "provisional": True, "indexing": True}
    assert early == {"uri": uri, "version": 1, **nothing}
    for shown in (uri, (root / ".ai-audit/annotations.jsonl").as_uri()):
        hover = wire.request("textDocument/hover", hover_at(shown, 1))["result"]
        assert hover["contents"]["value"] == INDEXING
    (lens,) = wire.request("textDocument/codeLens", document)["result"]
    assert wire.request("codeLens/resolve", lens)["result"]["command"]["title"] == INDEXING
    assert pushed(wire)[-1] == [INDEXING]
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}
    menu = {**document, "range": place, "context": {"diagnostics": []}}
    cursor = {**menu, "context": {"diagnostics": [], "triggerKind": 2}}
    assert wire.request("textDocument/codeAction", cursor)["result"] == [], (
        "a cursor that rests gets no error"
    )
    wire.send(id=asked["id"], result=None)
    told = until_it_ends(wire)
    assert {each["token"] for each in told} == {asked["params"]["token"]}
    kinds = [each["value"]["kind"] for each in told]
    assert kinds == ["begin", *["report"] * (len(kinds) - 2), "end"]
    parts = [each["value"]["percentage"] for each in told[:-1]]
    assert len(parts) > 2
    assert parts == sorted(parts)
    assert parts[-1] <= 99
    assert received(wire, "vibes/provenanceChanged")["params"] == {"uri": uri}
    found = wire.request("vibes/provenance", {"textDocument": {"uri": uri}})["result"]["placements"]
    assert len(found) > 100
    assert [each["annotationId"] for each in found] == [
        each.current.id for each in placements(root, size.hottest_file)
    ]
    assert INDEXING not in pushed(wire)[-1]


def test_requests_about_more_than_a_file_wait_until_it_is_read(
    wire: Wire, corpus: tuple[Path, CorpusSize]
) -> None:
    root, size = corpus
    uri, command = (root / size.hottest_file).as_uri(), "workspace/executeCommand"
    wire.initialize(root, ABLE, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
    asked = received(wire, "window/workDoneProgress/create")
    lookup = {"command": "vibes.lookup", "arguments": [{"uri": uri}]}
    early = wire.ask(command, lookup)
    wire.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}},
    )
    starts = (each.located.start for each in placements(root, size.hottest_file))
    at = next(start for start in starts if start is not None)
    place = {"start": {"line": at - 1, "character": 0}, "end": {"line": at, "character": 0}}
    menu = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": []}}
    queue = {"command": "vibes.queue", "arguments": [{}]}
    waiting = {
        "lookup": early,
        "open": wire.ask(command, lookup),
        "show": wire.ask(command, {"command": "vibes.show", "arguments": [{"id": "abcd"}]}),
        "menu": wire.ask("textDocument/codeAction", menu),
        "references": wire.ask(
            "textDocument/references",
            {**hover_at(uri, at), "context": {"includeDeclaration": True}},
        ),
        "queue": wire.ask(command, queue),
    }
    cancelled = wire.ask(command, queue)
    wire.notify("$/cancelRequest", {"id": cancelled})
    assert wire.answer(cancelled)["error"]["code"] == REQUEST_CANCELLED
    answered = {each.get("id") for each in wire.notifications if "method" not in each}
    assert answered.isdisjoint(waiting.values())
    wire.send(id=asked["id"], result=None)
    found = {name: answer_to(wire, number) for name, number in waiting.items()}
    for name in ("lookup", "open"):
        assert found[name]["result"]["placements"]
        assert "indexing" not in found[name]["result"]
    assert found["show"]["error"]["data"] == {"code": "unknown-id"}
    assert found["menu"]["result"]
    assert found["references"]["result"]
    assert found["queue"]["result"]["total"] > 0


def test_a_client_asks_again_about_all_files_that_it_opened_before(
    wire: Wire, corpus: tuple[Path, CorpusSize]
) -> None:
    root, size = corpus
    wire.initialize(root, ABLE, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
    asked = received(wire, "window/workDoneProgress/create")
    uris = [(root / path).as_uri() for path in (size.hottest_file, "second.py", "third.py")]
    for uri in uris:
        opened = {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}
        wire.notify("textDocument/didOpen", {"textDocument": opened})
        answer = wire.request("vibes/provenance", {"textDocument": {"uri": uri}})
        assert answer["result"]["indexing"] is True
    wire.notifications.clear()
    wire.send(id=asked["id"], result=None)
    changed: set[str] = set()
    while not changed.issuperset(uris):
        changed.add(received(wire, "vibes/provenanceChanged")["params"]["uri"])


@pytest.mark.parametrize(
    "wire", [[sys.executable, "-c", HEARS_PYGLS]], ids=["warns"], indirect=True
)
def test_each_trail_has_a_token_of_its_own_which_is_given_back(
    wire: Wire, corpus: tuple[Path, CorpusSize], tmp_path: Path
) -> None:
    root, other = corpus[0], tmp_path / "other"
    shutil.copytree(root / ".ai-audit", other / ".ai-audit")
    folders = [{"uri": folder.as_uri(), "name": "large"} for folder in (root, root / "src", other)]
    wire.initialize(root, ABLE, workspaceFolders=folders)
    tokens, waited = [], []
    for folder in (root, other):
        asked = received(wire, "window/workDoneProgress/create")
        early = wire.ask(
            "workspace/executeCommand",
            {"command": "vibes.show", "arguments": [{"id": "abcd", "uri": folder.as_uri()}]},
        )
        wire.request("textDocument/hover", hover_at("untitled:x", 1))
        assert early not in {each.get("id") for each in wire.notifications}, "this one is read"
        tokens.append(asked["params"]["token"])
        wire.send(id=asked["id"], result=None)
        until_it_ends(wire)
        waited.append(early)
    for early in waited:
        assert answer_to(wire, early)["error"]["data"] == {"code": "unknown-id"}
    assert len(set(tokens)) == len(tokens)
    wire.notify("window/workDoneProgress/cancel", {"token": tokens[0]})
    wire.request("textDocument/hover", hover_at("untitled:x", 1))
    assert "unknown token" in wire.logged(), "a token that is still known was not given back"


@pytest.mark.parametrize("able", [{}, ABLE], ids=["cannot", "refuses"])
def test_a_client_without_progress_gets_its_answers_all_the_same(
    wire: Wire, corpus: tuple[Path, CorpusSize], able: dict[str, Any]
) -> None:
    root, size = corpus
    uri = (root / size.hottest_file).as_uri()
    wire.initialize(root, able, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
    wire.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}},
    )
    if able:
        asked = received(wire, "window/workDoneProgress/create")
        wire.send(id=asked["id"], error={"code": -32601, "message": "Method not found"})
    received(wire, "vibes/provenanceChanged")
    found = wire.request("vibes/provenance", {"textDocument": {"uri": uri}})["result"]["placements"]
    assert len(found) > 100
    assert [each for each in wire.notifications if each.get("method") == "$/progress"] == []


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does not wait for the client's answer about progress."""
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited,progress=0")


@pytest.mark.usefixtures("no_patience")
@pytest.mark.parametrize("late", [{"result": None}, {"error": {"code": -32603, "message": "no"}}])
def test_a_client_that_does_not_answer_about_progress_gets_answers(
    wire: Wire, corpus: tuple[Path, CorpusSize], late: dict[str, Any]
) -> None:
    root, size = corpus
    uri = (root / size.hottest_file).as_uri()
    wire.initialize(root, ABLE, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
    asked = received(wire, "window/workDoneProgress/create")
    lookup = {"command": "vibes.lookup", "arguments": [{"uri": uri}]}
    for _ in range(2):  # while it is indexed, and later
        assert wire.request("workspace/executeCommand", lookup)["result"]["placements"]
        wire.send(id=asked["id"], **late)
    assert "$/progress" not in [each.get("method") for each in wire.notifications]


def test_a_check_runs_in_another_process_with_progress(
    wire: Wire, corpus: tuple[Path, CorpusSize], tmp_path: Path
) -> None:
    root = tmp_path / "checked"
    shutil.copytree(corpus[0] / ".ai-audit", root / ".ai-audit")
    log = root / ".ai-audit/annotations.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines, b'{"type": "line", \n']))
    wire.initialize(root, ABLE, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
    titles, wanted = set(), {}
    wanted["check"] = wire.ask(
        "workspace/executeCommand", {"command": "vibes.check", "arguments": [{}]}
    )
    document = {"uri": log.as_uri(), "languageId": "jsonl", "version": 1, "text": ""}
    wire.notify("textDocument/didOpen", {"textDocument": document})
    answers: dict[int, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    while wanted["check"] not in answers or not found:
        message = wire.receive()
        match message.get("method"):
            case "window/workDoneProgress/create":
                wire.send(id=message["id"], result=None)
            case "$/progress":
                titles.add(message["params"]["value"].get("title"))
            case "textDocument/publishDiagnostics":
                found = message["params"]["diagnostics"]
            case None:
                answers[message["id"]] = message
    assert "Checking the audit trail" in titles
    report = answers[wanted["check"]]["result"]
    assert report["records"]["broken"] == 1
    (broken,) = [each for each in found if each["code"] == "log-line"]
    assert broken["range"]["start"]["line"] == len(lines)
    assert broken["message"] in {each["message"] for each in report["findings"]}


def test_it_can_be_told_to_stop_while_it_reads(wire: Wire, corpus: tuple[Path, CorpusSize]) -> None:
    root, _ = corpus
    wire.initialize(root, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
    assert wire.request("shutdown", None)["result"] is None
    wire.notify("exit", None)
    wire.drain()
    assert wire.process.wait() == 0


def ask_a_new_server(log: Path, root: Path, uri: str) -> tuple[list[str], bool]:
    """Return the annotations that a new server shows, and whether it had to read the whole log."""
    with Wire(log) as wire:
        wire.initialize(root, ABLE, workspaceFolders=[{"uri": root.as_uri(), "name": "large"}])
        wire.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}},
        )
        has_read = False
        while True:
            answer = wire.request("vibes/provenance", {"textDocument": {"uri": uri}})
            if "result" in answer and "indexing" not in answer["result"]:
                assert "Traceback" not in wire.logged()
                return [each["annotationId"] for each in answer["result"]["placements"]], has_read
            if "error" in answer:
                assert answer["error"]["data"]["code"] == "outdated-index", answer
            elif not has_read:  # it begins once the request for progress is answered
                has_read = True
                wire.send(id=asked_for_progress(wire)["id"], result=None)
                received(wire, "vibes/provenanceChanged")


def asked_for_progress(wire: Wire) -> dict[str, Any]:
    """Return the request for progress, which may have come before."""
    method = "window/workDoneProgress/create"
    before = (each for each in wire.notifications if each.get("method") == method)
    return next(before, None) or received(wire, method)


def test_the_next_server_answers_at_once(
    cache: Path, corpus: tuple[Path, CorpusSize], tmp_path: Path
) -> None:
    root, size = tmp_path / "copy", corpus[1]
    shutil.copytree(corpus[0], root)
    uri, out = (root / size.hottest_file).as_uri(), tmp_path / "server.log"
    found, has_read = ask_a_new_server(out, root, uri)
    assert len(found) > 100
    assert has_read
    assert ask_a_new_server(out, root, uri) == (found, False)

    writer = TrailWriter(root)
    added = writer.line(size.hottest_file, 3, 4, text=TEXT, environment="e" * 64)
    again, has_read = ask_a_new_server(out, root, uri)
    assert set(again) == {*found, added}
    assert not has_read

    (saved,) = cache.glob("*.db")
    data = saved.read_bytes()
    saved.unlink()
    saved.write_bytes(data[: len(data) // 2])
    repaired, _ = ask_a_new_server(out, root, uri)
    assert repaired == again

    log = writer.files.log  # another record now owns the id of an old one, at the same place
    lines = log.read_bytes().split(b"\n")
    at = next(number for number, line in enumerate(lines) if found[0].encode() in line)
    lines[at] = lines[at].replace(size.hottest_file.encode(), b"x" * len(size.hottest_file))
    with log.open("r+b") as stream:
        stream.write(b"\n".join(lines))
    rewritten, _ = ask_a_new_server(out, root, uri)
    assert set(rewritten) == set(again) - {found[0]}


def test_a_session_that_ends_while_a_trail_is_read_ends_quietly(
    wire: Wire, corpus: tuple[Path, CorpusSize]
) -> None:
    root, size = corpus
    uri = (root / size.hottest_file).as_uri()
    wire.initialize(root, ABLE)
    opened = {"uri": uri, "languageId": "python", "version": 1, "text": TEXT}
    wire.notify("textDocument/didOpen", {"textDocument": opened})
    wire.ask("textDocument/hover", hover_at(uri, 3))
    wire.request("shutdown", None)
    wire.notify("exit", None)
    assert wire.process.wait() == 0
    assert "error" not in wire.logged()
