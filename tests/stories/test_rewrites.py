"""Annotations after rebase, squash, merge and stash, and in clones and linked work trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.stories.workspace import LOG, Workspace

if TYPE_CHECKING:
    from pathlib import Path


ONE = "def one():\n    first = read('one')\n    return first.one()\n"
TWO = "def two():\n    second = read('two')\n    return second.two()\n"
HEAD = "# a person's head of the file\n\n"


@pytest.fixture
def work(work: Workspace) -> Workspace:
    """Give the repository a first commit."""
    work.write("README", "x\n")
    work.step("add", "--all")
    work.step("commit", "-m", "Begun")
    return work


def committed(work: Workspace, path: str, text: str, start: int, end: int) -> tuple[str, str]:
    """Write a file as an AI, commit it, and return the annotation's id and the commit."""
    annotation = work.write_as_ai(path, text, start, end)
    work.step("add", path)
    return annotation, work.step("commit", "-m", f"{path} by an AI")


def clone(work: Workspace, path: Path, *, hook: bool = True) -> Workspace:
    work.git("clone", "--quiet", str(work.path), str(path))
    made = Workspace(path, hook=hook)
    made._time = work._time
    return made


def diverged(work: Workspace) -> tuple[str, str]:
    """Record on `topic`, backfill, and on `main`; return the commit and record of `topic`."""
    work.switch("topic", create=True)
    one, old = committed(work, "a.py", ONE, 1, 3)
    work.make_two_commits()
    assert work.backfilled_commits() == {one: old}
    work.switch("main")
    committed(work, "b.py", TWO, 1, 3)
    work.write("a.py", HEAD)
    work.step("add", "a.py")
    work.step("commit", "-m", "A person's")
    return old, one


def test_two_branches_with_records_merge_without_conflict(work: Workspace) -> None:
    work.switch("topic", create=True)
    one, first = committed(work, "a.py", ONE, 1, 3)
    work.switch("main")
    two, second = committed(work, "b.py", TWO, 1, 3)
    work.step("merge", "-m", "Merge", "topic")
    assert (work.owners("a.py"), work.owners("b.py")) == (
        [(1, 3, "exact", first, "log")],
        [(1, 3, "exact", second, "log")],
    )
    work.check_invariants()
    work.make_two_commits()
    assert work.backfilled_commits() == {one: first, two: second}
    work.check_invariants()


def test_after_a_rebase_new_commits_are_shown_and_remap_records_them(work: Workspace) -> None:
    old, _ = diverged(work)
    work.git("rm", "--quiet", "a.py")
    work.step("commit", "-m", "No conflict")
    work.switch("topic")
    pending, _ = committed(work, "c.py", TWO, 1, 3)
    work.step("rebase", "main")
    new = work.git("log", "--format=%H", "-1", "--", "a.py")
    newest = work.head()
    assert new != old
    assert work.owners("a.py") == [(1, 3, "exact", new, "log")]
    assert work.owners("c.py") == [(1, 3, "exact", newest, "log")]
    work.check_invariants()
    done = vibes("backfill", "--dry-run", "--json", cwd=work.path).json
    assert (done["remapped"], done["orphaned"], len(done["unchanged"])) == ([], [], 1), (
        "its file is unchanged: the record is valid"
    )
    assert work.status() == ""
    work.make_two_commits()
    assert work.backfilled_commits()[pending] == newest
    work.check_invariants()


def test_moved_lines_are_remapped_once(work: Workspace) -> None:
    old, one = diverged(work)
    work.switch("topic")
    work.git("reset", "--quiet", "--soft", "main")
    work.write("a.py", HEAD + ONE)
    work.step("add", "--all")
    new = work.step("commit", "--no-verify", "-m", "Squashed by hand, on top of main")
    assert work.owners("a.py") == [(3, 5, "moved", new, "log")]
    would = vibes("backfill", "--dry-run", cwd=work.path).out
    assert "a.py:3-5" in would
    assert "0 would be backfilled, 1 would be remapped, 0 would be orphaned, 0 unchanged" in would
    assert work.status() == ""
    done = vibes("backfill", "--json", cwd=work.path).json
    assert len(done["remapped"]) == 1
    record = done["records"][0]
    assert (record["commit_hash"], record["line_start"], record["line_end"], record["action"]) == (
        new,
        3,
        5,
        "rebase_remap",
    )
    assert work.records()[-1]["metadata"] == {"reason": "rewrite"}
    assert work.owners("a.py") == [(3, 5, "exact", new, "recorded")]
    assert vibes("backfill", cwd=work.path).out.startswith("0 backfilled, 0 remapped, 0 orphaned, ")
    work.step("commit", "-am", "Remapped")
    assert old not in work.git("rev-list", "HEAD")
    lineage = [
        record["annotation_id"] for record in work.records() if record.get("file_path") == "a.py"
    ]
    assert vibes("blame", "a.py", "--json", cwd=work.path).json["placements"][0]["ids"] == lineage
    assert lineage[0] == one


