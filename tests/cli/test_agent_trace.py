"""`vibes import agent-trace` and `vibes export agent-trace`, as processes in real repositories."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository
from vibes_lsp.exchange import import_agent_trace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

PERSON = "import os\n\n\ndef person():\n    return os.name\n"
AI = "def by_ai(value):\n    doubled = value * 2\n    return doubled\n"
MODEL = "anthropic/claude-opus-4-5-20251101"
AI_LINES = {"start_line": 8, "end_line": 10}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository whose second commit has lines 8 to 10 of an AI."""
    made = Repository(tmp_path / "project")
    made.write("app.py", PERSON)
    made.commit("A person writes")
    made.write("app.py", PERSON + "\n\n" + AI)
    made.commit("An AI writes")
    assert vibes("init", "--no-git-hooks", cwd=made.path).code == 0
    return made


def trace(
    repository: Repository | None,
    *ranges: dict[str, Any],
    path: str = "app.py",
    contributor: dict[str, Any] | None = None,
    url: str | None = "https://api.example.org/v1/conversations/1",
    **members: Any,
) -> dict[str, Any]:
    """Return a record of the version 0.1.0 for HEAD, recorded when it was committed."""
    conversation: dict[str, Any] = {
        "contributor": contributor or {"type": "ai", "model_id": MODEL},
        "ranges": list(ranges or [AI_LINES]),
    }
    if url is not None:
        conversation["url"] = url
    record: dict[str, Any] = {
        "version": "0.1.0",
        "id": str(uuid.uuid4()),
        "timestamp": "2026-02-03T09:01:00Z",
        "tool": {"name": "cursor", "version": "2.4.0"},
        "files": [{"path": path, "conversations": [conversation]}],
    }
    if repository is not None:
        record["vcs"] = {"type": "git", "revision": repository.head()}
    return {name: each for name, each in {**record, **members}.items() if each is not None}


def write(repository: Repository, *records: Any) -> Path:
    """Write records where the reference hook writes them, one a line."""
    lines = (each if isinstance(each, str) else json.dumps(each) for each in records)
    return repository.write(".agent-trace/traces.jsonl", "".join(f"{line}\n" for line in lines))


def imported(repository: Repository, *options: str | Path) -> Any:
    done = vibes("import", "agent-trace", *options, "--json", cwd=repository.path)
    assert done.code == 0, done.err
    return done.json


def reasons(result: Any) -> set[str]:
    return {each["reason"] for each in result["records"] if each["outcome"] == "refused"}


@pytest.mark.parametrize("model", ["none", "none/none", " none "])
def test_no_record_becomes_a_persons(repository: Repository, model: str) -> None:
    write(repository, trace(repository, contributor={"type": "ai", "model_id": model}))
    assert imported(repository)["imported"] == 1
    assert "a person" not in vibes("log", cwd=repository.path).out


def blame(repository: Repository, path: str = "app.py") -> Any:
    done = vibes("blame", path, "--json", cwd=repository.path)
    assert done.code == 0, done.err
    return done.json


def ai_lines(repository: Repository, path: str = "app.py") -> list[int]:
    return [each["line"] for each in blame(repository, path)["lines"] if each["kind"] == "ai"]


def exported(repository: Repository) -> list[Any]:
    done = vibes("export", "agent-trace", cwd=repository.path)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.lines if line]


def sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_range_is_placed_in_its_revision(repository: Repository) -> None:
    write(repository, trace(repository))
    revision = repository.head()
    repository.write("app.py", "# two\n# lines above\n" + PERSON + "\n\n" + AI)
    repository.commit("Somebody adds lines above")
    result = imported(repository)
    assert (result["imported"], result["unverified"], result["refused"]) == (1, 0, 0)
    [placement] = blame(repository)["placements"]
    assert (placement["lineStart"], placement["lineEnd"], placement["state"]) == (10, 12, "moved")
    assert placement["commitHash"] == revision
    assert placement["tool"] == {"name": "cursor", "version": "2.4.0"}
    assert placement["model"]["name"] == "claude-opus-4-5"
    assert placement["model"]["version"] == "20251101"
    assert ai_lines(repository) == [10, 11, 12]
    assert vibes("check", cwd=repository.path).code == 0


def test_a_second_import_changes_nothing(repository: Repository) -> None:
    write(repository, trace(repository), trace(None, id="unplaced", path="gone.py"))
    first = imported(repository)
    assert (first["imported"], first["unverified"]) == (2, 1)
    log = (repository.path / ".ai-audit" / "annotations.jsonl").read_bytes()
    again = imported(repository)
    assert (again["imported"], again["known"]) == (0, 2)
    assert (repository.path / ".ai-audit" / "annotations.jsonl").read_bytes() == log


