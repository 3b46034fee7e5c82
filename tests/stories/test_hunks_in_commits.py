"""What a commit gets of the edits that wait: hunks of their lines (R29, R32)."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.hook_repository import executable
from tests.cli.run_vibes import vibes
from tests.stories.workspace import LOG, Workspace
from vibes_lsp.model.vocabulary import Verdict
from vibes_lsp.recording import Recorder, RecordReview

if TYPE_CHECKING:
    from pathlib import Path

FIRST = "def alpha_function(first):\n    return first * 1001\n"
BLOCK = "def beta_function(second):\n    third = second + 17\n    return third * 2002\n"
TYPED = "    third = by_a_person(second)\n"


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A repository with two branches and an installed hook."""
    made = Workspace(tmp_path / "work", hook=False)
    assert vibes("init", "--project-name", "p", cwd=made.path).code == 0
    made.write("app.py", FIRST)
    made.step("add", "--all")
    made.step("commit", "-m", "Begin")
    made.branch("topic")
    return made


def hunks(work: Workspace) -> list[dict[str, Any]]:
    """Return the records of lines in the log of HEAD, without later copies for their commit."""
    records = map(json.loads, work.git("show", f"HEAD:{LOG}").splitlines())
    return [
        record
        for record in records
        if record["type"] == "line" and record["action"] != "rebase_remap"
    ]


def write_and_change(work: Workspace) -> str:
    """Let an AI write a block and a person change its second line; return the edit's id."""
    edit = work.write_as_ai("app.py", FIRST + BLOCK, 3, 5)
    lines = BLOCK.splitlines(keepends=True)
    work.write("app.py", FIRST + lines[0] + TYPED + lines[2])
    return edit


def test_a_line_that_a_person_changed_is_in_no_record(work: Workspace) -> None:
    edit = write_and_change(work)
    work.step("commit", "-am", "Both")
    found = hunks(work)
    assert [(each["edit"], each["line_start"], each["line_end"]) for each in found] == [
        (edit, 3, 3),
        (edit, 5, 5),
    ]
    assert all("sure" not in each for each in found)
    answer = vibes("blame", "app.py", "--json", cwd=work.path).json
    owned = {each["line"]: each["kind"] for each in answer["lines"]}
    assert owned == {3: "ai", 5: "ai"}
    work.check_invariants()


def test_git_names_the_author_of_a_line_that_a_person_changed(work: Workspace) -> None:
    write_and_change(work)
    work.step("commit", "-am", "Both")
    answer = vibes("blame", "app.py", "--json", cwd=work.path).json
    (typed,) = (each for each in answer["committed"] if each["lineStart"] == 4)
    name, commit = work.git("log", "-1", "--format=%an %H").rsplit(maxsplit=1)
    assert (typed["lineEnd"], typed["author"], typed["commitHash"]) == (4, name, commit)
    assert f" {name} " in vibes("blame", "app.py", cwd=work.path).lines[3]


def test_the_id_that_recording_returned_finds_the_hunks(work: Workspace) -> None:
    edit = write_and_change(work)
    work.step("commit", "-am", "Both")
    first, second = (each["annotation_id"] for each in hunks(work))
    for name in (edit, edit[:8]):
        assert vibes("show", name, "--json", cwd=work.path).json["id"] == first
    with Recorder(work.path, now=work.now) as recorder:
        done = recorder.execute(
            RecordReview(annotation_ids=(edit,), verdict=Verdict.APPROVED, reviewer="R")
        )
    assert list(done.reviewed) == [first], "one verdict on the edit"
    work.commit_other_file("With the verdicts")
    (shown,) = vibes("blame", "app.py", "--json", cwd=work.path).json["placements"]
    assert {first, second} <= set(shown["ids"])
    assert shown["review"]["verdict"] == "approved"
    assert (shown["intactLines"], shown["totalLines"]) == (2, 2)
    assert (shown["recordedLineStart"], shown["recordedLineEnd"]) == (3, 5)
    counts = vibes("stats", "--json", cwd=work.path).json
    assert (counts["annotations"], counts["actions"]) == (1, {"create": 1})
    work.check_invariants()


