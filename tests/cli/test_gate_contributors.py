"""`vibes gate --base` reads who made a commit from the commit itself, whatever `git log` shows."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.gate_project import BLOCKED, BO, RELEASED, GateProject, decisions
from tests.trails.repository import AUTHOR

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

_ADA = f"{AUTHOR[0]} <{AUTHOR[1]}>".encode()
_CY = ("Cy", "cy@example.org")
_UNCLEAR = {
    "encoding": (b"\n\n", b"\nencoding IBM037\n\n"),
    "another encoding": (b"\n\n", b"\nencoding ISO-8859-1\n\n"),
    "two authors": (b"author ", b"author Di <di@example.org> 1770282000 +0000\nauthor "),
    "two committers": (
        b"committer ",
        b"committer Di <di@example.org> 1770282000 +0000\ncommitter ",
    ),
    "no address": (_ADA, b"Di <>"),
    "no name": (_ADA, b" <di@example.org>"),
    "two addresses": (_ADA, b"Di <di@example.org> <ada@example.org>"),
    "not UTF-8": (_ADA, b"D\xff <di@example.org>"),
}
"""What is replaced in a commit object so that programs disagree about who made it."""


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def rewrite_head(project: GateProject, old: bytes, new: bytes) -> None:
    """Replace HEAD by a commit that differs in its first `old`."""
    git = ("git", "-C", str(project.root))
    content = subprocess.run(
        [*git, "cat-file", "commit", "HEAD"], capture_output=True, check=True
    ).stdout
    changed = content.replace(old, new, -1 if old == _ADA else 1)
    assert changed != content
    commit = subprocess.run(
        [*git, "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
        input=changed,
        capture_output=True,
        check=True,
    ).stdout.decode()
    project.repository.git("update-ref", "HEAD", commit.strip())


def reasons(found: object) -> str:
    """Return the messages about approvals that do not count."""
    assert isinstance(found, dict)
    return " ".join(
        each["message"] for each in found["findings"] if each["check"] == "gate-approval"
    )


@pytest.mark.parametrize("change", _UNCLEAR)
def test_an_approval_in_a_commit_that_names_its_author_unclearly_does_not_count(
    project: GateProject, run_vibes: RunVibes, change: str
) -> None:
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer="Di")
    project.commit("Approve as Di")
    rewrite_head(project, *_UNCLEAR[change])
    found = project.gate_json(run_vibes)
    assert decisions(found) == BLOCKED
    assert "does not certainly say who made it" in reasons(found)


@pytest.mark.parametrize("change", ["encoding", "two authors"])
def test_everyone_may_have_written_code_whose_commit_names_its_author_unclearly(
    project: GateProject, run_vibes: RunVibes, change: str
) -> None:
    identifier = project.write()
    project.commit()
    rewrite_head(project, *_UNCLEAR[change])
    project.commit_review(identifier)
    found = project.gate_json(run_vibes)
    assert decisions(found) == BLOCKED
    assert "does not certainly say who made it" in reasons(found)


def test_a_commit_that_declares_utf8_is_clear(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write()
    project.commit()
    rewrite_head(project, b"\n\n", b"\nencoding UTF-8\n\n")
    project.commit_review(identifier, ("Böłe Ørsted", "bo@example.org"))
    assert decisions(project.gate_json(run_vibes)) == RELEASED


def test_a_co_author_anywhere_in_a_message_is_a_contributor(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """As a host's squash leaves them, above other paragraphs."""
    identifier = project.write()
    project.commit("Code\n\nCo-Authored-By : Bo Example\n <bo@example.org>\n\nMore about it.")
    project.commit_review(identifier)
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


def test_an_approval_in_the_name_of_someone_who_did_not_commit_it_does_not_count(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=BO[0])
    project.commit("Bo's approval, he says", by=_CY)
    found = project.gate_json(run_vibes)
    assert decisions(found) == BLOCKED
    assert "it names Bo Example, but Cy committed it" in reasons(found)


def test_an_address_names_the_reviewer_too(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=f"B. E. <{BO[1]}>")
    project.commit("Review", by=BO)
    assert decisions(project.gate_json(run_vibes)) == RELEASED


@pytest.mark.parametrize("command", ["gate", "check"])
def test_a_branch_that_a_shallow_clone_cuts_is_not_judged(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path, command: str
) -> None:
    """Its first commit here, which is Bo's, seems to have written what Ada wrote before."""
    project.repository.switch("side", create=True)
    identifier = project.write()
    project.commit("Code")
    project.file("b.txt", "b\n")
    project.commit("Something else", by=BO)
    project.commit_review(identifier, AUTHOR)
    project.repository.switch("main")
    project.file("c.txt", "c\n")
    base = project.commit("Meanwhile", by=_CY)
    project.repository.switch("side")
    project.repository.merge("main")
    for depth, code in ((3, 2), (5, 1)):
        clone = tmp_path / f"clone-{depth}"
        source = f"file://{project.root}"
        project.repository.git("clone", "--quiet", f"--depth={depth}", source, str(clone))
        done = run_vibes(command, "--base", base, cwd=clone)
        assert done.code == (code if command == "gate" or code == 2 else 0), done.err
        assert ("git fetch --unshallow" in done.err) == (code == 2)
