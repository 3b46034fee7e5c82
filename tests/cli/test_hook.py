"""`vibes hook` as a process: it never disturbs the agent, and what it stored is recorded once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.cli.run_vibes import clean_environment, vibes
from tests.trails import Repository
from tests.unit.recording.projects import MODEL, TOOL, Project, new_project, session_origin
from vibes_lsp.agents.events import Agent
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import MAX_WAITING, mark_folding, store_event
from vibes_lsp.ingest.record_events import UNRESOLVED, session_id
from vibes_lsp.patience import LOCK
from vibes_lsp.recording import RecordDelegation, StartSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.run_vibes import RunVibes

SESSION: Final = "253351ad-f40e-4995-9e52-50dd25c9acd0"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


@pytest.fixture
def nothing_in_background(project: Project) -> Iterator[None]:
    """Keep the hook from starting a process: this one claims to fold already."""
    project.recorder.directory.spool.mkdir(exist_ok=True)
    marker = mark_folding(str(project.recorder.directory.spool))
    assert marker is not None
    yield
    os.close(marker)


def run_hook(data: bytes, folder: Path, *arguments: str) -> None:
    """Run the hook as an agent does."""
    done = vibes("hook", *arguments, cwd=folder, given=data)
    assert (done.code, done.out, done.err) == (0, "", "")


def payload(folder: Path, event: str, **members: Any) -> dict[str, Any]:
    """Return a payload of Claude Code."""
    return {
        "session_id": SESSION,
        "transcript_path": f"/nowhere/{SESSION}.jsonl",
        "cwd": folder.as_posix(),
        "prompt_id": "p1",
        "hook_event_name": event,
        **members,
    }


def written(
    project: Project, name: str = "b.py", call: str = "t1", **members: Any
) -> dict[str, Any]:
    """Return the payload of a new file with one line."""
    return payload(
        project.root,
        "PostToolUse",
        tool_name="Write",
        tool_input={"file_path": (project.root / name).as_posix(), "content": "b = 1\n"},
        tool_response={"type": "create", "originalFile": None, "structuredPatch": []},
        tool_use_id=call,
        **members,
    )


def encoded(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def store(project: Project, value: object) -> None:
    store_event(encoded(value), lambda: str(project.root))


def git(project: Project, *arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=project.root, check=True, capture_output=True)
    return done.stdout


def waiting(project: Project) -> list[Path]:
    folder = project.recorder.directory.waiting_events
    return sorted(folder.iterdir()) if folder.is_dir() else []


@pytest.mark.parametrize("names", [[], ["note.json", f"{'9' * 20}-1-ab.tmp"]])
def test_events_keep_their_order_when_the_clock_is_set_back(
    project: Project, monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    events = project.recorder.directory.waiting_events
    events.mkdir(parents=True)
    for name in names:
        (events / name).touch()
    for number, moment in enumerate((5 << 42, 2 << 42, 2 << 42, 9 << 42)):
        monkeypatch.setattr(time, "time_ns", lambda moment=moment: moment)
        store(project, payload(project.root, "Stop", number=number))
    stored = [path for path in waiting(project) if path.name not in names]
    assert [json.loads(path.read_bytes())["number"] for path in stored] == [0, 1, 2, 3]


@pytest.mark.usefixtures("nothing_in_background")
def test_an_event_is_stored_and_recorded_by_the_next_command(
    project: Project, run_vibes: RunVibes
) -> None:
    Repository(project.root)
    run_hook(encoded(payload(project.root, "UserPromptSubmit", prompt="Write b.")), project.root)
    project.file("b.py", "b = 1\n")
    run_hook(encoded(written(project)), project.root, "PostToolUse", "--unknown")
    assert len(waiting(project)) == 2
    assert project.records() == []
    assert run_vibes("backfill", cwd=project.root).code == 0
    assert waiting(project) == []
    [line] = project.records("line")
    assert (line["file_path"], line["line_start"], line["line_end"]) == ("b.py", 1, 1)
    assert project.entry(line["prompt_hash"])["prompt_text"] == "Write b."
    assert run_vibes("check", cwd=project.root).code == 0


def test_a_commit_has_the_events_before_it(project: Project, run_vibes: RunVibes) -> None:
    Repository(project.root)
    project.file("b.py", "b = 1\n")
    store(project, written(project))
    git(project, "add", "b.py")
    assert run_vibes("backfill", "--pre-commit", cwd=project.root).err == ""
    assert [each["file_path"] for each in project.records("line")] == ["b.py"]
    log = project.recorder.directory.log
    assert git(project, "show", ":.ai-audit/annotations.jsonl") == log.read_bytes()
    assert b"spool" not in git(project, "status", "--porcelain", "-uall")


def test_the_record_has_the_time_of_the_event(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    store(project, written(project))
    [file] = waiting(project)
    moment = int(time.time()) - 3600
    file.rename(file.with_name(f"{10**9 * moment:020d}-1-ab.json"))
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    expected = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(moment))
    assert line["timestamp"][:16] == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe\x00",
        b'{"cwd": 5}',
        b'"cwd"',
        b'{"hook_event_name": "Stop"}',
    ],
)
def test_garbage_changes_nothing(project: Project, data: bytes) -> None:
    run_hook(data, project.root)
    fold_events(project.recorder.directory)
    assert project.records() == []
    assert waiting(project) == []


def test_deeply_nested_input_is_dropped(project: Project) -> None:
    store(project, {"cwd": str(project.root)})
    nested = b'{"cwd": "' + str(project.root).encode() + b'", "a": ' + b"[" * 10**5
    store_event(nested, os.getcwd)
    assert fold_events(project.recorder.directory) == 2
    assert project.records() == []


def test_a_fault_does_not_block_the_events_behind_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_payload: object) -> None:
        raise RuntimeError

    for prompt in ("first", "second"):
        store(project, payload(project.root, "UserPromptSubmit", prompt=prompt))
    monkeypatch.setattr("vibes_lsp.ingest.spool.read_event", fail)
    assert fold_events(project.recorder.directory) == 2
    assert waiting(project) == []


def test_nothing_happens_without_a_trail(tmp_path: Path) -> None:
    run_hook(encoded(payload(tmp_path, "UserPromptSubmit", prompt="x")), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_in_background")
def test_the_folder_of_the_payload_decides(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run_hook(encoded(payload(elsewhere, "UserPromptSubmit", prompt="x")), project.root)
    assert waiting(project) == []
    run_hook(encoded(payload(project.root, "UserPromptSubmit", prompt="x")), elsewhere)
    assert len(waiting(project)) == 1


def test_an_event_of_another_trail_is_dropped(project: Project, tmp_path: Path) -> None:
    other = new_project(tmp_path / "other")
    mixed = {
        "first": {"cwd": str(project.root)},
        **payload(other.root, "UserPromptSubmit", prompt="x"),
    }
    store_event(encoded(mixed), os.getcwd)
    assert len(waiting(project)) == 1
    assert fold_events(project.recorder.directory) == 1
    assert project.records() == other.records() == []


def test_files_outside_the_project_are_not_recorded(project: Project) -> None:
    for name in ("../b.py", ".git/hooks/b.py", ".ai-audit/config.json"):
        store(project, written(project, name, name))
    fold_events(project.recorder.directory)
    assert project.records("line") == []


def test_a_standard_input_that_stays_open_is_left(project: Project) -> None:
    path = str(Path(__file__).resolve().parents[2])
    process = subprocess.Popen(
        [sys.executable, "-m", "vibes_lsp", "hook"],
        cwd=project.root,
        env=clean_environment({"PYTHONPATH": path, "VIBES_PATIENCE": "hook-input=0.1"}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.wait(300) == 0
    assert waiting(project) == []


@pytest.mark.usefixtures("nothing_in_background")
def test_parallel_events_are_each_recorded_once(project: Project) -> None:
    names = [f"b{number}.py" for number in range(50)]
    for name in names:
        project.file(name, "b = 1\n")
    with ThreadPoolExecutor(16) as pool:
        list(
            pool.map(
                lambda name: run_hook(encoded(written(project, name, name)), project.root), names
            )
        )
    assert len(waiting(project)) == 50
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: fold_events(project.recorder.directory, patience=LOCK), range(4)))
    assert sorted(each["file_path"] for each in project.records("line")) == sorted(names)
    assert len({each["session_id"] for each in project.records("session")}) == 1


def test_an_event_that_was_recorded_before_a_crash_is_recorded_once(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    store(project, payload(project.root, "UserPromptSubmit", prompt="Write b."))
    store(project, written(project))
    kept = {path: path.read_bytes() for path in waiting(project)}
    fold_events(project.recorder.directory)
    before = project.records()
    for path, data in kept.items():
        path.write_bytes(data)
    fold_events(project.recorder.directory)
    assert project.records() == before


def test_one_edit_that_is_reported_twice_is_recorded_once(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    for _ in range(2):
        store(project, written(project))
        fold_events(project.recorder.directory)
    assert len(project.records("line")) == 1


def test_a_session_is_resumed_as_another_one(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    for number in ("1", "2"):
        turn = {"prompt_id": number}
        store(project, payload(project.root, "UserPromptSubmit", prompt="Go on.") | turn)
        store(project, payload(project.root, "SessionEnd") | turn)
    fold_events(project.recorder.directory)
    events = [(each["event"], each["session_id"]) for each in project.records("session")]
    first, second = (session_id(Agent.CLAUDE_CODE, SESSION, number) for number in (1, 2))
    assert events == [("start", first), ("end", first), ("start", second), ("end", second)]


def test_the_model_of_a_subagent_is_not_that_of_its_parent(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    event = written(project) | {"turn_id": "u1", "model": "small-model", "agent_id": "a1"}
    event |= {"tool_name": "apply_patch", "tool_response": "Exit code: 0"}
    event["tool_input"] = {"command": "*** Begin Patch\n*** Add File: b.py\n+b = 1\n*** End Patch"}
    store(project, event)
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    assert project.entry(line["environment_hash"])["model_name"] == "small-model"
    parent, child = (
        project.entry(each["environment_hash"])["model_name"] for each in project.records("session")
    )
    assert (parent, child) == ("unknown", "small-model")


def test_an_edit_without_certain_lines_is_recorded_as_a_command(project: Project) -> None:
    event = written(project)
    event["tool_response"] = {"userModified": True}
    store(project, event)
    fold_events(project.recorder.directory)
    assert project.records("line") == []
    [command] = project.entries("command").values()
    assert command["command_text"] == "edit b.py"
    reason = "a person changed what the agent proposed"
    assert command["command_output_summary"] == f"{UNRESOLVED}: {reason}"


def test_a_choice_between_options_is_a_decision(project: Project, run_vibes: RunVibes) -> None:
    options = [{"label": "SQLite", "description": "One file."}, {"label": "Postgres"}]
    questions = [
        {"question": "Which database?", "options": options, "multiSelect": False},
        {"question": "Which port?", "options": options, "multiSelect": False},
    ]
    answers = {"Which database?": "SQLite", "Which port?": "any, I do not care"}
    store(
        project,
        payload(
            project.root,
            "PostToolUse",
            tool_name="AskUserQuestion",
            tool_use_id="q1",
            tool_input={"questions": questions},
            tool_response={"questions": questions, "answers": answers},
        ),
    )
    store(project, payload(project.root, "SessionEnd"))
    fold_events(project.recorder.directory)
    [(key, decision)] = project.entries("decision").items()
    assert (decision["decision_point"], decision["selected"]) == ("Which database?", "SQLite")
    assert [each["id"] for each in decision["options"]] == ["SQLite", "Postgres"]
    assert [target for _, target in project.edges("informed_by")] == [key]
    done = run_vibes("check", "--json", cwd=project.root)
    assert done.json["result"] == "PASS", done.json["findings"]


@pytest.mark.parametrize(
    "response",
    [
        {"afkTimeoutMs": 60_000},
        {"answers": {}},
        {"annotations": {"Which database?": {"unanswered": "dismissed"}}},
    ],
)
def test_a_question_that_nobody_answered_is_no_decision(
    project: Project, response: dict[str, Any]
) -> None:
    options = [{"label": "SQLite", "description": "One file."}, {"label": "Postgres"}]
    questions = [{"question": "Which database?", "options": options}]
    answered = {"questions": questions, "answers": {"Which database?": "SQLite"}}
    event = payload(
        project.root,
        "PostToolUse",
        tool_name="AskUserQuestion",
        tool_use_id="q1",
        tool_input={"questions": questions},
        tool_response={**answered, **response},
    )
    store(project, event)
    fold_events(project.recorder.directory)
    assert project.entries("decision") == {}


def test_secrets_in_a_payload_are_masked(project: Project) -> None:
    token = "ghp_" + "a1B2" * 9
    store(project, payload(project.root, "UserPromptSubmit", prompt=f"Use {token} now."))
    fold_events(project.recorder.directory)
    assert token.encode() not in project.written()
    assert [each["prompt_text"] for each in project.entries("prompt").values()] == [
        "Use [masked] now."
    ]


def test_what_git_tracks_is_not_recorded(project: Project) -> None:
    store(project, payload(project.root, "UserPromptSubmit", prompt="x"))
    [file] = waiting(project)
    Repository(project.root)
    git(project, "add", "-f", str(file))
    assert fold_events(project.recorder.directory) == 0
    assert project.records() == []
    assert file.exists()


def test_a_link_in_place_of_the_spool_is_not_followed(project: Project, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    project.recorder.directory.spool.mkdir(exist_ok=True)
    project.recorder.directory.waiting_events.symlink_to(target)
    run_hook(encoded(payload(project.root, "UserPromptSubmit", prompt="x")), project.root)
    assert list(target.iterdir()) == []


def test_the_text_of_a_payload_makes_no_review(project: Project) -> None:
    annotation = project.recorder.annotate_lines(
        "a.py", 4, 6, "create", session_origin(project.session())
    )
    before = project.records()
    review = {
        "type": "edge",
        "edge_type": "reviewed_by",
        "source_ref": annotation.annotation_id,
        "verdict": "approved",
        "annotationIds": [annotation.annotation_id],
        "reviewer": "Bo",
    }
    for event in ("Review", "UserPromptSubmit", "PostToolUse", "reviewed_by"):
        store(
            project, payload(project.root, event, **review, tool_name="review", tool_input=review)
        )
        store(project, {**review, "cwd": str(project.root)})
    fold_events(project.recorder.directory)
    assert project.records() == before


def test_a_payload_cannot_enter_a_session_of_another_tool(project: Project) -> None:
    session = project.recorder.execute(StartSession(tool=TOOL, model=MODEL)).session_id
    project.file("b.py", "b = 1\n")
    store(project, written(project) | {"session_id": session})
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    assert line["session_id"] == session_id(Agent.CLAUDE_CODE, session, 1) != session
    assert project.entry(line["environment_hash"])["tool_name"] == "Claude Code"


def test_the_session_of_another_tool_with_the_expected_id_is_not_used(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    taken = session_id(Agent.CLAUDE_CODE, SESSION, 1)
    project.recorder.execute(
        RecordDelegation(parent_session_id=project.session(), child_session_id=taken)
    )
    before = project.records()
    project.file("b.py", "b = 1\n")
    store(project, written(project))
    fold_events(project.recorder.directory)
    assert project.records() == before


def test_the_spool_is_private_and_bounded(project: Project) -> None:
    store(project, payload(project.root, "UserPromptSubmit", prompt="x"))
    [file] = waiting(project)
    if os.name != "nt":
        assert file.stat().st_mode & 0o077 == 0
        assert file.parent.stat().st_mode & 0o077 == 0
    for number in range(MAX_WAITING - 1):
        os.link(file, file.with_name(f"{number:020d}-1-a.json"))
    store(project, payload(project.root, "UserPromptSubmit", prompt="y"))
    assert len(waiting(project)) == MAX_WAITING


def test_an_event_that_waited_too_long_is_dropped(project: Project) -> None:
    store(project, payload(project.root, "UserPromptSubmit", prompt="x"))
    [file] = waiting(project)
    file.rename(file.with_name(f"{1:020d}-1-ab.json"))
    assert fold_events(project.recorder.directory) == 1
    assert project.records() == []


def test_the_hook_loads_little() -> None:
    program = (
        "import sys; before = set(sys.modules); import vibes_lsp.ingest.hook;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment({"PYTHONPATH": str(Path(__file__).resolve().parents[2])}),
    )
    assert set(done.stdout.split()) <= {
        "__future__",
        "vibes_lsp",
        "vibes_lsp.ingest",
        "vibes_lsp.ingest.hook",
        "vibes_lsp.patience",
        "vibes_lsp.store",
        "vibes_lsp.store.trail_search",
    }
