"""The generator knows the author of every line, and sees what a tool says wrongly.

`test_placing.py` plays each kind. For long runs see `python -m tests.git_life --help`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from typing_extensions import override

from tests.git_life import results
from tests.git_life.__main__ import cases, seeds
from tests.git_life.editor import Editor
from tests.git_life.history import History
from tests.git_life.judge import ERRORS, judge_line
from tests.git_life.kinds import KINDS
from tests.git_life.life import Case, Life, lived
from tests.git_life.lines import PERSON, Line, Origin
from tests.git_life.nothing import Nothing
from tests.git_life.product import AgentHook, CommandLine
from tests.git_life.subject import Claim, Edit

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its hooks need a POSIX shell")


class ByText(Nothing):
    """Takes each line for the edit that wrote a line with its text last."""

    def __init__(self, environment: dict[str, str]) -> None:
        super().__init__(environment)
        self.written: dict[str, str] = {}

    @override
    def record(self, root: Path, edit: Edit) -> None:
        lines = edit.after.decode().splitlines()
        for first, last in edit.ranges:
            self.written |= dict.fromkeys(lines[first - 1 : last], edit.name)

    @override
    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:
        lines = (root / path).read_text("utf-8").splitlines()
        return {
            number: Claim("ai", self.written[line])
            for number, line in enumerate(lines, 1)
            if line in self.written
        }


class Human(Nothing):
    """Takes each line for a person's."""

    @override
    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:
        count = len((root / path).read_text("utf-8").splitlines())
        return {number: Claim("human", "") for number in range(1, count + 1)}


class Oracle(Nothing):
    """Knows what the generator knows."""

    history: History

    @override
    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:
        work = next(work for work in self.history.work_trees if work.path == root)
        return {
            number: Claim("edited" if line.origin == Origin.FORMATTED else "ai", line.author)
            for number, line in enumerate(work.lines(path), 1)
            if line.by_ai
        }


def tell(life: Life) -> None:
    """Tell the oracle what the generator knows."""
    assert isinstance(life.history.subject, Oracle)
    life.history.subject.history = life.history


@pytest.mark.parametrize("kind", ["rebase_edit", "formatter_last", "revert_twice", "copied"])
def test_who_knows_everything_is_never_wrong(kind: str) -> None:
    def plan(life: Life) -> None:
        tell(life)
        KINDS[kind](life)

    with lived(Case(kind, 1), Oracle, plan=plan) as life:
        counts = life.verdicts.counts
        assert not sum(results.errors(counts))
        assert counts["checkout.blamed"] == counts["checkout.blamed_verified"] > 0
        assert counts["clone.verified"] == counts["checkout.verified"] > 0


@pytest.mark.parametrize(
    ("subject", "kind", "error"),
    [
        (ByText, "copied", "copies"),
        (ByText, "retyped_elsewhere", "person_distinctive"),
        (ByText, "old_commits_in_main", "person_ordinary"),
        (ByText, "several_edits", "wrong_owner"),
        (Human, "update_branch", "ai_human"),
    ],
)
def test_who_is_wrong_is_caught(subject: type[Nothing], kind: str, error: str) -> None:
    with lived(Case(kind, 3), subject) as life:
        numbers = dict(zip(ERRORS, results.errors(life.verdicts.counts), strict=True))
        assert numbers[error] > 0
        assert any(error in problem for problem in life.verdicts.problems)


@pytest.mark.parametrize("subject", [CommandLine, AgentHook, Editor])
def test_each_route_records_and_answers(subject: type[CommandLine]) -> None:
    def plan(life: Life) -> None:
        life.work.ai(f"new.{life.history.coder.extension}")
        life.commit()

    with lived(Case("fast_forward", 1), subject, plan=plan) as life:
        counts = life.verdicts.counts
        assert not sum(results.errors(counts))
        for place in ("waiting", "checkout", "clone"):
            assert counts[f"{place}.verified"] == counts[f"{place}.ai"] > 0
        assert counts["log.sum"] == counts["log.lines"] == counts["gate.ai_seen"]


def test_a_seed_gives_the_same_texts_each_time() -> None:
    played = []
    for _ in range(2):
        with lived(Case("random_1", 2), Nothing) as life:
            played.append(
                {path: [line.text for line in file.lines] for path, file in life.work.disk.items()}
            )
    assert played[0] == played[1]


@pytest.mark.parametrize(
    ("line", "claim", "verdict"),
    [
        (Line(1, "x", "edit-1"), Claim("ai", "edit-1"), "verified"),
        (Line(1, "x", "edit-1"), Claim("claimed", "edit-2"), "wrong_owner"),
        (Line(1, "x", "edit-1"), Claim("human", ""), "ai_human"),
        (Line(1, "x", "edit-1"), None, "unrecorded"),
        (
            Line(1, "x", "edit-1", origin=Origin.FORMATTED),
            Claim("ai", "edit-1"),
            "edited_verified",
        ),
        (Line(1, "x", "edit-1", origin=Origin.FORMATTED), Claim("edited", "edit-1"), "edited"),
        (Line(1, "x", PERSON), Claim("ai", "edit-1"), "person_distinctive"),
        (Line(1, "}", PERSON, ordinary=True), Claim("ai", "edit-1"), "person_ordinary"),
        (Line(1, "x", PERSON, origin=Origin.COPIED), Claim("ai", "edit-1"), "copies"),
        (Line(1, "x", PERSON, origin=Origin.UNDONE), Claim("ai", "edit-1"), "undone"),
        (Line(1, "x", PERSON), Claim("claimed", "edit-1"), "person_claimed"),
        (Line(1, "x", PERSON), None, "person_none"),
    ],
)
def test_a_line_is_judged(line: Line, claim: Claim | None, verdict: str) -> None:
    assert judge_line(line, claim) == verdict


def test_results_are_read_to_a_cut_last_line(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    outcome = {"kind": "amend", "seed": 1, "subject": "x", "counts": {"checkout.ai": 3}}
    file.write_text(json.dumps(outcome) + "\n" + json.dumps(outcome)[:20], "utf-8")
    assert list(results.read(file)) == [outcome]
    assert "| amend | 1 |" in results.table([outcome])


def test_cases_repeat_the_kinds_with_each_seed() -> None:
    assert list(cases(seeds("4-5"), ["a", "b"], 3)) == [Case("a", 4), Case("b", 4), Case("a", 5)]
    assert results.command(Case("a", 4), "nothing").endswith("--kind a --seeds 4 --subject nothing")