def test_removed_lines_are_orphaned_once(work: Workspace) -> None:
    _, one = diverged(work)
    work.switch("topic")
    work.git("reset", "--quiet", "--soft", "main")
    work.write("a.py", HEAD + "nothing = 'of it'\n")
    work.step("add", "--all")
    new = work.step("commit", "--no-verify", "-m", "Squashed without it")
    done = vibes("backfill", "--json", cwd=work.path).json
    assert (len(done["orphaned"]), done["remapped"]) == (1, [])
    assert (done["records"][0]["action"], done["records"][0]["commit_hash"]) == (
        "rebase_orphan",
        new,
    )
    assert work.records()[-1]["metadata"] == {"reason": "orphan"}
    log = (work.path / LOG).read_bytes()
    again = vibes("backfill", "--json", cwd=work.path).json
    assert (again["orphaned"], len(again["unchanged"])) == ([], 1)
    assert (work.path / LOG).read_bytes() == log
    work.step("commit", "-am", "Remapped")
    assert work.owners("a.py") == []
    work.write("a.py", HEAD + ONE)
    work.step("commit", "-am", "It comes back")
    assert [owner[:3] for owner in work.owners("a.py")] == [(3, 5, "moved")], (
        "an orphan record changes nothing else"
    )
    assert one in {record["annotation_id"] for record in work.records()}


def test_a_fresh_clone_shows_the_commit_of_a_squash(work: Workspace, tmp_path: Path) -> None:
    """The host has no hook, and the branch is deleted with the commits that the log names."""
    work.switch("topic", create=True)
    one, _ = committed(work, "a.py", ONE, 1, 3)
    two, _ = committed(work, "b.py", TWO, 1, 3)
    work.make_two_commits()
    assert set(work.backfilled_commits()) == {one, two}
    host = clone(work, tmp_path / "host", hook=False)
    host.git("switch", "--quiet", "-c", "main", "origin/main")
    host.git("merge", "--squash", "origin/topic")
    squashed = host.commit("Topic (#1)")
    host.git("remote", "remove", "origin")
    host.git("branch", "-D", "topic")
    fresh = tmp_path / "fresh"
    host.git("clone", "--quiet", "--single-branch", host.path.as_uri(), str(fresh))
    other = Workspace(fresh, hook=False)
    assert other.owners("a.py") == [(1, 3, "exact", squashed, "log")]
    assert other.owners("b.py") == [(1, 3, "exact", squashed, "log")]
    other.check_invariants()


def test_a_cherry_pick_brings_its_records(work: Workspace) -> None:
    work.switch("topic", create=True)
    one, _ = committed(work, "a.py", ONE, 1, 3)
    committed(work, "c.py", TWO, 1, 3)
    work.switch("main")
    committed(work, "b.py", TWO, 1, 3)
    picked = work.step("cherry-pick", "topic~1")
    assert work.owners("a.py") == [(1, 3, "exact", picked, "log")]
    work.make_two_commits()
    assert work.backfilled_commits()[one] == picked
    work.check_invariants()


def test_a_revert_removes_lines_and_records(work: Workspace) -> None:
    """Git removes what the commit brought, log lines included; history keeps the records."""
    committed(work, "a.py", ONE, 1, 3)
    work.step("revert", "HEAD")
    assert work.status() == ""
    assert vibes("check", cwd=work.path).code == 0
    assert not (work.path / "a.py").exists()
    work.step("revert", "HEAD")
    assert [owner[:3] for owner in work.owners("a.py")] == [(1, 3, "exact")]
    assert work.status() == ""


def test_a_revert_that_keeps_the_trail(work: Workspace) -> None:
    _, commit = committed(work, "a.py", ONE, 1, 3)
    work.step("revert", "--no-commit", "HEAD")
    work.step("restore", "--source=HEAD", "--staged", "--worktree", ".ai-audit")
    work.step("commit", "-m", "Revert")
    assert not (work.path / "a.py").exists()
    assert commit in work.git("rev-list", "HEAD")
    assert len([record for record in work.records() if record["type"] == "line"]) == 1
    work.check_invariants()


