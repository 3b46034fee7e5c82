"""Records wait in git's folder and enter the log with the commit that contains their lines (R29)."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from tests import forked
from tests.cli.hook_repository import executable
from tests.cli.run_vibes import vibes
from tests.stories.waiting_edits import ALPHA, BETA, GAMMA, waiting
from tests.stories.workspace import BY, LOG, Workspace
from tests.unit.recording.request_builders import read_request
from vibes_lsp.model.vocabulary import Verdict
from vibes_lsp.recording import (
    EndSession,
    Model,
    Prompt,
    PromptType,
    Recorder,
    RecordPrompt,
    RecordReview,
    StartSession,
    Tool,
)
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.waiting import waiting_place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A repository with two branches and an installed hook."""
    made = Workspace(tmp_path / "work", hook=False)
    done = vibes("init", "--project-name", "p", cwd=made.path)
    assert (done.code, done.err) == (0, "")
    made.write("app.py", ALPHA)
    made.write("other.txt", "a person's\n")
    made.step("add", "--all")
    made.step("commit", "-m", "Begin")
    made.branch("topic")
    return made


def logged(work: Workspace) -> list[str]:
    """Return the edits that the log of HEAD has records of; each record is there once."""
    lines = work.git("show", f"HEAD:{LOG}").splitlines()
    records = [json.loads(line) for line in lines]
    ids = [record["annotation_id"] for record in records]
    assert max(Counter(ids).values(), default=1) == 1
    edits = (
        record.get("edit", record["annotation_id"])
        for record in records
        if record["type"] == "line" and record["action"] != "rebase_remap"
    )
    return [*dict.fromkeys(edits)]


def ask_without_edit(work: Workspace) -> None:
    """Let an agent answer a question: a session, a prompt and a file that it read."""
    with Recorder(work.path, now=work.now) as recorder:
        session = recorder.execute(
            StartSession(tool=Tool("Some Tool", "1"), model=Model("some-model", "1"))
        )
        prompt = Prompt("What does it do?", PromptType.USER_INSTRUCTION)
        recorder.execute(RecordPrompt(session_id=session.session_id, prompt=prompt))
        recorder.execute(read_request(session.session_id, "app.py"))
        recorder.execute(EndSession(session_id=session.session_id))


def test_what_waits_has_no_line_of_the_log(work: Workspace) -> None:
    ask_without_edit(work)
    work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    records = vibes("log", "--json", cwd=work.path).json["records"]
    assert {record["line"] for record in records} == {None}
    sessions = vibes("stats", "--by", "session", "--json", cwd=work.path).json["sessions"]
    assert {session["line"] for session in sessions} == {None}
    findings = vibes("check", "--json", cwd=work.path).json["findings"]
    (unknown,) = [finding for finding in findings if finding["check"] == "commit-unknown"]
    assert "line" not in unknown


def test_a_question_to_an_agent_stops_no_git_command(work: Workspace, tmp_path: Path) -> None:
    other = Workspace(tmp_path / "other", hook=False)
    shutil.rmtree(other.path)
    work.git("clone", "--quiet", str(work.path), str(other.path))
    theirs = Workspace(other.path, hook=False)
    theirs.commit_other_file("Theirs")
    work.git("remote", "add", "origin", str(theirs.path))
    ask_without_edit(work)
    assert work.status() == ""
    work.step("switch", "topic")
    work.step("switch", "main")
    ask_without_edit(work)
    work.step("pull", "--rebase", "--quiet", "origin", "main")
    assert work.status() == ""
    work.commit_other_file("Go on")
    assert "session" not in {record["type"] for record in work.records()}
    work.check_invariants()