def test_a_preview_writes_nothing(repository: Repository) -> None:
    write(repository, trace(repository))
    done = vibes("import", "agent-trace", "--dry-run", cwd=repository.path)
    assert "app.py:8-10" in done.out
    assert "1 would be imported, 0 known, 0 refused" in done.lines
    assert not (repository.path / ".ai-audit" / "annotations.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("contributor", "reason"),
    [
        ({"type": "human"}, "a person wrote these lines"),
        ({"type": "mixed", "model_id": MODEL}, "a person and an AI wrote these lines"),
        ({"type": "unknown"}, "the author of these lines is unknown"),
        ({"type": "alien"}, "the author of these lines is unknown"),
    ],
)
def test_only_lines_of_an_ai_are_imported(
    repository: Repository, contributor: dict[str, Any], reason: str
) -> None:
    own = {"start_line": 9, "end_line": 9, "contributor": {"type": "ai"}}
    write(
        repository,
        trace(repository, {"start_line": 8, "end_line": 8}, own, contributor=contributor),
    )
    result = imported(repository)
    assert reasons(result) == {reason}
    assert ai_lines(repository) == [9]


def test_lines_that_the_revision_did_not_introduce_are_refused(repository: Repository) -> None:
    write(repository, trace(repository, {"start_line": 4, "end_line": 10}))
    result = imported(repository)
    assert reasons(result) == {"the commit did not change these lines"}
    assert set(ai_lines(repository)) <= {6, 7, 8, 9, 10}


def test_the_commit_before_the_edit_is_no_proof(repository: Repository) -> None:
    """The reference hook writes HEAD as the revision, when the edit is in no commit yet."""
    reference = trace(repository, version="1.0", tool={"name": "claude-code"})
    earlier = {"start_line": 4, "end_line": 5}
    late = trace(repository, earlier, timestamp="2026-02-03T10:30:00Z")
    write(repository, reference, late)
    repository.write("app.py", PERSON + "\n\n# the edit\n# of the agent\n\n" + AI)
    repository.commit("The agent's edit", date="2026-02-03T10:31:00Z")
    result = imported(repository)
    assert (result["imported"], result["unverified"]) == (2, 2)
    assert ai_lines(repository) == []
    kinds = {each["kind"] for each in blame(repository)["lines"]}
    assert kinds <= {"claimed", "human"}


def test_a_content_hash_finds_the_commit_of_an_uncommitted_edit(repository: Repository) -> None:
    digest = {"content_hash": sha256("# the edit\n# of the agent")}
    wrong_place = {"start_line": 1, "end_line": 2, **digest}
    write(repository, trace(repository, wrong_place, timestamp="2026-02-03T10:30:00Z"))
    repository.write("app.py", PERSON + "\n\n# the edit\n# of the agent\n\n" + AI)
    commit = repository.commit("The agent's edit", date="2026-02-03T10:31:00Z")
    result = imported(repository)
    assert (result["imported"], result["unverified"]) == (1, 0)
    [placement] = blame(repository)["placements"]
    assert placement["commitHash"] == commit
    assert ai_lines(repository) == [8, 9]


def test_a_content_hash_finds_an_edit_that_is_in_no_commit(repository: Repository) -> None:
    digest = {"content_hash": sha256("# the edit\n# of the agent\n")}
    write(repository, trace(None, {"start_line": 8, "end_line": 9, **digest}))
    repository.write("app.py", PERSON + "\n\n# the edit\n# of the agent\n\n" + AI)
    assert imported(repository)["unverified"] == 0
    assert ai_lines(repository) == [8, 9]


def test_a_hash_that_no_version_has_proves_nothing(repository: Repository) -> None:
    write(repository, trace(repository, {**AI_LINES, "content_hash": sha256("other text")}))
    assert imported(repository)["unverified"] == 1
    assert ai_lines(repository) == []


