"""`vibes gate --base`: whose approvals count, and what no gate can prevent (docs/prism.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.gate_project import BLOCKED, BO, RELEASED, GateProject, checks, decisions
from tests.server.project import STORY
from tests.trails import Repository
from tests.trails.repository import AUTHOR

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

ADA = AUTHOR


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def test_an_approval_by_someone_else_in_their_own_commit_releases(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    project.commit_review(identifier)
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found), found["findings"]) == ("PASS", RELEASED, [])


def test_a_backfill_in_the_commit_of_the_reviewer_does_not_make_them_a_contributor(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    commit = project.commit()
    project.remap(identifier, commit=commit)
    project.commit_review(identifier)
    assert decisions(project.gate_json(run_vibes)) == RELEASED


@pytest.mark.parametrize(
    "reviewer",
    [
        "Ada Example",
        "ada@example.org",
        "  ADA   example ",
        "Ada Example <ada@example.org>",
        "Someone <Ada@Example.org>",
    ],
)
def test_contributors_cannot_approve_their_own_code(
    project: GateProject, run_vibes: RunVibes, reviewer: str
) -> None:
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=reviewer)
    project.commit("Review", by=BO)
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found)) == (BLOCKED, {"gate-approval"})
    assert found["items"][0]["score"] > 0.4, "it does not lower the score, either"


def test_a_contributor_cannot_approve_under_another_name(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.review(identifier, reviewer=BO[0])
    project.commit("Code and review")
    found = project.gate_json(run_vibes)
    assert decisions(found) == BLOCKED
    assert (
        "it was recorded by Ada Example, who contributed to the code"
        in found["findings"][0]["message"]
    )


def test_an_approval_by_an_agent_belongs_to_the_committer(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    done = run_vibes("record", "review", cwd=project.root)
    assert done.code == 2
    reviewed = project.review_by_command(identifier)
    assert reviewed["reviewed"] == [identifier]
    assert decisions(project.gate_json(run_vibes)) == BLOCKED, "before it is committed"
    project.commit("Review")
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found)) == (BLOCKED, {"gate-approval"})


def test_a_committer_and_a_co_author_are_contributors(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit(
        "Code\n\nCo-authored-by: Bo Example <bo@example.org>",
        by=("Cy", "cy@example.org"),
        committer=ADA,
    )
    for reviewer in (BO, ADA):
        project.commit_review(identifier, reviewer)
        assert decisions(project.gate_json(run_vibes)) == BLOCKED
    project.commit_review(identifier, ("Di", "di@example.org"))
    assert decisions(project.gate_json(run_vibes)) == RELEASED


def test_the_committer_of_the_host_is_not_a_contributor(
    project: GateProject, run_vibes: RunVibes
) -> None:
    host = ("GitHub", "noreply@github.com")
    identifier = project.write()
    project.commit(committer=host)
    project.commit_review(identifier, committer=host)
    assert decisions(project.gate_json(run_vibes)) == RELEASED


def test_the_committer_of_the_lines_is_a_contributor_without_the_record(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.file("a.py")
    project.commit("The lines")
    identifier = project.write()
    project.commit("The record", by=("Cy", "cy@example.org"))
    project.commit_review(identifier, ADA)
    assert decisions(project.gate_json(run_vibes)) == BLOCKED
    project.file("a.py", STORY + "mine = 1\n")
    project.commit("Another line of the file", by=BO)
    project.commit_review(identifier)
    assert decisions(project.gate_json(run_vibes)) == RELEASED


def test_the_writer_of_code_of_the_base_cannot_approve_it_later(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.base = project.commit()
    project.file("a.py", STORY + "x = 1\n")
    project.commit("Something else", by=BO)
    project.commit_review(identifier, ADA)
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


def test_an_approval_that_the_base_has_counts(project: GateProject, run_vibes: RunVibes) -> None:
    project.review(project.write(), reviewer=ADA[0])
    project.base = project.commit()
    project.file("a.py", STORY + "x = 1\n")
    project.commit()
    assert decisions(project.gate_json(run_vibes)) == RELEASED


def test_the_session_that_wrote_the_code_and_those_it_started_cannot_approve(
    project: GateProject, run_vibes: RunVibes
) -> None:
    session = project.session_start(environment=project.risky)
    identifier = project.write(session=session)
    project.commit()
    child = project.session_start(
        environment=project.reviewer_environment(), parent=session, agent_type="human"
    )
    project.commit_review(identifier, session=child)
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found)) == (BLOCKED, {"gate-approval"})
    assert "it was given in the session that wrote the code" in found["findings"][0]["message"]


def test_a_review_without_a_session_is_refused(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write()
    project.commit()
    project.commit_review(identifier, session="nowhere")
    assert decisions(project.gate_json(run_vibes)) == BLOCKED


def test_an_edge_without_a_verdict_does_not_lower_the_score_of_its_writers_code(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    before = project.gate_json(run_vibes)["items"][0]["score"]
    session = project.session_start(environment=project.reviewer_environment())
    project.edge("reviewed_by", identifier, session, target_type="session")
    project.commit("Edge")
    assert project.gate_json(run_vibes)["items"][0]["score"] == before


def test_a_rejection_by_anyone_counts(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write(risky=False)
    project.review(identifier, verdict="rejected", reviewer=ADA[0])
    project.commit()
    assert project.gate_json(run_vibes)["result"] == "FAIL"


def test_not_preventable_a_commit_in_another_persons_name(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """Git does not prove names; signed commits and protected branches do."""
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=BO[0])
    project.commit("Review, committed by Ada with Bo's name", by=BO)
    assert decisions(project.gate_json(run_vibes)) == RELEASED


def test_not_preventable_code_that_is_not_recorded(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """A trail contains only what was recorded."""
    project.file("a.py")
    project.commit()
    assert (project.gate_json(run_vibes)["result"], project.gate_json(run_vibes)["items"]) == (
        "PASS",
        [],
    )


def test_not_preventable_a_false_record(project: GateProject, run_vibes: RunVibes) -> None:
    """Only the recorder can know the temperature."""
    project.write(risky=False)
    project.commit()
    assert project.gate_json(run_vibes)["result"] == "PASS"


def test_not_preventable_history_rewritten_before_a_push(
    project: GateProject, run_vibes: RunVibes
) -> None:
    """An amended commit leaves no trace."""
    project.write()
    project.commit()
    project.repository.git("reset", "--quiet", "--hard", project.base)
    project.write(risky=False)
    project.commit()
    assert (project.gate_json(run_vibes)["result"], project.gate_json(run_vibes)["findings"]) == (
        "PASS",
        [],
    )


def test_no_program_that_the_repository_names_is_run(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.commit()
    project.commit_review(identifier)
    project.repository.configure_programs()
    project.repository.git("config", "blame.ignoreRevsFile", "nowhere")
    assert decisions(project.gate_json(run_vibes)) == RELEASED
    assert not project.repository.programs_run()


def test_a_shallow_clone_says_what_it_lacks(
    project: GateProject, run_vibes: RunVibes, tmp_path: Path
) -> None:
    project.write()
    project.commit()
    clone = tmp_path / "clone"
    Repository(tmp_path / "home").git(
        "clone", "--quiet", "--depth=1", f"file://{project.root}", str(clone)
    )
    done = run_vibes("gate", "--base", project.base, cwd=clone)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "shallow" in done.err