def test_a_record_enters_the_log_with_its_lines(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    assert work.status() == " M app.py"
    assert waiting(work) == [edit]
    assert work.owners("app.py")[0][:3] == (5, 6, "exact"), "readers see what waits"
    work.write("b.txt", "more\n")
    work.step("add", "b.txt")
    work.step("commit", "-m", "Something else")
    assert logged(work) == []
    commit = work.step("commit", "-am", "The edit")
    assert logged(work) == [edit]
    assert waiting(work) == []
    assert work.owners("app.py") == [(5, 6, "exact", commit, "log")]
    work.check_invariants()


def test_what_waits_is_private(work: Workspace) -> None:
    work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    place = waiting_place(AuditDir(work.path / ".ai-audit"))
    assert place is not None
    if os.name != "nt":
        for folder, _, names in os.walk(place.folder):
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700  # noqa: PTH116
            assert place.records.name in names or folder != str(place.records.parent)
        assert stat.S_IMODE(place.records.stat().st_mode) == 0o600


def test_switch_stash_and_rebase(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("stash")
    work.step("switch", "topic")
    work.commit_other_file("On topic")
    assert logged(work) == []
    work.step("stash", "pop")
    work.step("commit", "-am", "The edit, on topic")
    assert logged(work) == [edit]
    work.step("switch", "main")
    work.commit_other_file("On main")
    assert logged(work) == []
    work.step("switch", "topic")
    work.step("rebase", "main")
    assert logged(work) == [edit]
    work.step("switch", "main")
    work.step("merge", "--quiet", "topic")
    work.commit_other_file("After the merge")
    assert logged(work) == [edit]
    work.check_invariants()


@pytest.mark.parametrize("command", [("clean", "-fdxq"), ("checkout", "."), ("restore", ".")])
def test_commands_that_discard_files_discard_no_record(
    work: Workspace, command: tuple[str, ...]
) -> None:
    edit = work.write_as_ai("new.py", ALPHA + BETA, 1, 6)
    work.step("add", "new.py")
    work.step(*command)
    work.step("commit", "-m", "The edit")
    assert logged(work) == [edit]
    work.check_invariants()


def test_edits_that_were_thrown_away_never_enter_the_log(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("checkout", "app.py")
    kept = work.write_as_ai("app.py", ALPHA + GAMMA, 5, 6)
    work.step("commit", "-am", "Only the second")
    assert logged(work) == [kept]
    assert waiting(work) == [edit]
    work.check_invariants()


def test_partial_staging(work: Workspace) -> None:
    filler = "".join(f"filler_line_{number} = {number}\n" for number in range(20))
    work.write("app.py", filler)
    work.step("commit", "-am", "Filler")
    upper = work.write_as_ai("app.py", "upper_value = compute_it()\n" + filler, 1, 1)
    text = "upper_value = compute_it()\n" + filler + "lower_value = compute_that()\n"
    lower = work.write_as_ai("app.py", text, 22, 22)
    work.step("add", "-p", "app.py", answers="y\nn\n")
    work.step("commit", "-m", "Upper")
    assert logged(work) == [upper]
    assert work.status() == " M app.py"
    work.step("commit", "-am", "Lower")
    assert logged(work) == [upper, lower]
    work.check_invariants()


def test_amend_writes_nothing_twice(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("commit", "-am", "The edit")
    more = work.write_as_ai("app.py", ALPHA + BETA + GAMMA, 9, 10)
    work.step("commit", "--amend", "-am", "Both")
    assert logged(work) == [edit, more]
    work.step("reset", "--quiet", "HEAD~1")
    assert work.owners("app.py")[0][:3] == (5, 6, "exact"), "it waits again"
    work.step("commit", "-am", "Both again")
    assert logged(work) == [edit, more]
    work.check_invariants()


def test_a_commit_without_the_hook_is_made_up_for(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("commit", "--no-verify", "-am", "Without the hook")
    assert logged(work) == []
    assert work.owners("app.py")[0][:3] == (5, 6, "exact")
    work.commit_other_file("With it")
    assert logged(work) == [edit]
    work.check_invariants()


def test_a_commit_of_one_file_brings_only_its_records(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    other = work.write_as_ai("b.py", GAMMA, 3, 4)
    work.step("add", "b.py")
    work.step("commit", "-m", "One of two", "app.py")
    assert logged(work) == [edit]
    assert work.status() == "A  b.py"
    work.step("commit", "-m", "The other")
    assert logged(work) == [edit, other]
    work.check_invariants()


def test_a_formatter_in_another_hook_is_seen(work: Workspace) -> None:
    executable(
        work.path / ".git/hooks/pre-commit.before-vibes",
        "#!/bin/sh\nsed -i.old 's/    return/  return/' app.py && git add app.py\n",
    )
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("commit", "-am", "Formatted")
    assert logged(work) == [edit]
    assert "  return second * 2002" in work.git("show", "HEAD:app.py")


@pytest.mark.parametrize("kind", ["message hook", "previous hook", "empty message"])
def test_a_commit_that_is_given_up_leaves_nothing_of_ours(work: Workspace, kind: str) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    manifest = work.path / ".ai-audit/manifest.json"
    before = manifest.read_bytes()
    name = "pre-commit.before-vibes" if kind == "previous hook" else "commit-msg"
    refusing = work.path / ".git/hooks" / name
    if kind != "empty message":
        executable(refusing, "#!/bin/sh\nexit 1\n")
    work.git("add", "app.py")
    assert work.try_commit("" if kind == "empty message" else "Given up").returncode != 0
    assert waiting(work) == [edit]
    assert work.status() == "M  app.py"
    assert (work.path / LOG).read_bytes() == b""
    assert manifest.read_bytes() == before
    work.step("stash")
    work.step("switch", "topic")
    work.step("switch", "main")
    work.step("stash", "pop")
    refusing.unlink(missing_ok=True)
    work.step("commit", "-am", "At last")
    assert logged(work) == [edit]
    work.check_invariants()


def test_what_a_given_up_commit_had_goes_into_no_other_one(work: Workspace) -> None:
    work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.git("add", "app.py")
    assert work.try_commit("").returncode != 0
    work.step("stash")
    work.commit_other_file("Something else")
    assert logged(work) == []
    assert work.status() == ""
    work.check_invariants()


def test_a_stash_of_one_work_tree_in_another(work: Workspace, tmp_path: Path) -> None:
    second = tmp_path / "second"
    work.git("worktree", "add", "--quiet", str(second), "topic")
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("stash")
    other = Workspace(second, hook=False)
    other.step("stash", "pop")
    other.step("commit", "-am", "Over there")
    assert logged(other) == [edit]
    other.check_invariants()


def test_what_a_removed_work_tree_left_is_taken_over(work: Workspace, tmp_path: Path) -> None:
    second = Workspace(tmp_path / "second", hook=False)
    shutil.rmtree(second.path)
    work.git("worktree", "add", "--quiet", str(second.path), "topic")
    second = Workspace(second.path, hook=False)
    edit = second.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    second.step("commit", "--no-verify", "-am", "Without the hook")
    work.git("worktree", "remove", str(second.path))
    work.step("merge", "--quiet", "topic")
    work.commit_other_file("Next")
    assert logged(work) == [edit]
    work.check_invariants()


def test_a_session_comes_with_its_first_edit_and_its_end_later(work: Workspace) -> None:
    with Recorder(work.path, now=work.now) as recorder:
        parent = recorder.execute(
            StartSession(tool=Tool("Some Tool", "1"), model=Model("some-model", "1"))
        )
        child = recorder.execute(
            StartSession(
                tool=Tool("Some Tool", "1"),
                model=Model("some-model", "1"),
                parent_session_id=parent.session_id,
            )
        )
        alone = recorder.execute(
            StartSession(tool=Tool("Some Tool", "1"), model=Model("some-model", "1"))
        )
        work.write("app.py", ALPHA + BETA)
        origin = BY.__class__(session_id=child.session_id, prompt=BY.prompt)
        recorder.annotate_lines("app.py", 5, 6, "modify", origin)
        work.step("commit", "-am", "The edit")
        sessions = [each["session_id"] for each in work.records() if each["type"] == "session"]
        assert sorted(sessions) == sorted([parent.session_id, child.session_id])
        assert alone.session_id not in json.dumps(work.records())
        recorder.execute(EndSession(session_id=child.session_id))
        assert work.status() == ""
        work.commit_other_file("Next")
    ends = [each["session_id"] for each in work.records() if each.get("event") == "end"]
    assert ends == [child.session_id]
    work.check_invariants()


def test_a_verdict_can_leave_alone(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("commit", "-am", "The edit")
    work.write("other.txt", "not committed\n")
    unfinished = work.write_as_ai("b.py", GAMMA, 3, 4)
    with Recorder(work.path, now=work.now) as recorder:
        recorder.execute(
            RecordReview(annotation_ids=(edit,), verdict=Verdict.APPROVED, reviewer="R")
        )
    assert ".ai-audit" not in work.status()
    head = work.head()
    done = vibes("flush", "--commit", "--json", cwd=work.path)
    assert done.code == 0, done.err
    assert work.git("rev-parse", "HEAD~1") == head
    changed = work.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert changed == [LOG], "the reviewer's environment is in the manifest from the start"
    assert [each["edge_type"] for each in work.records() if each["type"] == "edge"].count(
        "reviewed_by"
    ) == 1
    assert (done.json["waiting"], logged(work)) == ([unfinished], [edit])
    assert sorted(line.split()[-1] for line in work.status().splitlines()) == ["b.py", "other.txt"]


def test_flush_writes_what_the_files_on_disk_have(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    gone = work.write_as_ai("b.py", GAMMA, 3, 4)
    (work.path / "b.py").unlink()
    done = vibes("flush", "--json", cwd=work.path).json
    assert edit in done["written"]
    assert (done["waiting"], waiting(work)) == ([gone], [gone])
    assert vibes("flush", "--json", cwd=work.path).json["written"] == []
    work.step("commit", "-am", "The edit")
    assert logged(work) == [edit]
    work.check_invariants()


def test_lines_that_another_writer_appended_are_kept(work: Workspace) -> None:
    line = '{"type":"line","file_path":"app.py","line_start":1,"line_end":2}\n'
    with (work.path / LOG).open("a", encoding="utf-8") as file:
        file.write(line)
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    work.step("add", "app.py")
    work.step("commit", "-m", "The edit")
    log = work.git("show", f"HEAD:{LOG}")
    assert log.startswith(line.strip())
    assert edit in log
    assert work.status() == ""


def test_an_ignored_trail_is_written_at_once_and_never_staged(tmp_path: Path) -> None:
    work = Workspace(tmp_path / "work", hook=False)
    work.write(".gitignore", ".ai-audit/\n")
    assert vibes("init", cwd=work.path).code == 0
    edit = work.write_as_ai("app.py", ALPHA, 1, 2)
    assert edit in (work.path / LOG).read_text("utf-8")
    work.step("add", "--all")
    work.step("commit", "-m", "Private")
    assert work.git("ls-files", ".ai-audit") == ""


def test_without_a_hook_records_are_written_at_once(tmp_path: Path) -> None:
    work = Workspace(tmp_path / "work", hook=False)
    assert vibes("init", "--no-git-hooks", cwd=work.path).code == 0
    edit = work.write_as_ai("app.py", ALPHA, 1, 2)
    assert edit in (work.path / LOG).read_text("utf-8")


def test_removing_the_hook_writes_what_waits(work: Workspace) -> None:
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    assert vibes("init", "--remove-git-hooks", cwd=work.path).code == 0
    assert edit in (work.path / LOG).read_text("utf-8")
    more = work.write_as_ai("app.py", ALPHA + BETA + GAMMA, 9, 10)
    assert more in (work.path / LOG).read_text("utf-8")


def test_where_gits_folder_cannot_be_written_the_journal_is_used(work: Workspace) -> None:
    folder = work.path / ".git/ai-audit/waiting"
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("in the way", "utf-8")
    edit = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    assert ".ai-audit" not in work.status()
    assert waiting(work) == [edit]
    folder.unlink()
    work.step("commit", "-am", "From outside the sandbox")
    assert logged(work) == [edit]
    work.check_invariants()


def test_the_doctor_and_the_log_say_what_is_late(work: Workspace) -> None:
    def step() -> tuple[str, str]:
        steps = vibes("doctor", "--json", cwd=work.path).json["steps"]
        [found] = [each for each in steps if each["about"] == "waiting records"]
        return found["health"], found["message"]

    assert step() == ("ok", "no annotation waits for a commit")
    work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    assert step() == ("ok", "1 annotation waits for a commit")
    work.step("commit", "--no-verify", "-am", "Without the hook")
    assert step() == ("note", "1 annotation waits; 1 of them in commits that no hook saw")
    for command in (("log", "--waiting"), ("blame", "app.py"), ("stats",)):
        assert "1 edit is in commits that the pre-commit hook did not see" in (
            vibes(*command, cwd=work.path).err
        )
    work.commit_other_file("With it")
    assert step() == ("ok", "no annotation waits for a commit")


OLD_HOOK = """\
# Installed by `vibes init --git-hooks`, removed by `vibes init --remove-git-hooks`.
# Both refuse a modified hook.
vibes=$(command -v vibes) || vibes={program}
back_fill() {{
    test -d "$1/.ai-audit" || return 0
    test -x "$vibes" || {{
        echo "vibes is not on PATH: this commit has the audit trail as staged" >&2
        return 0
    }}
    "$vibes" backfill --pre-commit --audit-dir "$1/.ai-audit" </dev/null ||
        echo "vibes failed: this commit has the audit trail as staged" >&2
}}
back_fill .
before=$(dirname "$0")/pre-commit.before-vibes
test -x "$before" || exit 0
exec "$before" "$@"
"""


def test_what_the_version_before_left_goes_on(tmp_path: Path) -> None:
    """Its hook, its records in the log, and the entries in its journal."""
    work = Workspace(tmp_path / "work", hook=False)
    work.init()
    body = OLD_HOOK.format(program=forked.program().as_posix()).encode()
    mark = f"# vibes-lsp pre-commit hook 1, sha256 of what follows: {sha256(body).hexdigest()}"
    hook = executable(work.path / ".git/hooks/pre-commit", "")
    hook.write_bytes(f"#!/bin/sh\n{mark}\n".encode() + body)
    work.step("add", "--all")
    work.git("commit", "--quiet", "--no-verify", "-m", "Begin")
    with Recorder(work.path, now=work.now) as recorder:
        work.write("app.py", ALPHA)
        first = recorder.annotate_lines("app.py", 1, 2, "create", BY).annotation_id
        assert first is not None
        assert first in (work.path / LOG).read_text("utf-8"), "it does not wait yet"
        work.step("add", "app.py")
        work.step("commit", "-m", "By the old hook")
    assert logged(work) == [first]
    assert not list((work.path / ".ai-audit/wal").glob("*.jsonl")), "the journal is folded"
    assert b"write_trail ." in hook.read_bytes(), "the hook is replaced"
    second = work.write_as_ai("app.py", ALPHA + BETA, 5, 6)
    assert work.status() == " M app.py"
    work.step("commit", "-am", "By the new one")
    assert logged(work) == [first, second]
    work.check_invariants()


def test_texts_are_kept_where_git_does_not_clean(work: Workspace) -> None:
    """Only the text says that two of three distinctive lines stand, of which one is enough."""
    lines = [f"value_number_{number} = compute({number})\n" for number in range(3)]
    short = "x = 1\n" * 5
    edit = work.write_as_ai("app.py", ALPHA + "".join(lines) + short, 3, 10)
    work.step("clean", "-fdxq")
    work.write("app.py", ALPHA + lines[1] + lines[2])
    work.step("commit", "-am", "The last lines")
    assert logged(work) == [edit]
    assert [record.get("sure") for record in work.records() if record.get("edit") == edit] == [None]
