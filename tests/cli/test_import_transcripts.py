"""`vibes import transcripts`: what agents did before hooks recorded it, from their session files."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import CommandResult, vibes
from tests.cli.terminal import terminal
from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.agents.written_sessions import SESSION, WRITERS, Step, replace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

APP = """def greet(name):
    return "hello " + name


def total(values):
    result = 0
    for value in values:
        result += value
    return result
"""
NEW = "VALUE = 1\n\n\ndef made():\n    return VALUE\n"
GREETED = APP.replace('"hello " + name', "f'hi {name}'")
STEPS = (
    Step("src/new.py", None, NEW, prompt="Tidy the project."),
    replace("app.py", APP, '    return "hello " + name\n', "    return f'hi {name}'\n"),
    replace("notes.txt", "alpha\nbeta\n", "beta\n", "beta one\nbeta two\n"),
    replace("notes.txt", "alpha\n", "no such line\n", "never\n", failed=True),
    replace("app.py", GREETED, "    result = 0\n", "    result = 0.0\n"),
    replace("app.py", GREETED, "0\n", "1\n", failed=True),
    Step("sub.txt", None, "by the subagent\n", prompt="Write sub.txt.", by_child=True),
    Step("second.txt", None, "second prompt\n", prompt="One more file, please."),
)
EDITED = GREETED.replace("result = 0\n", "result = 0.0\n")
FORMATTED = EDITED.replace("f'hi {name}'", 'f"hi {name}"')


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without session files, which the programs of the test use."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a commit from before the agents' sessions."""
    made = Repository(tmp_path / "project")
    made.write("app.py", APP)
    made.write("notes.txt", "alpha\nbeta\n")
    made.commit("start")
    return made


def work(repository: Repository, agent: str, home: Path, steps: Sequence[Step] = STEPS) -> None:
    """Let an agent edit, half a minute after the first commit."""
    WRITERS[agent](home, repository.path, steps, START + timedelta(seconds=30))
    for step in steps:
        if not step.failed:
            repository.write(step.path, step.after)


def run(repository: Repository, *options: str) -> CommandResult:
    done = vibes("import", "transcripts", *options, cwd=repository.path)
    assert done.code in (0, 1), done.err  # 1: all is refused
    return done


def imported(repository: Repository, *options: str) -> Any:
    return run(repository, "--json", *options).json


def records(repository: Repository, kind: str = "line") -> list[Any]:
    file = repository.path / ".ai-audit" / "annotations.jsonl"
    return [
        each for line in file.read_text().splitlines() if (each := json.loads(line))["type"] == kind
    ]


def places(repository: Repository) -> dict[tuple[str, int, int], Any]:
    return {
        (each["file_path"], each["line_start"], each["line_end"]): each
        for each in records(repository)
    }


def entry(repository: Repository, key: str) -> Any:
    manifest = json.loads((repository.path / ".ai-audit" / "manifest.json").read_text())
    return manifest["entries"][key]


def start_trail(repository: Repository) -> None:
    assert vibes("init", "--no-git-hooks", cwd=repository.path).code == 0


@pytest.mark.parametrize("agent", WRITERS)
def test_each_edit_is_found_with_its_commit_after_a_rebase_and_a_formatter(
    agent: str, repository: Repository, home: Path
) -> None:
    repository.git("branch", "base")
    work(repository, agent, home)
    repository.git("add", "app.py", "src")
    repository.git("commit", "--quiet", "--message", "first half", date="2026-02-03T09:10:00Z")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "second half", date="2026-02-03T09:20:00Z")
    repository.write("app.py", f"import os\n\n{EDITED}")
    repository.commit("a person edits", date="2026-02-03T09:30:00Z")
    repository.write("app.py", f"import os\n\n{FORMATTED}")
    repository.commit("a formatter runs", date="2026-02-03T09:40:00Z")
    repository.git("mv", "src/new.py", "src/made.py")
    repository.commit("a file moves", date="2026-02-03T09:50:00Z")
    repository.git("switch", "--quiet", "base")
    repository.write("other.txt", "other\n")
    repository.commit("meanwhile", date="2026-02-03T10:00:00Z")
    repository.git("rebase", "--quiet", "base", "main", date="2026-02-03T11:00:00Z")
    commits = dict(
        line.split(" ", 1)[::-1] for line in repository.git("log", "--format=%H %s").splitlines()
    )
    start_trail(repository)

    preview = imported(repository, "--dry-run")
    assert records(repository) == []
    result = imported(repository)
    assert result["imported"] == preview["imported"] == 6
    assert result["refused"] == 0
    found = places(repository)
    assert {place: each["commit_hash"] for place, each in found.items()} == {
        ("src/new.py", 1, 5): commits["first half"],
        ("app.py", 2, 2): commits["first half"],
        ("app.py", 6, 6): commits["first half"],
        ("notes.txt", 2, 3): commits["second half"],
        ("sub.txt", 1, 1): commits["second half"],
        ("second.txt", 1, 1): commits["second half"],
    }
    prompts = {
        path: entry(repository, each["prompt_hash"])["prompt_text"]
        for (path, _, _), each in found.items()
    }
    assert prompts == {
        "src/new.py": "Tidy the project.",
        "app.py": "Tidy the project.",
        "notes.txt": "Tidy the project.",
        "sub.txt": "Write sub.txt.",
        "second.txt": "One more file, please.",
    }
    for each in found.values():
        assert each["imported_from"]["evidence"] == "replay"
        assert each["imported_from"]["format"] == f"{agent} session"
    models = {
        entry(repository, each["environment_hash"])["model_name"]
        for (path, _, _), each in found.items()
        if path != "sub.txt"
    }
    assert len(models) == 1
    assert models != {"unknown"}
    [delegation] = records(repository, "delegation")
    assert delegation["parent_session_id"] == found["app.py", 2, 2]["session_id"]
    assert delegation["child_session_id"] == found["sub.txt", 1, 1]["session_id"]
    checked = vibes("check", "--json", cwd=repository.path).json
    assert checked["result"] == "PASS", checked["findings"]
    blamed = vibes("blame", "app.py", "--json", cwd=repository.path).json["placements"]
    assert [each["state"] for each in blamed] == ["moved", "lost"], "one has other quotes now"


