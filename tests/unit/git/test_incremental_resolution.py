"""A `CommitResolver` kept while history grows: same results, with no more reading than needed."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trails import Repository, TrailWriter
from tests.trails.repository import START
from tests.unit.git.repositories import commits_by_log, commits_by_path, open_git
from tests.unit.trail.trails import ENVIRONMENT, read_trail
from vibes_lsp.git.commit_resolution import CommitMethod, CommitResolver
from vibes_lsp.trail.lineage_commits import resolve_commits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Project:
    """A repository with a trail and a kept `CommitResolver`."""

    def __init__(self, path: Path) -> None:
        self.repository = Repository(path)
        self.writer = TrailWriter(path)
        self.writer.housekeeping()
        self.git = open_git(self.repository)
        self.kept = CommitResolver(self.git, path, self.writer.files.log)
        self.ids: list[str] = []

    def edit(self, path: str, text: str) -> str:
        """Write a file and annotate it."""
        self.repository.write(path, text)
        self.ids.append(self.writer.line(path, 1, 1, environment=ENVIRONMENT))
        return self.ids[-1]

    def check(self, paths: Sequence[str]) -> None:
        """Compare all results with those of a new resolver."""
        assert self.kept.by_log(self.ids) == commits_by_log(
            self.git, self.writer.files.log, self.ids
        )
        moments = {
            path: [START + timedelta(minutes=minute) for minute in range(0, 30, 3)]
            for path in paths
        }
        assert self.kept.by_path(moments) == commits_by_path(
            self.git, self.repository.path, moments
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of each git process that reads history."""
    commands: list[list[str]] = []
    popen = subprocess.Popen

    def start(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
        if "log" in arguments or "rev-list" in arguments:
            commands.append(arguments)
        return popen(arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    return commands


def test_the_log_is_read_once_while_head_stays(project: Project, commands: list[list[str]]) -> None:
    one = project.edit("a.py", "1\n")
    commit = project.repository.commit("One")
    pending = project.edit("b.py", "1\n")
    first = project.kept.by_log([one, pending])
    assert {identifier: found.commit for identifier, found in first.items()} == {one: commit}
    commands.clear()
    later = project.edit("a.py", "2\n")
    assert project.kept.by_log([one, pending, later, "none"]) == first
    assert not commands


def test_a_log_that_only_grew_is_not_compared_by_git(
    project: Project, commands: list[list[str]]
) -> None:
    for number in range(3):
        project.edit("a.py", f"{number}\n")
        project.repository.commit("One more")
    found = project.kept.by_log(project.ids)
    assert len({resolved.commit for resolved in found.values()}) == 3
    assert not [arguments for arguments in commands if "-p" in arguments]
    log = project.writer.files.log
    log.write_bytes(b"{}\n" + log.read_bytes())
    rewritten = project.repository.commit("Rewritten")
    assert project.kept.by_log(project.ids) == found, rewritten
    assert [arguments for arguments in commands if "-p" in arguments]


def test_switching_branches_and_back(project: Project) -> None:
    project.repository.commit("Start")
    project.repository.switch("topic", create=True)
    theirs = project.edit("a.py", "of the topic\n")
    topic = project.repository.commit("Topic")
    asked = {"a.py": [START]}
    on_topic = project.kept.by_log([theirs]), project.kept.by_path(asked)
    assert on_topic[0][theirs].commit == on_topic[1]["a.py", START].commit == topic
    project.repository.switch("main")
    assert (project.kept.by_log([theirs]), project.kept.by_path(asked)) == ({}, {})
    project.repository.switch("topic")
    assert (project.kept.by_log([theirs]), project.kept.by_path(asked)) == on_topic


def test_the_records_of_an_amended_commit_belong_to_the_new_commit(project: Project) -> None:
    one = project.edit("a.py", "1\n")
    before = project.repository.commit("One")
    assert project.kept.by_log([one])[one].commit == before
    project.repository.git(
        "commit", "--quiet", "--amend", "--message", "Reworded", date="2026-03-01T00:00:00+00:00"
    )
    assert project.kept.by_log([one])[one].commit == project.repository.head() != before
    project.repository.git("reflog", "expire", "--expire=now", "--all")
    project.repository.git("gc", "--quiet", "--prune=now")
    two = project.edit("a.py", "2\n")
    after = project.repository.commit("Two, and what was read last is gone")
    assert project.kept.by_log([two])[two].commit == after
    project.check(["a.py"])


def test_nothing_is_kept_before_the_first_commit(
    project: Project,
) -> None:
    one = project.edit("a.py", "1\n")
    assert not project.kept.by_log([one])
    assert not project.kept.by_path({"a.py": [START]})
    commit = project.repository.commit("One")
    assert project.kept.by_log([one])[one].commit == commit
    assert project.kept.by_path({"a.py": [START]})["a.py", START].commit == commit


@pytest.mark.parametrize(
    "path", ["../a.py", "/etc/passwd", "C:\\a.py", "a\0b", "\ud800", "", ".", "*", "x/../../a.py"]
)
def test_an_untrackable_path_does_not_affect_others(project: Project, path: str) -> None:
    project.repository.write("a.py", "1\n")
    commit = project.repository.commit("One")
    found = project.kept.by_path({path: [START], "a.py": [START]})
    assert {path: each.commit for (path, _), each in found.items()} == {"a.py": commit}


def test_more_files_than_a_command_line_holds(project: Project) -> None:
    names = [f"{'long name ' * 20}{number}.py" for number in range(300)]
    for name in names[::2]:
        project.repository.write(name, name)
    commit = project.repository.commit("One")
    found = project.kept.by_path({name: [START] for name in names})
    assert {path: each.commit for (path, _), each in found.items()} == dict.fromkeys(
        names[::2], commit
    )


def test_lineages_are_resolved_from_kept_results(
    project: Project, commands: list[list[str]]
) -> None:
    one = project.edit("a.py", "1\n")
    commit = project.repository.commit("One")
    for _ in range(3):
        found = resolve_commits(read_trail(project.writer.root).lineages(), project.kept)
        assert {identifier: (each.commit, each.method) for identifier, each in found.items()} == {
            one: (commit, CommitMethod.LOG)
        }
    assert len([arguments for arguments in commands if "log" in arguments]) == 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["edit", "topic", "main", "merge", "ask", "both", "amend"]),
        st.integers(0, 2),
    ),
    max_size=12,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_kept_results_equal_a_new_reading(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    project = Project(tmp_path_factory.mktemp("kept") / "project")
    paths = [f"{number}.py" for number in range(3)]
    project.edit(paths[0], "start\n")
    project.repository.commit("Start")
    project.edit(paths[0], "go on\n")
    project.repository.commit("The one that branches may amend")
    project.repository.branch("topic")
    for number, (step, which) in enumerate(steps):
        if step in {"edit", "both"}:
            project.edit(paths[which], f"{number}\n" * (1 + 3 * which))
            project.repository.commit(f"Edit {number}")
        elif step in {"topic", "main"}:
            project.repository.switch(step)
        elif step == "merge":
            project.repository.git(
                "merge",
                "--quiet",
                "--no-ff",
                "-X",
                "ours",
                "--message",
                "Merge",
                ["main", "topic"][which % 2],
            )
        elif step == "amend":
            project.repository.git(
                "commit", "--quiet", "--amend", "--allow-empty", "--message", f"Amended {number}"
            )
        if step in {"ask", "both"}:
            project.check(paths[: which + 1])
    project.check(paths)
