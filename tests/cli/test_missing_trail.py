"""A trail that git has and the disk has not is never replaced, and no commit loses its records."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository
from tests.unit.recording.projects import new_project
from vibes_lsp.git.missing_trail import MissingTrail
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

LOG = ".ai-audit/annotations.jsonl"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a trail of two sessions, both committed, and our hook."""
    project = new_project(tmp_path / "project", "low")
    repository = Repository(project.root)
    repository.write("src/a.py", "a = 1\n")
    for _ in range(2):
        project.session()
    project.recorder.close()
    assert vibes("init", "--git-hooks", cwd=project.root).code == 0
    repository.commit("a trail")
    return repository


@pytest.fixture
def sparse(repository: Repository, tmp_path: Path) -> Repository:
    """A sparse checkout of it, with our hook, that leaves the trail out."""
    repository.git("clone", "-q", str(repository.path), str(tmp_path / "sparse"))
    sparse = Repository(tmp_path / "sparse")
    assert vibes("init", "--git-hooks", cwd=sparse.path).code == 0
    sparse.git("sparse-checkout", "set", "src")
    assert not (sparse.path / ".ai-audit").exists()
    return sparse


def records(repository: Repository, revision: str = "HEAD") -> list[str]:
    return repository.git("show", f"{revision}:{LOG}").splitlines()


def commit(repository: Repository, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "commit", "-m", "a change", *arguments],
        cwd=repository.path,
        capture_output=True,
        text=True,
        check=False,
    )


def written(root: Path) -> bytes:
    file = root / "src/b.py"
    file.write_text("b = 1\n")
    payload = {
        "session_id": "5f0b4d34-8a1f-4e0b-a0d8-8f2f2f0f5a11",
        "cwd": str(root),
        "prompt_id": "p1",
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_use_id": "t1",
        "tool_input": {"file_path": str(file), "content": "b = 1\n"},
        "tool_response": {"type": "create", "originalFile": None, "structuredPatch": []},
    }
    return json.dumps(payload).encode()


def test_nothing_is_written_over_a_trail_that_a_sparse_checkout_leaves_out(
    sparse: Repository, run_vibes: RunVibes
) -> None:
    annotate = ("record", "annotate", "src/a.py:1-1", "--tool", "t", "--model", "m")
    for arguments in (("init",), ("log",), annotate, ("blame", "src/a.py")):
        done = run_vibes(*arguments, cwd=sparse.path)
        assert done.code == 2
        assert "sparse checkout" in done.err
        assert "git sparse-checkout add .ai-audit" in done.err
        assert "vibes init" not in done.err
    assert not (sparse.path / ".ai-audit").exists()
    doctor = run_vibes("doctor", cwd=sparse.path)
    assert doctor.code == 1
    assert "sparse checkout" in doctor.out


def test_an_agents_edit_in_a_sparse_checkout_waits_for_the_trail(
    sparse: Repository, repository: Repository, run_vibes: RunVibes
) -> None:
    before = records(repository)
    assert store_event(written(sparse.path), lambda: "/") == [str(sparse.path / ".ai-audit")]
    assert run_vibes("hook", "--wait", cwd=sparse.path).code == 2
    assert "sparse checkout" in run_vibes("doctor", cwd=sparse.path).out
    assert sparse.git("status", "--porcelain") == "?? src/b.py"
    sparse.git("add", "src/b.py")
    done = commit(sparse)
    assert done.returncode == 0
    assert "this sparse checkout leaves out" in done.stderr
    assert records(sparse) == before
    sparse.git("sparse-checkout", "disable")
    assert run_vibes("hook", "--wait", cwd=sparse.path).code == 0
    assert run_vibes("flush", cwd=sparse.path).code == 0
    lines = (sparse.path / LOG).read_text().splitlines()
    assert lines[: len(before)] == before
    assert [json.loads(line)["type"] for line in lines[len(before) :]][:2] == ["session", "line"]


def test_a_removed_folder_is_restored_and_not_made_anew(
    repository: Repository, run_vibes: RunVibes
) -> None:
    shutil.rmtree(repository.path / ".ai-audit")
    done = run_vibes("init", cwd=repository.path)
    assert done.code == 2
    assert "git checkout HEAD -- .ai-audit" in done.err
    assert run_vibes("log", cwd=repository.path / "src").code == 2
    assert not (repository.path / ".ai-audit").exists()
    repository.git("checkout", "HEAD", "--", ".ai-audit")
    assert run_vibes("init", cwd=repository.path).code == 0


