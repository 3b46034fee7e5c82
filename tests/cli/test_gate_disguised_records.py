"""`vibes gate --base`: a branch disguises records, reviews and files."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.cli.gate_project import (
    BEGIN,
    BLOCKED,
    BO,
    GateProject,
    change_last_records,
    checks,
    decisions,
    use_ci_user,
)
from tests.server.project import STORY
from tests.trails import OMIT, Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

PADDING: Final = b"x" * (9 << 20)
UNREADABLE: Final[dict[str, Callable[[bytes], bytes]]] = {
    "half a record": lambda line: line[:-3],
    "a member twice": lambda line: line.replace(b'"type"', b'"action":"x","type"', 1),
    "no number of JSON": lambda line: line.replace(b"{", b'{"x":NaN,', 1),
    "broken": lambda line: b'{"broken": ' + line,
    "no object": lambda line: b"[" + line.strip() + b"]\n",
    "a huge line": lambda line: line.replace(b"{", b'{"pad":"' + PADDING + b'",', 1),
    "a NUL": lambda line: b"\0" + line,
    "another encoding": lambda line: line.decode().encode("utf-16"),
    "no line ends": lambda line: line.replace(b"\n", b"\r") * 2,
}


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    """A project gated by a CI user who did not contribute to it."""
    return use_ci_user(GateProject(tmp_path / "project"))


@pytest.mark.parametrize("before", [b" ", b"\t", b"\xef\xbb\xbf"], ids=["blank", "tab", "mark"])
@pytest.mark.parametrize("merged", [False, True])
def test_an_approval_cannot_hide_who_committed_it(
    project: GateProject, run_vibes: RunVibes, before: bytes, merged: bool
) -> None:
    project.repository.switch("side", create=True)
    project.file("b.txt", "b\n")
    project.commit("On the side", by=BO)
    project.repository.switch("main")
    identifier = project.write()
    project.commit()
    begun = len(project.log_lines())
    project.review(identifier, reviewer=BO[0])
    change_last_records(project, lambda line: before + line, len(project.log_lines()) - begun)
    if merged:
        project.repository.git("stash", "--quiet")
        project.repository.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
        project.repository.git("checkout", "stash@{0}", "--", ".ai-audit")
    project.commit("Review")
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found)) == (BLOCKED, {"gate-approval"})


@pytest.mark.parametrize(
    "place", [".gitattributes", ".ai-audit/.gitattributes", ".git/info/attributes"]
)
def test_attributes_do_not_hide_who_committed_an_approval(
    project: GateProject, run_vibes: RunVibes, place: str
) -> None:
    (project.root / place).parent.mkdir(exist_ok=True)
    (project.root / place).write_text("*.jsonl binary -diff\n* -diff\n")
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=BO[0])
    project.commit("Review")
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_record_that_cannot_be_read_does_not_pass(
    project: GateProject, run_vibes: RunVibes, kind: str
) -> None:
    project.write()
    change_last_records(project, UNREADABLE[kind])
    project.commit()
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert checks(found, "error") == {"gate-unread"}
    assert run_vibes("gate", cwd=project.root).code == 1, "nor without a base"


def test_what_the_base_has_that_cannot_be_read_is_a_warning(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    change_last_records(project, UNREADABLE["broken"])
    project.base = project.commit()
    project.write("b.py", risky=False)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("PASS", {"b.py": ("flag", False)})
    assert [(each["check"], each["severity"]) for each in found["findings"]] == [
        ("gate-unread", "warning")
    ]


@pytest.mark.parametrize("base", [False, True])
def test_a_log_that_cannot_be_read_at_all_is_an_error(
    project: GateProject, run_vibes: RunVibes, base: bool
) -> None:
    project.write()
    project.commit()
    (project.root / ".ai-audit/annotations.jsonl").unlink()
    (project.root / ".ai-audit/annotations.jsonl").mkdir()
    done = run_vibes("gate", *(("--base", project.base) if base else ()), cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "annotations.jsonl is not a regular file" in done.err


@pytest.mark.parametrize(
    "name", ["./x/../a.py", "a.py" if os.name == "nt" else "./a.py", "a" * 5_000 + ".py", "A.PY"]
)
def test_no_spelling_of_a_name_hides_code(
    project: GateProject, run_vibes: RunVibes, name: str
) -> None:
    project.write()
    change_last_records(project, lambda line: line.replace(b'"a.py"', json.dumps(name).encode()))
    project.commit()
    assert project.gate_json(run_vibes)["result"] == "FAIL"


@pytest.mark.parametrize("timestamp", ["2999-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "yesterday"])
def test_no_timestamp_hides_code(project: GateProject, run_vibes: RunVibes, timestamp: str) -> None:
    project.write(timestamp=timestamp)
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


@pytest.mark.parametrize("action", ["rebase_remap", "rebase_orphan", "unheard-of"])
def test_no_action_name_hides_code(project: GateProject, run_vibes: RunVibes, action: str) -> None:
    project.write(action=action)
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


def test_ignoring_the_file_or_the_trail_does_not_hide_code(
    project: GateProject, run_vibes: RunVibes
) -> None:
    (project.root / ".gitignore").write_text("new.py\n.ai-audit/\n")
    project.write("new.py")
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == {"new.py": ("block", False)}


def test_a_nested_trail_does_not_hide_code(project: GateProject, run_vibes: RunVibes) -> None:
    project.write("src/a.py")
    shutil.copytree(project.root / ".ai-audit", project.root / "src/.ai-audit")
    config = project.root / "src/.ai-audit/config.json"
    config.write_text(config.read_text().replace('"enabled": true', '"enabled": false'))
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == {"src/a.py": ("block", False)}


def test_a_renamed_trail_does_not_pass(project: GateProject, run_vibes: RunVibes) -> None:
    project.write()
    (project.root / ".ai-audit").rename(project.root / ".trail")
    project.commit()
    assert project.gate(run_vibes).code == 2


@pytest.mark.parametrize("base", [False, True])
@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
@pytest.mark.parametrize("target", ["itself", "gone.py", "../outside", "/dev/null"])
def test_a_broken_link_does_not_hide_code(
    project: GateProject, run_vibes: RunVibes, target: str, folder: bool, base: bool
) -> None:
    project.write("src/a.py")
    project.base = project.commit()
    if folder:
        shutil.rmtree(project.root / "src")
    link = project.root / ("src" if folder else "src/a.py")
    link.unlink(missing_ok=True)
    link.symlink_to(link.name if target == "itself" else target)
    project.commit("Link")
    done = run_vibes(
        "gate", *(("--base", project.base) if base else ()), "--json", cwd=project.root
    )
    assert (done.code, done.json["result"]) == (1, "FAIL")
    assert ("gate-unread", "error", "src/a.py") in {
        (each["check"], each["severity"], each["file"]) for each in done.json["findings"]
    }


def test_a_link_to_itself_is_reported(project: GateProject, run_vibes: RunVibes) -> None:
    project.write()
    (project.root / "a.py").unlink()
    (project.root / "a.py").symlink_to("a.py")
    done = run_vibes("blame", "a.py", cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "vibes: a.py cannot be read: its links form a loop; point the link at a file of the project\n"
    )


def test_a_link_that_replaces_removed_code_is_ignored(
    project: GateProject, run_vibes: RunVibes
) -> None:
    removed = project.write()
    project.edge(
        "supersedes",
        project.line("a.py", 1, 1, action="delete"),
        removed,
        target_type="annotation",
        metadata={"reason": "covers"},
    )
    (project.root / "a.py").unlink()
    (project.root / "a.py").symlink_to("generated.py")
    project.commit()
    assert checks(project.gate_json(run_vibes), "error") == set()


@pytest.mark.parametrize(
    "command",
    [("gate",), ("gate", "--base", "HEAD"), ("stats", "--by", "file"), ("blame", "a.py")],
    ids=" ".join,
)
def test_paths_of_thousands_of_folders_hold_nothing_up(
    project: GateProject, run_vibes: RunVibes, command: tuple[str, ...]
) -> None:
    for number in range(600):  # those that are asked again for each of their folders take minutes
        project.line(f"d{number}/{'x/' * 2000}a.py", 1, 1)
    project.write()
    project.commit()
    done = run_vibes(*command, cwd=project.root)
    assert done.code in (0, 1)
    assert done.err == ""


@pytest.mark.parametrize("elsewhere", ["a.py", "c.py"])
def test_code_that_was_removed_and_came_back_is_gated(
    project: GateProject, run_vibes: RunVibes, elsewhere: str
) -> None:
    project.write()
    project.base = project.commit()
    (project.root / "a.py").unlink()
    project.commit("Remove")
    project.file(elsewhere, f"# new\n{STORY}")
    project.commit("Bring it back")
    assert decisions(project.gate_json(run_vibes)) == {elsewhere: ("block", False)}


@pytest.mark.parametrize("committed", [False, True])
def test_code_that_moved_into_another_file_is_gated_there(
    project: GateProject, run_vibes: RunVibes, committed: bool
) -> None:
    project.write()
    if committed:
        project.base = project.commit()
    project.file("b.py", f"# moved\n{STORY}")
    project.file("a.py", BEGIN)
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == {"b.py": ("block", False)}


def test_code_in_a_submodule_is_gated(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path
) -> None:
    project.write("sub/a.py")
    shutil.rmtree(project.root / "sub")
    inner = Repository(tmp_path / "inner")
    (tmp_path / "inner/a.py").write_text(STORY)
    inner.commit("Inside")
    project.repository.add_submodule(inner, "sub")
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == {"sub/a.py": ("block", False)}


def test_a_replaced_object_does_not_loosen_the_base(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    project.commit()
    project.policy(review_rules=[])
    lax = project.commit("Looser")
    project.repository.git("replace", project.base, lax)
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found, "error")) == (BLOCKED, {"base-policy"})


def test_a_review_record_is_not_gated(project: GateProject, run_vibes: RunVibes) -> None:
    project.write(action="review")
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], found["items"]) == ("PASS", [])


def test_an_added_record_cannot_turn_code_of_the_base_into_a_review(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.base = project.commit()
    project.file("a.py", "# more\n" + STORY)
    review = project.line(
        "a.py",
        5,
        8,
        text="# more\n" + STORY,
        action="review",
        environment=project.risky,
        timestamp="2026-02-01T00:00:00Z",
    )
    project.edge(
        "supersedes", review, identifier, target_type="annotation", metadata={"reason": "commit"}
    )
    project.commit()
    found = project.gate_json(run_vibes)
    assert [item["decision"] for item in found["items"]] == ["block"]


def test_restored_code_in_a_backdated_commit_is_gated(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """The file equals the base, but git blames its lines on a commit of the branch."""
    project.file("a.py")
    project.base = project.commit("Code")
    project.file("a.py", BEGIN)
    project.repository.commit("Remove", date="2019-01-01T00:00:00+00:00")
    project.file("a.py")
    project.repository.commit("Restore", date="2020-01-01T00:00:00+00:00")
    project.write()
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


@pytest.mark.parametrize("anchored", [True, False])
def test_restored_lines_in_a_backdated_commit_are_not_old(
    project: GateProject, run_vibes: RunVibes, anchored: bool
) -> None:
    project.file("a.py", "".join(STORY.splitlines(keepends=True)[:4]))
    project.repository.commit("A line of long ago", date="2025-01-01T00:00:00+00:00")
    first = (project.root / "a.py").read_text()
    project.file("a.py")
    project.base = project.commit("Code")
    project.file("a.py", first)
    project.repository.commit("Remove", date="2019-01-01T00:00:00+00:00")
    project.file("a.py")
    project.repository.commit("Restore", date="2020-01-01T00:00:00+00:00")
    without: dict[str, Any] = (
        {}
        if anchored
        else dict.fromkeys(("anchor_hash", "anchor_context", "file_content_hash"), OMIT)
    )
    project.write(**without)
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == BLOCKED