def test_a_hash_of_an_unknown_algorithm_is_kept_and_not_compared(repository: Repository) -> None:
    write(repository, trace(repository, {**AI_LINES, "content_hash": "murmur3:9f2e8a1b"}))
    assert imported(repository)["unverified"] == 0
    [record] = exported(repository)
    [conversation] = record["files"][0]["conversations"]
    assert conversation["ranges"] == [{**AI_LINES, "content_hash": "murmur3:9f2e8a1b"}]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("{", "this is not a JSON object"),
        ("[1, 2]", "this is not a JSON object"),
        (trace(None, version="2.0.0"), "the version is not 0.1"),
        (trace(None, timestamp="yesterday"), "the record has no valid timestamp"),
        (trace(None, files=7), "the record has no files"),
        (trace(None, {"start_line": 0, "end_line": 3}), "the range has no valid lines"),
        (trace(None, {"start_line": 3, "end_line": 1}), "the range has no valid lines"),
        (trace(None, {"start_line": 1.5, "end_line": "2"}), "the range has no valid lines"),
        (trace(None, {"start_line": 1, "end_line": 10**12}), "the range has no valid lines"),
        (trace(None, path="../outside.py"), "the file is not in the project"),
        (trace(None, path="/etc/passwd"), "the file is not in the project"),
        (trace(None, path=".git/config"), "the file is not in the project"),
        (trace(None, path=".ai-audit/config.json"), "the file is not in the project"),
        (trace(None, path=".sessions", version="1.0"), "the record is about no file"),
        (trace(None, path=".shell-history", version="1.0"), "the record is about no file"),
        (
            trace(None, {"start_line": 1, "end_line": 1}, version="1.0"),
            "the tool did not know the lines",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(
    repository: Repository, record: Any, reason: str
) -> None:
    write(repository, trace(repository), record)
    result = imported(repository)
    assert result["imported"] == 1
    assert reasons(result) == {reason}


def test_the_lines_of_all_ranges_are_bounded(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, run_vibes: RunVibes
) -> None:
    monkeypatch.setattr(import_agent_trace, "_MAX_LINES", 5)
    lines = {"start_line": 1, "end_line": 3}
    write(repository, trace(None, lines), trace(None, lines, path="other.py"))
    result = run_vibes("import", "agent-trace", "--json", cwd=repository.path).json
    assert (result["imported"], result["refused"]) == (1, 1)
    assert reasons(result) == {"the ranges before it have too many lines"}


def test_an_import_that_is_refused_as_a_whole_exits_with_1(repository: Repository) -> None:
    nothing = write(repository, {"no": "record"})
    for more in ([], ["--dry-run"], ["--json"]):
        done = vibes("import", "agent-trace", *more, cwd=repository.path)
        assert (done.code, done.err) == (1, "")
    nothing.unlink()
    write(repository, trace(repository), {"no": "record"})
    for count in ("1 imported, 0 known, 1 refused", "0 imported, 1 known, 1 refused"):
        done = vibes("import", "agent-trace", cwd=repository.path)
        assert (done.code, done.lines[0]) == (0, count)


def test_absolute_paths_inside_the_project_are_read(repository: Repository) -> None:
    write(repository, trace(repository, path=str(repository.path / "app.py")))
    imported(repository)
    assert ai_lines(repository) == [8, 9, 10]


def test_one_document_with_several_records_is_read(repository: Repository) -> None:
    other = trace(repository, {"start_line": 9, "end_line": 9})
    document = json.dumps([trace(repository, {"start_line": 8, "end_line": 8}), other], indent=2)
    file = repository.write("traces.json", document)
    assert imported(repository, file)["imported"] == 2


def test_a_missing_file_is_an_error(repository: Repository) -> None:
    done = vibes("import", "agent-trace", "absent.jsonl", cwd=repository.path)
    assert done.code == 2
    assert "absent.jsonl does not exist" in done.err


def test_secrets_are_masked(repository: Repository) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
    write(repository, trace(repository, metadata={"command": f"curl -H 'Authorization: {key}'"}))
    assert imported(repository)["masked"] >= 1
    assert key not in (repository.path / ".ai-audit" / "annotations.jsonl").read_text()


def record_edit(repository: Repository, text: str, start: int, end: int) -> None:
    """Record an edit of our own with a prompt, before it is committed."""
    repository.write("own.py", text)
    request = {
        "file": "own.py",
        "lineStart": start,
        "lineEnd": end,
        "action": "create",
        "tool": {"name": "Own Tool", "version": "1.2"},
        "model": {"name": "gpt-5.1-codex", "version": "unknown"},
        "prompt": {"text": "Write it.", "type": "user_instruction"},
    }
    given = repository.path.parent / "request.json"
    given.write_text(json.dumps(request))
    assert vibes("record", "annotate", "--input", given, cwd=repository.path).code == 0


def test_own_annotations_are_exported_with_their_commit(repository: Repository) -> None:
    record_edit(repository, "one = 1\ntwo = 2\n", 1, 2)
    [before] = exported(repository)
    assert "vcs" not in before
    commit = repository.commit("With the trail", date="2030-01-01T00:00:00Z")
    [record] = exported(repository)
    assert record["id"] == before["id"]
    assert record["vcs"] == {"type": "git", "revision": commit}
    assert record["version"] == "0.1.0"
    assert record["tool"] == {"name": "Own Tool", "version": "1.2"}
    [file] = record["files"]
    assert file == {
        "path": "own.py",
        "conversations": [
            {
                "contributor": {"type": "ai", "model_id": "openai/gpt-5.1-codex"},
                "ranges": [
                    {
                        "start_line": 1,
                        "end_line": 2,
                        "content_hash": sha256("one = 1\ntwo = 2"),
                    }
                ],
            }
        ],
    }
    assert record["metadata"]["vibes"]["prompt"]["text"] == "Write it."


def test_lines_that_a_person_edited_before_the_commit_are_mixed(repository: Repository) -> None:
    record_edit(repository, "one = 1\ntwo = 2\nthree = 3\nfour = 4\n", 1, 4)
    repository.write("own.py", "one = 1\ntwo = 22\nthree = 3\nfour = 4\n")
    repository.commit("Edited by a person", date="2030-01-01T00:00:00Z")
    [record] = exported(repository)
    [conversation] = record["files"][0]["conversations"]
    assert conversation["contributor"]["type"] == "mixed"


def test_an_export_can_be_imported_elsewhere(repository: Repository, tmp_path: Path) -> None:
    record_edit(repository, "one = 1\ntwo = 2\n", 1, 2)
    repository.commit("With the trail", date="2030-01-01T00:00:00Z")
    assert vibes("export", "agent-trace", tmp_path / "t.jsonl", cwd=repository.path).code == 0
    repository.git("rm", "-r", "--quiet", ".ai-audit")
    repository.commit("Without a trail", date="2030-01-02T00:00:00Z")
    assert vibes("init", "--no-git-hooks", cwd=repository.path).code == 0
    assert imported(repository, tmp_path / "t.jsonl")["imported"] == 1
    [placement] = blame(repository, "own.py")["placements"]
    assert placement["prompt"] == "Write it."
    assert ai_lines(repository, "own.py") == [1, 2]


def test_our_own_export_is_known(repository: Repository, tmp_path: Path) -> None:
    record_edit(repository, "one = 1\ntwo = 2\n", 1, 2)
    repository.commit("With the trail", date="2030-01-01T00:00:00Z")
    assert vibes("export", "agent-trace", tmp_path / "t.jsonl", cwd=repository.path).code == 0
    result = imported(repository, tmp_path / "t.jsonl")
    assert (result["imported"], result["known"]) == (0, 1)


def test_an_export_keeps_the_records_of_other_tools(repository: Repository) -> None:
    foreign = '{"id": "x",  "version": "0.1.0", "files": [], "timestamp": "2026-01-01T00:00:00Z"}'
    file = write(repository, foreign, trace(repository))
    before = file.read_bytes()
    imported(repository)
    record_edit(repository, "one = 1\ntwo = 2\n", 1, 2)
    for _ in range(2):
        done = vibes("export", "agent-trace", ".agent-trace/traces.jsonl", cwd=repository.path)
        assert done.code == 0, done.err
        assert file.read_bytes().startswith(before)
        assert len(file.read_bytes().splitlines()) == 3


def test_an_export_splits_no_record_at_a_lone_carriage_return(repository: Repository) -> None:
    foreign = b'{"id": "x",\r"version": "0.1.0",\r"files": []}\r\n'
    file = write(repository)
    file.write_bytes(foreign)
    record_edit(repository, "one = 1\ntwo = 2\n", 1, 2)
    for _ in range(2):
        done = vibes("export", "agent-trace", ".agent-trace/traces.jsonl", cwd=repository.path)
        assert done.code == 0, done.err
        assert file.read_bytes().startswith(foreign)
        assert file.read_bytes().count(b"\n") == 2


def test_an_export_never_overwrites_a_file_that_it_cannot_read(repository: Repository) -> None:
    record_edit(repository, "one = 1\ntwo = 2\n", 1, 2)
    file = repository.write("notes.txt", "remember the milk\n")
    done = vibes("export", "agent-trace", "notes.txt", cwd=repository.path)
    assert done.code == 2
    assert "notes.txt:1 is not an agent-trace record" in done.err
    assert file.read_text() == "remember the milk\n"


def test_the_folder_of_a_trail_or_a_format_is_required(repository: Repository) -> None:
    assert vibes("export", cwd=repository.path).code == 2
    both = vibes("export", "--current", "new", "agent-trace", cwd=repository.path)
    assert both.code == 2
    assert "not both" in both.err
    before = vibes("export", "--json", "agent-trace", cwd=repository.path)
    assert before.code == 2
    assert "give --json after agent-trace" in before.err
