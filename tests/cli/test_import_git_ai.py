"""`vibes import git-ai`: the lines that notes attest, in real repositories; never a person's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import CommandResult, vibes
from tests.git_ai_notes import CLAUDE, CODEX, REF, attach, human_key, note, session_key
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

PERSON = "import os\n\n\ndef person():\n    return os.name\n"
AI = "def by_ai(value):\n    doubled = value * 2\n    return doubled\n"
MORE = "def by_codex(one, other):\n    return (one, other)\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository whose second commit has lines of a person and of an AI, with a note."""
    made = Repository(tmp_path / "project")
    made.write("app.py", PERSON)
    made.commit("A person writes")
    made.write("app.py", PERSON + "\n\n" + AI)
    commit = made.commit("An AI writes")
    attach(made, commit, note(commit, {"app.py": [(session_key(CLAUDE), "8-10")]}))
    assert vibes("init", "--no-git-hooks", cwd=made.path).code == 0
    return made


def imported(repository: Repository, *options: str) -> Any:
    done = vibes("import", "git-ai", "--json", *options, cwd=repository.path)
    found = done.json
    is_refused = found["refused"] and not found["imported"] and not found["known"]
    assert done.code == (1 if is_refused else 0), done.err
    return found


def ai_lines(repository: Repository, path: str = "app.py") -> list[int]:
    """Return the lines that are shown as an AI's, verified."""
    lines = blame(repository, path)["lines"]
    return [each["line"] for each in lines if each["kind"] == "ai"]


def blame(repository: Repository, path: str = "app.py") -> Any:
    done = vibes("blame", path, "--json", cwd=repository.path)
    assert done.code == 0, done.err
    return done.json


def log(repository: Repository) -> list[Any]:
    file = repository.path / ".ai-audit" / "annotations.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_attested_lines_are_imported_with_tool_model_session_and_commit(
    repository: Repository,
) -> None:
    result = imported(repository)
    assert (result["imported"], result["known"], result["refused"]) == (1, 0, 0)
    [placement] = blame(repository)["placements"]
    assert (placement["lineStart"], placement["lineEnd"], placement["state"]) == (8, 10, "exact")
    assert placement["tool"] == {"name": "Claude Code", "version": "unknown"}
    assert placement["model"]["name"] == "claude-sonnet-4-5"
    assert placement["commitHash"] == repository.head()
    assert placement["importedFrom"] == {
        "format": "git-ai",
        "id": session_key(CLAUDE),
        "evidence": "revision",
    }
    assert ai_lines(repository) == [8, 9, 10]
    [record] = [each for each in log(repository) if each["type"] == "line"]
    assert record["imported_from"] == {
        "format": "git-ai",
        "id": session_key(CLAUDE),
        "evidence": "revision",
    }
    checked = vibes("check", "--json", cwd=repository.path).json
    assert checked["result"] == "PASS", checked["findings"]
    assert {each["check"] for each in checked["findings"]} == {"level-below-policy"}


def test_a_preview_names_every_record_and_writes_nothing(repository: Repository) -> None:
    before = {path: path.read_bytes() for path in repository.path.rglob(".ai-audit/*.json*")}
    done = vibes("import", "git-ai", "--dry-run", cwd=repository.path)
    assert done.code == 0, done.err
    assert "app.py:8-10" in done.out
    assert "1 would be imported, 0 known, 0 refused" in done.lines
    after = {path: path.read_bytes() for path in repository.path.rglob(".ai-audit/*.json*")}
    assert after == before


def test_a_second_import_changes_nothing(repository: Repository) -> None:
    imported(repository)
    before = log(repository)
    again = imported(repository)
    assert (again["imported"], again["known"]) == (0, 1)
    assert log(repository) == before


