"""`vibes gate --base`: a branch moves code, or writes it in another encoding or with other line ends."""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.gate_project import BEGIN, BLOCKED, BO, GateProject, checks, decisions, use_ci_user
from tests.server.project import STORY
from tests.trails import Repository
from tests.trails.hashing import context_hash

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

POINTER: Final = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 412\n"


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    """A project gated by a CI user who did not contribute to it."""
    return use_ci_user(GateProject(tmp_path / "project"))


def submodule(project: GateProject, tmp_path: Path, path: str = "lib", **files: str) -> Repository:
    """Add a repository with some files as a submodule; return it."""
    inner = Repository(tmp_path / "inner")
    for name, text in files.items():
        inner.write(f"{name}.py", text)
    inner.commit("Inside")
    project.repository.add_submodule(inner, path)
    return inner


@pytest.mark.parametrize("linked", [False, True])
def test_a_nested_trail_that_the_branch_adds_is_found(
    project: GateProject, run_vibes: RunVibes, linked: bool
) -> None:
    project.file("src/a.py")
    trail = project.root / "src/.ai-audit"
    if linked:
        trail.symlink_to("../.ai-audit")
    else:
        shutil.copytree(project.root / ".ai-audit", trail)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error")) == ("FAIL", {"base-trail"})
    assert [each["file"] for each in found["findings"]] == ["src/.ai-audit"]


def test_a_trail_that_the_base_has_for_a_folder_is_no_error(
    project: GateProject, run_vibes: RunVibes
) -> None:
    shutil.copytree(project.root / ".ai-audit", project.root / "src/.ai-audit")
    project.base = project.commit()
    project.file("src/a.py")
    project.commit()
    assert (project.gate_json(run_vibes)["result"], project.gate_json(run_vibes)["findings"]) == (
        "PASS",
        [],
    )
    config = project.root / "src/.ai-audit/config.json"
    config.write_text(config.read_text() + "\n")
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], [(each["check"], each["severity"]) for each in found["findings"]]) == (
        "PASS",
        [("base-trail", "warning")],
    )


@pytest.mark.parametrize("name", ["a.txt", "gen/a.py", "a"])
@pytest.mark.parametrize("where", ["in the base", "in the branch"])
def test_renaming_a_file_to_an_untracked_name_does_not_hide_it(
    project: GateProject, run_vibes: RunVibes, name: str, where: str
) -> None:
    project.policy(tracked=[".py"], excluded=["gen/"])
    project.base = project.commit()
    project.write()
    commit = project.commit()
    project.base = commit if where == "in the base" else project.base
    (project.root / name).parent.mkdir(exist_ok=True)
    project.repository.git("mv", "a.py", name)
    project.commit("Rename")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", {name: ("block", False)})


@pytest.mark.parametrize("name", ["a.txt", "gen/a.py"])
def test_what_was_never_tracked_is_not_gated(
    project: GateProject, run_vibes: RunVibes, name: str
) -> None:
    project.policy(tracked=[".py"], excluded=["gen/"])
    project.base = project.commit()
    project.write(name)
    project.commit()
    assert (project.gate_json(run_vibes)["result"], decisions(project.gate_json(run_vibes))) == (
        "PASS",
        {},
    )


def test_code_that_moved_into_a_submodule_is_gated_there(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path
) -> None:
    project.write()
    project.base = project.commit()
    project.file("a.py", BEGIN)
    submodule(project, tmp_path, code=f"# moved\n{STORY}")
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", {"lib/code.py": ("block", False)})


@pytest.mark.parametrize("how", ["not checked out", "a nested repository", "another commit"])
def test_code_that_may_be_in_a_missing_submodule_does_not_pass(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path, how: str
) -> None:
    project.write()
    project.base = project.commit()
    project.file("a.py", BEGIN)
    inner = submodule(project, tmp_path, code=f"# moved\n{STORY}")
    if how == "a nested repository":
        project.repository.git("rm", "--quiet", "--cached", ".gitmodules")
        (project.root / ".gitmodules").unlink()
    project.commit()
    if how == "another commit":
        inside = Repository(project.root / "lib")
        inside.write("code.py", "nothing = 1\n")
        inside.commit("Elsewhere")
    else:
        shutil.rmtree(project.root / "lib")
        (project.root / "lib").mkdir()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", {})
    assert [each["file"] for each in found["findings"] if each["check"] == "gate-unread"] == ["lib"]
    assert inner.head()


