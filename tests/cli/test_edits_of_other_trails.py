"""An edit is recorded on the trail of its file, not on that of the folder the agent works in."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository
from tests.unit.recording.projects import MODEL, TOOL, Project, new_project
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event
from vibes_lsp.recording import Prompt, PromptType, RecordPrompt, StartSession
from vibes_lsp.store.audit_dir import AuditDir

SESSION: Final = "8f1dc1a2-3b84-4ab9-8d29-5c8e27f7a9d1"
PRIVATE: Final = "Rename the acquisition target."
NEW: Final = "b = 1\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, which has the user's settings of git."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def project_in_git(root: Path) -> Project:
    project = new_project(root)
    Repository(root).commit("a trail")
    return project


def set_across_projects(home: Path, value: str) -> None:
    (home / ".gitconfig").write_text(f'[vibes "record"]\n\tacrossProjects = {value}\n')


def event(folder: Path, name: str, **members: Any) -> bytes:
    """Return a payload of Claude Code that works in a folder."""
    payload = {"session_id": SESSION, "cwd": str(folder), "prompt_id": "p1"}
    return json.dumps({**payload, "hook_event_name": name, **members}).encode()


def written(folder: Path, *, file: Path, call: str = "t1") -> bytes:
    """Return the payload of a new file, and write the file."""
    file.write_text(NEW)
    return event(
        folder,
        "PostToolUse",
        tool_name="Write",
        tool_input={"file_path": str(file), "content": NEW},
        tool_response={"type": "create", "originalFile": None, "structuredPatch": []},
        tool_use_id=call,
    )


def receive(folder: Path, *payloads: bytes) -> None:
    """Store what hooks in a folder receive, and record it on the trails."""
    trails = {trail: None for payload in payloads for trail in store_event(payload, lambda: "/")}
    assert trails or not (folder / ".ai-audit").is_dir()
    for trail in reversed(list(trails)):  # the trail of the file before that of the session
        fold_events(AuditDir(Path(trail)))


def prompts_of(project: Project) -> list[str]:
    return [str(each["prompt_text"]) for each in project.entries("prompt").values()]


def test_a_sibling_gets_the_lines_in_a_session_of_its_own_and_no_prompt(tmp_path: Path) -> None:
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    asked = event(here.root, "UserPromptSubmit", prompt=PRIVATE)
    receive(here.root, asked, written(here.root, file=there.root / "b.py"))
    [line] = there.records("line")
    assert (line["file_path"], line["line_start"], line["line_end"]) == ("b.py", 1, 1)
    assert [each["session_id"] for each in there.records("session")] == [line["session_id"]]
    assert prompts_of(there) == []
    assert PRIVATE.encode() not in there.written()
    assert here.records("line") == []
    assert prompts_of(here) == [PRIVATE]


def test_the_setting_allows_prompts(tmp_path: Path, home: Path) -> None:
    set_across_projects(home, "prompts")
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    asked = event(here.root, "UserPromptSubmit", prompt=PRIVATE)
    receive(here.root, asked, written(here.root, file=there.root / "b.py"))
    [line] = there.records("line")
    assert there.entry(line["prompt_hash"])["prompt_text"] == PRIVATE


def test_the_setting_forbids_all(tmp_path: Path, home: Path) -> None:
    set_across_projects(home, "off")
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    receive(here.root, written(here.root, file=there.root / "b.py"))
    assert there.records() == []
    assert "vibes.record.acrossProjects is off" in vibes("doctor", cwd=there.root).out


def test_a_projects_own_settings_of_git_allow_nothing(tmp_path: Path) -> None:
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    for project in (here, there):
        Repository(project.root).git("config", "vibes.record.acrossProjects", "prompts")
    asked = event(here.root, "UserPromptSubmit", prompt=PRIVATE)
    receive(here.root, asked, written(here.root, file=there.root / "b.py"))
    assert len(there.records("line")) == 1
    assert prompts_of(there) == []


def test_another_work_tree_of_the_repository_gets_the_prompt(tmp_path: Path) -> None:
    here = project_in_git(tmp_path / "here")
    Repository(here.root).git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "there"))
    asked = event(here.root, "UserPromptSubmit", prompt=PRIVATE)
    receive(here.root, asked, written(here.root, file=tmp_path / "there/b.py"))
    there = Project(tmp_path / "there", here.recorder)
    [line] = there.records("line")
    manifest = json.loads((there.root / ".ai-audit/manifest.json").read_bytes())
    assert manifest["entries"][line["prompt_hash"]]["prompt_text"] == PRIVATE
    assert here.records("line") == []


def test_a_session_above_several_repositories_is_recorded_in_each(tmp_path: Path) -> None:
    one, two = project_in_git(tmp_path / "all/one"), project_in_git(tmp_path / "all/two")
    receive(
        tmp_path / "all",
        written(tmp_path / "all", file=one.root / "b.py"),
        written(tmp_path / "all", file=two.root / "c.py", call="t2"),
    )
    assert [line["file_path"] for line in one.records("line")] == ["b.py"]
    assert [line["file_path"] for line in two.records("line")] == ["c.py"]


def test_one_patch_of_two_repositories_is_recorded_in_both(tmp_path: Path) -> None:
    one, two = project_in_git(tmp_path / "all/one"), project_in_git(tmp_path / "all/two")
    for project in (one, two):
        project.file("b.py", NEW)
    files = [f"*** Add File: {name}/b.py\n+b = 1\n" for name in ("one", "two")]
    patch = f"*** Begin Patch\n{''.join(files)}*** End Patch"
    payload = event(
        tmp_path / "all",
        "PostToolUse",
        model="gpt-5",
        turn_id="1",
        tool_name="apply_patch",
        tool_input={"command": patch},
        tool_use_id="t1",
    )
    receive(tmp_path / "all", payload)
    for project in (one, two):
        assert [line["file_path"] for line in project.records("line")] == ["b.py"]


def test_a_repository_without_a_trail_gets_nothing(tmp_path: Path) -> None:
    here = project_in_git(tmp_path / "here")
    Repository(tmp_path / "there")
    receive(here.root, written(here.root, file=tmp_path / "there/b.py"))
    assert here.records() == []
    assert {path.name for path in (tmp_path / "there").iterdir()} == {".git", "b.py"}


def test_a_nested_repository_without_a_trail_is_not_the_outer_ones(tmp_path: Path) -> None:
    outer = project_in_git(tmp_path / "outer")
    Repository(outer.root / "vendor/inner")
    receive(outer.root, written(outer.root, file=outer.root / "vendor/inner/b.py"))
    assert outer.records("line") == []


def test_what_is_read_or_run_elsewhere_stays_with_the_session(tmp_path: Path) -> None:
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    file = there.file("b.py", NEW)
    read = event(
        here.root,
        "PostToolUse",
        tool_name="Read",
        tool_input={"file_path": str(file)},
        tool_use_id="t1",
    )
    receive(here.root, read)
    assert there.records() == []
    assert [each["event"] for each in here.records("session")] == ["start"]


def test_an_event_that_is_received_twice_is_recorded_once(tmp_path: Path) -> None:
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    payload = written(here.root, file=there.root / "b.py")
    receive(here.root, payload, payload)
    receive(here.root, payload)
    assert len(there.records("line")) == 1


@pytest.mark.parametrize("start", ["here", "here/src", ""])
def test_record_takes_the_trail_of_the_file(tmp_path: Path, start: str) -> None:
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    (here.root / "src").mkdir()
    there.file("b.py", NEW)
    session = here.recorder.execute(StartSession(tool=TOOL, model=MODEL)).session_id
    here.recorder.execute(
        RecordPrompt(session_id=session, prompt=Prompt(PRIVATE, PromptType.USER_INSTRUCTION))
    )
    members = {
        "file": str(there.root / "b.py") if start != "here" else "../there/b.py",
        "lineStart": 1,
        "lineEnd": 1,
        "action": "create",
        "prompt": {"text": PRIVATE, "type": "user_instruction"},
    }
    if start:
        members["sessionId"] = session
    else:
        members |= {"tool": {"name": "t", "version": "1"}, "model": {"name": "m", "version": "1"}}
    done = vibes("record", "annotate", cwd=tmp_path / start, given=json.dumps(members).encode())
    assert (done.code, done.err) == (0, "")
    [line] = there.records("line")
    assert line["file_path"] == "b.py"
    assert here.records("line") == []
    assert prompts_of(there) == ([PRIVATE] if not start else [])
    if start:
        [started] = there.records("session")
        assert (started["session_id"], line["session_id"]) == (session, session)
        environment = there.entry(line["environment_hash"])
        assert (environment["tool_name"], environment["model_name"]) == (TOOL.name, MODEL.name)


def test_a_second_edit_of_a_session_takes_no_prompt_along_either(
    tmp_path: Path, home: Path
) -> None:
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    session = here.recorder.execute(StartSession(tool=TOOL, model=MODEL)).session_id
    asked = here.recorder.execute(
        RecordPrompt(session_id=session, prompt=Prompt(PRIVATE, PromptType.USER_INSTRUCTION))
    )
    members = {"lineStart": 1, "lineEnd": 1, "action": "create", "sessionId": session}

    def record(project: Project, name: str, **more: object) -> int:
        project.file(name, NEW)
        given = json.dumps({"file": str(project.root / name), **members, **more}).encode()
        return vibes("record", "annotate", cwd=here.root, given=given).code

    for number in range(3):
        prompt = {"text": f"{PRIVATE} {number}", "type": "user_instruction"}
        assert record(there, f"{number}.py", prompt=prompt) == 0
    assert record(there, "asked.py", promptHash=asked.prompt_hash) == 0
    assert len(there.records("line")) == 4
    assert prompts_of(there) == []
    assert PRIVATE.encode() not in there.written()
    assert record(here, "own.py", promptHash=asked.prompt_hash) == 0  # its own trail has all
    set_across_projects(home, "off")
    assert record(there, "more.py") == 2
    assert len(there.records("line")) == 4


def test_record_takes_a_nested_trail(tmp_path: Path) -> None:
    outer = project_in_git(tmp_path / "outer")
    inner = new_project(outer.root / "packages/inner")
    inner.file("b.py", NEW)
    session = outer.recorder.execute(StartSession(tool=TOOL, model=MODEL)).session_id
    outer.recorder.execute(
        RecordPrompt(session_id=session, prompt=Prompt(PRIVATE, PromptType.USER_INSTRUCTION))
    )
    members = {
        "file": "packages/inner/b.py",
        "lineStart": 1,
        "lineEnd": 1,
        "action": "create",
        "sessionId": session,
    }
    done = vibes("record", "annotate", cwd=outer.root, given=json.dumps(members).encode())
    assert (done.code, done.err) == (0, "")
    [line] = inner.records("line")
    assert inner.entry(line["prompt_hash"])["prompt_text"] == PRIVATE  # it is the same repository


def test_record_elsewhere_stops_where_the_user_forbids_it(tmp_path: Path, home: Path) -> None:
    set_across_projects(home, "off")
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    there.file("b.py", NEW)
    members = {
        "file": str(there.root / "b.py"),
        "lineStart": 1,
        "lineEnd": 1,
        "action": "create",
        "sessionId": here.recorder.execute(StartSession(tool=TOOL, model=MODEL)).session_id,
    }
    done = vibes("record", "annotate", cwd=here.root, given=json.dumps(members).encode())
    assert done.code == 2
    assert "acrossProjects" in done.err
    assert there.records() == []


def test_a_prompt_without_a_folder_stays_in_the_trail_of_the_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windsurf names no folder with a prompt; a patch in it names a file of another project."""
    here, there = project_in_git(tmp_path / "here"), project_in_git(tmp_path / "there")
    file = there.root / "b.py"
    file.write_text(NEW)
    asked = {
        "agent_action_name": "pre_user_prompt",
        "trajectory_id": SESSION,
        "execution_id": "p1",
        "timestamp": "2026-02-05T10:00:00Z",
        "tool_info": {"user_prompt": f"{PRIVATE}\n*** Update File: {file}\n-b\n+c"},
    }
    monkeypatch.chdir(here.root)
    trails = store_event(json.dumps(asked).encode(), os.getcwd)
    assert len(trails) == 2
    for trail in trails:
        fold_events(AuditDir(Path(trail)))
    assert (len(prompts_of(here)), prompts_of(there)) == (1, [])
    kept = [file for file in (there.root / ".ai-audit").rglob("*") if file.is_file()]
    assert not any(PRIVATE in file.read_text() for file in kept)


def test_a_trail_that_cannot_be_written_does_not_affect_the_others(tmp_path: Path) -> None:
    here, broken, there = (project_in_git(tmp_path / name) for name in ("here", "broken", "there"))
    (broken.root / ".ai-audit/spool").write_text("a file in its place")
    paths: list[str] = []
    for project in (broken, there):
        file = project.root / "b.py"
        file.write_text(NEW)
        paths.append(str(file))
    read = event(here.root, "PostToolUse", tool_name="Read", tool_input={"file_paths": paths})
    trails = store_event(read, lambda: "/")
    assert trails == [str(project.root / ".ai-audit") for project in (here, there)]
