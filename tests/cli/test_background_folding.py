"""What `vibes hook` stores becomes records at once: by a process in the background, and by readers."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import clean_environment
from tests.cli.test_hook import SESSION, encoded, payload, run_hook, store, waiting, written
from tests.requirements import REPOSITORY
from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.git.project_files import read_source
from vibes_lsp.ingest import background_folding, hook
from vibes_lsp.ingest.background_folding import fold_in_background
from vibes_lsp.ingest.fold import fold_events, wait_until_folded
from vibes_lsp.ingest.hook import mark_folding
from vibes_lsp.store.locks import FileLock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from vibes_lsp.anchors.text import Text

posix_only = pytest.mark.skipif(os.name == "nt", reason="uses signals and POSIX locks")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def events_lock(project: Project) -> FileLock:
    """Return the lock that a program holds while it records events."""
    project.recorder.directory.spool.mkdir(exist_ok=True)
    return FileLock(project.recorder.directory.spool / "events.lock")


def prompts(project: Project) -> list[str]:
    return sorted(each["prompt_text"] for each in project.entries("prompt").values())


def submit(project: Project, prompt: str) -> None:
    run_hook(
        encoded(payload(project.root, "UserPromptSubmit", prompt=prompt, prompt_id=prompt)),
        project.root,
    )


def folding_process(project: Project) -> int:
    """Return the id of the process that folds in the background, once it is there."""
    import fcntl

    marker = project.recorder.directory.spool / "folding.lock"
    while True:
        if marker.exists():
            with marker.open("rb+") as file:
                request = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
                kind, _, _, _, pid = struct.unpack(
                    "hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, request)
                )
                if kind != fcntl.F_UNLCK:
                    return int(pid)


def test_an_event_is_recorded_without_another_command(
    project: Project, run_vibes: RunVibes
) -> None:
    submit(project, "Write b.")
    project.file("b.py", "b = 1\n")
    run_hook(encoded(written(project)), project.root)
    done = run_vibes("hook", "--wait", cwd=project.root)
    assert (done.code, done.out, done.err) == (0, "", "")
    [line] = project.records("line")
    assert line["file_path"] == "b.py"
    assert prompts(project) == ["Write b."]
    assert not (project.recorder.directory.spool / "folding.lock").exists()


@posix_only
def test_the_process_in_the_background_has_nothing_of_the_agent(project: Project) -> None:
    reader, writer = os.pipe()
    with events_lock(project).acquire():  # it cannot end before this block does
        hook = subprocess.Popen(
            [sys.executable, "-m", "vibes_lsp", "hook"],
            cwd=project.root,
            env=clean_environment({"PYTHONPATH": str(REPOSITORY)}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=writer,
            pass_fds=[writer],
        )
        os.close(writer)
        out, _ = hook.communicate(encoded(payload(project.root, "UserPromptSubmit", prompt="x")))
        assert (hook.returncode, out, os.read(reader, 100)) == (0, b"", b"")
        process = folding_process(project)
        assert os.getsid(process) == process
        assert os.getsid(process) != os.getsid(0)
    os.close(reader)
    wait_until_folded(project.recorder.directory)
    assert prompts(project) == ["x"]


@posix_only
def test_a_killed_process_is_replaced_and_each_event_recorded_once(project: Project) -> None:
    with events_lock(project).acquire():
        submit(project, "first")
        killed = folding_process(project)
        submit(project, "second")  # the same process is active
        assert folding_process(project) == killed
        os.kill(killed, signal.SIGKILL)
        while hook.is_folding(str(project.recorder.directory.spool)):
            pass
        submit(project, "third")
        assert folding_process(project) != killed
    wait_until_folded(project.recorder.directory)
    assert prompts(project) == ["first", "second", "third"]
    assert len(project.records("session")) == 1


def test_no_module_of_the_project_is_imported(project: Project) -> None:
    trap = "open(__file__ + '.was-run', 'w')\n"
    for name in ("logging.py", "json.py", "vibes_lsp/__init__.py", "pydantic.py"):
        project.file(name, trap)
    subprocess.run(
        [sys.executable, "-P", "-m", "vibes_lsp", "hook"],
        cwd=project.root,
        env=clean_environment({"PYTHONPATH": str(REPOSITORY)}),
        input=encoded(payload(project.root, "UserPromptSubmit", prompt="x")),
        check=True,
    )
    while waiting(project):
        pass
    wait_until_folded(project.recorder.directory)
    assert prompts(project) == ["x"]
    assert not list(project.root.rglob("*.was-run"))


_SENDER = """
import json, os, sys
from vibes_lsp.ingest import hook
number, events, root = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for count in range(events):
    name = os.path.join(root, f"file-{number}-{count}.py")
    payload = {
        "session_id": f"session-{number}", "cwd": root, "hook_event_name": "PostToolUse",
        "tool_name": "Write", "tool_use_id": f"call-{count}",
        "tool_input": {"file_path": name, "content": "b = 1\\n"},
        "tool_response": {"type": "create", "originalFile": None, "structuredPatch": []},
    }
    (folder,) = hook.store_event(json.dumps(payload).encode(), os.getcwd)
    if count % 10 == 0:
        hook._start_folding(folder)