@pytest.mark.parametrize("agent", WRITERS)
def test_a_second_import_changes_nothing(agent: str, repository: Repository, home: Path) -> None:
    work(repository, agent, home)
    repository.commit("the agent's work")
    start_trail(repository)
    assert imported(repository)["imported"] == 6
    before = {
        path: path.read_bytes()
        for path in (repository.path / ".ai-audit").iterdir()
        if path.is_file()
    }
    again = imported(repository)
    assert (again["imported"], again["known"]) == (0, 6)
    assert {path: path.read_bytes() for path in before} == before


def test_edits_are_refused_by_their_reasons(repository: Repository, home: Path) -> None:
    steps = (
        replace("app.py", APP, '"hello " + name', '"hello, dear " + name'),
        replace(
            "app.py", APP.replace("hello ", "hello, dear "), '"hello, dear " + name', '"hi " + name'
        ),
        replace("notes.txt", "alpha\nbeta\n", "beta\n", ""),
        Step("draft.txt", None, "never committed\n"),
        Step("../elsewhere.txt", None, "outside\n"),
    )
    work(repository, "claude-code", home, steps)
    (repository.path / "draft.txt").unlink()
    repository.commit("the agent's work")
    start_trail(repository)
    out = run(repository).out
    assert "1 imported, 0 known, 4 refused" in out
    for reason in (
        "a later edit replaced the lines before they were committed",
        "the edit only removed lines",
        "no commit has changed the file since",
        "the file is not in the project",
    ):
        assert f"1  {reason}" in out
    assert places(repository).keys() == {("app.py", 2, 2)}


def test_what_a_person_wrote_is_not_claimed(repository: Repository, home: Path) -> None:
    work(repository, "claude-code", home, STEPS[1:2])
    person = GREETED.replace("def total", "PERSON = 1\n\n\ndef total").replace("= 0", "= 7")
    repository.write("app.py", person)
    repository.commit("both")
    start_trail(repository)
    assert imported(repository)["imported"] == 1
    assert places(repository).keys() == {("app.py", 2, 2)}
    assert records(repository)[0]["imported_from"]["evidence"] == "text"