def test_a_submodule_is_no_reason_to_fail_where_nothing_is_lost(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path
) -> None:
    project.write(risky=False)
    project.base = project.commit()
    project.file("a.py", BEGIN)
    submodule(project, tmp_path, code="x = 1\n")
    project.commit()
    shutil.rmtree(project.root / "lib")
    (project.root / "lib").mkdir()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found)) == ("PASS", {"gate-lost"}), (
        "what was lost would have passed"
    )


@pytest.mark.parametrize(
    "ends", ["\r", "\u2028", "\u2029", "\f", "\x85"], ids=["cr", "ls", "ps", "ff", "nel"]
)
@pytest.mark.parametrize("where", ["in the base", "in the branch", "elsewhere"])
def test_no_line_ends_hide_code(
    project: GateProject, run_vibes: RunVibes, ends: str, where: str
) -> None:
    project.write()
    commit = project.commit()
    project.base = commit if where != "in the branch" else project.base
    project.file("a.py", BEGIN)
    project.file("b.py" if where == "elsewhere" else "a.py", STORY.replace("\n", ends))
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == (
        "FAIL",
        {"b.py" if where == "elsewhere" else "a.py": ("block", False)},
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le-bom"])
def test_no_encoding_hides_code(project: GateProject, run_vibes: RunVibes, encoding: str) -> None:
    project.write()
    project.commit()
    project.file(
        "a.py",
        ("\ufeff" + STORY).encode("utf-16-le")
        if encoding.endswith("bom")
        else STORY.encode(encoding),
    )
    project.commit("Another encoding")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)


def test_a_git_lfs_pointer_does_not_pass(project: GateProject, run_vibes: RunVibes) -> None:
    """A runner without Git LFS, or with `GIT_LFS_SKIP_SMUDGE`."""
    project.write()
    project.base = project.commit()
    project.file("a.py", POINTER)
    project.commit("Large files elsewhere")
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error")) == ("FAIL", {"gate-unread"})


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("code.py", "warning"),
        ("x.db", "warning"),
        ("a/x.json", "warning"),
        ("blobs/x.json", "warning"),
        ("blobs/x.json.gz", "warning"),
        (f"blobs/{'0' * 64}.json.gz", "warning"),
        ("attestation.json.py", "warning"),
        ("audit.db-code", "error"),
        ("a/x.lock", "error"),
        ("spool/x.jsonl", "error"),
        ("wal/x.json", "error"),
        (".gitattributes", None),
        ("attestation.json", None),
    ],
)
def test_code_that_moved_into_the_folder_of_the_trail_is_gated(
    project: GateProject, run_vibes: RunVibes, name: str, severity: str | None
) -> None:
    path = f".ai-audit/{name}"
    project.write()
    project.base = project.commit()
    project.file("a.py", BEGIN)
    project.file(path, f"# moved\n{STORY}")
    project.repository.git("add", "--force", path)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", {path: ("block", False)})
    findings = [(each["file"], each["severity"]) for each in found["findings"]]
    assert ((path, severity) in findings) == (severity is not None)


def test_files_of_a_trail_are_not_taken_for_code(project: GateProject, run_vibes: RunVibes) -> None:
    """A blob, whose name is the hash of the entry in it, and an attestation."""
    entry = {"type": "reasoning", "reasoning_text": STORY}
    name = f"{context_hash(entry)}.json.gz"
    blob = project.root / ".ai-audit/blobs" / name
    blob.parent.mkdir()
    blob.write_bytes(gzip.compress(json.dumps(entry).encode()))
    project.file(".ai-audit/attestation.intoto.jsonl", "{}\n")
    project.write(risky=False)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("PASS", {"a.py": ("flag", False)})
    assert not checks(found) & {"base-file"}