def test_stashed_records_are_restored(work: Workspace) -> None:
    committed(work, "a.py", ONE, 1, 3)
    two = work.write_as_ai("a.py", ONE + "\n\n" + TWO, 6, 8)
    work.step("stash")
    assert work.status() == ""
    assert two not in {record["annotation_id"] for record in work.records()}
    committed(work, "b.py", TWO, 1, 3)
    work.step("stash", "pop")
    commit = work.step("commit", "-am", "What was stashed")
    work.make_two_commits()
    assert work.backfilled_commits()[two] == commit
    work.check_invariants()


def test_switching_shows_what_each_branch_has(work: Workspace) -> None:
    work.switch("topic", create=True)
    _, first = committed(work, "a.py", ONE, 1, 3)
    work.switch("main")
    assert work.status() == ""
    _, second = committed(work, "a.py", TWO, 1, 3)
    assert work.owners("a.py") == [(1, 3, "exact", second, "log")]
    work.switch("topic")
    assert work.owners("a.py") == [(1, 3, "exact", first, "log")]
    work.check_invariants()


def test_two_clones_backfill_the_same_record(work: Workspace, tmp_path: Path) -> None:
    one, commit = committed(work, "a.py", ONE, 1, 3)
    here, there = (clone(work, tmp_path / name) for name in ("here", "there"))
    for each in (here, there):
        committed(each, f"{each.path.name}.py", TWO, 1, 3)
        committed(each, f"{each.path.name}.py", TWO + "\n" + ONE, 5, 7)
        assert each.backfilled_commits()[one] == commit
    here.git("remote", "add", "there", str(there.path))
    here.git("fetch", "--quiet", "there")
    here.step("merge", "-m", "Both", "there/main")
    renewed = [record for record in here.records() if record.get("commit_hash") == commit]
    assert len({record["annotation_id"] for record in renewed}) == 1
    placed = vibes("blame", "a.py", "--json", cwd=here.path).json["placements"]
    assert [each["ids"] for each in placed] == [[one, renewed[0]["annotation_id"]]]
    here.check_invariants()


@pytest.mark.parametrize("way", ["--no-rebase", "--rebase"])
def test_pulling_what_others_recorded(work: Workspace, tmp_path: Path, way: str) -> None:
    mine = clone(work, tmp_path / "mine")
    theirs, commit = committed(work, "b.py", TWO, 1, 3)
    own, _ = committed(mine, "a.py", ONE, 1, 3)
    mine.step("pull", "--no-edit", way)
    assert mine.status() == ""
    landed = mine.git("log", "--format=%H", "-1", "--", "a.py")
    mine.make_two_commits()
    assert mine.backfilled_commits() == {own: landed, theirs: commit}
    mine.check_invariants()


def test_each_work_tree_has_its_own_trail_at_its_own_commit(
    work: Workspace, tmp_path: Path
) -> None:
    work.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "beside"))
    beside = Workspace(tmp_path / "beside", hook=False)
    beside._time = work._time
    one, first = committed(beside, "a.py", ONE, 1, 3)
    two = beside.write_as_ai("a.py", ONE + "\n\n" + TWO, 6, 8)
    second = beside.step("commit", "-m", "Of some paths", "--", "a.py")
    assert beside.status() == ""
    committed(work, "b.py", TWO, 1, 3)
    work.check_invariants()
    beside.make_two_commits()
    assert beside.backfilled_commits() == {one: first, two: second}
    beside.check_invariants()


def test_a_shallow_clone_does_not_look_rewritten(work: Workspace, tmp_path: Path) -> None:
    _, commit = committed(work, "a.py", ONE, 1, 3)
    work.make_two_commits()
    work.git("clone", "--quiet", "--depth", "1", work.path.as_uri(), str(tmp_path / "shallow"))
    shallow = Workspace(tmp_path / "shallow", hook=False)
    assert shallow.owners("a.py") == [(1, 3, "exact", commit, "recorded")]
    done = vibes("backfill", cwd=shallow.path)
    assert (done.code, done.out) == (0, "0 backfilled, 0 remapped, 0 orphaned, 0 unchanged\n")
    assert "shallow" in done.err
