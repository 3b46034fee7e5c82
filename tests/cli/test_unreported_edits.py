"""Files that changed while a command ran: named with it, and claimed where they came into being."""

from __future__ import annotations

import os
import subprocess
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_hook import payload, store, waiting, written
from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.command_files import MAX_CHANGED, note_saved_file
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.model.vocabulary import COMPARED_FILES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

READ: dict[str, Any] = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}
TEXT = "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\n"
CHANGED = TEXT.replace("beta = 2", "beta = 20")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a project with a commit and a session that was asked something."""
    project = new_project(tmp_path / "project", tracked_extensions=[".py", ".txt"])
    repository = Repository(project.root)
    project.file("a.py", TEXT)
    repository.commit("first")
    ask(project)
    return project


def git(project: Project, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=project.root, check=True)


def fold(project: Project) -> None:
    fold_events(project.recorder.directory)
    assert waiting(project) == []


def ask(project: Project, prompt: str = "Tidy.", **members: Any) -> None:
    store(project, payload(project.root, "UserPromptSubmit", prompt=prompt, **members))
    fold(project)


def bash(project: Project, command: str, call: str = "c1", **members: Any) -> None:
    """Store the event of a command that has ended."""
    given = {
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": "", "interrupted": False},
        "tool_use_id": call,
        "duration_ms": 5,
        **members,
    }
    store(project, payload(project.root, "PostToolUse", **given))


def claimed(project: Project) -> list[tuple[str, int, int, str]]:
    return [
        (record["file_path"], record["line_start"], record["line_end"], record["action"])
        for record in project.records("line")
        if record.get("evidence") == "compared"
    ]


def make(project: Project, name: str, text: str, *, later: int = 0) -> None:
    """Write a file; its time is exact, or later by some seconds, as systems count it in ticks."""
    project.file(name, text)
    moment = time.time_ns() + later * 1_000_000_000
    os.utime(project.root / name, ns=(moment, moment))


def named(project: Project) -> list[tuple[str, str]]:
    """Return the files that commands changed, each with the command."""
    return [
        (entry["command_text"].removeprefix("edit "), entry["command_output_summary"])
        for entry in project.entries("command").values()
        if entry["command_type"] == "file_write"
    ]


def reason(command: str) -> str:
    return f"the edited lines are unknown: the file changed while a command ran: {command}"


def test_a_changed_file_is_named_and_a_new_one_claimed(
    project: Project, run_vibes: RunVibes
) -> None:
    project.file("a.py", CHANGED)
    project.file("new.py", "made = 1\nmore = 2\n")
    bash(project, "./generate")
    fold(project)
    assert claimed(project) == [("new.py", 1, 2, "create")]
    assert named(project) == [("a.py", reason("./generate"))]
    assert " compared " in run_vibes("blame", "new.py", cwd=project.root).out
    (shown,) = run_vibes("blame", "new.py", "--json", cwd=project.root).json["placements"]
    assert shown["comparedFiles"] is True
    [record] = project.records("line")
    assert "line_hashes" not in record
    assert project.entry(record["environment_hash"])["tool_extensions"] == [COMPARED_FILES]
    assert project.entry(record["command_hash"])["command_text"] == "./generate"
    assert project.entry(record["prompt_hash"])["prompt_text"] == "Tidy."
    store(project, payload(project.root, "SessionEnd"))
    fold(project)
    done = run_vibes("check", "--json", cwd=project.root)
    assert done.json["result"] == "PASS", done.json["findings"]


def test_each_command_names_its_own_files(project: Project) -> None:
    project.file("a.py", CHANGED)
    bash(project, "first")
    fold(project)
    project.file("b.py", "b = 1\n")
    bash(project, "second", "c2", duration_ms=0)
    fold(project)
    assert named(project) == [("a.py", reason("first"))]
    assert claimed(project) == [("b.py", 1, 1, "create")]
    [record] = project.records("line")
    assert project.entry(record["command_hash"])["command_text"] == "second"


def test_what_a_command_made_before_its_event_is_not_lost(project: Project) -> None:
    """The event before it may be folded while the command runs."""
    store(project, payload(project.root, "PostToolUse", tool_use_id="r1", **READ))
    make(project, "new.py", "made = 1\n")
    fold(project)
    bash(project, "./generate new.py", duration_ms=300_000)
    fold(project)
    assert claimed(project) == [("new.py", 1, 1, "create")]


def test_a_new_file_that_was_there_before_is_named_only(project: Project) -> None:
    project.file("notes.txt", "mine\n")
    store(project, payload(project.root, "PostToolUse", tool_use_id="r1", **READ))
    fold(project)
    project.file("notes.txt", "mine\nmore\n")
    bash(project, "./generate")
    fold(project)
    assert (claimed(project), named(project)) == ([], [("notes.txt", reason("./generate"))])


def test_a_file_that_an_event_reports_is_not_named(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    store(project, written(project))
    bash(project, "true; ./generate")
    fold(project)
    assert [record.get("evidence") for record in project.records("line")] == [None]
    assert named(project) == []


def test_what_a_person_changed_before_the_command_is_not_named(project: Project) -> None:
    project.file("a.py", CHANGED)
    project.file("new.py", "by_hand = 1\n")
    bash(project, "./slow", duration_ms=0)
    [event] = waiting(project)
    event.rename(event.with_name(f"{time.time_ns() + 60_000_000_000:020d}{event.name[20:]}"))
    fold_events(project.recorder.directory, now=lambda: datetime.now(UTC) + timedelta(minutes=5))
    assert "./slow" in {each["command_text"] for each in project.entries("command").values()}
    assert (claimed(project), named(project)) == ([], [])


def test_of_commands_in_a_row_the_first_after_the_change_made_it(project: Project) -> None:
    project.file("a.py", CHANGED)
    bash(project, "./format")
    bash(project, "sed -n 1p a.py", "c2")
    fold(project)
    assert named(project) == [("a.py", reason("./format"))]


def test_names_that_are_not_utf_8_hinder_no_other(project: Project) -> None:
    try:
        (project.root / os.fsdecode(b"\xff.py")).write_text("x = 1\n")
    except OSError:
        pytest.skip("this file system has no such names")
    project.file("a.py", CHANGED)
    project.file("new.py", "made = 1\n")
    bash(project, "./generate")
    fold(project)
    assert named(project) == [("a.py", reason("./generate"))]
    assert claimed(project) == [("new.py", 1, 1, "create")]


def test_a_secret_of_the_command_is_masked_where_it_names_a_file(project: Project) -> None:
    secret = "ghp_" + "a1B2" * 9
    project.file("a.py", CHANGED)
    bash(project, f"TOKEN={secret} ./generate")
    fold(project)
    [(name, why)] = named(project)
    assert name == "a.py"
    assert secret not in why


def test_what_changes_after_the_command_waits_for_an_event(project: Project) -> None:
    bash(project, "sed -i s/a/b/ a.py")
    make(project, "a.py", CHANGED, later=1)
    make(project, "new.py", "by_hand = 1\n", later=1)
    fold(project)
    store(project, payload(project.root, "Stop"))
    fold(project)
    assert (claimed(project), named(project)) == ([], [])


def test_what_an_editor_saved_is_not_named(project: Project) -> None:
    project.file("a.py", CHANGED)
    note_saved_file(project.recorder.directory, "a.py")
    bash(project, "sed -i s/a/b/ a.py")
    fold(project)
    assert named(project) == []


def test_a_save_before_the_session_does_not_matter(project: Project) -> None:
    note_saved_file(project.recorder.directory, "a.py")
    mark = next((project.recorder.directory.spool / "saved").iterdir())
    os.utime(mark, (1, 1))
    project.file("a.py", CHANGED)
    bash(project, "sed")
    fold(project)
    assert named(project) == [("a.py", reason("sed"))]


def test_nothing_is_named_while_two_sessions_are_active(project: Project) -> None:
    ask(project, session_id="another-session-id")
    project.file("a.py", CHANGED)
    bash(project, "sed -i s/a/b/ a.py")
    fold(project)
    assert named(project) == []


def test_a_session_whose_turn_has_ended_writes_nothing(project: Project) -> None:
    ask(project, session_id="another-session-id")
    store(project, payload(project.root, "Stop", session_id="another-session-id"))
    fold(project)
    project.file("a.py", CHANGED)
    bash(project, "sed")
    fold(project)
    assert named(project) == [("a.py", reason("sed"))]


@pytest.mark.parametrize(
    ("command", "is_named"), [("sed -i s/a/b/ a.py", True), ("npm test", False)]
)
@pytest.mark.parametrize("duration", [60_000, None])
def test_a_long_command_must_name_the_file(
    project: Project, command: str, is_named: bool, duration: int | None
) -> None:
    project.file("a.py", CHANGED)
    bash(project, command, duration_ms=duration)
    fold(project)
    assert named(project) == ([("a.py", reason(command))] if is_named else [])


def test_what_comes_from_git_is_not_the_commands(project: Project) -> None:
    project.file("a.py", CHANGED)
    project.file("new.py", "mine = 1\n")
    git(project, "stash", "-q", "--include-untracked", "--", "a.py", "new.py")
    ask(project, prompt="Go on.", prompt_id="p2")
    git(project, "stash", "pop", "-q")
    bash(project, "git stash pop")
    fold(project)
    assert (claimed(project), named(project)) == ([], [])


def test_a_changed_time_is_no_change(project: Project) -> None:
    os.utime(project.root / "a.py")
    bash(project, "touch a.py")
    fold(project)
    assert named(project) == []


def test_ignored_files_binary_files_and_links_are_not_claimed(
    project: Project, tmp_path: Path
) -> None:
    project.file(".gitignore", "ignored.py\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "ignore")
    ask(project, prompt="Go on.", prompt_id="p2")
    project.file("ignored.py", "x = 1\n")
    project.file("binary.py", b"\0\1\n")
    (tmp_path / "outside.py").write_text("x = 1\n")
    (project.root / "link.py").symlink_to(tmp_path / "outside.py")
    bash(project, "./generate")
    fold(project)
    assert (claimed(project), named(project)) == ([], [("binary.py", reason("./generate"))])


def test_files_of_a_trail_below_are_left_out(project: Project) -> None:
    inner = new_project(project.root / "inner")
    ask(project, prompt="Go on.", prompt_id="p2")
    inner.file("c.py", "c = 1\n")
    bash(project, "./generate")
    fold(project)
    assert (claimed(project), named(project)) == ([], [])


def test_too_many_changes_are_left_out(project: Project) -> None:
    for number in range(MAX_CHANGED + 1):
        project.file(f"many/{number}.py", f"number = {number}\n")
    bash(project, "tar xf many.tar")
    fold(project)
    assert (claimed(project), named(project)) == ([], [])


def test_what_is_known_is_not_kept_in_a_folder_of_the_project(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could be planted there by a commit."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.root / "cache"))
    (project.root / "cache").mkdir(0o700)
    project.file("new.py", "made = 1\n")
    bash(project, "./generate")
    fold(project)
    assert claimed(project) == []
    assert list((project.root / "cache").iterdir()) == []


def test_a_project_without_git_has_no_claims(tmp_path: Path) -> None:
    project = new_project(tmp_path / "plain")
    ask(project)
    project.file("a.py", "a = 1\n")
    bash(project, "echo > a.py")
    fold(project)
    assert (claimed(project), named(project)) == ([], [])


def test_a_repeated_event_changes_nothing(project: Project) -> None:
    project.file("a.py", CHANGED)
    project.file("new.py", "made = 1\n")
    bash(project, "sed")
    [file] = waiting(project)
    data = file.read_bytes()
    fold(project)
    before = project.records(), project.entries("command")
    file.write_bytes(data)
    file.chmod(0o600)
    fold(project)
    assert (project.records(), project.entries("command")) == before


def test_a_command_that_only_reads_has_written_nothing(project: Project) -> None:
    project.file("a.py", TEXT + "mine = 5\n")
    bash(project, "cat a.py && git diff")
    fold(project)
    assert named(project) == []