hook._start_folding(folder)
"""


@posix_only
def test_a_thousand_events_of_16_processes_are_recorded_once_and_in_order(
    project: Project,
) -> None:
    counts = [1000 // 16 + (number < 1000 % 16) for number in range(16)]
    environment = clean_environment({"PYTHONPATH": str(REPOSITORY)})
    senders = [
        subprocess.Popen(
            [sys.executable, "-c", _SENDER, str(number), str(count), str(project.root)],
            env=environment,
        )
        for number, count in enumerate(counts)
    ]
    assert [sender.wait() for sender in senders] == [0] * 16
    wait_until_folded(project.recorder.directory)
    found: dict[str, list[str]] = {}
    for record in project.records("line"):
        found.setdefault(record["session_id"], []).append(record["file_path"])
    expected = [
        [f"file-{number}-{each}.py" for each in range(count)] for number, count in enumerate(counts)
    ]
    assert sorted(found.values()) == sorted(expected)
    assert waiting(project) == []
    assert len(project.records("session")) == 16


def test_only_one_process_folds(project: Project) -> None:
    store(project, payload(project.root, "UserPromptSubmit", prompt="x"))
    spool = str(project.recorder.directory.spool)
    program = (
        "import os, sys; from vibes_lsp.ingest.hook import mark_folding;"
        "sys.exit(mark_folding(sys.argv[1]) is not None)"
    )
    marker = mark_folding(spool)
    assert marker is not None
    for expected in (0, 1):
        done = subprocess.run(
            [sys.executable, "-c", program, spool],
            check=False,
            env=clean_environment({"PYTHONPATH": str(REPOSITORY)}),
        )
        assert done.returncode == expected
        if not expected:
            os.close(marker)


def test_folding_ends_when_nothing_comes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_folding, "LINGER", 0.0)
    for prompt in ("first", "second"):
        store(project, payload(project.root, "UserPromptSubmit", prompt=prompt))
        fold_in_background(str(project.recorder.directory.path))
    assert prompts(project) == ["first", "second"]


def test_folding_ends_when_an_event_cannot_be_recorded(project: Project) -> None:
    """Else it would try for ever: what git tracks is never recorded."""
    store(project, payload(project.root, "UserPromptSubmit", prompt="x"))
    Repository(project.root)
    subprocess.run(["git", "add", "-f", *waiting(project)], cwd=project.root, check=True)
    fold_in_background(str(project.recorder.directory.path))
    assert len(waiting(project)) == 1
    assert prompts(project) == []


@posix_only
def test_a_link_in_place_of_the_marker_is_not_followed(project: Project, tmp_path: Path) -> None:
    target = tmp_path / "target"
    project.recorder.directory.spool.mkdir(exist_ok=True)
    (project.recorder.directory.spool / "folding.lock").symlink_to(target)
    with pytest.raises(OSError, match=r"folding\.lock"):
        mark_folding(str(project.recorder.directory.spool))
    assert not target.exists()


@pytest.mark.parametrize(
    "command",
    [
        ["blame", "b.py"],
        ["find"],
        ["log"],
        ["stats", "--by", "session"],
        ["stats"],
        ["check"],
        ["query", "SELECT 1"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_that_shows_records_what_waits(
    project: Project, run_vibes: RunVibes, command: list[str]
) -> None:
    project.file("b.py", "b = 1\n")
    store(project, payload(project.root, "UserPromptSubmit", prompt="Write b."))
    store(project, written(project))
    done = run_vibes(*command, cwd=project.root)
    assert (done.code, done.err) == (0, "")
    assert [each["file_path"] for each in project.records("line")] == ["b.py"]
    assert waiting(project) == []


def test_a_gate_and_a_comparison_do_not_depend_on_what_waits(
    project: Project, run_vibes: RunVibes
) -> None:
    Repository(project.root).commit("first")
    project.file("b.py", "b = 1\n")
    store(project, written(project))
    run_vibes("gate", cwd=project.root)
    run_vibes("gate", "--base", "HEAD", cwd=project.root)
    run_vibes("check", "--base", "HEAD", cwd=project.root)
    assert project.records("line") == []
    assert len(waiting(project)) == 1


def test_a_reader_shows_what_it_can_while_another_program_folds(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited,reader=0")
    store(project, written(project))
    with events_lock(project).acquire():
        done = run_vibes("log", cwd=project.root)
    assert (done.code, done.err) == (0, "")
    assert len(waiting(project)) == 1


def test_the_model_of_a_subagent_whose_session_file_comes_late(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"type": "assistant", "message": {"model": "large-model"}}
    sessions = tmp_path / ".claude" / "projects" / "p"
    sessions.mkdir(parents=True)
    (sessions / f"{SESSION}.jsonl").write_text(json.dumps(answers) + "\n")
    late = sessions / SESSION / "subagents" / "agent-a1.jsonl"

    def write_late(_seconds: float) -> None:
        late.parent.mkdir(parents=True, exist_ok=True)
        late.write_text(json.dumps(answers | {"message": {"model": "small-model"}}) + "\n")

    monkeypatch.setattr("vibes_lsp.ingest.fold.time.sleep", write_late)
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited")
    event = written(project) | {"agent_id": "a1"}
    store(project, event | {"transcript_path": str(sessions / f"{SESSION}.jsonl")})
    project.file("b.py", "b = 1\n")
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    assert project.entry(line["environment_hash"])["model_name"] == "small-model"


def store_edit_of_emptied_file(project: Project) -> Path:
    """Store an edit of a file that the agent's next edit has emptied before it writes it."""
    file = project.root / "a.py"
    file.write_text("a = 1\nb = 1\n")
    edit = {"path": file.as_posix(), "old_str": "a = 0", "new_str": "a = 1"}
    store(
        project,
        {"sessionId": "s1", "timestamp": 0, "cwd": project.root.as_posix()}
        | {"toolName": "edit", "toolArgs": edit, "toolResult": {"resultType": "success"}},
    )
    file.write_text("")
    return file


def test_a_file_that_is_being_written_is_read_when_it_is_whole(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = store_edit_of_emptied_file(project)
    soon = time.time() + 3600
    os.utime(file, (soon, soon))
    monkeypatch.setattr(
        "vibes_lsp.ingest.fold.time.sleep", lambda _: file.write_text("a = 1\nb = 2\n")
    )
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited")
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    assert (line["line_start"], line["line_end"], line["action"]) == (1, 1, "modify")


def test_a_file_that_was_whole_long_before_anybody_looked_again_is_read_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = store_edit_of_emptied_file(project)

    def read_before_it_is_written(root: Path, path: str) -> Text:
        source = read_source(root, path)
        if not source.content:
            file.write_text("a = 1\nb = 2\n")
            later = time.time_ns() + 3600 * 10**9
            monkeypatch.setattr("vibes_lsp.ingest.fold.time.time_ns", lambda: later)
        return source

    monkeypatch.setattr("vibes_lsp.ingest.fold.read_source", read_before_it_is_written)
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited")
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    assert (line["line_start"], line["line_end"], line["action"]) == (1, 1, "modify")
