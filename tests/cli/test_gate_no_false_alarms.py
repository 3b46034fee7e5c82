"""`vibes gate --base` and `check --base` have no findings for honest branches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.gate_project import BO, GateProject, checks, decisions, use_ci_user
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

HOST = ("GitHub", "noreply@github.com")


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    """A project gated by a CI user who did not contribute to it."""
    return use_ci_user(GateProject(tmp_path / "project"))


def quiet(
    project: GateProject, run_vibes: RunVibes, folder: Path | None = None, base: str | None = None
) -> set[str]:
    """Run both commands; return the files whose annotations were gated."""
    where, name = folder or project.root, base or project.base
    done = run_vibes("gate", "--base", name, "--json", cwd=where)
    assert (done.code, done.err, done.json["result"], checks(done.json, "error", "warning")) == (
        0,
        "",
        "PASS",
        set(),
    )
    checked = run_vibes("check", "--base", name, "--json", cwd=where).json
    assert not [each for each in checked["findings"] if each["severity"] == "error"]
    return set(decisions(done.json))


def record_on_two_branches(project: GateProject) -> None:
    """Record on `side` and then on `main`, whose head becomes the base."""
    project.repository.switch("side", create=True)
    project.write("side.py", risky=False)
    project.commit("On the side")
    project.repository.switch("main")
    project.write("main.py", risky=False)
    project.base = project.commit("Meanwhile", by=BO)


def test_a_pull_request_as_a_host_merges_it(project: GateProject, run_vibes: RunVibes) -> None:
    record_on_two_branches(project)
    project.repository.git("checkout", "--quiet", "--detach", "main")
    project.repository.git("merge", "--quiet", "--no-ff", "--message", "Merge", "side", by=HOST)
    assert quiet(project, run_vibes) == {"side.py"}


def test_a_branch_that_merges_main_into_itself(project: GateProject, run_vibes: RunVibes) -> None:
    record_on_two_branches(project)
    project.repository.switch("side")
    project.repository.merge("main")
    project.write("more.py", risky=False)
    project.commit("Go on")
    assert quiet(project, run_vibes) == {"side.py", "more.py"}


def test_a_branch_whose_records_got_their_commits(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """As the hook records them, in the next commit."""
    project.write(risky=False)
    project.commit()
    project.file("b.txt", "b\n")
    project.commit("Go on")
    done = run_vibes("backfill", cwd=project.root)
    assert (done.code, done.err) == (0, "")
    project.commit("Back-fill")
    assert any(b"rebase_remap" in line for line in project.log_lines())
    assert quiet(project, run_vibes) == {"a.py"}


def test_a_branch_that_was_rebased(project: GateProject, run_vibes: RunVibes) -> None:
    project.repository.switch("side", create=True)
    project.write("side.py", risky=False)
    project.commit("On the side")
    project.repository.switch("main")
    project.file("b.txt", "b\n")
    project.base = project.commit("Meanwhile", by=BO)
    project.repository.switch("side")
    project.repository.git("rebase", "--quiet", "main")
    assert quiet(project, run_vibes) == {"side.py"}


def test_a_shallow_clone_that_has_the_base(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path
) -> None:
    project.write("old.py", risky=False)
    project.base = project.commit()
    project.write(risky=False)
    project.commit()
    Repository(tmp_path / "home").git(
        "clone", "--quiet", "--depth=2", f"file://{project.root}", str(tmp_path / "clone")
    )
    assert quiet(project, run_vibes, tmp_path / "clone") == {"a.py"}


def test_a_repository_with_line_ends_of_windows(project: GateProject, run_vibes: RunVibes) -> None:
    project.repository.git("config", "core.autocrlf", "true")
    project.write(risky=False)
    project.file("crlf.py", "x = 1\r\n")
    project.commit()
    assert quiet(project, run_vibes) == {"a.py"}


def test_a_project_in_a_folder_of_its_repository(tmp_path: Path, run_vibes: RunVibes) -> None:
    project = use_ci_user(GateProject(tmp_path / "project"))
    project.write("src/a.py", risky=False)
    project.commit()
    outer = Repository(tmp_path / "outer")
    (tmp_path / "project/.git").rename(tmp_path / "gone")
    (tmp_path / "project").rename(tmp_path / "outer/inside")
    base = outer.commit("All of it")
    log = tmp_path / "outer/inside/.ai-audit/annotations.jsonl"
    log.write_bytes(log.read_bytes() + log.read_bytes())
    outer.write("inside/b.py", "x = 1\n")
    outer.commit("More")
    assert quiet(project, run_vibes, tmp_path / "outer/inside", base) == set()


def test_what_the_base_has_of_two_records_with_one_id(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """As left by a tool that adds the commit to its records, and by a merge of both."""
    project.write("old.py", risky=False, id_variant="less-commit")
    [*others, line] = project.log_lines()
    project.write_log(
        [*others, line, line.replace(b'"commit_hash":null', b'"commit_hash":"' + b"1" * 40 + b'"')]
    )
    project.base = project.commit()
    project.write(risky=False)
    project.commit()
    assert quiet(project, run_vibes) == {"a.py"}


def test_an_entry_that_two_branches_recorded_at_different_times(
    project: GateProject, run_vibes: RunVibes
) -> None:
    manifest = project.root / ".ai-audit/manifest.json"
    project.write(risky=False)
    project.commit()
    told = json.loads(manifest.read_bytes())
    for entry in told["entries"].values():
        entry["created_at"] = "2026-02-04T00:00:00.000Z"
    manifest.write_text(json.dumps(told))
    project.commit("As a merge chose")
    assert quiet(project, run_vibes) == {"a.py"}