def test_a_log_that_only_the_index_has_is_not_made_anew(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    project = new_project(tmp_path / "project")
    repository = Repository(project.root)
    repository.git("add", ".")
    (project.root / LOG).unlink()
    done = run_vibes("init", cwd=project.root)
    assert done.code == 2
    assert "git checkout -- .ai-audit" in done.err


def test_a_commit_without_the_trail_is_stopped(repository: Repository) -> None:
    shutil.rmtree(repository.path / ".ai-audit")
    repository.git("add", "-A")
    done = commit(repository)
    assert done.returncode == 1
    assert "git checkout HEAD -- .ai-audit" in done.stderr
    assert "git commit --no-verify" in done.stderr
    assert commit(repository, "--no-verify").returncode == 0
    repository.write("src/c.py", "c = 1\n")
    repository.git("add", "-A")
    done = commit(repository)  # the trail is gone for good
    assert (done.returncode, done.stderr) == (0, "")


def test_a_trail_that_only_the_index_lacks_is_not_taken_from_head(repository: Repository) -> None:
    with (repository.path / LOG).open("a") as log:
        log.write('{"type":"note"}\n')
    repository.git("rm", "-q", "-r", "--cached", ".ai-audit")
    done = commit(repository)
    assert done.returncode == 1
    assert "git reset -q HEAD -- .ai-audit" in done.stderr  # a checkout would lose the last record


def test_only_the_missing_file_of_a_trail_is_restored(
    repository: Repository, run_vibes: RunVibes
) -> None:
    (repository.path / ".ai-audit/manifest.json").unlink()
    done = run_vibes("init", cwd=repository.path)
    assert done.code == 2
    assert "of which the disk lacks manifest.json" in done.err
    assert "git checkout HEAD -- .ai-audit/manifest.json" in done.err


def test_the_command_that_restores_a_trail_is_one_for_any_name_of_a_folder() -> None:
    """A repository may have a folder whose name a shell would run."""
    path, files = "$(touch x) y/.ai-audit", ("annotations.jsonl", "manifest.json")
    whole = MissingTrail(path, (), is_committed=True, is_sparse=False)
    assert shlex.split(whole.restoring) == ["git", "checkout", "HEAD", "--", path]
    partial = MissingTrail(path, files, is_committed=False, is_sparse=False)
    assert shlex.split(partial.restoring)[2:] == ["--", *(f"{path}/{name}" for name in files)]
    sparse = MissingTrail(path, (), is_committed=True, is_sparse=True)
    assert shlex.split(sparse.restoring) == ["git", "sparse-checkout", "add", path]


def test_a_merge_does_not_put_back_what_the_other_side_removed(repository: Repository) -> None:
    before = records(repository)
    repository.git("checkout", "-q", "-b", "work")
    repository.write("src/a.py", "a = 2\n")
    assert commit(repository, "-a").returncode == 0
    repository.git("checkout", "-q", "-")
    (repository.path / LOG).write_text(f"{before[0]}\n")
    repository.write("src/a.py", "a = 3\n")
    assert commit(repository, "-a", "--no-verify").returncode == 0
    repository.git("checkout", "-q", "work")
    assert subprocess.run(["git", "merge", "-q", "-"], cwd=repository.path, check=False).returncode
    repository.write("src/a.py", "a = 4\n")
    assert commit(repository, "-a").returncode == 0
    assert records(repository) == before[:1]


def test_a_log_with_a_filter_is_left_alone(repository: Repository) -> None:
    repository.git("config", "filter.stored.clean", "sha256sum")
    repository.git("config", "filter.stored.smudge", "cat")
    repository.write(".gitattributes", "*.jsonl filter=stored -text\n")
    for number in range(2):
        new_project(repository.path, "low").session()
        repository.write("src/a.py", f"a = {number}\n")
        (repository.path / LOG).touch()  # else git may know that it is unchanged, and not filter it
        repository.git("add", "-A")
        content = (repository.path / LOG).read_bytes()
        done = commit(repository)
        assert (done.returncode, "put back" in done.stderr) == (0, False)
        assert len(records(repository)) == 1  # what the filter made of it
        assert (repository.path / LOG).read_bytes() == content


def test_a_trail_that_moves_with_its_project_is_not_lost(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    repository = Repository(tmp_path / "project")
    project = new_project(tmp_path / "project/one", "low")
    project.session()
    project.recorder.close()
    assert run_vibes("init", "--git-hooks", "one", cwd=repository.path).code == 0
    repository.commit("a trail")
    repository.git("mv", "one", "two")
    assert commit(repository).returncode == 0


def test_records_that_the_commit_lacks_are_put_back(repository: Repository) -> None:
    before = records(repository)
    log = repository.path / LOG
    log.write_text("".join(f"{line}\n" for line in before[1:]))
    manifest = repository.path / ".ai-audit/manifest.json"
    entries = json.loads(manifest.read_bytes())["entries"]
    repository.git("add", "-A")
    repository.write("src/a.py", "a = 2\n")
    done = commit(repository, "-a")
    assert done.returncode == 0
    assert "lacked a record of HEAD's audit trail: put back" in done.stderr
    assert set(before) <= set(records(repository))
    assert log.read_text().splitlines() == records(repository)
    assert json.loads(manifest.read_bytes())["entries"].items() >= entries.items()
    assert repository.git("status", "--porcelain") == ""


def test_a_log_that_the_index_lacks_alone_is_put_back(repository: Repository) -> None:
    before = records(repository)
    repository.git("rm", "-q", "--cached", LOG)
    (repository.path / LOG).unlink()
    repository.write("src/a.py", "a = 2\n")
    repository.git("add", "src/a.py")
    done = commit(repository)
    assert done.returncode == 0
    assert "put back" in done.stderr
    assert records(repository) == before


def test_a_commit_that_only_adds_records_says_nothing(repository: Repository) -> None:
    before = len(records(repository))
    repository.write("src/a.py", "a = 2\n")
    annotate = ("record", "annotate", "src/a.py:1-1", "--tool", "t", "--model", "m")
    assert vibes(*annotate, cwd=repository.path).code == 0
    done = commit(repository, "-a")
    assert (done.returncode, done.stderr) == (0, "")
    added = [json.loads(line)["type"] for line in records(repository)[before:]]
    assert "line" in added
