"""Edits that no event reports: found by comparing files, and claimed only where that is certain."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_hook import payload, store, waiting, written
from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.compare_work_tree import unclaimed_changes
from vibes_lsp.ingest.fold_events import fold_events
from vibes_lsp.ingest.unexplained_edits import Doubt
from vibes_lsp.ingest.work_tree import note_saved_file
from vibes_lsp.model.vocabulary import COMPARED_FILES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

READ: dict[str, Any] = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}
TEXT = "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a project with a commit and a session that was asked something."""
    project = new_project(tmp_path / "project", tracked_extensions=[".py", ".txt"])
    repository = Repository(project.root)
    project.file("a.py", TEXT)
    project.file(".gitattributes", "*.filtered.py filter=unknown\n")
    project.file("x.filtered.py", TEXT)
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


def lines(project: Project) -> list[tuple[str, int, int, str]]:
    return [
        (each["file_path"], each["line_start"], each["line_end"], each["action"])
        for each in project.records("line")
    ]


def doubts(project: Project) -> dict[str, int]:
    return dict(unclaimed_changes(project.recorder.directory))


def test_the_lines_that_a_command_changed_are_recorded_with_it(
    project: Project, run_vibes: RunVibes
) -> None:
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    project.file("new.py", "made = 1\n")
    bash(project, "./generate")
    fold(project)
    assert sorted(lines(project)) == [("a.py", 2, 2, "modify"), ("new.py", 1, 1, "create")]
    assert " compared " in run_vibes("blame", "a.py", cwd=project.root).lines[1]
    (shown,) = run_vibes("blame", "a.py", "--json", cwd=project.root).json["placements"]
    assert shown["comparedFiles"] is True
    for record in project.records("line"):
        environment = project.entry(record["environment_hash"])
        assert environment["tool_extensions"] == [COMPARED_FILES]
        assert project.entry(record["command_hash"])["command_text"] == "./generate"
        assert project.entry(record["prompt_hash"])["prompt_text"] == "Tidy."
    store(project, payload(project.root, "SessionEnd"))
    fold(project)
    done = run_vibes("check", "--json", cwd=project.root)
    assert done.json["result"] == "PASS", done.json["findings"]
    assert doubts(project) == {}


def test_each_command_gets_its_own_lines(project: Project) -> None:
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "first")
    fold(project)
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20").replace("delta = 4", "delta = 40"))
    bash(project, "second", "c2")
    fold(project)
    assert lines(project) == [("a.py", 2, 2, "modify"), ("a.py", 4, 4, "modify")]
    commands = [
        project.entry(each["command_hash"])["command_text"] for each in project.records("line")
    ]
    assert commands == ["first", "second"]


def test_what_a_command_wrote_before_its_event_is_not_lost(project: Project) -> None:
    """The event before it may be folded while the command runs."""
    store(project, payload(project.root, "PostToolUse", tool_use_id="r1", **READ))
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    fold(project)
    bash(project, "sed")
    fold(project)
    assert lines(project) == [("a.py", 2, 2, "modify")]


def test_lines_that_an_event_reports_are_not_recorded_again(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    store(project, written(project))
    bash(project, "true")
    fold(project)
    assert lines(project) == [("b.py", 1, 1, "create")]
    assert doubts(project) == {}


def test_a_command_after_an_edit_gets_only_its_lines(project: Project) -> None:
    store(project, written(project))
    project.file("b.py", "b = 1\n# formatted\n")
    bash(project, "format b.py")
    fold(project)
    assert lines(project) == [("b.py", 1, 1, "create"), ("b.py", 2, 2, "create")]


def test_what_a_person_changed_before_the_command_is_not_claimed(project: Project) -> None:
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    moment = time.time() - 60
    os.utime(project.root / "a.py", (moment, moment))
    bash(project, "sed -i s/a/b/ a.py")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.TIME: 1}


