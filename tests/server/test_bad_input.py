"""Whatever lies in an audit directory: the server answers, says in the file what is wrong, writes nothing but protocol, changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.damaged_trails import DAMAGES, Damage, replace_bytes
from tests.server.project import STORY, Project
from tests.server.wire import Wire, hover_at
from tests.trails import CompleteTrail, Repository
from tests.unit.checks.projects import contents


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory, trail: CompleteTrail) -> Iterator[Wire]:
    """One server for all of it."""
    with Wire(tmp_path_factory.mktemp("log") / "server.log") as wire:
        wire.initialize(
            trail.root,
            {
                "workspace": {"diagnostics": {"refreshSupport": True}},
                "textDocument": {"diagnostic": {}, "hover": {"contentFormat": ["markdown"]}},
            },
        )
        yield wire
        assert wire.request("shutdown", None)["result"] is None
        wire.notify("exit", None)
        assert wire.end() == 0
        assert "Traceback" not in wire.logged()


@pytest.fixture(params=list(DAMAGES.values()), ids=list(DAMAGES))
def case(request: pytest.FixtureRequest) -> tuple[Damage, str, str, int]:
    found: tuple[Damage, str, str, int] = request.param
    return found


def ask_everything(wire: Wire, project: Project) -> dict[str, Any]:
    """Ask all that there is to ask about a project; return the answers once its log is indexed."""
    uri = (project.root / "a.py").as_uri()
    show(wire, uri)  # waits for that
    document = {"textDocument": {"uri": uri}}
    answers = {
        "hover": wire.request("textDocument/hover", hover_at(uri, 4)),
        "lens": wire.request("textDocument/codeLens", document),
        "diagnostics": wire.request("textDocument/diagnostic", document),
        "provenance": wire.request("vibes/provenance", {**document, "lines": True}),
        "lookup": wire.request(
            "workspace/executeCommand", {"command": "vibes.lookup", "arguments": [{"uri": uri}]}
        ),
        "check": wire.request(
            "workspace/executeCommand", {"command": "vibes.check", "arguments": [{"uri": uri}]}
        ),
        "show": show(wire, uri),
    }
    assert answers.pop("show")["error"]["data"]["code"] in ("unknown-id", "unreadable-file")
    return answers


def show(wire: Wire, uri: str) -> dict[str, Any]:
    """Ask for a record that is not there; return the answer."""
    command = {"command": "vibes.show", "arguments": [{"uri": uri, "id": "abcd"}]}
    return wire.request("workspace/executeCommand", command)


def test_it_answers_says_where_and_changes_nothing(
    wire: Wire, tmp_path: Path, case: tuple[Damage, str, str, int]
) -> None:
    project = Project(tmp_path / "own")
    project.config()
    project.environment()
    project.annotated()
    damage, name, check, line = case
    damage(project)
    before = contents(project.root)
    answers = ask_everything(wire, project)
    assert [surface for surface, answer in answers.items() if "error" in answer] == []
    assert check in {each["check"] for each in answers["check"]["result"]["findings"]}
    file = project.root / ".ai-audit" / name
    uri, text = file.as_uri(), ""
    if name == "config.json":  # its findings are those of the open text
        if not file.is_file():
            assert contents(project.root) == before
            return
        text = file.read_bytes().decode(errors="replace")
    wire.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "json", "version": 1, "text": text}},
    )
    found = wire.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["result"][
        "items"
    ]
    assert line in {each["range"]["start"]["line"] + 1 for each in found if each["code"] == check}
    assert contents(project.root) == before


def test_a_running_server_meets_it_and_recovers(
    wire: Wire, tmp_path: Path, case: tuple[Damage, str, str, int]
) -> None:
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
        elif path.is_symlink():
            path.unlink()
        content = sound[path.relative_to(project.root).as_posix()]
        assert isinstance(content, bytes)
        path.write_bytes(content)
    assert (
        wire.request("textDocument/hover", hover_at(uri, 4))["result"]["contents"]["value"] == first
    )


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
        {
            "timestamp": None,
            "environment_hash": 5,
            "prompt_hash": [],
            "decision_hash": {},
            "reasoning_hash": True,
            "session_id": 0,
        },
        {"risk_score": 0.5, "risk_factors": {"signal": 1}},
        {
            "risk_score": 10**400,
            "risk_factors": [[], None, {"value": {"a": []}, "weight": [[[]]], "signal": None}],
        },
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
    assert "unchanged since" in answers["hover"]["result"]["contents"]["value"]


def test_lone_surrogates_are_text_like_any_other(wire: Wire, tmp_path: Path) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    uri = project.annotated(prompt=project.prompt("LONE end"), action="LONE").as_uri()
    for file in (project.files.manifest, project.files.log):
        replace_bytes(file, b"LONE", rb"\ud83d")
    answers = ask_everything(wire, project)
    told = answers["hover"]["result"]["contents"]["value"]
    assert r"> \\ud83d end" in told
    assert answers["provenance"]["result"]["placements"][0]["prompt"] == "\ud83d end"
    assert r"\ud83d" in answers["provenance"]["result"]["placements"][0]["lineText"]
    (lens,) = answers["lens"]["result"]
    assert "AI edit" in wire.request("codeLens/resolve", lens)["result"]["command"]["title"]
    assert wire.request("textDocument/hover", hover_at(uri, 4))["result"] is not None


def test_a_file_that_no_name_can_name_is_passed_over(wire: Wire, tmp_path: Path) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    Repository(project.root)
    uri, prompt = project.annotated("b.py").as_uri(), project.prompt("Write them.")
    for path in ("LONE.py", "a.py", "b.py"):
        project.line(path, 10, 13, text=STORY, prompt=prompt)
    project.file("a.py")
    replace_bytes(project.files.log, b"LONE", rb"\ud83d")
    asked = {
        "textDocument": {"uri": uri},
        "position": {"line": 9, "character": 0},
        "context": {"includeDeclaration": True},
    }
    found = wire.request("textDocument/references", asked)["result"]
    assert [each["uri"] for each in found] == [uri, project.root.joinpath("a.py").as_uri()]
    queue = wire.request(
        "workspace/executeCommand", {"command": "vibes.queue", "arguments": [{"uri": uri}]}
    )["result"]
    assert {each["filePath"] for each in queue["placements"]} == {"a.py", "b.py"}
    for answer in ask_everything(wire, project).values():
        assert "error" not in answer


def test_a_folder_whose_name_is_too_long_is_no_project(wire: Wire, tmp_path: Path) -> None:
    uri = (tmp_path / ("long" * 100)).as_uri()
    for command in ("vibes.check", "vibes.queue"):
        error = wire.request(
            "workspace/executeCommand", {"command": command, "arguments": [{"uri": uri}]}
        )["error"]
        assert error["data"] == {"code": "audit-dir-not-found"}
        assert "no .ai-audit/ in" in error["message"]


@pytest.mark.parametrize("spelling", ["inner/../../outside.py", "link.py", "%2e%2e/outside.py"])
def test_no_file_outside_the_project_is_read(wire: Wire, tmp_path: Path, spelling: str) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    for path in ("link.py", "outside.py", "../outside.py", "inner/../../outside.py"):
        project.line(path, 4, 7, text=STORY)
    outside = tmp_path / "outside.py"
    outside.write_text(STORY, encoding="utf-8")
    (project.root / "link.py").symlink_to(outside)
    (project.root / "inner").mkdir()
    uri = f"{project.root.as_uri()}/{spelling}"
    assert wire.request("textDocument/hover", hover_at(uri, 4))["result"] is None
    assert "error" in wire.request("vibes/provenance", {"textDocument": {"uri": uri}})


def test_a_file_is_the_same_however_its_path_is_spelled(wire: Wire, tmp_path: Path) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    file = project.annotated()
    uri = f"{file.parent.as_uri()}/inner/../a.py"
    assert (
        wire.request("textDocument/hover", hover_at(uri, 4))["result"]
        == wire.request("textDocument/hover", hover_at(file.as_uri(), 4))["result"]
    )


def test_a_review_of_any_shape(wire: Wire, tmp_path: Path) -> None:
    project = Project(tmp_path / "own")
    project.environment()
    project.file("a.py")
    line = project.line("a.py", 4, 7, text=STORY)
    for metadata in (
        None,
        {},
        {"verdict": 5, "reviewer": [], "kind": {}, "text": 7},
        {"verdict": "maybe", "kind": "robot", "text": ""},
    ):
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
    (found,) = wire.request("vibes/provenance", {"textDocument": {"uri": uri}})["result"][
        "placements"
    ]
    assert found["lineStart"] == 3001
