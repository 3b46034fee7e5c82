"""What each kind of commit contains of the trail, and when commits are backfilled."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.stories.workspace import LOG, ONE, TWO, Workspace

if TYPE_CHECKING:
    from pathlib import Path


FILLER = "".join(f"line_{number} = {number}\n" for number in range(20))


def test_the_trail_is_committed_with_the_code_and_backfilled_later(work: Workspace) -> None:
    first = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    begun = work.step("commit", "-m", "One")
    assert sorted(work.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()) == [
        ".ai-audit/.gitattributes",
        ".ai-audit/.gitignore",
        LOG,
        ".ai-audit/config.json",
        ".ai-audit/manifest.json",
        "a.py",
    ], "a new trail is committed without machine-specific files"
    assert work.owners("a.py") == [(1, 2, "exact", begun, "log")]
    second = work.write_as_ai("a.py", ONE + TWO, 5, 6)
    other = work.step("commit", "-am", "Two")
    assert work.backfilled_commits() == {}, "the last commit is not named: it may be amended"
    work.write("b.py", "x = 1\n")
    work.step("add", "b.py")
    work.step("commit", "-m", "A person's")
    assert work.backfilled_commits() == {first: begun}
    work.write("b.py", "x = 2\n")
    work.step("commit", "-am", "A person's again")
    assert work.backfilled_commits() == {first: begun, second: other}
    assert work.owners("a.py") == [
        (1, 2, "exact", begun, "recorded"),
        (5, 6, "exact", other, "recorded"),
    ]
    before = (work.path / LOG).read_bytes()
    work.write("b.py", "x = 3\n")
    work.step("commit", "-am", "Nothing is due")
    assert (work.path / LOG).read_bytes() == before
    assert work.git("show", "--name-only", "--format=", "HEAD") == "b.py"
    work.check_invariants()


def test_a_backfilled_record_has_the_lines_of_its_commit(work: Workspace) -> None:
    work.write_as_ai("a.py", ONE + TWO, 5, 6)
    work.write("a.py", "# a person's\n" + ONE + TWO)
    work.step("add", "a.py")
    commit = work.step("commit", "-m", "One")
    work.make_two_commits()
    old = next(record for record in work.records() if record["type"] == "line")
    new = next(record for record in work.records() if record.get("action") == "rebase_remap")
    edge = work.records()[-1]
    assert work.backfilled_commits() == {old["annotation_id"]: commit}
    different = {name for name in new if new[name] != old.get(name)}
    assert different == {
        "annotation_id",
        "action",
        "commit_hash",
        "line_start",
        "line_end",
        "file_content_hash",
    }
    assert new.keys() == old.keys()
    assert (new["commit_hash"], new["line_start"], new["line_end"]) == (commit, 6, 7)
    assert edge == {
        "type": "edge",
        "edge_type": "supersedes",
        "source_ref": new["annotation_id"],
        "source_type": "annotation",
        "target_ref": old["annotation_id"],
        "target_type": "annotation",
        "timestamp": edge["timestamp"],
        "metadata": {"reason": "commit"},
        "annotation_id": edge["annotation_id"],
    }
    made = datetime.fromtimestamp(int(work.git("show", "-s", "--format=%ct", commit)), UTC)
    assert edge["timestamp"] == f"{made:%Y-%m-%dT%H:%M:%S}.000Z"
    work.check_invariants()


def test_records_of_uncommitted_hunks_wait_for_their_commit(work: Workspace) -> None:
    work.write("a.py", FILLER)
    work.step("add", "a.py")
    work.step("commit", "-m", "A person's")
    changed = FILLER.replace("line_2 = 2\n", "line_2 = two()\n").replace(
        "line_17 = 17\n", "line_17 = seventeen()\n"
    )
    upper = work.write_as_ai("a.py", changed, 2, 4, "modify")
    lower = work.write_as_ai("a.py", changed, 17, 19, "modify")
    work.step("add", "-p", "a.py", answers="y\nn\n")
    half = work.step("commit", "-m", "The upper hunk")
    assert work.status() == " M a.py"
    work.make_two_commits()
    assert work.backfilled_commits() == {upper: half}, (
        "the log is complete, but the lower hunk is not in that commit"
    )
    rest = work.step("commit", "-am", "The lower hunk")
    work.make_two_commits()
    assert work.backfilled_commits() == {upper: half, lower: rest}
    assert work.owners("a.py") == [
        (3, 3, "exact", half, "recorded"),
        (18, 18, "exact", rest, "recorded"),
    ], "the lines around them are a person's"
    work.check_invariants()


def test_a_commit_of_some_paths_includes_the_trail_and_updates_the_index(
    work: Workspace,
) -> None:
    work.write("a.py", "x = 1\n")
    work.write("b.py", "x = 1\n")
    work.step("add", "a.py", "b.py")
    work.step("commit", "-m", "A person's")
    here = work.write_as_ai("a.py", ONE, 1, 2, "modify")
    there = work.write_as_ai("b.py", ONE, 1, 2, "modify")
    work.write("c.py", "staged\n")
    work.step("add", "c.py")
    first = work.step("commit", "-m", "Only a", "--", "a.py")
    assert sorted(work.git("show", "--name-only", "--format=", first).splitlines()) == [
        LOG,
        ".ai-audit/manifest.json",
        "a.py",
    ]
    assert work.status() == " M b.py\nA  c.py", (
        "the trail is committed, and other staged changes stay staged"
    )
    work.step("commit", "-m", "What was staged")
    second = work.step("commit", "-am", "And b")
    work.make_two_commits()
    assert work.backfilled_commits() == {here: first, there: second}
    work.check_invariants()


def test_backfill_names_the_amended_commit(work: Workspace) -> None:
    first = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    work.step("commit", "-m", "One")
    second = work.write_as_ai("a.py", ONE + TWO, 5, 6)
    amended = work.step("commit", "-a", "--amend", "-m", "One and two")
    again = work.step("commit", "--amend", "-m", "Another message")
    assert again != amended
    assert work.backfilled_commits() == {}
    work.make_two_commits()
    assert work.backfilled_commits() == {first: again, second: again}
    assert work.owners("a.py") == [
        (1, 2, "exact", again, "recorded"),
        (5, 6, "exact", again, "recorded"),
    ]
    work.check_invariants()


def test_lines_changed_by_a_person_before_the_commit_are_not_backfilled(work: Workspace) -> None:
    text = "".join(f"value_{number} = compute({number})\n" for number in range(8))
    work.write_as_ai("a.py", text, 1, 8)
    work.write("a.py", text.replace("compute(3)", "compute_by_hand(3)"))
    work.step("add", "a.py")
    commit = work.step("commit", "-m", "One")
    work.make_two_commits()
    assert work.backfilled_commits() == {}
    assert work.owners("a.py") == [(1, 8, "edited", commit, "log")]
    lines = vibes("blame", "a.py", "--json", cwd=work.path).json["lines"]
    assert [each["line"] for each in lines] == [1, 2, 3, 5, 6, 7, 8], "line 4 is the person's"
    work.check_invariants()


def test_deletions_and_uncommitted_lines_are_not_backfilled(work: Workspace) -> None:
    work.write("a.py", ONE + TWO)
    work.step("add", "a.py")
    work.step("commit", "-m", "A person's")
    work.write_as_ai("a.py", ONE + TWO, 1, 2, "delete")
    work.write_as_ai("a.py", TWO + "never = committed\n", 5, 5)
    work.write("a.py", TWO)
    commit = work.step("commit", "-am", "Deleted")
    work.make_two_commits()
    assert work.backfilled_commits() == {}
    placements = json.loads(vibes("blame", "a.py", "--json", cwd=work.path).out)["placements"]
    assert {(each["action"], each.get("commitHash")) for each in placements} == {
        ("delete", commit),
        ("create", None),
    }, "what no commit has does not enter the log"
    work.check_invariants()


@pytest.mark.parametrize("when", ["manual", "landed"])
def test_the_setting_for_when_to_backfill(tmp_path: Path, when: str) -> None:
    host = Workspace(tmp_path / "host", hook=False)
    host.git("config", "receive.denyCurrentBranch", "ignore")
    host.commit("Begun")
    host.git("clone", "--quiet", str(host.path), str(tmp_path / "work"))
    work = Workspace(tmp_path / "work")
    work.init(backfill={"when": when})
    annotation = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    commit = work.step("commit", "-m", "One")
    work.commit_other_file("Two")
    assert work.backfilled_commits() == {}
    assert work.owners("a.py") == [(1, 2, "exact", commit, "log")]
    work.git("push", "--quiet")
    work.commit_other_file("Three")
    assert work.backfilled_commits() == ({annotation: commit} if when == "landed" else {})
    done = vibes("backfill", "--dry-run", "--json", cwd=work.path).json
    assert [record["commit_hash"] for record in done["records"]] == (
        [] if when == "landed" else [commit]
    )
    work.check_invariants()


def test_the_command_backfills_everything_once(work: Workspace) -> None:
    (work.path / ".git/hooks/pre-commit").unlink()
    annotation = work.write_as_ai("a.py", ONE, 1, 2)
    function = vibes("record", "annotate", "--input", str(_function(work)), cwd=work.path).json[
        "annotationId"
    ]
    work.step("add", "--all")
    commit = work.step("commit", "-m", "One")
    work.commit_other_file("Two")
    before = (work.path / LOG).read_bytes()
    assert "2 would be backfilled" in vibes("backfill", "--dry-run", cwd=work.path).out
    assert (work.path / LOG).read_bytes() == before
    done = vibes("backfill", "--json", cwd=work.path).json
    assert (len(done["backfilled"]), done["pending"]) == (2, [])
    assert [record["type"] for record in done["records"]] == ["line", "function"]
    assert work.backfilled_commits() == {annotation: commit, function: commit}
    assert (
        vibes("backfill", cwd=work.path).out
        == "0 backfilled, 0 remapped, 0 orphaned, 0 unchanged\n"
    )
    work.step("commit", "-am", "Filled in")
    work.check_invariants()


def _function(work: Workspace) -> Path:
    members = {
        "file": "a.py",
        "function": {"name": "one"},
        "action": "create",
        "tool": {"name": "Some Tool", "version": "1"},
        "model": {"name": "some-model", "version": "1"},
    }
    return work.write(".git/input.json", json.dumps(members))


def test_an_empty_commit_writes_nothing(work: Workspace) -> None:
    """Git runs the hook before it refuses, so staged files would stay in a clean work tree."""
    first = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py", ".ai-audit")
    begun = work.step("commit", "--no-verify", "-m", "One")
    work.write("b.py", "x = 1\n")
    work.step("add", "b.py")
    work.step("commit", "--no-verify", "-m", "Two")
    for command in (
        ["commit", "-m", "x"],
        ["commit", "-am", "x"],
        ["commit", "-m", "x", "--", "a.py"],
        ["commit", "-m", "x", "--include", "a.py"],
    ):
        with pytest.raises(RuntimeError, match="nothing to commit"):
            work.git(*command)
        assert (work.status(), work.backfilled_commits()) == ("", {}), command
    work.step("commit", "--amend", "-m", "Two, as it is called now")
    work.step("commit", "--allow-empty", "-m", "Nothing, on purpose")
    assert (work.status(), work.backfilled_commits()) == ("", {}), (
        "the hook does not see these options"
    )
    work.commit_other_file("Something")
    assert work.backfilled_commits() == {first: begun}
    work.check_invariants()


def test_an_amend_that_would_make_the_commit_empty_writes_nothing(work: Workspace) -> None:
    work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    work.step("commit", "-m", "One")
    work.write("b.py", "x = 1\n")
    work.step("add", "b.py")
    work.step("commit", "--no-verify", "-m", "Two")
    work.step("rm", "--cached", "b.py")
    with pytest.raises(RuntimeError, match="would make\nit empty"):
        work.git("commit", "--amend", "-m", "x")
    assert work.status() == "D  b.py\n?? b.py"


def test_an_intent_to_add_is_not_a_change(work: Workspace) -> None:
    work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    work.step("commit", "-m", "One")
    work.commit_other_file("Two")
    work.write("b.py", "x = 1\n")
    work.step("add", "--intent-to-add", "b.py")
    log = (work.path / LOG).read_bytes()
    with pytest.raises(RuntimeError):
        work.git("commit", "-m", "x")
    assert (work.status(), (work.path / LOG).read_bytes()) == (" A b.py", log)


def test_a_merge_that_changes_nothing_is_committed_with_the_trail(work: Workspace) -> None:
    first = work.write_as_ai("a.py", ONE, 1, 2)
    work.step("add", "a.py")
    begun = work.step("commit", "-m", "One")
    work.switch("topic", create=True)
    work.commit_other_file("Two")
    work.git("switch", "--quiet", "main")
    work.commit_other_file("Three")
    work.step("merge", "--no-commit", "--strategy=ours", "topic")
    work.step("commit", "--no-edit")
    assert begun in work.git("rev-list", "HEAD")
    assert first in {record["annotation_id"] for record in work.records()}
    work.check_invariants()