def test_what_a_person_changes_after_the_command_is_not_claimed(project: Project) -> None:
    bash(project, "sed -i s/a/b/ a.py")
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    fold(project)
    store(project, payload(project.root, "Stop"))
    fold(project)
    assert lines(project) == []


def test_what_an_editor_saved_is_not_claimed(project: Project) -> None:
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    note_saved_file(project.recorder.directory, "a.py")
    bash(project, "sed -i s/a/b/ a.py")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.PERSON: 1}


def test_nothing_is_claimed_while_a_person_works_in_the_project(project: Project) -> None:
    """One who saves files beside the commands may also save one during a command."""
    project.file("person.py", "by_hand = 1\n")
    store(project, payload(project.root, "PostToolUse", tool_use_id="r1", **READ))
    fold(project)
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "./generate")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.PERSON: 1}


def test_a_parallel_edit_whose_event_comes_later_is_not_a_persons(project: Project) -> None:
    project.file("b.py", "b = 1\n")
    project.file("c.py", "b = 1\n")
    store(project, written(project, "b.py", "t1"))
    fold(project)
    store(project, written(project, "c.py", "t2"))
    fold(project)
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "./generate")
    fold(project)
    assert lines(project)[2:] == [("a.py", 2, 2, "modify")]
    assert doubts(project) == {}


def test_a_save_before_the_session_does_not_matter(project: Project) -> None:
    note_saved_file(project.recorder.directory, "a.py")
    mark = next((project.recorder.directory.spool / "saved").iterdir())
    os.utime(mark, (1, 1))
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "sed")
    fold(project)
    assert lines(project) == [("a.py", 2, 2, "modify")]


def test_nothing_is_claimed_while_two_sessions_are_active(project: Project) -> None:
    ask(project, session_id="another-session-id")
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "sed -i s/a/b/ a.py")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.SESSIONS: 1}


def test_a_session_whose_turn_has_ended_writes_nothing(project: Project) -> None:
    ask(project, session_id="another-session-id")
    store(project, payload(project.root, "Stop", session_id="another-session-id"))
    fold(project)
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "sed -i s/a/b/ a.py")
    fold(project)
    assert lines(project) == [("a.py", 2, 2, "modify")]


@pytest.mark.parametrize(
    ("command", "is_claimed"), [("sed -i s/a/b/ a.py", True), ("npm test", False)]
)
@pytest.mark.parametrize("duration", [60_000, None])
def test_a_long_command_must_name_the_file(
    project: Project, command: str, is_claimed: bool, duration: int | None
) -> None:
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, command, duration_ms=duration)
    fold(project)
    assert lines(project) == ([("a.py", 2, 2, "modify")] if is_claimed else [])
    assert doubts(project) == ({} if is_claimed else {Doubt.NAME: 1})


def test_what_comes_from_git_is_not_claimed(project: Project) -> None:
    git(project, "checkout", "-q", "-b", "other")
    project.file("a.py", TEXT + "# a colleague's line\n")
    git(project, "commit", "-qm", "second", "--", "a.py")
    git(project, "checkout", "-q", "main")
    ask(project, prompt="Merge.", prompt_id="p2")
    git(project, "merge", "-q", "other")
    bash(project, "git merge other # a.py")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.GIT: 1}


@pytest.mark.parametrize("command", ["mv a.py b.py", "cp a.py b.py", "cat a.py > b.py"])
def test_the_lines_of_another_file_are_not_claimed(project: Project, command: str) -> None:
    project.file("a.py", TEXT + "a_line_of_a_person = True\n")
    ask(project, prompt="Go on.", prompt_id="p2")
    subprocess.run(command, cwd=project.root, shell=True, check=True)
    with (project.root / "b.py").open("a") as file:
        file.write("more = 1\n")
    bash(project, command)
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.COPY: 1}


