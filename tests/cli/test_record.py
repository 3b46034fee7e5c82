"""`vibes record`: one JSON object in, one out, and errors in one line."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import SCRIPT, CommandResult, vibes
from tests.unit.recording.projects import SOURCE, Project, new_project
from vibes_lsp.cli.record import MAX_REQUEST
from vibes_lsp.cli.record import command as record
from vibes_lsp.recording.requests import REQUESTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

TOOL = {"name": "Some Tool", "version": "1.2.3"}
MODEL = {"name": "some-model", "version": "1"}
PROMPT = {"text": "Write a digest.", "type": "user_instruction"}
LINES = {"file": "a.py", "lineStart": 4, "lineEnd": 6, "action": "create"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


@pytest.fixture
def said(project: Project, run_vibes: RunVibes, tmp_path: Path) -> Any:
    """Run a recording command on an object, and return what it said."""

    def run(name: str, **members: Any) -> CommandResult:
        source = tmp_path / "input.json"
        source.write_text(json.dumps(members))
        done: CommandResult = run_vibes("record", name, "--input", source, cwd=project.root)
        return done

    return run


def test_a_story_in_json(project: Project, said: Any, run_vibes: RunVibes) -> None:
    started = said("session-start", tool=TOOL, model=MODEL, description="Digests").json
    assert set(started) == {"sessionId", "environmentHash"}
    session = started["sessionId"]
    assert set(said("read", sessionId=session, files=["a.py"]).json) >= {"commandHash", "edges"}
    run = said(
        "command",
        sessionId=session,
        command={"text": "make", "type": "shell", "exitCode": 0, "outputSummary": "ok"},
    ).json
    options = [
        {"id": "a", "description": "this", "pros": ["short"]},
        {"id": "b", "description": "that"},
    ]
    decided = said(
        "decision",
        decisionPoint="Which",
        options=options,
        selected="a",
        rationale="short",
        confidence="high",
    ).json
    annotated = said(
        "annotate",
        **LINES,
        sessionId=session,
        prompt=PROMPT,
        decision=decided["decisionHash"],
        informedBy=[run["commandHash"]],
    ).json
    assert annotated["record"] == project.records("line")[0]
    assert annotated["annotationId"] == annotated["record"]["annotation_id"]
    assert annotated["edges"] == [edge["annotation_id"] for edge in project.records("edge")[2:]]
    function = said(
        "annotate", file="a.py", function={"name": "same"}, action="create", sessionId=session
    ).json
    assert function["record"]["function_name"] == "same"
    child = said(
        "delegation", parentSessionId=session, taskDescription="Test it", delegationType="test"
    ).json
    relation = {"edgeType": "depends_on", "sourceType": "annotation", "targetType": "annotation"}
    edge = said(
        "edge", **relation, sourceRef=function["annotationId"], targetRef=annotated["annotationId"]
    ).json
    assert set(edge) == {"edgeId"}
    reviewed = said(
        "review",
        file="a.py",
        lineStart=5,
        lineEnd=5,
        verdict="approved",
        note="Good.",
        reviewer="Ada",
    ).json
    assert reviewed["reviewed"] == [annotated["annotationId"]]
    for each in (child["childSessionId"], session, session):
        assert said("session-end", sessionId=each).json == {}
    shown = run_vibes("blame", "a.py", "--json", cwd=project.root).json["placements"]
    assert [
        (each["annotationId"], each["prompt"], each["review"]["verdict"])
        for each in shown
        if each["type"] == "line"
    ] == [(annotated["annotationId"], "Write a digest.", "approved")]
    assert run_vibes("check", cwd=project.root).code == 0


def test_the_object_comes_from_standard_input(project: Project) -> None:
    members = {**LINES, "tool": TOOL, "model": MODEL, "text": "# unsaved\n" + SOURCE}
    done = vibes("record", "annotate", cwd=project.root, given=json.dumps(members))
    assert (done.code, done.err) == (0, "")
    assert done.json["record"] == project.records("line")[0]


@pytest.mark.parametrize(
    ("start", "end", "lines"),
    [
        ((3, 0), (5, 4), (4, 6)),
        ((3, 0), (6, 0), (4, 6)),
        ((3, 2), (3, 2), (4, 4)),
        ((3, 0), (3, 0), (4, 4)),
        ((3, 4), (3, 9), (4, 4)),
    ],
)
def test_a_range_is_an_lsp_range(
    project: Project, said: Any, start: Any, end: Any, lines: Any
) -> None:
    ends = {
        "start": dict(zip(("line", "character"), start, strict=True)),
        "end": dict(zip(("line", "character"), end, strict=True)),
    }
    said(
        "annotate",
        uri=(project.root / "a.py").as_uri(),
        range=ends,
        action="create",
        tool=TOOL,
        model=MODEL,
    )
    [written] = project.records("line")
    assert (written["file_path"], written["line_start"], written["line_end"]) == ("a.py", *lines)


def test_an_absolute_path_finds_its_trail(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    members = {**LINES, "file": str(project.root / "a.py"), "tool": TOOL, "model": MODEL}
    (tmp_path / "in.json").write_text(json.dumps(members))
    assert run_vibes("record", "annotate", "--input", "in.json", cwd=tmp_path).code == 0
    assert (
        run_vibes(
            "record", "annotate", "--input", "in.json", "--audit-dir", project.root, cwd=tmp_path
        ).code
        == 0
    )
    assert len(project.records("line")) == 2


def test_a_repeated_request_prints_the_same(project: Project, said: Any) -> None:
    outputs = {
        said("annotate", **LINES, tool=TOOL, model=MODEL, requestId="edit-1").out for _ in range(2)
    }
    assert len(outputs) == 1
    assert len(project.records("line")) == 1


def test_an_untracked_file_is_reported(tmp_path: Path, run_vibes: RunVibes) -> None:
    project = new_project(tmp_path / "project", tracked_extensions=[".ts"])
    (tmp_path / "in.json").write_text(json.dumps({**LINES, "tool": TOOL, "model": MODEL}))
    answer = run_vibes("record", "annotate", "--input", tmp_path / "in.json", cwd=project.root)
    assert answer.code == 0
    assert (answer.json["untracked"], answer.json["annotationId"], answer.json["record"]) == (
        True,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("name", "members", "message"),
    [
        ("session-start", {"tool": TOOL}, "model: is required"),
        ("session-start", {"tool": {"name": "T"}, "model": MODEL}, "tool.version: is required"),
        (
            "session-start",
            {"tool": TOOL, "modl": MODEL},
            "modl: is not a member; there are agentName, agentType, description, file, model,",
        ),
        (
            "session-start",
            {"tool": {**TOOL, "colour": 1}, "model": MODEL},
            "tool.colour: is not a member of it",
        ),
        ("session-end", {"sessionId": 7}, "sessionId: expected a string"),
        ("session-end", {"sessionId": "nobody"}, "no session 'nobody' was started"),
        (
            "annotate",
            {"action": "create", "tool": TOOL, "model": MODEL},
            "file: is required, or a uri",
        ),
        (
            "annotate",
            {"file": "a.py", "action": "create", "tool": TOOL, "model": MODEL},
            "lineStart: is required, or a function",
        ),
        (
            "annotate",
            {**LINES, "lineEnd": None, "tool": TOOL, "model": MODEL},
            "lineEnd: is required",
        ),
        (
            "annotate",
            {**LINES, "lineEnd": 99, "tool": TOOL, "model": MODEL},
            "lineStart: lines 4 to 99 are not in a.py, which has 10",
        ),
        (
            "annotate",
            {**LINES, "action": "invent", "tool": TOOL, "model": MODEL},
            "action: expected create, modify, delete or review",
        ),
        ("annotate", {**LINES}, "sessionId: is required, or tool and model instead of it"),
        (
            "annotate",
            {**LINES, "tool": TOOL, "model": MODEL, "prompt": {"text": "x", "type": "song"}},
            "prompt.type: expected user_i",
        ),
        (
            "annotate",
            {**LINES, "tool": TOOL, "model": MODEL, "prompt": {**PROMPT, "text": ""}},
            "prompt.text: must not be empty",
        ),
        (
            "annotate",
            {**LINES, "tool": TOOL, "model": MODEL, "decision": {"selected": "a"}},
            "decision.decisionPoint: is required",
        ),
        (
            "annotate",
            {**LINES, "file": "../a.py", "tool": TOOL, "model": MODEL},
            "file: expected a file inside the project, not '../a.py'",
        ),
        (
            "annotate",
            {"uri": "https://example.org/a.py", "action": "create"},
            "uri: expected a file URI, not 'https://example.org/a.py'",
        ),
        (
            "review",
            {"uri": "file://[a.py", "lineStart": 1, "lineEnd": 1, "verdict": "approved"},
            "uri: expected a file URI, not 'file://[a.py'",
        ),
        (
            "annotate",
            {**LINES, "range": {"start": {"line": -1, "character": 0}}},
            "range.start.line: expected at least",
        ),
        ("read", {"sessionId": "s", "files": "a.py"}, "files: expected an array"),
        (
            "review",
            {"file": "a.py", "lineStart": 1, "lineEnd": 1, "verdict": "good"},
            "verdict: expected approved or rejected",
        ),
        ("edge", {"edgeType": "likes"}, "edgeType: expected caused_by"),
    ],
)
def test_wrong_input_is_reported_in_one_line(
    project: Project, said: Any, name: str, members: dict[str, Any], message: str
) -> None:
    done = said(name, **members)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"vibes: {message}"), done.err
    assert project.records() == []


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"a": NaN}', b"\xff", b'{"a": "\\ud800"}', b'{"a": 1, "a": 2}']
)
def test_invalid_json_is_reported_in_one_line(
    project: Project, run_vibes: RunVibes, tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "in.json").write_bytes(data)
    done = run_vibes("record", "annotate", "--input", tmp_path / "in.json", cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    gone = run_vibes("record", "annotate", "--input", tmp_path / "gone.json", cwd=project.root)
    assert (gone.code, gone.err.count("\n")) == (2, 1)


def test_a_number_with_too_many_digits_is_refused(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text('{"tool":\n' + "9" * 5000 + "}")
    done = run_vibes("record", "session-start", "--input", tmp_path / "in.json", cwd=project.root)
    said = f"{tmp_path / 'in.json'}: number with more than 4,300 digits (line 2, column 1)"
    assert (done.code, done.out, done.err) == (2, "", f"vibes: {said}; give one JSON object\n")


def test_a_folder_as_input_is_refused(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("record", "session-start", "--input", ".", cwd=project.root)
    hint = "name a file that holds one JSON object, or give it on standard input"
    assert (done.code, done.out, done.err) == (2, "", f"vibes: . is a folder; {hint}\n")


def test_a_broken_manifest_loses_nothing_and_is_reported(project: Project, said: Any) -> None:
    manifest = project.root / ".ai-audit" / "manifest.json"
    manifest.write_bytes(b"<<<<<<< ours\n")
    session = said("session-start", tool=TOOL, model=MODEL)
    annotated = said("annotate", **LINES, tool=TOOL, model=MODEL)
    ended = said("session-end", sessionId=session.json["sessionId"])
    assert [
        (done.code, done.err.count("vibes: warning: recorded, but "))
        for done in (session, annotated, ended)
    ] == [(0, 1)] * 3
    assert [record["type"] for record in project.records()] == [
        "session",
        "line",
        "edge",
        "session",
    ]
    assert manifest.read_bytes() == b"<<<<<<< ours\n"
    manifest.unlink()
    key = annotated.json["record"]["environment_hash"]
    assert project.entry(key)["tool_name"] == "Some Tool"


def test_a_broken_config_is_reported(project: Project, said: Any) -> None:
    whole = said("annotate", **LINES, tool=TOOL, model=MODEL)
    (project.root / ".ai-audit" / "config.json").write_bytes(b'{"assurance_level": "lo\n')
    broken = said("annotate", **LINES, tool=TOOL, model=MODEL)
    assert (whole.code, whole.err, broken.code) == (0, "", 0)
    assert broken.json["record"]["assurance_level"] == "medium"
    assert broken.err.startswith(
        "vibes: warning: recorded with the default policy: config.json cannot be read: invalid control character (line 1"
    )
    assert broken.err.count("\n") == 1


def test_every_command_has_help(run_vibes: RunVibes, tmp_path: Path) -> None:
    assert set(getattr(record, "commands")) == set(REQUESTS)  # noqa: B009
    for name in REQUESTS:
        assert "--input FILE" in run_vibes("record", name, "--help", cwd=tmp_path).out


def test_a_request_has_a_limit(project: Project, tmp_path: Path, run_vibes: RunVibes) -> None:
    source = tmp_path / "input.json"
    with source.open("wb") as file:
        file.truncate(MAX_REQUEST + 1)
    with source.open("rb") as given:
        piped = subprocess.run(
            [SCRIPT, "record", "session-start"],
            cwd=project.root,
            stdin=given,
            capture_output=True,
            text=True,
            check=False,
        )
    named = run_vibes("record", "session-start", "--input", source, cwd=project.root)
    for code, out, err in (
        (piped.returncode, piped.stdout, piped.stderr),
        (named.code, named.out, named.err),
    ):
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"{MAX_REQUEST:,}" in err
    assert project.records() == []


def test_lines_are_recorded_and_reviewed_without_an_object(
    project: Project, run_vibes: RunVibes
) -> None:
    author = ("--tool", "chat@2.0", "--model", "some-model", "--prompt", "Write a digest.")
    done = run_vibes("record", "annotate", "a.py:4-6", *author, cwd=project.root)
    assert (done.code, done.err) == (0, "")
    record = done.json["record"]
    lines = (record["file_path"], record["line_start"], record["line_end"], record["action"])
    assert lines == ("a.py", 4, 6, "create")
    shown = run_vibes("show", record["environment_hash"], "--json", cwd=project.root).json
    assert shown["entry"]["tool_version"] == "2.0"
    assert shown["entry"]["model_version"] == "unknown"
    prompt = run_vibes("show", record["prompt_hash"], "--json", cwd=project.root).json["entry"]
    assert prompt["prompt_text"] == "Write a digest."

    scoped = ("--tool", "@scope/chat", "--model", "@some/model@5")
    done = run_vibes("record", "annotate", "a.py:4-6", *scoped, cwd=project.root)
    environment = done.json["record"]["environment_hash"]
    entry = run_vibes("show", environment, "--json", cwd=project.root).json["entry"]
    assert (entry["tool_name"], entry["tool_version"]) == ("@scope/chat", "unknown")
    assert (entry["model_name"], entry["model_version"]) == ("@some/model", "5")
    record = done.json["record"]

    verdict = ("--verdict", "rejected", "--note", "Weak.")
    below = project.root / "below"
    below.mkdir()
    done = run_vibes("record", "review", "../a.py:5", *verdict, cwd=below)
    assert (done.code, done.json["reviewed"]) == (0, [record["annotation_id"]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["annotate", "a.py"], "invalid place 'a.py': expected FILE:START-END"),
        (["annotate", "a.py:2-1"], "invalid place 'a.py:2-1': line 1 is before line 2"),
        (["annotate", "a.py:0-1"], "invalid place 'a.py:0-1': lines count from 1"),
        (["annotate", "a.py:1-x"], "invalid place 'a.py:1-x': expected FILE:START-END"),
        (["annotate", "a.py:4-6"], "--tool and --model are required, or --session instead"),
        (["annotate", "a.py:4-6", "--tool", "t"], "--model is required with --tool"),
        (["annotate", "a.py:4-6", "--model", "m"], "--tool is required with --model"),
        (["annotate", f"a.py:1-{10**19}", "--tool", "t", "--model", "m"], "are not in a.py"),
        (["annotate", "a.py:1-99", "--tool", "t", "--model", "m"], "are not in a.py"),
        (["annotate", "--tool", "t"], "--tool needs FILE:START-END"),
        (["annotate", "a.py:4-6", "--input", "x.json"], "FILE:START-END or --input, not both"),
        (["review", "a.py:4-6"], "--verdict is required: approved or rejected"),
    ],
)
def test_what_is_missing_in_typed_lines_is_named(
    project: Project, run_vibes: RunVibes, arguments: list[str], message: str
) -> None:
    done = run_vibes("record", *arguments, cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert project.records() == []
