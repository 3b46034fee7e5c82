"""`vibes doctor` for coding agents: each link from the agent to the record, and `--fix`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.events import Agent
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event
from vibes_lsp.store.locks import append_lock

if TYPE_CHECKING:
    from tests.cli.run_vibes import CommandResult, RunVibes

CLAUDE: Final = "Claude Code"
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project on a machine with `vibes`, git, and no agent but Claude Code."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    (home / ".claude").mkdir(parents=True)
    programs.mkdir()
    for name, says in (("claude", "2.1.330 (Claude Code)"), ("vibes", "")):
        program = programs / name
        program.write_text(f"#!{sys.executable}\nprint({says!r})\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), "/usr/bin", "/bin"]))
    for agent in AGENTS:
        if agent.variable:
            monkeypatch.delenv(agent.variable, raising=False)
    made = new_project(tmp_path / "project")
    made.file("a.py", "a = 1\n")
    trust = {"projects": {str(made.root.resolve()): {"hasTrustDialogAccepted": True}}}
    (home / ".claude.json").write_text(json.dumps(trust), encoding="utf-8")
    return made


def payload(project: Project, path: str = "a.py", **members: Any) -> bytes:
    """Return the payload of an edit of Claude Code."""
    return json.dumps(
        {
            "session_id": "253351ad",
            "transcript_path": "/nowhere/253351ad.jsonl",
            "cwd": project.root.as_posix(),
            "hook_event_name": "PostToolUse",
            "tool_name": "Edit",
            "tool_input": {
                "file_path": f"{project.root.as_posix()}/{path}",
                "old_string": "a = 0",
                "new_string": "a = 1",
            },
            "tool_response": {"originalFile": "a = 0\n", "structuredPatch": []},
            "tool_use_id": "t1",
            **members,
        }
    ).encode()


def store(project: Project, data: bytes) -> None:
    store_event(data, lambda: str(project.root))


def found(done: CommandResult, about: str) -> list[tuple[str, str]]:
    """Return health and message of the steps about something."""
    assert done.err == ""
    return [
        (step["health"], step["message"]) for step in done.json["steps"] if step["about"] == about
    ]


def messages(done: CommandResult, about: str) -> str:
    return "\n".join(f"{health}: {message}" for health, message in found(done, about))


def fixes(done: CommandResult) -> list[tuple[str, str]]:
    return [(fix["about"], fix["message"]) for fix in done.json["fixes"]]


def test_the_agents_of_the_diagnosis_are_those_of_the_payloads() -> None:
    assert {agent.name for agent in AGENTS} <= {agent.value for agent in Agent}


def test_an_agent_that_is_not_hooked_up(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("doctor", "--json", cwd=project.root)
    [installed, hooked] = found(done, CLAUDE)
    assert installed[0] == "ok"
    assert "bin/claude; tried with " in installed[1]
    assert hooked == ("note", "not hooked up")
    [others] = found(done, "other agents")
    assert "Codex" in others[1]
    assert done.code == 0


@posix_only
def test_a_program_of_the_project_is_never_run(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = project.root / "codex"
    program.write_text(f"#!/bin/sh\ntouch {project.root}/was-run\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(project.root), os.environ["PATH"]]))
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert "installed" in messages(done, "Codex")
    assert not (project.root / "was-run").exists()


def test_each_link_of_an_agent_that_records(project: Project, run_vibes: RunVibes) -> None:
    assert run_vibes("init", "--agents", "claude-code", cwd=project.root).code == 0
    before = run_vibes("doctor", "--json", cwd=project.root)
    assert "note: no event was received in this project" in messages(before, CLAUDE)
    store(project, payload(project))
    fold_events(project.recorder.directory)
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 0
    _, hooked, trust, last = found(done, CLAUDE)
    assert hooked == ("ok", "hooked up in .claude/settings.json")
    assert trust == ("ok", "trust: the folder is trusted")
    assert last[0] == "ok"
    assert last[1].endswith("just now: PostToolUse Edit: a.py: lines 1 by original text")


def test_text_is_in_groups_with_what_to_do(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("doctor", cwd=project.root)
    headings = [
        line
        for line in done.lines
        if line and not line.startswith((" ", "ok ", "note ", "problem "))
    ]
    assert headings == ["Program", "Audit trail", "Git", "Coding agents", "Recording"]
    position = done.lines.index(f"note    {CLAUDE}: not hooked up")
    assert done.lines[position + 1] == "          run `vibes init --agents claude-code`"


def test_events_that_are_not_recorded_are_explained(project: Project, run_vibes: RunVibes) -> None:
    store(project, payload(project))
    store(project, payload(project, "../outside.py", tool_use_id="t2"))
    store(project, b"{truncated")
    fold_events(project.recorder.directory)
    done = run_vibes("doctor", "--json", cwd=project.root)
    text = messages(done, CLAUDE)
    assert "note: 1 of the last 2 events was not recorded" in text
    assert "most often: no edited file belongs to this trail" in text
    [(health, other)] = found(done, "other payloads")
    assert health == "note"
    assert "the payload is no JSON object" in other


def test_a_missing_trust_is_a_problem_until_the_agent_runs_the_hooks(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    (tmp_path / "home/.claude.json").unlink()
    run_vibes("init", "--agents", "claude-code", cwd=project.root)
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    assert "problem: trust: the folder is not trusted yet" in messages(done, CLAUDE)
    store(project, payload(project))
    fold_events(project.recorder.directory)
    assert run_vibes("doctor", "--json", cwd=project.root).code == 0


def test_hooks_that_do_not_find_the_program_are_a_problem(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    run_vibes("init", "--agents", "claude-code", cwd=project.root)
    (tmp_path / "bin/vibes").unlink()
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    assert "problem: it is not there" in messages(done, "vibes on PATH")


def test_outdated_hooks_are_updated_on_request(project: Project, run_vibes: RunVibes) -> None:
    run_vibes("init", "--agents", "claude-code", cwd=project.root)
    settings = project.root / ".claude/settings.json"
    members = json.loads(settings.read_text("utf-8"))
    members["model"] = "opus"
    del members["hooks"]["PostToolUse"]
    settings.write_text(json.dumps(members), encoding="utf-8")
    outdated = settings.read_bytes()
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    assert "problem: the hooks in .claude/settings.json are not those" in messages(done, CLAUDE)
    assert settings.read_bytes() == outdated
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    assert done.code == 0
    [(about, message)] = fixes(done)
    assert about == CLAUDE
    assert message.endswith(".claude/settings.json")
    written = json.loads(settings.read_text("utf-8"))
    assert written["model"] == "opus"
    assert "vibes hook" in json.dumps(written["hooks"]["PostToolUse"])
    assert fixes(run_vibes("doctor", "--fix", "--json", cwd=project.root)) == []


def test_an_agent_is_not_hooked_up_by_a_fix(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    assert fixes(done) == []
    assert not (project.root / ".claude").exists()


def test_a_configuration_that_cannot_be_parsed_stays_as_it_is(
    project: Project, run_vibes: RunVibes
) -> None:
    settings = project.file(".claude/settings.json", '{"hooks": {oops')
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    assert done.code == 1
    assert "problem: " in messages(done, CLAUDE)
    assert settings.read_bytes() == b'{"hooks": {oops'


def test_events_that_wait_for_long_are_recorded_on_request(
    project: Project, run_vibes: RunVibes
) -> None:
    store(project, payload(project))
    [file] = project.recorder.directory.waiting_events.glob("*.json")
    received = time.time_ns() - 3 * 3600 * 10**9
    file.rename(file.with_name(f"{received:020d}-1-ab.json"))
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    [(health, message)] = found(done, "waiting events")
    assert health == "problem"
    assert message.startswith("1 event, the oldest received 3 hours ago")
    assert project.records("line") == []
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    assert done.code == 0
    assert fixes(done) == [("waiting events", "processed 1 event")]
    assert found(done, "waiting events") == [("ok", "none")]
    assert len(project.records("line")) == 1


@posix_only
def test_permissions_that_are_too_wide_are_narrowed_on_request(
    project: Project, run_vibes: RunVibes
) -> None:
    directory = project.recorder.directory
    store(project, payload(project))
    fold_events(directory)
    directory.agent_events.chmod(0o755)
    directory.log.chmod(0o666)
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    [(health, message)] = found(done, "permissions")
    assert health == "problem"
    assert "every user can change .ai-audit/annotations.jsonl" in message
    assert "other users can open .ai-audit/spool/agents" in message
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    assert done.code == 0
    assert {about for about, _ in fixes(done)} == {"permissions"}
    assert directory.agent_events.stat().st_mode & 0o777 == 0o700
    assert directory.log.stat().st_mode & 0o777 == 0o664


@posix_only
@pytest.mark.skipif(os.name != "nt" and os.getuid() == 0, reason="root can write everything")
def test_a_trail_that_is_not_writable_is_a_problem(project: Project, run_vibes: RunVibes) -> None:
    project.recorder.directory.log.chmod(0o444)
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert done.code == 1
    assert "problem: not writable: .ai-audit/annotations.jsonl" in messages(done, "permissions")


def test_temporary_files_of_ended_programs_are_removed_on_request(
    project: Project, run_vibes: RunVibes
) -> None:
    old = project.file(".ai-audit/0123456789abcdef.tmp", "x")
    os.utime(old, (time.time() - 7200,) * 2)
    new = project.file(".ai-audit/fedcba9876543210.tmp", "x")
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    assert fixes(done) == [("temporary files", "removed 1 file of ended programs")]
    assert (old.exists(), new.exists()) == (False, True)


def test_a_temporary_file_that_cannot_be_removed_is_a_failure(
    project: Project, run_vibes: RunVibes
) -> None:
    audit = project.recorder.directory.path
    stuck, old = (audit / f"{digit * 16}.tmp" for digit in "01")
    stuck.mkdir()
    old.touch()
    for path in (stuck, old):
        os.utime(path, (time.time() - 7200,) * 2)
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    failures = [fix["message"] for fix in done.json["fixes"] if fix["failed"]]
    removed = [fix["message"] for fix in done.json["fixes"] if not fix["failed"]]
    assert [message.partition(":")[0] for message in failures] == [
        f".ai-audit/{stuck.name} cannot be removed"
    ]
    assert removed == ["removed 1 file of ended programs"]
    assert (stuck.exists(), old.exists()) == (True, False)


@posix_only
def test_a_repair_follows_no_link_out_of_the_trail(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "events").mkdir(parents=True, mode=0o755)
    old = elsewhere / "0123456789abcdef.tmp"
    old.write_text("x", encoding="utf-8")
    os.utime(old, (time.time() - 7200,) * 2)
    own = project.file(".ai-audit/notes.tmp", "x")
    os.utime(own, (time.time() - 7200,) * 2)
    audit = project.recorder.directory.path
    for name in ("spool", "blobs"):
        if (audit / name).exists():
            shutil.rmtree(audit / name)
        (audit / name).symlink_to(elsewhere, target_is_directory=True)
    done = run_vibes("doctor", "--fix", "--json", cwd=project.root)
    assert fixes(done) == []
    assert (old.exists(), own.exists()) == (True, True)
    assert (elsewhere / "events").stat().st_mode & 0o777 == 0o755


def test_a_diagnosis_changes_nothing(project: Project, run_vibes: RunVibes, tmp_path: Path) -> None:
    run_vibes("init", "--agents", "claude-code", cwd=project.root)
    store(project, payload(project))
    fold_events(project.recorder.directory)
    store(project, payload(project, tool_use_id="t2"))

    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    before = content()
    assert run_vibes("doctor", "a.py", cwd=project.root).code == 0
    assert content() == before


def test_a_lock_names_the_process_that_holds_it(project: Project, run_vibes: RunVibes) -> None:
    with append_lock(project.recorder.directory).acquire():
        done = run_vibes("doctor", "--json", cwd=project.root)
    assert found(done, "locks") == [("note", f"held: wal/append.lock by process {os.getpid()}")]
    free = run_vibes("doctor", "--json", cwd=project.root)
    assert [health for health, _ in found(free, "locks")] == ["ok"]


def test_an_event_log_that_git_brought_is_not_shown(project: Project, run_vibes: RunVibes) -> None:
    directory = project.recorder.directory
    store(project, payload(project))
    fold_events(directory)
    Repository(project.root)
    subprocess.run(["git", "add", "-f", directory.agent_events], cwd=project.root, check=True)
    done = run_vibes("doctor", "--json", cwd=project.root)
    assert "last event" not in messages(done, CLAUDE)


def test_text_of_the_log_cannot_control_the_terminal(project: Project, run_vibes: RunVibes) -> None:
    directory = project.recorder.directory
    store(project, payload(project))
    fold_events(directory)
    [log] = directory.agent_events.glob("*.jsonl")
    log.write_bytes(log.read_bytes().replace(b"by original text", b"\\u001b]0;x\\u0007\\u202e"))
    done = run_vibes("doctor", cwd=project.root)
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
