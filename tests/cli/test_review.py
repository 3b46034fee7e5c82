"""`vibes review --list`: the review queue, and where the dialogue is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.review_project import ReviewProject, queue
from tests.server.project import STORY
from vibes_lsp.cli.agents import VARIABLES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.fixture
def story(tmp_path: Path) -> ReviewProject:
    return ReviewProject(tmp_path / "story")


def test_the_list_is_sorted_by_risk(story: ReviewProject, run_vibes: RunVibes) -> None:
    assert queue(run_vibes, story) == [("a.py", 4), ("b/c.py", 4), ("a.py", 10)]
    done = run_vibes("review", "--list", cwd=story.root)
    assert done.code == 0
    rows = [line.split() for line in done.lines[2:]]
    assert [row[1:4] for row in rows] == [
        ["a.py:4-7", "0.90", "critical"],
        ["b/c.py:4-7", "0.70", "high"],
        ["a.py:10-13", "0.50", "medium"],
    ]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("--band high", [("b/c.py", 4)]),
        ("--file a.py", [("a.py", 4), ("a.py", 10)]),
        ("--file ./b/../b", [("b/c.py", 4)]),
        ("--file .", [("a.py", 4), ("b/c.py", 4), ("a.py", 10)]),
        ("--prompt compare", [("a.py", 10)]),
        ("--session one", [("a.py", 4)]),
        ("--model claude --band low", []),
    ],
)
def test_the_list_applies_each_filter(
    story: ReviewProject, run_vibes: RunVibes, question: str, found: list[tuple[str, int]]
) -> None:
    assert queue(run_vibes, story, *question.split()) == found
    assert (
        "nothing to review" in run_vibes("review", "--list", *question.split(), cwd=story.root).out
    ) == (not found)


def test_which_reviews_remove_an_annotation_from_the_queue(
    story: ReviewProject, run_vibes: RunVibes
) -> None:
    story.review(story.digest)
    story.review(story.other, kind="ai", reviewer="Critic")
    story.review(story.same, verdict="rejected")
    assert queue(run_vibes, story) == [("b/c.py", 4), ("a.py", 10)]
    rows = run_vibes("review", "--list", cwd=story.root).lines[2:]
    assert ["approved by AI" in rows[0], "rejected" in rows[1]] == [True, True]
    story.file("a.py", STORY.replace("hexdigest", "digest"))
    assert queue(run_vibes, story) == [("a.py", 4), ("b/c.py", 4), ("a.py", 10)]
    assert " stale " in run_vibes("review", "--list", cwd=story.root).lines[2]


def test_annotations_without_lines_are_not_in_the_queue(
    story: ReviewProject, run_vibes: RunVibes
) -> None:
    story.line("a.py", 1, 2, text=STORY, action="delete")
    story.line("a.py", 1, 2, text=STORY, action="review")
    story.line("a.py", 1, 3, text="gone = 1\ngone = 2\ngone = 3\n")
    assert len(queue(run_vibes, story)) == 3


def test_without_a_terminal_it_says_what_to_do_instead(
    story: ReviewProject, run_vibes: RunVibes
) -> None:
    done = run_vibes("review", cwd=story.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "vibes review --list" in done.err


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_detected_agent_is_refused(
    story: ReviewProject, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    done = run_vibes("review", cwd=story.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert variable in done.err
    assert "reviewerKind ai" in done.err
    assert run_vibes("review", "--list", cwd=story.root).code == 0


@pytest.mark.parametrize(
    ("kind", "code"), [("human", 2), (None, 2), ("unknown", 2), (["ai"], 2), ("ai", 0)]
)
def test_a_detected_agent_records_no_edge_that_may_be_a_persons_review(
    story: ReviewProject,
    run_vibes: RunVibes,
    monkeypatch: pytest.MonkeyPatch,
    kind: object,
    code: int,
) -> None:
    session = story.session_start(agent_type="human")
    edge = story.root.parent / "edge.json"
    edge.write_text(
        json.dumps(
            {
                "edgeType": "reviewed_by",
                "sourceRef": story.digest,
                "sourceType": "annotation",
                "targetRef": session,
                "targetType": "session",
                "metadata": {"verdict": "approved"} | ({} if kind is None else {"kind": kind}),
            }
        )
    )
    monkeypatch.setenv(VARIABLES[0], "1")
    done = run_vibes("record", "edge", "--input", edge, cwd=story.root)
    assert done.code == code, done.err
    assert len(story.verdicts()) == (code == 0)