def test_what_a_filter_changes_is_not_claimed(project: Project) -> None:
    project.file("x.filtered.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "sed -i s/a/b/ x.filtered.py")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.TEXT: 1}


def test_a_changed_line_end_or_time_is_no_edit(project: Project) -> None:
    project.file("a.py", TEXT.replace("\n", "\r\n"))
    os.utime(project.root / "x.filtered.py")
    bash(project, "unix2dos a.py")
    fold(project)
    assert lines(project) == []


def test_ignored_and_binary_files_and_links_are_left_out(project: Project, tmp_path: Path) -> None:
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
    assert lines(project) == []


def test_files_of_a_trail_below_are_left_out(project: Project) -> None:
    inner = new_project(project.root / "inner")
    ask(project, prompt="Go on.", prompt_id="p2")
    inner.file("c.py", "c = 1\n")
    bash(project, "./generate")
    fold(project)
    assert lines(project) == []


def test_unsaved_work_before_the_session_is_the_persons(project: Project) -> None:
    project.file("a.py", TEXT.replace("alpha = 1", "alpha = 10"))
    ask(project, prompt="Go on.", prompt_id="p2")
    project.file("a.py", TEXT.replace("alpha = 1", "alpha = 10").replace("delta = 4", "delta = 40"))
    bash(project, "sed")
    fold(project)
    assert lines(project) == [("a.py", 4, 4, "modify")]


def test_work_that_is_staged_or_committed_meanwhile_is_compared_all_the_same(
    project: Project,
) -> None:
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "sed")
    fold(project)
    git(project, "commit", "-qam", "by the agent")
    bash(project, "git commit", "c2")
    fold(project)
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20").replace("delta = 4", "delta = 40"))
    bash(project, "sed", "c3")
    fold(project)
    assert lines(project) == [("a.py", 2, 2, "modify"), ("a.py", 4, 4, "modify")]


def test_too_many_changes_are_left_out(project: Project) -> None:
    for number in range(201):
        project.file(f"many/{number}.py", f"number = {number}\n")
    bash(project, "tar xf many.tar")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.NUMBER: 1}


def test_a_baseline_that_was_planted_or_damaged_makes_no_claim(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the user's cache folder, and not used from a folder of the project."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.root / "cache"))
    (project.root / "cache").mkdir(0o700)
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "sed -i s/a/b/ a.py")
    fold(project)
    assert lines(project) == []
    assert list((project.root / "cache").iterdir()) == []


def test_a_project_without_git_has_no_claims(tmp_path: Path) -> None:
    project = new_project(tmp_path / "plain")
    ask(project)
    project.file("a.py", "a = 1\n")
    bash(project, "echo > a.py")
    fold(project)
    assert lines(project) == []


def test_a_repeated_event_changes_nothing(project: Project) -> None:
    project.file("a.py", TEXT.replace("beta = 2", "beta = 20"))
    bash(project, "sed")
    [file] = waiting(project)
    data = file.read_bytes()
    fold(project)
    before = project.records()
    file.write_bytes(data)
    file.chmod(0o600)
    fold(project)
    assert project.records() == before


def test_a_command_that_only_reads_has_written_nothing(project: Project) -> None:
    project.file("a.py", TEXT + "mine = 5\n")
    bash(project, "cat a.py && git diff")
    fold(project)
    assert lines(project) == []


def test_a_copy_of_a_file_with_short_lines_is_not_the_commands(
    project: Project, run_vibes: RunVibes
) -> None:
    project.file("b.py", TEXT + "mine = 5\n")
    ask(project, "Copy b.py.")
    project.file("copy.py", TEXT + "mine = 5\nmade = 6\n")
    bash(project, "cp b.py copy.py; echo made = 6 >> copy.py")
    fold(project)
    assert lines(project) == []
    assert doubts(project) == {Doubt.COPY.value: 1}
    done = run_vibes("doctor", "--json", cwd=project.root)
    [message] = [
        step["message"]
        for step in done.json["steps"]
        if step["about"] == "changes without an event"
    ]
    assert message.endswith(
        f"1 file changed while commands ran, claimed for no agent; most often: {Doubt.COPY.value}"
    )
