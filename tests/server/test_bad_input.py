"""Whatever lies in an audit directory: the server answers, says in the file what is wrong, writes nothing but protocol, changes nothing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.server.project import STORY, Project
from tests.server.wire import Wire, hover_at
from tests.trails import CompleteTrail
from tests.unit.checks.projects import contents

Spoil = Callable[[Project], object]


def replaced_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def conflict(file: Path) -> None:
    head, *rest = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([head, b"<<<<<<< HEAD", *rest]))


def external(project: Project, path: str) -> None:
    (project.root / ".ai-audit" / "wal").mkdir()
    entry = {"type": "reasoning", "external": True, "blob_path": path, "reasoning_model": "m", "created_at": project.now()}
    reason_with(project, project.entry(entry))


def bomb(project: Project) -> None:
    project.files.write("blobs/bomb.gz", gzip.compress(b"\0" * (64 << 20)))
    entry = {"type": "reasoning", "external": True, "blob_path": "blobs/bomb.gz", "reasoning_model": "m", "created_at": project.now()}
    reason_with(project, project.entry(entry))


def reason_with(project: Project, key: str) -> None:
    project.files.log.write_bytes(b"")
    project.line("a.py", 4, 7, text=STORY, reasoning=key)


SPOILS: Final[dict[str, tuple[Spoil, str, str, int]]] = {
    # name -> what to do to a sound project; the file, the check and the 1-based line that tell of it
    "log-broken-json": (lambda it: it.raw_log(b'{"type":"line",\n'), "annotations.jsonl", "log-line", 2),
    "log-array": (lambda it: it.raw_log(b"[1]\n"), "annotations.jsonl", "log-line", 2),
    "log-conflict": (lambda it: it.raw_log(b"<<<<<<< HEAD\n=======\n>>>>>>> x\n"), "annotations.jsonl", "conflict-marker", 2),
    "log-nan": (lambda it: it.raw_log(b'{"type":"line","line_start":NaN}\n'), "annotations.jsonl", "log-line", 2),
    "log-not-utf-8": (lambda it: it.raw_log(b'{"type":"line","file_path":"\xff"}\n'), "annotations.jsonl", "log-line", 2),
    "log-nul": (lambda it: it.raw_log(b"\x00\x00\x00\n"), "annotations.jsonl", "log-line", 2),
    "log-deep": (lambda it: it.raw_log(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\n"), "annotations.jsonl", "log-line", 2),
    "log-9-mb-line": (lambda it: it.raw_log(b'{"type":"line","note":"' + b"x" * (9 << 20) + b'"}\n'), "annotations.jsonl", "log-line", 2),
    "log-torn": (lambda it: it.raw_log(b'{"type":"line","file_pa'), "annotations.jsonl", "log-end", 2),
    "log-folder": (lambda it: replaced_by_folder(it.files.log), "annotations.jsonl", "file-unreadable", 1),
    "manifest-broken-json": (
        lambda it: it.raw_manifest(b'{"standard":"VIBES",\n"version":"1.0",\n"entries":{'),
        "manifest.json",
        "manifest-json",
        3,
    ),
    "manifest-list": (lambda it: it.raw_manifest(b"[]"), "manifest.json", "manifest-json", 1),
    "manifest-conflict": (lambda it: conflict(it.files.manifest), "manifest.json", "conflict-marker", 2),
    "manifest-nan": (lambda it: it.entry({"type": "prompt", "n": 1}, key="ab" * 32), "manifest.json", "hash-mismatch", 3),
    "manifest-not-utf-8": (lambda it: it.raw_manifest(b'{"standard":"\xff"}'), "manifest.json", "manifest-json", 1),
    "manifest-deep": (lambda it: it.raw_manifest(b"[" * 100_000), "manifest.json", "manifest-json", 1),
    "manifest-empty": (lambda it: it.raw_manifest(b""), "manifest.json", "manifest-json", 1),
    "manifest-folder": (lambda it: replaced_by_folder(it.files.manifest), "manifest.json", "file-unreadable", 1),
    "config-broken-json": (lambda it: it.files.write("config.json", b'{\n"standard":\n}'), "config.json", "config-json", 3),
    "config-list": (lambda it: it.files.write("config.json", b"[]"), "config.json", "config-json", 1),
    "config-not-utf-8": (lambda it: it.files.write("config.json", b"\xff\xfe"), "config.json", "config-json", 1),
    "config-nan": (lambda it: it.files.write("config.json", b'{"a":NaN}'), "config.json", "config-json", 1),
    "config-folder": (lambda it: replaced_by_folder(it.files.config), "config.json", "file-unreadable", 1),
    "blob-bomb": (bomb, "manifest.json", "blob-broken", 3),
    "blob-escapes": (lambda it: external(it, "../../../../../etc/hostname"), "manifest.json", "blob-escapes", 3),
    "blob-absolute": (lambda it: external(it, "/etc/hostname"), "manifest.json", "blob-escapes", 3),
    "blob-is-a-folder": (lambda it: external(it, "wal"), "manifest.json", "blob-broken", 3),
    "blob-absent": (lambda it: external(it, "blobs/absent.json.gz"), "manifest.json", "blob-missing", 3),
}


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory, trail: CompleteTrail) -> Iterator[Wire]:
    """One server for all of it."""
    with Wire(tmp_path_factory.mktemp("log") / "server.log") as wire:
        wire.initialize(trail.root, {"textDocument": {"diagnostic": {}, "hover": {"contentFormat": ["markdown"]}}})
        yield wire
        assert wire.request("shutdown", None)["result"] is None
        wire.notify("exit", None)
        assert wire.end() == 0
        assert "Traceback" not in wire.logged()


@pytest.fixture(params=list(SPOILS.values()), ids=list(SPOILS))
def case(request: pytest.FixtureRequest) -> tuple[Spoil, str, str, int]:
    found: tuple[Spoil, str, str, int] = request.param
    return found


def ask_everything(wire: Wire, project: Project) -> dict[str, Any]:
    """Ask all that there is to ask about a project; return the answers."""
    uri = (project.root / "a.py").as_uri()
    document = {"textDocument": {"uri": uri}}
    answers = {
        "hover": wire.request("textDocument/hover", hover_at(uri, 4)),
        "lens": wire.request("textDocument/codeLens", document),
        "diagnostics": wire.request("textDocument/diagnostic", document),
        "provenance": wire.request("vibes/provenance", {**document, "lines": True}),
        "lookup": wire.request("workspace/executeCommand", {"command": "vibes.lookup", "arguments": [{"uri": uri}]}),
        "check": wire.request("workspace/executeCommand", {"command": "vibes.check", "arguments": [{"uri": uri}]}),
        "show": wire.request("workspace/executeCommand", {"command": "vibes.show", "arguments": [{"uri": uri, "id": "abcd"}]}),
    }
    assert answers.pop("show")["error"]["data"]["code"] in ("unknown-id", "unreadable-file")
    return answers


def test_it_answers_says_where_and_changes_nothing(wire: Wire, tmp_path: Path, case: tuple[Spoil, str, str, int]) -> None:
    project = Project(tmp_path / "own")
    project.config()
    project.environment()
    project.annotated()
    spoil, name, check, line = case
    spoil(project)
    before = contents(project.root)
    answers = ask_everything(wire, project)
    assert [surface for surface, answer in answers.items() if "error" in answer] == []
    assert check in {each["check"] for each in answers["check"]["result"]["findings"]}
    uri = (project.root / ".ai-audit" / name).as_uri()
    wire.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "json", "version": 1, "text": ""}})
    found = wire.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["result"]["items"]
    assert line in {each["range"]["start"]["line"] + 1 for each in found if each["code"] == check}
    assert contents(project.root) == before


def test_a_running_server_meets_it_and_recovers(wire: Wire, tmp_path: Path, case: tuple[Spoil, str, str, int]) -> None:
    project = Project(tmp_path / "own")
    project.config()
    project.environment()
    uri = project.annotated().as_uri()
    sound = contents(project.root)
    first = wire.request("textDocument/hover", hover_at(uri, 4))["result"]["contents"]["value"]
    case[0](project)
    ask_everything(wire, project)
    for path in (project.files.log, project.files.manifest, project.files.config):
        if path.is_dir():
            path.rmdir()
        content = sound[path.relative_to(project.root).as_posix()]
        assert isinstance(content, bytes)
        path.write_bytes(content)
    assert wire.request("textDocument/hover", hover_at(uri, 4))["result"]["contents"]["value"] == first


@pytest.mark.parametrize(
    "members",
    [
        {"line_start": 0},
        {"line_start": -5, "line_end": -1},
        {"line_start": 9, "line_end": 2},
        {"line_start": "4", "line_end": "7"},
        {"line_start": 4.0, "line_end": 7.0},
        {"line_start": True, "line_end": True},
        {"line_start": None, "line_end": None},
        {"line_start": 4, "line_end": 10**30},
        {"line_start": 10**4000, "line_end": 10**4000},
        {"line_start": [], "line_end": {}},
        {"anchor_context": 7, "anchor_hash": [], "file_content_hash": {}},
        {"anchor_context": "", "anchor_hash": "", "file_content_hash": ""},
        {"anchor_context": "\n" * 50, "anchor_hash": "x"},
        {"anchor_hash": "0" * 64},
        {"file_content_hash": "0" * 64},
        {"timestamp": None, "environment_hash": 5, "prompt_hash": [], "decision_hash": {}, "reasoning_hash": True, "session_id": 0},
        {"risk_score": 0.5, "risk_factors": {"signal": 1}},
        {"risk_score": 10**400, "risk_factors": [[], None, {"value": {"a": []}, "weight": [[[]]], "signal": None}]},
        {"action": None},
        {"action": []},
        {"assurance_level": {}},
        {"commit_hash": 7},
        {"commit_hash": ""},
        {"type": "function"},
        {"type": "function", "function_name": {"a": 1}},
        {"annotation_id": 5},
        {"annotation_id": ""},
        {"annotation_id": "\ufffd" * 1000},
    ],
    ids=lambda members: json.dumps(members)[:60],
)
def test_a_record_of_any_shape(wire: Wire, tmp_path: Path, members: dict[str, Any]) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    project.file("a.py")
    project.record({**project_line(project), **members})
    answers = ask_everything(wire, project)
    assert [surface for surface, answer in answers.items() if "error" in answer] == []
    lines = STORY.count("\n")
    for each in answers["provenance"]["result"]["placements"]:
        start, end = each["lineStart"], each["lineEnd"]
        assert (start is None and end is None) or 1 <= start <= end <= lines
    for lens in answers["lens"]["result"]:
        assert "result" in wire.request("codeLens/resolve", lens)


def project_line(project: Project) -> dict[str, Any]:
    """Return the members of a sound line record that are not written yet."""
    environment = project.last_environment
    return {
        "type": "line",
        "file_path": "a.py",
        "line_start": 4,
        "line_end": 7,
        "environment_hash": environment,
        "action": "create",
        "timestamp": project.now(),
        "commit_hash": None,
        "assurance_level": "low",
    }


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "prompt", "prompt_text": 7, "prompt_context_files": {"a": 1}},
        {"type": "prompt", "prompt_text": "x", "prompt_context_files": [1, None, "f.py"]},
        {"type": "decision", "decision_point": [], "options": {"id": 1}, "selected": None},
        {"type": "decision", "options": [1, None, {}, {"id": []}], "selected": [], "rationale": {}},
        {"type": "reasoning", "reasoning_text": 5},
        {"type": "reasoning", "reasoning_text_compressed": "!!"},
        {"type": "reasoning", "blob_path": "\x00"},
        {"type": "reasoning", "blob_path": "x" * 5000},
        {"type": "environment", "tool_name": [], "model_name": {}},
        {"type": []},
        {},
    ],
    ids=lambda entry: json.dumps(entry)[:60],
)
def test_an_entry_of_any_shape(wire: Wire, tmp_path: Path, entry: dict[str, Any]) -> None:
    project = Project(tmp_path / "own")
    key = project.entry(entry)
    project.file("a.py")
    project.line("a.py", 4, 7, text=STORY, environment=key, prompt=key, decision=key, reasoning=key)
    answers = ask_everything(wire, project)
    assert [surface for surface, answer in answers.items() if "error" in answer] == []
    assert "create" in answers["hover"]["result"]["contents"]["value"]


def test_a_review_of_any_shape(wire: Wire, tmp_path: Path) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    project.file("a.py")
    line = project.line("a.py", 4, 7, text=STORY)
    for metadata in (None, {}, {"verdict": 5, "reviewer": [], "kind": {}, "text": 7}, {"verdict": "maybe", "kind": "robot", "text": ""}):
        project.edge("reviewed_by", line, "nobody", target_type="session", metadata=metadata)
        answers = ask_everything(wire, project)
        assert [surface for surface, answer in answers.items() if "error" in answer] == []
        (found,) = answers["provenance"]["result"]["placements"]
        assert (found["review"]["verdict"], found["review"]["kind"]) == (None, "unknown")


def test_a_line_that_would_take_a_naive_search_for_ever(wire: Wire, tmp_path: Path) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    project.function("a.py", "needle")
    text = (" " * 1900 + "needle\n") * 3000 + "def needle():\n"
    uri = project.file("a.py", text).as_uri()
    (found,) = wire.request("vibes/provenance", {"textDocument": {"uri": uri}})["result"]["placements"]
    assert found["lineStart"] == 3001