def test_secrets_are_masked(repository: Repository, home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    work(repository, "codex", home, (Step("a.txt", None, "text\n", prompt=f"Use {secret}"),))
    repository.commit("the agent's work")
    start_trail(repository)
    assert imported(repository)["masked"] == 1
    for path in (repository.path / ".ai-audit").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


def test_what_hooks_recorded_is_known(repository: Repository, home: Path) -> None:
    work(repository, "claude-code", home, STEPS[:2])
    start_trail(repository)
    step = STEPS[1]
    payload = {
        "hook_event_name": "PostToolUse",
        "session_id": SESSION,
        "cwd": str(repository.path),
        "tool_name": "Edit",
        "tool_use_id": "toolu_1",
        "tool_input": {
            "file_path": str(repository.path / step.path),
            "old_string": step.old,
            "new_string": step.new,
        },
        "tool_response": {"originalFile": step.before, "userModified": False},
    }
    repository.write("payload.json", json.dumps(payload))
    assert record_event(repository) == 1
    (repository.path / "payload.json").unlink()
    repository.commit("the agent's work")
    result = imported(repository)
    assert (result["imported"], result["known"]) == (1, 1)
    assert {each["file_path"] for each in records(repository)} == {"app.py", "src/new.py"}


def record_event(repository: Repository) -> int:
    """Store an event as the hook does and record it; return the number of annotations."""
    from vibes_lsp.ingest.fold import fold_events
    from vibes_lsp.ingest.hook import store_event
    from vibes_lsp.store.audit_dir import find_audit_dir

    data = (repository.path / "payload.json").read_bytes()
    store_event(data, lambda: str(repository.path))
    fold_events(find_audit_dir(repository.path))
    return len(records(repository))


def test_a_moved_checkout_counts_only_when_it_is_named(
    repository: Repository, home: Path, tmp_path: Path
) -> None:
    former = tmp_path / "former"
    WRITERS["claude-code"](home, former, STEPS[:1], START + timedelta(seconds=30))
    repository.write("src/new.py", NEW)
    repository.commit("the agent's work")
    start_trail(repository)
    out = run(repository).out
    assert "0 imported" in out
    assert str(former) in out
    assert imported(repository, "--former-folder", str(former))["imported"] == 1


def test_sessions_in_another_work_tree_count(
    repository: Repository, home: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    repository.git("worktree", "add", "--quiet", str(tree))
    WRITERS["codex"](home, tree, STEPS[:1], START + timedelta(seconds=30))
    repository.write("src/new.py", NEW)
    repository.commit("the agent's work")
    start_trail(repository)
    assert imported(repository)["imported"] == 1
    assert places(repository).keys() == {("src/new.py", 1, 5)}


def test_the_agent_and_the_time_can_be_chosen(repository: Repository, home: Path) -> None:
    work(repository, "codex", home, STEPS[:1])
    work(repository, "claude-code", home, STEPS[2:3])
    repository.commit("the agents' work")
    start_trail(repository)
    assert imported(repository, "--dry-run")["imported"] == 2
    assert imported(repository, "--dry-run", "--agent", "codex")["imported"] == 1
    assert imported(repository, "--dry-run", "--since", "2026-02-04")["imported"] == 0


@pytest.mark.parametrize("odd", ["\ud800", "\0", "\x1b[31m", "a" * 5_000, "../" * 400, "\u202e"])
def test_hostile_names_and_prompts_are_refused_or_shown_as_text(
    odd: str, repository: Repository, home: Path
) -> None:
    steps = (
        Step(f"{odd}.txt", None, "text\n", prompt=f"Do {odd}"),
        Step("a.txt", None, f"text\n{odd}\n"),
        Step("good.txt", None, "good\n"),
    )
    WRITERS["claude-code"](home, repository.path, steps, START + timedelta(seconds=30))
    repository.write("good.txt", "good\n")
    repository.commit("the agent's work")
    start_trail(repository)
    shown = run(repository, "--dry-run")
    assert "\x1b" not in shown.out
    imported(repository)
    assert "good.txt" in {each["file_path"] for each in records(repository)}
    assert vibes("check", cwd=repository.path).code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_is_asked_first(repository: Repository, home: Path) -> None:
    work(repository, "codex", home, STEPS[:1])
    repository.commit("the agent's work")
    start_trail(repository)
    with terminal("import", "transcripts", cwd=repository.path, HOME=str(home)) as screen:
        assert "1 would be imported" in screen.wait_for("Import? [Y/n]")
        screen.press("n\n")
        screen.wait_for("Nothing was imported.")
        assert screen.wait_for_exit() == 0
    assert records(repository) == []
    with terminal("import", "transcripts", cwd=repository.path, HOME=str(home)) as screen:
        screen.wait_for("Import? [Y/n]")
        screen.press("\n")
        screen.wait_for("1 imported")
        assert screen.wait_for_exit() == 0
    assert len(records(repository)) == 1


def test_a_repository_without_commits_has_no_edits(tmp_path: Path, home: Path) -> None:
    empty = Repository(tmp_path / "empty")
    work(empty, "codex", home, STEPS[:1])
    start_trail(empty)
    assert "1  no commit has changed the file since" in run(empty).out


def test_broken_session_files_do_not_stop_the_others(repository: Repository, home: Path) -> None:
    work(repository, "claude-code", home, STEPS[:1])
    [file] = home.glob(".claude/projects/*/*.jsonl")
    file.write_bytes(b"\xff\n[1]\n" + file.read_bytes() + b'{"type": "user", "message"')
    database = home / ".local/share/opencode/opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"no database")
    repository.commit("the agent's work")
    start_trail(repository)
    done = run(repository)
    assert "1 imported" in done.out
    assert "3  lines cannot be read" in done.out
    assert "opencode.db cannot be read" in done.err


def commit_on_two_branches(repository: Repository, changed: str) -> tuple[str, str]:
    """Commit the same change on a branch and then, later, on main; merge them."""
    repository.git("stash", "--quiet")
    repository.switch("stable", create=True)
    repository.write("app.py", changed)
    first = repository.commit("fix it in the release", date="2026-02-03T09:10:00Z")
    repository.switch("main")
    repository.write("other.txt", "other\n")
    repository.commit("meanwhile", date="2026-02-03T09:00:10Z")
    repository.write("app.py", changed)
    second = repository.commit("fix it", date="2026-02-03T09:20:00Z")
    repository.merge("stable", date="2026-02-03T09:30:00Z")
    return first, second


def test_of_two_commits_with_the_change_the_first_after_the_edit_has_it(
    repository: Repository, home: Path
) -> None:
    work(repository, "claude-code", home, STEPS[1:2])
    first, _ = commit_on_two_branches(repository, GREETED)
    start_trail(repository)
    assert imported(repository)["imported"] == 1
    assert {each["commit_hash"] for each in records(repository)} == {first}


def test_two_edits_with_the_change_of_two_commits_are_refused(
    repository: Repository, home: Path
) -> None:
    work(repository, "claude-code", home, (STEPS[1], STEPS[1], STEPS[4]))
    commit_on_two_branches(repository, GREETED)
    repository.write("app.py", EDITED)
    later = repository.commit("the next edit", date="2026-02-03T09:40:00Z")
    start_trail(repository)
    out = run(repository).out
    assert "1 imported, 0 known, 2 refused" in out
    assert "2  two edits and two commits make the same change" in out
    assert {each["commit_hash"] for each in records(repository)} == {later}


def test_an_edit_that_is_undone_and_made_again_belongs_to_the_second_one(
    repository: Repository, home: Path
) -> None:
    work(repository, "claude-code", home, (STEPS[1], STEPS[1]))
    repository.commit("the agent's work")
    start_trail(repository)
    out = run(repository).out
    assert "1 imported, 0 known, 1 refused" in out
    assert "1  a later edit replaced the lines before they were committed" in out
    [record] = records(repository)
    assert record["imported_from"]["id"].startswith(f"{SESSION} toolu_1")


def test_lines_that_git_had_before_the_edit_are_refused(repository: Repository, home: Path) -> None:
    """The agent restores lines: recorded, they would be contradicted by git at once."""
    shorter = APP.replace("def total", "def count").replace("    result = 0\n", "")
    repository.write("app.py", shorter)
    repository.commit("a person changes it", date="2026-02-03T09:00:20Z")
    restored = shorter.replace("def count", "def total")
    steps = (
        replace("app.py", shorter, "def count", "def total"),
        replace("app.py", restored, '"hello " + name', 'f"hi {name}"'),
        Step("made.txt", None, "made\n"),
    )
    work(repository, "claude-code", home, steps)
    repository.commit("the agent's work", date="2026-02-03T09:10:00Z")
    start_trail(repository)
    preview = run(repository, "--dry-run").out
    out = run(repository).out
    assert "2 would be imported, 0 known, 1 refused" in preview
    assert "2 imported, 0 known, 1 refused" in out
    assert "1  git had the lines there before the edit" in out
    assert places(repository).keys() == {("app.py", 2, 2), ("made.txt", 1, 1)}
    blamed = vibes("blame", "app.py", "--json", cwd=repository.path).json["placements"]
    assert [each["state"] for each in blamed] == ["exact"]
    again = imported(repository)
    assert (again["imported"], again["known"], again["refused"]) == (0, 2, 1)


def test_a_session_begins_with_its_first_edit_that_is_recorded(
    repository: Repository, home: Path
) -> None:
    """Git had the second text before that, but not before the first edit, which is refused."""
    changed = APP.replace("def total", "def count")
    repository.write("app.py", changed)
    repository.commit("a person renames it", date="2026-02-03T09:00:20Z")
    texts = [f"{changed}\n\nLIMIT = 10\n", f"{changed}\n\nLIMIT = 20\n"]
    for number, text in enumerate(texts):
        repository.write("app.py", text)
        repository.commit("a person tries a limit", date=f"2026-02-03T09:00:3{number + 1}Z")
    made = texts[1].replace("def count", "def total")
    steps = (
        replace("app.py", texts[1], "def count", "def total"),
        *(replace("notes.txt", "x", "x", "y", failed=True) for _ in range(8)),
        replace("app.py", made, "LIMIT = 20", "LIMIT = 10"),
        Step("made.txt", None, "made\n"),
    )
    work(repository, "claude-code", home, steps)
    repository.commit("the agent's work", date="2026-02-03T09:10:00Z")
    start_trail(repository)
    out = run(repository).out
    assert "2  git had the lines there before the edit" in out
    assert places(repository).keys() == {("made.txt", 1, 1)}
    assert imported(repository)["refused"] == 2
