"""`vibes gate --base`: git's objects are gated, not only the checkout, and ambiguous revisions are refused."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.gate_project import (
    BLOCKED,
    BO,
    RULES,
    GateProject,
    checks,
    decisions,
    members,
    use_ci_user,
)
from tests.server.project import STORY
from tests.trails import Repository
from tests.trails.repository import AUTHOR
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.gate.changed_files import ChangedFiles
from vibes_lsp.git.repository import open_repository
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

LOG: Final = ".ai-audit/annotations.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    """A project gated by a CI user who did not contribute to it."""
    return use_ci_user(GateProject(tmp_path / "project"))


def fresh(project: GateProject) -> None:
    """Check out the work tree again, with all attributes applied."""
    project.repository.git("rm", "-r", "--quiet", "--cached", ".")
    for path in project.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            path.unlink()
    project.repository.git("reset", "--quiet", "--hard")


def commit_bytes(project: GateProject, path: str, content: bytes) -> None:
    """Add exactly these bytes to the next commit, bypassing attributes."""
    (project.root.parent / "blob").write_bytes(content)
    blob = project.repository.git(
        "hash-object", "-w", "--no-filters", str(project.root.parent / "blob")
    )
    project.repository.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    project.repository.git("commit", "--quiet", "--message", "Bytes")
    fresh(project)


def test_ident_does_not_create_an_uncommitted_approval(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    before = project.log_lines()
    project.review(identifier, reviewer=BO[0])
    forged = b"".join(b'{"x":"$Id:\\q$",' + line[1:] for line in project.log_lines()[len(before) :])
    (project.root / ".gitattributes").write_text("*.jsonl ident\n")
    project.write_log(before)
    project.commit("Attributes")
    commit_bytes(project, LOG, b"".join(before) + forged)
    assert members(project.log_lines()[-1])["x"].startswith("$Id: ")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)
    assert "base-checkout" in checks(found, "error")


def test_a_filter_does_not_create_an_uncommitted_approval(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """A runner with a global filter such as Git LFS."""
    identifier = project.write()
    (project.root / ".gitattributes").write_text("*.jsonl filter=swap -text\n")
    project.commit()
    before = project.log_lines()
    project.review(identifier, reviewer=BO[0])
    forged = b"".join(b"#" + line for line in project.log_lines()[len(before) :])
    project.write_log(before)
    project.repository.git("config", "filter.swap.smudge", "sed s/^#//")
    commit_bytes(project, LOG, b"".join(before) + forged)
    assert not any(line.startswith(b"#") for line in project.log_lines())
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)
    assert "base-checkout" in checks(found, "error")


def test_an_encoding_does_not_hide_a_looser_policy(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write("b.py", risky=False)
    (project.root / ".gitattributes").write_text(
        "config.json working-tree-encoding=ASCII//IGNORE\n"
    )
    project.commit()
    config = (project.root / ".ai-audit/config.json").read_text()
    commit_bytes(
        project,
        ".ai-audit/config.json",
        config.replace('"temperature > 0.8"', '"temperature > 0é.8"').encode(),
    )
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert checks(found, "error") >= {"base-policy"}


def test_a_manifest_that_a_filter_corrects_is_read_from_head(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False)
    project.repository.git("config", "filter.swap.smudge", "sed s/0.7/0.1/")
    (project.root / ".gitattributes").write_text("manifest.json filter=swap\n")
    project.commit()
    manifest = (project.root / ".ai-audit/manifest.json").read_bytes()
    commit_bytes(project, ".ai-audit/manifest.json", manifest.replace(b"0.1", b"0.7"))
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert checks(found, "error") >= {"base-checkout"}


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32LE"])
def test_an_encoding_does_not_hide_code(
    project: GateProject, run_vibes: RunVibes, encoding: str
) -> None:
    project.write()
    project.commit()
    commit_bytes(
        project, ".gitattributes", f"*.py text working-tree-encoding={encoding}\n".encode()
    )
    assert b"\0" in (project.root / "a.py").read_bytes()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)


def test_code_that_only_head_has_is_gated_and_noted(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    project.commit()
    project.file("a.py", "nothing = 1\n")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)
    [note] = [each for each in found["findings"] if each["check"] == "gate-worktree"]
    assert (note["severity"], note["file"]) == ("note", "a.py")


def test_code_that_only_head_has_and_git_cannot_read_fails(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    project.commit()
    project.file("a.py", "nothing = 1\n")
    blob = project.repository.git("rev-parse", "HEAD:a.py")
    (project.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = project.gate_json(run_vibes)
    assert found["result"] == "FAIL"
    assert "gate-unread" in checks(found, "error")


def test_a_change_reverted_only_in_the_index_is_gated(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    project.commit()
    project.repository.git("checkout", project.base, "--", "a.py")
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


def test_a_trail_in_a_submodule_releases_nothing(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path
) -> None:
    identifier = project.write()
    project.review(identifier, reviewer=BO[0])
    inner = Repository(tmp_path / "inner")
    project.repository.git("rm", "-r", "--quiet", "--cached", ".ai-audit")
    for path in (project.root / ".ai-audit").iterdir():
        path.rename(tmp_path / "inner" / path.name)
    (project.root / ".ai-audit").rmdir()
    inner.commit("Trail")
    project.repository.add_submodule(inner, ".ai-audit")
    project.repository.git("add", "a.py")
    project.repository.git("commit", "--quiet", "--message", "A trail elsewhere")
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)
    assert checks(found, "error") >= {"base-file"}


def test_a_base_that_cannot_be_read_is_not_taken_to_lack_a_file(project: GateProject) -> None:
    project.file("src/b.py", "import sys\n")
    base = project.repository.commit("Add a folder")
    with closing(open_repository(project.root) or pytest.fail("no repository")) as repository:
        files = ChangedFiles(repository, AuditDir(project.root / ".ai-audit"), base, base)
        assert files.was_in_base("src/b.py")
        assert not files.was_in_base("src/c.py")
    tree = project.repository.git("rev-parse", f"{base}:src")
    (project.root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with closing(open_repository(project.root) or pytest.fail("no repository")) as repository:
        files = ChangedFiles(repository, AuditDir(project.root / ".ai-audit"), base, base)
        with pytest.raises(HistoryUnavailable):
            files.was_in_base("src/b.py")


def test_an_uncommitted_approval_releases_nothing(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=BO[0])
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)
    assert any("it is not committed" in each["message"] for each in found["findings"])


@pytest.mark.parametrize("command", ["gate", "check"])
@pytest.mark.parametrize("name", ["main", "origin/main"])
def test_a_tag_named_like_the_base_is_refused(
    project: GateProject, run_vibes: RunVibes, name: str, command: str
) -> None:
    project.repository.git("update-ref", "refs/remotes/origin/main", project.base)
    project.repository.switch("side", create=True)
    project.write()
    project.repository.git("tag", name, project.commit())
    done = run_vibes(command, "--base", name, cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"{name!r} is ambiguous" in done.err
    assert f"refs/tags/{name}" in done.err
    where = "refs/remotes/origin/main" if "/" in name else "refs/heads/main"
    assert where in done.err
    assert decisions(run_vibes("gate", "--base", where, "--json", cwd=project.root).json) == BLOCKED


@pytest.mark.parametrize("suffix", ["~0", "^0", "^{commit}"])
def test_an_ambiguous_name_with_a_suffix_is_refused(
    project: GateProject, run_vibes: RunVibes, suffix: str
) -> None:
    project.repository.git("tag", "main", project.base)
    done = run_vibes("gate", "--base", f"main{suffix}", cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert "'main' is ambiguous" in done.err


def test_a_name_that_is_also_a_hash_prefix_is_refused(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    head = project.commit()
    project.repository.git("tag", project.base[:9], head)
    done = run_vibes("gate", "--base", project.base[:9], cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert "is ambiguous" in done.err
    assert decisions(project.gate_json(run_vibes)) == BLOCKED, "a whole hash means itself"


@pytest.mark.parametrize("name", [":/Begin", "HEAD^{/Begin}", "HEAD:a.py"])
def test_a_base_cannot_be_a_commit_message_search(
    project: GateProject, run_vibes: RunVibes, name: str
) -> None:
    project.write()
    project.commit("Begin again")
    done = run_vibes("gate", "--base", name, cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert "names no commit here" in done.err


def test_tags_named_like_what_git_itself_writes_change_nothing(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path
) -> None:
    """A push can create such tags; `.git/HEAD` and `.git/FETCH_HEAD` take precedence."""
    project.repository.switch("side", create=True)
    project.write()
    head = project.commit()
    Repository(tmp_path).git("clone", "--quiet", str(project.root), "clone")
    clone = Repository(tmp_path / "clone")
    for name in ("HEAD", "FETCH_HEAD"):
        clone.git("update-ref", f"refs/tags/{name}", head)
    clone.git("fetch", "--quiet", "origin", "refs/heads/main")
    done = run_vibes("gate", "--base", "FETCH_HEAD", "--json", cwd=tmp_path / "clone")
    assert (done.code, done.json["base"], decisions(done.json)) == (1, project.base, BLOCKED)


@pytest.mark.parametrize("base", ["origin/main", "refs/remotes/origin/main", "origin"])
def test_a_base_as_ci_names_it(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path, base: str
) -> None:
    project.repository.switch("side", create=True)
    project.write(risky=False)
    project.repository.git("tag", "v1", project.commit())
    project.repository.switch("main")
    Repository(tmp_path).git("clone", "--quiet", str(project.root), "clone")
    clone = Repository(tmp_path / "clone")
    clone.git("checkout", "--quiet", "--detach", "origin/side")
    done = run_vibes("gate", "--base", base, "--json", cwd=tmp_path / "clone")
    assert (done.code, done.err, decisions(done.json)) == (0, "", {"a.py": ("flag", False)})
    assert done.json["findings"] == []


def test_line_ends_of_a_checkout_are_no_difference(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False)
    (project.root / ".gitattributes").write_text("* text=auto\n")
    project.commit()
    project.repository.git("config", "core.autocrlf", "true")
    (project.root / ".ai-audit/.gitattributes").unlink()
    project.commit("Line ends everywhere")
    fresh(project)
    assert b"\r\n" in (project.root / LOG).read_bytes()
    assert b"\r\n" in (project.root / "a.py").read_bytes()
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found)) == ("PASS", set())


def test_a_policy_with_other_line_ends_is_the_same(
    project: GateProject, run_vibes: RunVibes
) -> None:
    config = project.root / ".ai-audit/config.json"
    assert json.loads(config.read_bytes())["risk_scoring"]["review_rules"] == RULES
    config.write_bytes(config.read_bytes().replace(b"\n", b"\r\n"))
    project.file("a.py", STORY)
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found, "error")) == ("PASS", set())


def test_an_approval_counts_of_a_file_that_a_sparse_checkout_leaves_out(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write("src/a.py")
    project.commit()
    project.commit_review(identifier)
    project.repository.git("sparse-checkout", "set", "--no-cone", "/*", "!/src/")
    assert not (project.root / "src/a.py").exists()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("PASS", {"src/a.py": ("block", True)})


def test_who_wrote_a_file_that_a_sparse_checkout_leaves_out_cannot_approve_it(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write("src/a.py")
    project.commit()
    project.commit_review(identifier, AUTHOR)
    project.repository.git("sparse-checkout", "set", "--no-cone", "/*", "!/src/")
    assert decisions(project.gate_json(run_vibes)) == {"src/a.py": ("block", False)}
