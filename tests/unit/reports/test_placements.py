"""Placements as JSON and text: locations, scores, reviews and commits of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.placements import placed_by_records
from tests.trails import OMIT, TrailWriter
from tests.unit.trail.trails import read_trail
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.commit_resolution import CommitMethod, ResolvedCommit
from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import Band
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placements import (
    PlacementReport,
    describe_edit,
    describe_location,
    is_reviewed,
    is_settled,
    lsp_range,
    main_reasons,
    stored_score,
)
from vibes_lsp.risk.policy import Policy

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = "import os\n\n\ndef size(path):\n    status = os.stat(path)\n    return status.st_size\n\n\nUNIT = 'byte'\n"


class Placed(NamedTuple):
    """One annotation and its placement."""

    placement: Placement
    facts: dict[str, Any]


@pytest.fixture
def trail(tmp_path: Path) -> TrailWriter:
    writer = TrailWriter(tmp_path)
    writer.environment()
    return writer


def placed(trail: TrailWriter, content: str, **members: Any) -> list[Placed]:
    """Locate all annotations of `a.py` in a text."""
    read, text = read_trail(trail.root), Text(content)
    report = PlacementReport(read, text, **members)
    return [Placed(each, report.placement(each)) for each in placed_by_records(read, "a.py", text)]


def only(trail: TrailWriter, content: str, **members: Any) -> Placed:
    (found,) = placed(trail, content, **members)
    return found


@pytest.mark.parametrize(
    ("content", "state", "words"),
    [
        (BEFORE, "exact", "unchanged since"),
        ("# new\n" + BEFORE, "moved", "moved from lines 4-6"),
        ("pass\n", "lost", "could not be found (was lines 4-6)"),
        (BEFORE + BEFORE, "exact", "unchanged since, but other places may fit as well"),
        (
            "# new\n" + BEFORE + BEFORE,
            "moved",
            "moved from lines 4-6, but other places may fit as well",
        ),
    ],
)
def test_location_of_lines(trail: TrailWriter, content: str, state: str, words: str) -> None:
    trail.line("a.py", 4, 6, text=BEFORE)
    found = only(trail, content)
    assert (found.facts["state"], describe_location(found.placement)) == (state, words)
    assert found.facts["ambiguous"] == ("may fit" in words)


def test_location_of_edited_lines(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 9, text=BEFORE)
    found = only(trail, BEFORE.replace("'byte'", "'bit'"))
    assert (found.facts["state"], found.facts["confidence"] < 0.9) == ("edited", True)
    assert describe_location(found.placement) == "edited since (was lines 4-9)"


def test_location_without_anchors(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6)
    found = only(trail, BEFORE)
    assert (
        describe_location(found.placement)
        == "not verified: the record has nothing to check against"
    )
    assert (found.facts["state"], found.facts["method"], found.facts["intactLines"]) == (
        "unverified",
        "recorded",
        None,
    )


def test_location_of_functions(trail: TrailWriter) -> None:
    trail.function("a.py", "size")
    trail.function("a.py", "gone")
    here, gone = placed(trail, BEFORE)
    assert (describe_edit(here.placement), describe_location(here.placement)) == (
        "create size",
        "found by name only",
    )
    assert (describe_edit(gone.placement), describe_location(gone.placement)) == (
        "create gone",
        "could not be found",
    )
    assert (
        here.facts["functionName"],
        here.facts["recordedLineStart"],
        here.facts["totalLines"],
    ) == ("size", None, None)
    assert here.facts["ownedRanges"] == []


def test_two_definitions_of_one_name_are_ambiguous(trail: TrailWriter) -> None:
    trail.function("a.py", "size")
    found = only(trail, BEFORE + BEFORE)
    assert (found.facts["lineStart"], found.facts["ambiguous"]) == (4, True)
    assert (
        describe_location(found.placement) == "found by name only, but other places may fit as well"
    )


@pytest.mark.parametrize(
    "line",
    [
        "def size(path):",
        "    async def size(self) -> int:",
        "function size(path) {",
        "export default async function size(path) {",
        "pub fn size<T>(path: T) -> u64 {",
        "func size(path string) int64 {",
        "class size:",
        "\tstatic inline struct size;",
    ],
)
def test_what_defines_a_name(trail: TrailWriter, line: str) -> None:
    trail.function("a.py", "size")
    assert only(trail, f"x = 1\n{line}\n").facts["lineStart"] == 2


@pytest.mark.parametrize(
    "line",
    [
        "resize(path)",
        "size = 1",
        "# def size",
        "define size",
        "def size_of(path):",
        "def resize(path):",
        "return size",
        "",
    ],
)
def test_what_does_not_define_it(trail: TrailWriter, line: str) -> None:
    trail.function("a.py", "size")
    assert only(trail, f"x = 1\n{line}\n").facts["lineStart"] is None


def test_a_deletion_is_at_its_recorded_place_within_the_text(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6, action="delete", text=BEFORE)
    for content, line in ((BEFORE, 4), ("one\ntwo\n", 2), ("", 1)):
        found = only(trail, content)
        assert describe_location(found.placement) == "removed lines 4-6 of an earlier version"
        assert (found.facts["lineStart"], found.facts["lineEnd"], found.facts["ownedRanges"]) == (
            line,
            line,
            [],
        )


def test_placeholders_are_reported_once_and_without_lines(trail: TrailWriter) -> None:
    for number in range(3):
        trail.line("a.py", 1, 1, action="modify", prompt=trail.prompt(f"Edit {number}."))
    found = only(trail, BEFORE)
    assert (
        describe_location(found.placement) == "somewhere in this file: 3 records name no real line"
    )
    assert (found.facts["lineStart"], found.facts["state"]) == (None, "unverified")


def test_blank_lines_that_are_anchored_by_nothing_but_themselves(trail: TrailWriter) -> None:
    trail.line("a.py", 2, 3, text=BEFORE)
    assert only(trail, BEFORE + "# new\n").facts["state"] == "exact"


def test_an_empty_context_without_a_hash_is_no_anchor(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6, anchor_context="", anchor_hash="", file_content_hash="")
    found = only(trail, "\n\n" + BEFORE)
    assert (found.facts["state"], found.facts["method"], found.facts["lineStart"]) == (
        "unverified",
        "recorded",
        4,
    )


def test_anchors_stay_those_of_the_first_record(trail: TrailWriter) -> None:
    first = trail.line("a.py", 4, 6, text=BEFORE)
    later = "# new\n" + BEFORE
    current = trail.remap(
        first,
        commit="c0ffee" * 6,
        start=5,
        end=7,
        text=later,
        anchor_hash="0" * 64,
        anchor_context="another",
    )
    found = only(trail, later)
    assert (found.facts["annotationId"], found.facts["ids"]) == (current, [first, current])
    assert (found.facts["state"], found.facts["lineStart"], found.facts["recordedLineStart"]) == (
        "exact",
        5,
        5,
    )
    assert (found.facts["action"], found.facts["commitHash"]) == ("create", "c0ffee" * 6)


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (0, 0),
        (1, 1),
        (0.25, 0.25),
        (-0.0001, None),
        (1.0001, None),
        ("0.5", None),
        (True, None),
        (OMIT, None),
    ],
)
def test_scores_are_numbers_between_0_and_1(
    trail: TrailWriter, score: object, shown: float | None
) -> None:
    trail.line("a.py", 4, 6, text=BEFORE, risk_score=score)
    found = only(trail, BEFORE)
    assert stored_score(found.placement) == found.facts["storedScore"] == shown
    assert found.facts["score"] is None
    assert (found.facts["band"] is None) == (shown is None)


def test_bands_follow_the_thresholds_given(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6, text=BEFORE, risk_score=0.5, risk_factors=[{"signal": "temperature"}])
    assert only(trail, BEFORE).facts["band"] == "medium"
    strict = Scorer(read_trail(trail.root), Policy(thresholds={Band.CRITICAL: 0.4}))
    found = only(trail, BEFORE, scorer=strict)
    assert (found.facts["band"], found.facts["factors"]) == (
        "critical",
        [{"signal": "temperature"}],
    )


def test_resolved_commits_are_marked(trail: TrailWriter) -> None:
    identifier = trail.line("a.py", 4, 6, text=BEFORE)
    resolved_commits = {identifier: ResolvedCommit("abc" * 13, CommitMethod.INFERRED)}
    assert "commitHash" not in only(trail, BEFORE).facts
    found = only(trail, BEFORE, resolved_commits=resolved_commits)
    assert (found.facts["commitHash"], found.facts["commitMethod"]) == ("abc" * 13, "inferred")
    trail.remap(identifier, commit="c0ffee" * 6)
    found = only(trail, BEFORE, resolved_commits=resolved_commits)
    assert (found.facts["commitHash"], found.facts["commitMethod"]) == ("c0ffee" * 6, "recorded")


def test_prompts_can_be_left_out(trail: TrailWriter) -> None:
    trail.line("a.py", 4, 6, text=BEFORE, prompt=trail.prompt("Asked."))
    read, text = read_trail(trail.root), Text(BEFORE)
    report, found = PlacementReport(read, text), placed_by_records(read, "a.py", text)
    (told,) = report.placements(found)
    (silent,) = report.placements(found, with_prompts=False)
    assert isinstance(told, dict)
    assert isinstance(silent, dict)
    assert told["prompt"] == "Asked."
    assert silent == {name: value for name, value in told.items() if name != "prompt"}


class TestReviews:
    """Which review counts, and whether it is stale (R6)."""

    def test_the_last_by_a_person_counts(self, trail: TrailWriter) -> None:
        identifier = trail.line("a.py", 4, 6, text=BEFORE)
        assert only(trail, BEFORE).facts["review"] is None
        trail.review(identifier, verdict="rejected", reviewer="Bo")
        trail.review(identifier, reviewer="Ada")
        trail.review(identifier, verdict="rejected", reviewer="critic", kind="ai")
        review = only(trail, BEFORE).facts["review"]
        assert {name: review[name] for name in ("verdict", "by", "kind", "stale")} == {
            "verdict": "approved",
            "by": "Ada",
            "kind": "human",
            "stale": False,
        }

    def test_it_goes_stale_with_the_text_not_with_the_place(self, trail: TrailWriter) -> None:
        trail.review(trail.line("a.py", 4, 6, text=BEFORE))
        stale = [
            only(trail, content).facts["review"]["stale"]
            for content in (
                BEFORE,
                "# new\n" + BEFORE,
                BEFORE.replace("\n", "\r\n"),
                BEFORE.replace("st_size", "st_mode"),
                "pass\n",
            )
        ]
        assert stale == [False, False, False, True, True]

    def test_it_agrees_with_the_review_status_of_scores_and_gates(self, trail: TrailWriter) -> None:
        identifier = trail.line("a.py", 4, 6, text=BEFORE)

        def counts(content: str = BEFORE) -> tuple[str, str, bool]:
            review = only(trail, content).facts["review"]
            return review["verdict"], review["by"], review["stale"]

        trail.review(identifier, reviewer="Ada")
        trail.review(identifier, reviewer="Bo", text_hash="0" * 64)
        assert counts() == ("approved", "Ada", False), (
            "what was changed and changed back stands as Ada approved it"
        )
        assert counts(BEFORE.replace("st_size", "st_mode")) == ("approved", "Bo", True)
        trail.review(identifier, reviewer="Cy", verdict="rejected")
        trail.review(identifier, reviewer="Bo", text_hash="0" * 64)
        assert counts() == ("rejected", "Cy", False), "an approval of other lines releases nothing"
        trail.review(identifier, reviewer="Ada")
        assert counts() == ("approved", "Ada", False)

    @pytest.mark.parametrize(("verdict", "stale"), [("approved", True), ("rejected", False)])
    def test_a_persons_approval_that_names_no_text_counts_for_none(
        self, trail: TrailWriter, verdict: str, stale: bool
    ) -> None:
        identifier = trail.line("a.py", 4, 6, text=BEFORE)
        trail.review(identifier, verdict=verdict, text=OMIT)
        facts = only(trail, BEFORE.replace("st_size", "st_mode")).facts
        assert facts["review"]["stale"] is stale
        assert is_reviewed(facts) is not stale

    def test_only_a_persons_approval_settles(self, trail: TrailWriter) -> None:
        identifier = trail.line("a.py", 4, 6, text=BEFORE)
        settled = []
        for metadata in (
            {"kind": OMIT},
            {"kind": "ai"},
            {"verdict": "changes requested"},
            {"verdict": "rejected"},
            {},
        ):
            trail.review(identifier, **metadata)
            settled.append(is_settled(only(trail, BEFORE).facts["review"]))
        assert settled == [False, False, False, False, True]

    def test_without_the_reviewed_text_nothing_is_known_to_have_changed(
        self, trail: TrailWriter
    ) -> None:
        identifier = trail.line("a.py", 4, 6, text=BEFORE)
        trail.edge(
            "reviewed_by",
            identifier,
            "someone",
            target_type="session",
            metadata={"verdict": "approved"},
        )
        review = only(trail, BEFORE.replace("st_size", "st_mode")).facts["review"]
        assert (review["kind"], review["stale"]) == ("unknown", False)


def test_ranges_end_before_the_next_line() -> None:
    assert lsp_range(4, 6) == {
        "start": {"line": 3, "character": 0},
        "end": {"line": 6, "character": 0},
    }
    assert lsp_range(None, None) is None


def test_a_number_that_is_too_large_to_weigh_is_no_reason() -> None:
    factors: list[JsonValue] = [
        {"signal": "scope_lines", "value": 10**400, "weight": 0.5, "reason": "huge"},
        {"signal": "scope_files", "value": 0.5, "weight": 0.5, "reason": "one file"},
    ]
    assert main_reasons({"factors": factors}) == ["one file"]
