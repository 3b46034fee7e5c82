"""Findings about the git setup and about changes since a base revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.filters import SECRETS, add_filter
from tests.unit.checks.projects import LOG, MANIFEST, Project, Seen
from vibes_lsp.errors import HistoryUnavailable

if TYPE_CHECKING:
    from pathlib import Path

IGNORE, ATTRIBUTES = ".ai-audit/.gitignore", ".ai-audit/.gitattributes"


@pytest.mark.parametrize("text", [None, "", "*.lock\nwal/\nspool/\n", "audit.db\n!audit.db\n"])
def test_git_ignore(project: Project, text: str | None) -> None:
    replace(project.root / IGNORE, text)
    assert project.seen() == [
        Seen("git-ignore", "warning", IGNORE, None, None, "git does not ignore audit.db")
    ]


@pytest.mark.parametrize(
    "text", ["audit.db\n", "/audit.db*\n", "*\n!.gitignore\n!*.json*\n!.gitattributes\n"]
)
def test_any_pattern_that_ignores_the_database_is_accepted(project: Project, text: str) -> None:
    replace(project.root / IGNORE, text)
    assert project.seen() == []


def test_a_rule_of_the_project_counts_and_one_of_this_machine_does_not(project: Project) -> None:
    replace(project.root / IGNORE, None)
    (project.root / ".git/info/exclude").write_text("audit.db\n")
    message = "audit.db is ignored only by settings of this machine"
    assert project.seen() == [Seen("git-ignore", "warning", IGNORE, None, None, message)]
    (project.root / ".gitignore").write_text(".ai-audit/audit.db\n")
    assert project.seen() == []


def test_a_journal_of_another_tool_that_git_would_take_along(project: Project) -> None:
    replace(project.root / IGNORE, "audit.db\n")
    (project.root / ".ai-audit/wal").mkdir()
    assert project.seen() == [
        Seen("git-ignore", "warning", IGNORE, None, None, "git does not ignore wal/")
    ]


def test_attributes_that_another_file_overrides(project: Project) -> None:
    (project.root / ".git/info/attributes").write_text("manifest.json text=auto\n")
    message = "attributes of manifest.json are overridden, for example in .git/info/attributes"
    assert project.seen() == [Seen("git-attributes", "warning", ATTRIBUTES, None, None, message)]


def test_attributes_of_the_project_are_accepted(project: Project) -> None:
    replace(project.root / ATTRIBUTES, None)
    project.repository.git("rm", "--cached", "--quiet", ATTRIBUTES)
    (project.root / ".gitattributes").write_text(".ai-audit/*.json* merge=union -text\n")
    assert project.seen() == []


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (None, "annotations.jsonl, manifest.json"),
        ("annotations.jsonl merge=union -text\n", "manifest.json"),
        ("annotations.jsonl merge=union -text\nmanifest.json merge=union\n", "manifest.json"),
    ],
)
def test_git_attributes(project: Project, text: str | None, files: str) -> None:
    replace(project.root / ATTRIBUTES, text)
    if text is None:  # git takes the one that it has staged
        project.repository.git("rm", "--cached", "--quiet", ATTRIBUTES)
    assert project.seen() == [
        Seen("git-attributes", "warning", ATTRIBUTES, None, None, f"missing attributes for {files}")
    ]


def replace(file: Path, text: str | None) -> None:
    file.unlink()
    if text is not None:
        file.write_text(text)


def test_one_attribute_line_for_all_files_is_accepted(project: Project) -> None:
    replace(project.root / ATTRIBUTES, "* merge=union -text\n")
    assert project.seen() == []


@pytest.mark.parametrize(
    "name", ["audit.db", "audit.db-wal", "manifest.json.lock", "wal/one.jsonl"]
)
def test_git_derived(project: Project, name: str) -> None:
    project.writer.files.write(name, b"")
    project.repository.git("add", "--force", f".ai-audit/{name}")
    assert project.seen() == [
        Seen("git-derived", "warning", f".ai-audit/{name}", None, None, f"git tracks {name}")
    ]


@pytest.mark.parametrize(
    ("name", "severity"),
    [("annotations.jsonl", "warning"), ("config.json", "warning"), ("manifest.json", "note")],
)
def test_git_ignored(project: Project, name: str, severity: str) -> None:
    project.repository.git("rm", "--cached", "--quiet", f".ai-audit/{name}")
    with (project.root / IGNORE).open("a") as file:
        file.write(f"{name}\n")
    assert project.seen() == [
        Seen("git-ignored", severity, f".ai-audit/{name}", None, None, f"git ignores {name}")
    ]


def test_without_a_repository_the_git_setup_is_not_checked(project: Project) -> None:
    (project.root / ".git").rename(project.root / "not-git")
    replace(project.root / IGNORE, None)
    assert project.seen() == []


def rewrite(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_base_record(project: Project) -> None:
    log = project.root / LOG
    first, _, rest = log.read_bytes().partition(b"\n")
    removed = project.trail.informed_by
    kept = [
        line
        for line in rest.splitlines(keepends=True)
        if f'"annotation_id":"{removed}"'.encode() not in line
    ]
    log.write_bytes(first + b"\n" + b"".join(kept))
    message = f"record {removed[:8]} (line 6 of commit {project.head[:8]}) was removed, or changed together with its id"
    assert project.seen(base="HEAD") == [Seen("base-record", "error", LOG, None, None, message)]


def test_a_record_that_was_changed_is_found_where_it_is_now(project: Project) -> None:
    rewrite(project.root / LOG, '"note":"Fine."', '"note":"Bad."')
    found = {finding.check: finding for finding in project.seen(base="HEAD")}
    message = (
        f"record {project.trail.review[:8]} (line 24 of commit {project.head[:8]}) was changed"
    )
    assert found["base-record"] == Seen("base-record", "error", LOG, 24, None, message)
    assert set(found) == {"base-record", "annotation-id-mismatch"}


def test_a_record_that_only_moved_is_still_there(project: Project) -> None:
    log = project.root / LOG
    log.write_bytes(b"".join(reversed(log.read_bytes().splitlines(keepends=True))))
    assert project.seen(base="HEAD") == []


def test_records_that_were_added_are_no_finding(project: Project) -> None:
    project.line()
    assert project.seen(base="HEAD") == []


def test_base_entry(project: Project) -> None:
    key = project.writer.command("make")
    project.repository.commit("Add an entry that nothing names")
    (project.root / MANIFEST).write_bytes(
        project.repository.git("show", f"HEAD~1:{MANIFEST}").encode() + b"\n"
    )
    head = project.repository.head()
    message = f"entry {key[:8]} of commit {head[:8]} was removed"
    assert project.seen(base="HEAD") == [Seen("base-entry", "error", MANIFEST, None, None, message)]


def test_an_entry_that_was_changed_is_found_where_it_is_now(project: Project) -> None:
    key = project.trail.command
    rewrite(project.root / MANIFEST, '"command_type":"file_write"', '"command_type":"file_read"')
    found = {finding.check: finding for finding in project.seen(base="HEAD")}
    message = f"entry {key[:8]} of commit {project.head[:8]} was changed"
    assert found["base-entry"] == Seen(
        "base-entry", "error", MANIFEST, project.place(key), None, message
    )
    assert set(found) == {"base-entry", "hash-mismatch"}


def test_a_base_without_a_trail_requires_nothing(project: Project) -> None:
    assert project.seen(base="HEAD~2") == []


def test_base_file(project: Project) -> None:
    config = project.root / ".ai-audit/config.json"
    config.rename(project.root / "config.json")
    config.symlink_to("../config.json")
    assert project.seen(base="HEAD") == [
        Seen(
            "base-file",
            "error",
            ".ai-audit/config.json",
            None,
            None,
            "config.json is a symbolic link",
        )
    ]


def test_base_checkout(project: Project) -> None:
    """HEAD has lines that are missing on disk, as after a filter."""
    log = project.root / LOG
    before = log.read_bytes()
    project.line()
    project.repository.commit("Two more lines")
    log.write_bytes(before)
    message = "2 log lines of HEAD are missing on disk"
    found = [each for each in project.seen(base="HEAD~1") if each.check != "base-record"]
    assert found == [Seen("base-checkout", "error", LOG, None, None, message)]


def test_base_trail(project: Project) -> None:
    project.repository.write("src/.ai-audit/config.json", "{}\n")
    project.repository.commit("A trail of its own")
    message = "the branch adds an audit trail for this folder"
    assert project.seen(base="HEAD~1") == [
        Seen("base-trail", "error", "src/.ai-audit", None, None, message)
    ]


def test_base_level(project: Project) -> None:
    config = project.root / ".ai-audit/config.json"
    rewrite(config, '"assurance_level": "medium"', '"assurance_level": "low"')
    found = [each for each in project.seen(base="HEAD") if each.check.startswith("base")]
    line = project.place('"assurance_level"', ".ai-audit/config.json")
    assert found == [
        Seen(
            "base-level",
            "error",
            ".ai-audit/config.json",
            line,
            "assurance_level",
            "assurance_level changed from medium to low",
        )
    ]


def test_base_policy(project: Project) -> None:
    rewrite(project.root / ".ai-audit/config.json", '"**/vendor/**"', '"**/vendor/**", "src/"')
    found = [each for each in project.seen(base="HEAD") if each.check.startswith("base")]
    line, message = (
        project.place('"exclude_patterns"', ".ai-audit/config.json"),
        "exclude_patterns changed from **/vendor/** to **/vendor/**, src/",
    )
    assert found == [
        Seen("base-policy", "error", ".ai-audit/config.json", line, "exclude_patterns", message)
    ]


def test_a_stricter_policy_is_a_note(project: Project) -> None:
    rewrite(project.root / ".ai-audit/config.json", '"**/vendor/**"', "")
    found = [
        (each.check, each.severity)
        for each in project.seen(base="HEAD")
        if each.check.startswith("base")
    ]
    assert found == [("base-policy", "note")]


@pytest.mark.parametrize("revision", ["nonsense", "", "--all", "HEAD~99", "HEAD:src"])
def test_an_unknown_revision_is_no_finding_but_an_error(project: Project, revision: str) -> None:
    with pytest.raises(HistoryUnavailable, match="names no commit here"):
        project.report(base=revision)


def test_a_base_needs_a_repository(project: Project) -> None:
    (project.root / ".git").rename(project.root / "not-git")
    with pytest.raises(HistoryUnavailable, match="requires a git repository"):
        project.report(base="HEAD")


def test_hidden_text(project: Project) -> None:
    """The log quotes a file, and has its hashes, that git has only encrypted."""
    add_filter(project.repository, "crypt", "src/auth.py", program="crypt")
    file = project.root / "src/auth.py"
    file.write_text(SECRETS)
    project.repository.git("add", "--renormalize", "src/auth.py")
    project.repository.git("commit", "--quiet", "--message", "Encrypt")
    project.line(text=SECRETS)
    about = "src/auth.py: git stores it by filter crypt, but"
    shown = [each for each in project.seen() if each.line == project.last(1)]
    assert shown == [
        Seen(
            "hidden-text",
            "warning",
            LOG,
            project.last(1),
            "anchor_context",
            f"{about} the record has anchor_context, anchor_hash, file_content_hash",
        )
    ]
    assert {each.check for each in project.seen()} == {"hidden-text"}


def test_a_filter_that_keeps_the_lines_has_no_finding(project: Project) -> None:
    (project.root / ".gitattributes").write_text("* filter=other\n.ai-audit/* -filter\n")
    project.line(text=(project.root / "src/auth.py").read_text())
    assert project.seen() == []