@pytest.mark.parametrize("anchored", [True, False])
@pytest.mark.parametrize("where", ["in the base", "in the branch"])
def test_renaming_a_function_does_not_hide_it(
    project: GateProject, run_vibes: RunVibes, where: str, anchored: bool
) -> None:
    session = project.session_start(environment=project.risky)
    text, lines = (STORY, (4, 7)) if anchored else (None, None)
    project.function(
        "a.py", "digest", environment=project.risky, session=session, text=text, lines=lines
    )
    project.file("a.py")
    commit = project.commit()
    project.base = commit if where == "in the base" else project.base
    project.file("a.py", "# new\n" + STORY.replace("digest", "hashed"))
    project.commit("Rename")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)
    assert (found["items"][0]["lineStart"], found["items"][0]["lineEnd"]) == (5, 8)


def test_a_function_that_was_rewritten_and_renamed_is_lost(
    project: GateProject, run_vibes: RunVibes
) -> None:
    session = project.session_start(environment=project.risky)
    project.function("a.py", "digest", environment=project.risky, session=session)
    project.file("a.py")
    project.base = project.commit()
    project.file("a.py", "import sys\n\n\ndef main() -> None:\n    print(sys.argv)\n")
    project.commit("Something else")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found), checks(found)) == ("PASS", {}, {"gate-lost"})


def test_a_backdated_commit_does_not_hide_its_code(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """Lines older than the edit are not gated, unless only the branch dates them."""
    project.file("a.py")
    project.repository.git("add", "a.py")
    project.repository.git(
        "commit", "--quiet", "--message", "Long ago", date="2020-01-01T00:00:00+00:00"
    )
    project.write()
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


@pytest.mark.parametrize("gone", [True, False], ids=["file removed", "lines removed"])
def test_a_backdated_commit_does_not_make_moved_code_old(
    project: GateProject, run_vibes: RunVibes, gone: bool
) -> None:
    project.write()
    project.base = project.commit()
    project.file("b.py", f"# moved\n{STORY}")
    (project.root / "a.py").unlink() if gone else project.file("a.py", BEGIN)
    project.repository.git("add", "--all")
    project.repository.git(
        "commit", "--quiet", "--message", "Long ago", date="2020-01-01T00:00:00+00:00"
    )
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", {"b.py": ("block", False)})


def test_a_copy_that_the_base_has_is_not_what_was_removed(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.file("b.py", f"# copy\n{STORY}")
    project.repository.git("add", "b.py")
    project.repository.git(
        "commit", "--quiet", "--message", "Before", date="2026-01-01T00:00:00+00:00"
    )
    project.write()
    project.base = project.commit()
    project.file("a.py", BEGIN)
    project.file("b.py", f"# the copy\n{STORY}")
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("PASS", {})


def test_a_duplicate_record_with_less_risk_does_not_replace_the_first(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(review_rules=[{"condition": "org:sensitive >= 0.5", "action": "block"}])
    project.base = project.commit()
    for value in (0.9, 0.1):
        project.write(
            risky=False,
            risk_score=value,
            risk_factors=[{"signal": "org:sensitive", "value": value, "weight": 1}],
        )
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], sorted(item["decision"] for item in found["items"])) == (
        "FAIL",
        ["block", "flag"],
    )


@pytest.mark.parametrize(
    ("reviewer", "by", "said"),
    [
        ("Ada Example", BO, "approved by Ada Example, not independent"),
        ("Bo Example", BO, "approved by Bo Example"),
    ],
)
def test_a_row_agrees_with_the_findings(
    project: GateProject, run_vibes: RunVibes, reviewer: str, by: tuple[str, str], said: str
) -> None:
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=reviewer)
    project.commit("Review", by=by)
    for arguments in ((), ("--markdown",)):
        done = project.gate(run_vibes, *arguments)
        row = " ".join(done.out.split())  # independent of the width of the table
        assert said in row
        assert ("not independent" in row) == (done.code == 1)
    told = project.gate_json(run_vibes)["items"][0]["review"]
    assert told.get("objection") == ("not independent" if "not" in said else None)


def test_a_row_does_not_call_an_ais_approval_a_persons(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    session = project.session_start(environment=project.calm, agent_name=BO[0])
    project.commit_review(identifier, session=session)
    assert "approved by Bo Example, in an AI's session" in " ".join(
        project.gate(run_vibes).out.split()
    )
