"""`vibes merge`: branches that both recorded, with conflicts from git or from a host."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository, TrailWriter
from tests.unit.checks.projects import contents
from tests.unit.store.empty_trail import leftover_files
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

FILES = ("annotations.jsonl", "manifest.json", "config.json")


class Branches:
    """A repository without attributes, as on a host, whose trail grew on `main` and on `topic`."""

    def __init__(self, root: Path, run_vibes: RunVibes) -> None:
        self.root, self.audit, self.within = root, root / ".ai-audit", run_vibes
        self.repository = Repository(root)
        run_vibes("init", "--project-name", "shop", cwd=root)
        (self.audit / ".gitattributes").write_text("# as a host sees it\n")
        self.repository.write("code.py", "one\n")
        self.repository.commit("Start an audit trail")
        self.repository.branch("topic")
        for branch, start in (("main", "2026-02-03T10:00:00Z"), ("topic", "2026-02-03T11:00:00Z")):
            self.repository.switch(branch)
            self.record(branch, start)

    def record(self, name: str, start: str) -> None:
        writer = TrailWriter(self.root, start=start)
        writer.environment(tool=f"tool of {name}")
        writer.session_end(writer.session_start())
        self.repository.commit(f"Record on {name}")

    def config(self, branch: str, **members: Any) -> None:
        self.repository.switch(branch)
        path = self.audit / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **members}, indent=2) + "\n")
        self.repository.commit(f"Decide on {branch}")

    def conflict(self, *command: str) -> None:
        with pytest.raises(RuntimeError):
            self.repository.git(*command)

    def unmerged(self) -> list[str]:
        return self.repository.git("diff", "--name-only", "--diff-filter=U").splitlines()

    def everything_is_there(self, *but: str) -> None:
        for branch in ("main", "topic"):
            report = self.within("check", "--base", branch, "--json", cwd=self.root).json
            assert {each["check"] for each in report["findings"]} <= {"git-attributes", *but}, (
                report["findings"]
            )
            assert (report["entries"]["environment"], report["records"]["session"]) == (3, 4)


@pytest.fixture
def branches(tmp_path: Path, run_vibes: RunVibes) -> Branches:
    return Branches(tmp_path / "project", run_vibes)


def test_a_conflict_of_a_merge_is_resolved(branches: Branches) -> None:
    branches.conflict("merge", "main")
    assert branches.unmerged() == [".ai-audit/annotations.jsonl", ".ai-audit/manifest.json"]
    done = vibes("merge", "main", cwd=branches.root)
    assert (done.code, done.lines, done.err) == (
        0,
        ["annotations.jsonl: merged, resolved", "manifest.json: merged, resolved"],
        "",
    )
    assert branches.unmerged() == []
    branches.repository.git("commit", "--quiet", "--no-edit")
    assert branches.repository.git("status", "--porcelain") == ""
    branches.everything_is_there()
    branches.repository.switch("main")
    branches.repository.git(
        "merge", "--quiet", "topic"
    )  # what the host does then: nothing conflicts


@pytest.mark.parametrize("command", [("rebase", "main"), ("cherry-pick", "main")])
def test_a_conflict_of_a_rebase_or_cherry_pick_is_resolved(
    branches: Branches, command: tuple[str, ...]
) -> None:
    branches.conflict(*command)
    done = branches.within("merge", cwd=branches.root / ".ai-audit")
    assert (done.code, branches.unmerged()) == (0, [])
    branches.repository.git("-c", "core.editor=true", command[0], "--continue")
    assert branches.repository.git("status", "--porcelain") == ""
    branches.everything_is_there()


def test_records_written_during_the_conflict_survive(branches: Branches) -> None:
    branches.conflict("merge", "main")
    with (branches.audit / "annotations.jsonl").open("a") as log:
        log.write(
            '{"type":"session","event":"end","session_id":"late","timestamp":"2026-02-03T12:00:00Z"}\n'
        )
    assert branches.within("merge", cwd=branches.root).code == 0
    assert '"late"' in (branches.audit / "annotations.jsonl").read_text().splitlines()[-1]


def test_records_dropped_by_a_resolution_are_added_again(branches: Branches) -> None:
    branches.repository.git(
        "merge", "--quiet", "--strategy=ours", "--message", "Merge main", "main"
    )
    assert branches.within("check", "--base", "main", cwd=branches.root).code == 1
    done = branches.within("merge", "main", "--json", cwd=branches.root)
    assert done.code == 0
    assert [each["outcome"] for each in done.json["files"][:3]] == ["merged", "merged", "unchanged"]
    branches.everything_is_there()
    before = contents(branches.root)
    assert branches.within("merge", "main", cwd=branches.root).lines == ["nothing to merge"]
    assert contents(branches.root) == before


def test_committed_conflict_markers_are_removed(branches: Branches) -> None:
    branches.conflict("merge", "main")
    branches.repository.commit("Merge main, markers and all")
    assert "<<<<<<<" in (branches.audit / "manifest.json").read_text()
    done = branches.within("merge", cwd=branches.root)
    assert (done.code, done.lines) == (0, ["annotations.jsonl: merged", "manifest.json: merged"])
    branches.everything_is_there("base-checkout")  # HEAD has the markers until this is committed
    branches.repository.commit("Take the markers away")
    branches.everything_is_there()


@pytest.mark.parametrize(
    "owners", [("", "", ""), ("Ada", "", "Ada"), ("", "Bob", "Bob"), ("Ada", "Bob", None)]
)
def test_a_manifest_of_another_tool_is_merged_too(
    branches: Branches, owners: tuple[str, str, str | None]
) -> None:
    manifest = branches.audit / "manifest.json"
    for branch, owner in zip(("main", "topic"), owners, strict=False):
        branches.repository.switch(branch)
        more = {"owner": {"name": owner}} if owner else {}
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **more}, indent=2))
        branches.repository.commit("Change the layout")
    branches.conflict("merge", "main")
    before = manifest.read_bytes()
    done = branches.within("merge", cwd=branches.root)
    if owners[2] is None:
        assert (done.code, manifest.read_bytes()) == (2, before)
        assert "manifest.json: both sides changed owner.name differently" in done.err
        return
    assert done.code == 0
    assert json.loads(manifest.read_text()).get("owner") == (
        {"name": owners[2]} if owners[2] else None
    )
    branches.everything_is_there()


def test_the_policy_is_merged_member_by_member(branches: Branches) -> None:
    branches.config(
        "main",
        tracked_extensions=[".py", ".ts"],
        assurance_level="high",
        risk_scoring={"enabled": True},
    )
    branches.config("topic", tracked_extensions=[".py", ".go"], exclude_patterns=["vendor/"])
    branches.conflict("merge", "main")
    assert branches.within("merge", cwd=branches.root).code == 0
    config = json.loads((branches.audit / "config.json").read_text())
    assert config["tracked_extensions"] == [".py", ".go", ".ts"]
    assert (config["assurance_level"], config["exclude_patterns"], config["risk_scoring"]) == (
        "high",
        ["vendor/"],
        {"enabled": True},
    )
    branches.everything_is_there(
        "base-policy", "base-level"
    )  # what one branch decided is news to the other


def test_a_contradiction_in_the_policy_is_left_to_people(branches: Branches) -> None:
    branches.config("main", assurance_level="high")
    branches.config("topic", assurance_level="low")
    branches.conflict("merge", "main")
    before = (branches.audit / "config.json").read_bytes()
    done = branches.within("merge", "main", cwd=branches.root)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(
        "vibes: config.json: both sides changed assurance_level differently; "
    )
    assert branches.unmerged() == [".ai-audit/config.json"], "the others are settled"
    assert (branches.audit / "config.json").read_bytes() == before
    decided = {
        "standard": "VIBES",
        "standard_version": "1.0",
        "assurance_level": "low",
        "project_name": "shop",
        "note": "by hand",
    }
    (branches.audit / "config.json").write_text(json.dumps(decided))
    assert branches.within("merge", "main", cwd=branches.root).code == 0
    assert branches.unmerged() == []
    assert json.loads((branches.audit / "config.json").read_text()) == decided


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("manifest.json", b'{"entries":{', "manifest.json (ours) cannot be parsed: "),
        ("config.json", b"{", "config.json (ours) cannot be parsed: "),
    ],
)
def test_a_file_that_cannot_be_parsed_is_not_changed(
    branches: Branches, file: str, content: bytes, message: str
) -> None:
    branches.config("main", project_name="other")
    branches.repository.switch("topic")
    (branches.audit / file).write_bytes(content)
    done = branches.within("merge", "main", cwd=branches.root)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err
    assert (branches.audit / file).read_bytes() == content
    assert leftover_files(AuditDir(branches.audit)) == []


def test_a_line_that_is_not_a_record_stops_the_resolution(branches: Branches) -> None:
    branches.conflict("merge", "main")
    log = branches.audit / "annotations.jsonl"
    log.write_text(log.read_text() + '{"type":\n')
    before = log.read_bytes()
    done = branches.within("merge", cwd=branches.root)
    assert (done.code, done.out) == (2, "manifest.json: merged, resolved\n")
    assert done.err.startswith(
        f"vibes: annotations.jsonl line {len(before.splitlines())} is not a record: "
    )
    assert log.read_bytes() == before
    assert branches.unmerged() == [".ai-audit/annotations.jsonl"]


@pytest.mark.parametrize("arguments", [["nowhere"], ["--output=x"], [""]])
def test_an_unknown_revision_is_wrong_use(branches: Branches, arguments: list[str]) -> None:
    before = contents(branches.root)
    done = branches.within("merge", "--", *arguments, cwd=branches.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert contents(branches.root) == before


def test_a_trail_of_another_major_version_is_not_touched(branches: Branches) -> None:
    branches.config("main", standard_version="2.0")
    branches.repository.switch("topic")
    before = contents(branches.root)
    done = branches.within("merge", "main", cwd=branches.root)
    assert (done.code, done.out) == (2, "")
    assert "unsupported version '2.0' in config.json" in done.err
    assert contents(branches.root) == before


def test_a_link_in_the_place_of_a_file_is_not_followed(branches: Branches, tmp_path: Path) -> None:
    log = branches.audit / "annotations.jsonl"
    log.rename(tmp_path / "elsewhere")
    log.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()
    done = branches.within("merge", "main", cwd=branches.root)
    assert done.code == 2
    assert "annotations.jsonl is a link" in done.err
    assert (tmp_path / "elsewhere").read_bytes() == before
    assert log.is_symlink()


def test_without_git_there_is_nothing_to_merge_with(tmp_path: Path, run_vibes: RunVibes) -> None:
    run_vibes("init", cwd=tmp_path)
    done = run_vibes("merge", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "is not in a git work tree" in done.err


def test_a_partial_clone_that_lacks_the_other_side_merges_nothing(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    (tmp_path / "origin").mkdir()
    branches = Branches(tmp_path / "origin", run_vibes)
    branches.repository.switch("main")
    branches.repository.git("config", "uploadpack.allowFilter", "true")
    origin = branches.root.as_uri()
    branches.repository.git("clone", "-q", "--filter=blob:none", origin, str(tmp_path / "clone"))
    log = tmp_path / "clone/.ai-audit/annotations.jsonl"
    before = log.read_bytes()
    failed = run_vibes("merge", "origin/topic", cwd=tmp_path / "clone")
    assert failed.code == 2
    assert "which lacks objects" in failed.err
    assert log.read_bytes() == before