def test_a_verdict_on_what_waits_is_one_on_each_hunk(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", FIRST + BLOCK, 3, 5)
    with Recorder(work.path, now=work.now) as recorder:
        recorder.execute(
            RecordReview(annotation_ids=(edit,), verdict=Verdict.APPROVED, reviewer="R")
        )
    lines = BLOCK.splitlines(keepends=True)
    work.write("app.py", FIRST + lines[0] + TYPED + lines[2])
    work.step("commit", "-am", "Both")
    edges = [each for each in work.records() if each.get("edge_type") == "reviewed_by"]
    assert {each["source_ref"] for each in edges} == {each["annotation_id"] for each in hunks(work)}
    work.check_invariants()


def test_less_than_half_of_a_block_is_a_claim(work: Workspace) -> None:
    lines = [f"value_number_{number} = compute({number})\n" for number in range(6)]
    edit = work.write_as_ai("app.py", FIRST + "".join(lines), 3, 8)
    typed = "".join(f"another_line_{number} = typed({number})\n" for number in range(4))
    work.write("app.py", FIRST + lines[0] + lines[1] + typed)
    work.step("commit", "-am", "Little of it")
    [found] = hunks(work)
    assert (found["edit"], found["line_start"], found["line_end"]) == (edit, 3, 4)
    assert found["sure"] is False
    answer = vibes("blame", "app.py", "--json", cwd=work.path).json
    assert {each["kind"] for each in answer["lines"] if each["line"] in {3, 4}} == {"claimed"}


def test_a_line_is_in_the_log_once_whatever_is_staged_when(work: Workspace) -> None:
    text = FIRST + BLOCK + "".join(f"# filler {number}\n" for number in range(9))
    edit = work.write_as_ai("app.py", text, 3, 14)
    work.write("app.py", FIRST + BLOCK)
    work.step("add", "app.py")
    work.write("app.py", text)
    work.step("commit", "-m", "The first lines")
    work.step("commit", "-am", "The others")
    found = hunks(work)
    assert {each.get("edit", each["annotation_id"]) for each in found} == {edit}
    lines = [line for each in found for line in range(each["line_start"], each["line_end"] + 1)]
    assert sorted(lines) == list(range(3, 15))
    work.check_invariants()


def test_branches_that_meet_have_one_record(work: Workspace) -> None:
    work.write_as_ai("app.py", FIRST + BLOCK, 3, 5)
    work.step("commit", "-am", "On main")
    work.step("switch", "topic")
    work.step("checkout", "main", "--", "app.py")
    work.step("commit", "-m", "The same file on topic")
    work.commit_other_file("More on topic")
    work.step("switch", "main")
    work.step("merge", "--quiet", "topic")
    work.commit_other_file("After the merge")
    assert len(hunks(work)) == 1
    work.check_invariants()


def test_a_cherry_pick_of_several_commits_goes_on(work: Workspace) -> None:
    work.step("switch", "topic")
    for number in range(3):
        work.write("app.py", (work.path / "app.py").read_text("utf-8") + f"topic = {number}\n")
        work.step("commit", "-am", f"Topic {number}")
    work.step("switch", "main")
    work.write("app.py", FIRST + "main = 1\n")
    work.step("commit", "-am", "Main")
    edit = work.write_as_ai("b.py", BLOCK, 1, 3)
    work.git("add", "b.py")
    work.step("commit", "-m", "Another file", "--no-verify")
    picked = ["git", "cherry-pick", "topic~2", "topic~1", "topic"]
    assert subprocess.run(picked, cwd=work.path, capture_output=True, check=False).returncode
    work.write("app.py", FIRST + "main = 1\ntopic = 0\n")
    work.git("add", "app.py")
    work.step("cherry-pick", "--continue")
    assert "topic = 2" in (work.path / "app.py").read_text("utf-8")
    work.commit_other_file("Next")
    assert [each.get("edit", each["annotation_id"]) for each in hunks(work)] == [edit]
    work.check_invariants()


def test_records_that_a_merge_repeats_are_there_once_with_the_next_commit(work: Workspace) -> None:
    work.write_as_ai("app.py", FIRST + BLOCK, 3, 5)
    work.step("commit", "-am", "The edit")
    log = work.path / LOG
    log.write_bytes(log.read_bytes() * 2)
    work.step("commit", "--no-verify", "-am", "As a merge of texts may leave it")
    work.commit_other_file("Next")
    lines = work.git("show", f"HEAD:{LOG}").splitlines()
    assert len(lines) == len(set(lines))


def test_commits_that_are_given_up_one_after_the_other_leave_nothing(work: Workspace) -> None:
    work.write_as_ai("app.py", FIRST + BLOCK, 3, 5)
    work.git("add", "app.py")
    refusing = executable(work.path / ".git/hooks/commit-msg", "#!/bin/sh\nexit 1\n")
    assert work.try_commit("Given up").returncode != 0
    refusing.unlink()
    assert work.try_commit("").returncode != 0
    assert vibes("log", "--waiting", cwd=work.path).code == 0
    assert work.status() == "M  app.py"
    assert (work.path / LOG).read_bytes() == b""


def test_a_copy_in_another_file_is_not_an_edit_that_its_own_file_has_twice(
    work: Workspace,
) -> None:
    work.write_as_ai("app.py", FIRST + BLOCK, 3, 5)
    work.write("app.py", FIRST + BLOCK + "\n\n" + BLOCK)
    work.write("other.py", BLOCK)
    work.step("add", "--all")
    work.step("commit", "-m", "Copied at once")
    assert {each["file_path"] for each in hunks(work)} <= {"app.py"}
    answer = vibes("blame", "other.py", "--json", cwd=work.path).json
    assert answer["lines"] == []