def test_two_clones_write_the_same_records(repository: Repository, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", str(repository.path), str(clone))
    other = Repository(clone)
    other.git("fetch", "--quiet", "origin", f"{REF}:{REF}")
    assert vibes("init", "--no-git-hooks", cwd=clone).code == 0
    imported(repository)
    imported(other)
    assert log(other) == log(repository)


def rebased(repository: Repository) -> None:
    """Rebase the last commit onto one that adds lines above, as git-ai then moves its note."""
    old = repository.head()
    repository.git("branch", "work")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.write("app.py", "# a title\n# and another line\n" + PERSON)
    repository.commit("Somebody else's lines above")
    repository.switch("work")
    repository.git("rebase", "--quiet", "main")
    commit = repository.head()
    attach(repository, commit, note(commit, {"app.py": [(session_key(CLAUDE), "10-12")]}))
    repository.git("notes", "--ref", REF, "remove", old)


def test_notes_on_rebased_commits_have_the_right_ranges(repository: Repository) -> None:
    rebased(repository)
    imported(repository)
    assert ai_lines(repository) == [10, 11, 12]


def test_an_import_after_the_rebase_adds_nothing(repository: Repository) -> None:
    imported(repository)
    rebased(repository)
    again = imported(repository)
    assert (again["imported"], again["known"]) == (0, 1)
    assert ai_lines(repository) == [10, 11, 12]


def test_a_squash_keeps_the_lines_of_each_session(repository: Repository) -> None:
    repository.write("app.py", PERSON + "\n\n" + AI + "\n\n" + MORE)
    repository.commit("Another AI writes")
    repository.git("reset", "--quiet", "--soft", "HEAD~2")
    commit = repository.commit("Squashed")
    files = {"app.py": [(session_key(CLAUDE), "8-10"), (session_key(CODEX), "13-14")]}
    attach(repository, commit, note(commit, files))
    result = imported(repository)
    assert result["imported"] == 2
    owners = {
        (each["lineStart"], each["lineEnd"]): each["tool"]["name"]
        for each in blame(repository)["placements"]
    }
    assert owners == {(8, 10): "Claude Code", (13, 14): "Codex"}
    reasons = {each["reason"] for each in result["records"] if each["outcome"] == "refused"}
    assert reasons == {"the commit of the note is not in the history of HEAD"}


def test_an_amended_commit_is_imported_once(repository: Repository) -> None:
    imported(repository)
    repository.write("app.py", PERSON + "\n\n" + AI + "\n# a person's line\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--amend", "--message", "Amended")
    commit = repository.head()
    attach(repository, commit, note(commit, {"app.py": [(session_key(CLAUDE), "8-10")]}))
    assert imported(repository)["imported"] == 0
    assert ai_lines(repository) == [8, 9, 10]


def test_a_renamed_file_keeps_only_the_lines_of_its_commit(repository: Repository) -> None:
    repository.git("mv", "app.py", "renamed file.py")
    repository.write("renamed file.py", PERSON + "\n\n" + AI + "\n\n" + MORE)
    commit = repository.commit("Rename and extend")
    files = {"renamed file.py": [(session_key(CODEX), "1-14")]}  # claims lines of others
    attach(repository, commit, note(commit, files))
    result = imported(repository)
    assert ai_lines(repository, "renamed file.py") == [8, 9, 10, 11, 12, 13, 14]
    owners = {
        each["tool"]["name"]: each for each in blame(repository, "renamed file.py")["placements"]
    }
    assert (owners["Claude Code"]["lineStart"], owners["Claude Code"]["lineEnd"]) == (8, 10)
    refused = [each for each in result["records"] if each["outcome"] == "refused"]
    assert {each["reason"] for each in refused} == {"the commit did not change these lines"}


def test_a_line_that_the_commit_did_not_change_is_never_imported(repository: Repository) -> None:
    commit = repository.head()
    attach(repository, commit, note(commit, {"app.py": [(session_key(CLAUDE), "1-10")]}))
    imported(repository)
    assert set(ai_lines(repository)) <= {6, 7, 8, 9, 10}


def test_a_persons_lines_are_never_imported(repository: Repository) -> None:
    commit = repository.head()
    person = human_key("Ada <ada@example.org>")
    files = {"app.py": [(person, "9"), (session_key(CLAUDE), "8-10")]}
    attach(repository, commit, note(commit, files))
    imported(repository)
    assert ai_lines(repository) == [8, 10]


def test_lines_that_are_recorded_already_are_not_imported(repository: Repository) -> None:
    repository.write("app.py", PERSON + "\n\n" + AI + "\n\n" + MORE)
    request = {
        "file": "app.py",
        "lineStart": 14,
        "lineEnd": 14,
        "action": "create",
        "tool": {"name": "Own Tool", "version": "1"},
        "model": {"name": "own-model", "version": "1"},
    }
    given = repository.path.parent / "request.json"
    given.write_text(json.dumps(request))
    assert vibes("record", "annotate", "--input", given, cwd=repository.path).code == 0
    commit = repository.commit("More", date="2030-01-01T00:00:00Z")
    attach(repository, commit, note(commit, {"app.py": [(session_key(CODEX), "13-14")]}))
    result = imported(repository)
    [known] = [each for each in result["records"] if each["outcome"] == "known"]
    assert (known["lineStart"], known["lineEnd"]) == (14, 14)
    owners = {each["tool"]["name"]: each for each in blame(repository)["placements"]}
    assert (owners["Own Tool"]["lineStart"], owners["Own Tool"]["state"]) == (14, "exact")
    assert (owners["Codex"]["lineStart"], owners["Codex"]["lineEnd"]) == (13, 13)


def test_old_logs_have_prompts(repository: Repository) -> None:
    commit = repository.head()
    key = "abcd1234abcd1234"
    prompts = {
        key: {
            "agent_id": {"tool": "cursor", "id": "old", "model": "gpt-4"},
            "messages": [
                {"type": "user", "text": "Double the value."},
                {"type": "assistant", "text": "Done."},
            ],
            "messages_url": "https://example.org/transcripts/1",
        }
    }
    text = note(commit, {"app.py": [(key, "8-10")]}, agents=(), prompts=prompts)
    attach(repository, commit, text)
    assert vibes("import", "git-ai", cwd=repository.path).code == 0
    [placement] = blame(repository)["placements"]
    assert placement["prompt"] == "Double the value."
    assert placement["tool"]["name"] == "Cursor"


GOOD = "0" * 40


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"\n", "the note has no divider '---'"),
        (b"app.py\n  x 1\n", "the note has no divider '---'"),
        (b"app.py\n  x 1\n---\n{", "the metadata of the note is not a JSON object"),
        (b"app.py\n  x 1\n---\n[]", "the metadata of the note is not a JSON object"),
        (b"\xff\xfe\n---\n{}", "the version of the note is not authorship/3"),
        (
            b'app.py\n  x 1\n---\n{"schema_version": "authorship/4.0.0"}',
            "the version of the note is not authorship/3",
        ),
        (
            note(GOOD, {"../outside.py": [(session_key(CLAUDE), "1")]}),
            "the file is not in the project",
        ),
        (
            note(GOOD, {"/etc/passwd": [(session_key(CLAUDE), "1")]}),
            "the file is not in the project",
        ),
        (
            note(GOOD, {".git/config": [(session_key(CLAUDE), "1")]}),
            "the commit does not have the file",
        ),
        (
            note(GOOD, {"absent.py": [(session_key(CLAUDE), "1")]}),
            "the commit does not have the file",
        ),
        (
            note(GOOD, {"app.py": [(session_key(CLAUDE), "11-999999999")]}),
            "the note is about another version of the file",
        ),
        (
            note(GOOD, {"app.py": [(session_key(CLAUDE), "8-10")]}, agents=()),
            "the note does not describe the session",
        ),
        (
            note(GOOD, {"app.py": [(session_key(CLAUDE), "0-3"), (session_key(CLAUDE), "5-1")]}),
            "a line of the note cannot be read",
        ),
        (
            note(GOOD, {"app.py": [(session_key(CLAUDE), "1,4-5")]}),
            "the commit did not change these lines",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(
    repository: Repository, broken: str | bytes, reason: str
) -> None:
    attach(repository, repository.head(), broken)
    result = imported(repository)
    assert result["imported"] == 0
    assert reason in {each["reason"] for each in result["records"]}
    assert ai_lines(repository) == []


def test_names_in_notes_cannot_break_a_record(repository: Repository) -> None:
    commit = repository.head()
    agent = (
        "tool\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
        "c" * 9_999,
        "m" * 99_999,
    )
    attach(
        repository, commit, note(commit, {"app.py": [(session_key(agent), "8-10")]}, agents=[agent])
    )
    assert imported(repository)["imported"] == 1
    assert vibes("check", cwd=repository.path).code == 0


def test_without_notes_the_reason_is_said(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    made.write("a.py", "pass\n")
    made.commit("First")
    assert vibes("init", "--no-git-hooks", cwd=tmp_path).code == 0
    done: CommandResult = vibes("import", "git-ai", cwd=tmp_path)
    assert done.code == 2
    assert "there are no notes in refs/notes/ai" in done.err


def test_blame_lists_notes_of_lines_without_an_annotation(repository: Repository) -> None:
    repository.write("app.py", "# above\n" + PERSON + "\n\n" + AI)
    repository.commit("A line above")
    done = vibes("blame", "app.py", "--notes", cwd=repository.path)
    commit = repository.git("rev-parse", "HEAD~1")
    assert done.lines[-1] == (
        "git-ai: Claude Code · claude-sonnet-4-5-20250514: "
        f"lines 9-11; note of {commit[:8]}, not recorded here"
    )
    assert "git-ai" not in vibes("blame", "app.py", cwd=repository.path).out
    shown = vibes("blame", "app.py", "--notes", "--json", cwd=repository.path).json
    assert shown["lines"] == []
    assert shown["notes"] == [
        {
            "lineStart": 9,
            "lineEnd": 11,
            "tool": "Claude Code",
            "model": "claude-sonnet-4-5-20250514",
            "conversation": "conv-1",
            "commit": commit,
        }
    ]
    imported(repository)
    assert vibes("blame", "app.py", "--notes", "--json", cwd=repository.path).json["notes"] == []
