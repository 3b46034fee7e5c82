"""Live risk: measurements from trail, text and reviews, and their score (R21)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.placements import placed_by_records
from tests.trails import TrailWriter
from tests.unit.trail.trails import read_trail
from vibes_lsp.anchors.text import Text
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.signals import CustomSignal, Measurements, PromptLength

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.risk.scoring import Score

BEFORE = "import os\n\n\ndef size(path):\n    status = os.stat(path)\n    return status.st_size\n\n\nUNIT = 'byte'\n"
ON = Policy(enabled=True, level="high")


@pytest.fixture
def trail(tmp_path: Path) -> TrailWriter:
    writer = TrailWriter(tmp_path)
    writer.environment(parameters={"temperature": 0.5})
    return writer


def measured(trail: TrailWriter, content: str = BEFORE) -> Measurements:
    """Return the measurements of the only annotation of `a.py`."""
    read, text = read_trail(trail.root), Text(content)
    (placement,) = placed_by_records(read, "a.py", text)
    return Scorer(read, ON).measured(placement, text)


def score(trail: TrailWriter, content: str = BEFORE, policy: Policy = ON) -> Score | None:
    read, text = read_trail(trail.root), Text(content)
    (placement,) = placed_by_records(read, "a.py", text)
    return Scorer(read, policy).score(placement, text)


def test_all_measurements_of_an_annotation(trail: TrailWriter) -> None:
    for path in ("b.py", "b.py", "./b.py", "c.py"):
        trail.line(path, 1, 1, session="one")
    trail.line("d.py", 1, 1, session="other")
    factors: list[dict[str, Any]] = [
        {"signal": "temperature", "value": 1, "weight": 1},
        {"signal": "org:sensitive", "value": 0.75, "weight": 9, "reason": "keys"},
        {"signal": "org:sensitive", "value": 0.1, "weight": 9},
        {"signal": "org:wrong", "value": 7, "weight": 1},
        {"signal": "unnamed", "value": 1, "weight": 1},
    ]
    trail.line(
        "a.py",
        4,
        6,
        text=BEFORE,
        session="one",
        prompt=trail.prompt("Measure a file's size."),
        risk_factors=factors,
    )
    assert measured(trail) == Measurements(
        temperature=0.5,
        action="create",
        lines=3,
        total_lines=9,
        files=3,
        level="medium",
        prompt=PromptLength(6, 22),
        model="claude-opus-4-5",
        custom=(CustomSignal("org:sensitive", 0.75, "keys"),),
    )


def test_a_recorded_token_count_replaces_the_estimate(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6, text=BEFORE, prompt=trail.prompt("Measure.", prompt_token_count=123))
    assert measured(trail).prompt == PromptLength(123)


@pytest.mark.parametrize("temperature", ["hot", True, None, [1], -1, 10**400])
def test_an_invalid_temperature_is_ignored(trail: TrailWriter, temperature: object) -> None:
    trail.line(
        "a.py",
        4,
        6,
        text=BEFORE,
        environment=trail.environment(parameters={"temperature": temperature}),
    )
    assert measured(trail).temperature is None


def test_missing_entries_and_entries_of_a_wrong_type_are_ignored(trail: TrailWriter) -> None:
    prompt = trail.prompt("Measure.")
    trail.line("a.py", 4, 6, text=BEFORE, environment=prompt, prompt="0" * 64, assurance_level="")
    found = measured(trail)
    assert (found.temperature, found.model, found.prompt, found.files, found.level) == (
        None,
        None,
        None,
        None,
        "high",
    )


@pytest.mark.parametrize(
    ("content", "lines", "total"),
    [
        (BEFORE, 3, 9),
        ("# new\n" + BEFORE, 3, 10),
        (BEFORE.replace("    return", "    log()\n    return"), 4, 10),
        ("pass\n", 3, None),
    ],
    ids=["exact", "moved", "grown", "lost"],
)
def test_lines_are_counted_in_the_present_text(
    trail: TrailWriter, content: str, lines: int, total: int | None
) -> None:
    trail.line("a.py", 4, 6, text=BEFORE)
    found = measured(trail, content)
    assert (found.lines, found.total_lines) == (lines, total)


def test_lines_of_a_function_are_those_of_its_placement(trail: TrailWriter) -> None:
    trail.function("a.py", "size")
    assert (measured(trail).lines, measured(trail).total_lines) == (3, 9)


def test_removed_lines_count_with_the_file_before(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6, action="delete", text=BEFORE)
    found = measured(trail, "import os\n\n\n\n\nUNIT = 'byte'\n")
    assert (found.action, found.lines, found.total_lines) == ("delete", 3, 9)


def test_placeholders_have_no_lines(trail: TrailWriter) -> None:
    for number in range(2):
        trail.line("a.py", 1, 1, action="modify", prompt=trail.prompt(f"Edit {number}."))
    assert (measured(trail).lines, measured(trail).total_lines) == (None, None)


def test_a_remap_has_the_action_of_the_edit(trail: TrailWriter) -> None:
    first = trail.line("a.py", 4, 6, action="modify", text=BEFORE)
    trail.remap(first, commit="c0ffee" * 6)
    assert measured(trail).action == "modify"


def test_an_approval_lowers_the_score_until_the_lines_change(trail: TrailWriter) -> None:
    identifier = trail.line("a.py", 4, 6, text=BEFORE)
    before = score(trail)
    trail.review(identifier)
    approved, changed, moved = (
        score(trail),
        score(trail, BEFORE.replace("st_size", "st_mode")),
        score(trail, "# new\n" + BEFORE),
    )
    assert before is not None
    assert approved is not None
    assert changed is not None
    assert moved is not None
    assert [
        measured(trail).review_status,
        measured(trail, BEFORE.replace("st_size", "st_mode")).review_status,
    ] == ["approved", "stale"]
    assert approved.value < before.value
    assert moved.value < before.value
    assert changed.value > approved.value


def test_a_review_of_any_member_of_the_lineage_counts(trail: TrailWriter) -> None:
    first = trail.line("a.py", 4, 6, text=BEFORE)
    trail.remap(first, commit="c0ffee" * 6)
    trail.review(first)
    assert measured(trail).review_status == "approved"


def test_while_prism_is_off_there_is_no_score(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6, text=BEFORE)
    assert score(trail, policy=Policy()) is None
    assert score(trail, policy=Policy(enabled=True, algorithm="ours")) is None
    assert score(trail, policy=Policy().preview) == score(trail)
