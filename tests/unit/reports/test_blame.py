"""The kind of a line: verified, claimed, edited or unrecorded."""

from __future__ import annotations

import pytest

from vibes_lsp.anchors.location import LineKind, LocatedRange, Method, State
from vibes_lsp.placing.placements import Placement, ShownLineage
from vibes_lsp.reports.blame import LineCounts, line_kind, ranges_by_kind
from vibes_lsp.reports.placements import describe_location
from vibes_lsp.reports.review_queue import needs_review
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import LogRecord

RECORD = LogRecord(
    1,
    "a" * 64,
    {"type": "line", "file_path": "a.py", "line_start": 4, "line_end": 7, "action": "create"},
)
KINDS = (LineKind.AI, LineKind.EDITED, LineKind.UNRECORDED, LineKind.AI)
AI, CLAIMED, EDITED, UNRECORDED = LineKind


def placed(located: LocatedRange, *, owned: bool = True, action: str = "create") -> Placement:
    record = LogRecord(1, RECORD.id, {**RECORD.members, "action": action})
    return Placement(
        "a.py", ShownLineage(Lineage((record,), record)), located, ((4, 7),) if owned else ()
    )


@pytest.mark.parametrize(
    ("located", "kinds"),
    [
        (LocatedRange(4, 7, State.EXACT, Method.FILE_HASH, 1.0, intact=4), (AI,) * 4),
        (LocatedRange(4, 7, State.MOVED, Method.ANCHOR_HASH, 0.99, intact=4), (AI,) * 4),
        (LocatedRange(4, 7, State.EXACT, Method.ANCHOR_HASH, 0.5, ambiguous=True, intact=4), (CLAIMED,) * 4),
        (LocatedRange(4, 7, State.EDITED, Method.HISTORY, 0.9, intact=2, kinds=KINDS), KINDS),
        (LocatedRange(4, 7, State.EDITED, Method.CONTEXT, 0.95, intact=2, kinds=KINDS), KINDS),
        (LocatedRange(4, 7, State.EDITED, Method.CONTEXT, 0.95, ambiguous=True, intact=2, kinds=KINDS), (CLAIMED, CLAIMED, UNRECORDED, CLAIMED)),
        (LocatedRange(4, 7, State.EDITED, Method.CONTEXT, 0.7), (CLAIMED,) * 4),
        (LocatedRange(4, 7, State.EDITED, Method.FUZZY, 0.4, ambiguous=True), (CLAIMED,) * 4),
        (LocatedRange(4, 7, State.EDITED, Method.FILE_HASH, 0.9), (CLAIMED,) * 4),
        (LocatedRange(4, 7, State.UNVERIFIED, Method.RECORDED, 0.3), (CLAIMED,) * 4),
        (LocatedRange(4, 7, State.UNVERIFIED, Method.HISTORY, 0.6, kinds=KINDS), (CLAIMED, CLAIMED, UNRECORDED, CLAIMED)),
        (LocatedRange(4, 7, State.UNVERIFIED, Method.HISTORY, 0.6, kinds=(AI,) * 4), (CLAIMED,) * 4),
    ],
    ids=[
        "of this very file", "by its hash", "one of two copies", "edited, the old text is known", "edited, undone", "edited, at one of two places",
        "edited, found by its beginning", "a guess", "given by a person", "unanchored", "by an inferred text", "whole in an inferred text",
    ],
)  # fmt: skip
def test_a_line_is_verified_only_if_its_place_and_its_text_are(
    located: LocatedRange, kinds: tuple[LineKind, ...]
) -> None:
    placement = placed(located)
    assert tuple(line_kind(placement, line) for line in range(4, 8)) == kinds


def test_consecutive_lines_of_one_kind_are_one_range() -> None:
    placement = placed(
        LocatedRange(
            4, 7, State.EDITED, Method.HISTORY, 0.9, intact=2, kinds=(AI, AI, UNRECORDED, EDITED)
        )
    )
    assert ranges_by_kind(placement) == [
        {"lineStart": 4, "lineEnd": 5, "kind": "ai"},
        {"lineStart": 6, "lineEnd": 6, "kind": "unrecorded"},
        {"lineStart": 7, "lineEnd": 7, "kind": "edited"},
    ]


def test_the_share_counts_verified_lines_only() -> None:
    counts = LineCounts.of([AI, AI, CLAIMED, EDITED, UNRECORDED]) + LineCounts.of([CLAIMED])
    assert (counts, counts.share(8)) == (LineCounts(2, 2, 1), 0.25)
    assert counts.as_json() == {"verifiedLines": 2, "claimedLines": 2, "editedLines": 1}
    assert (counts.words(), LineCounts(3).words()) == (
        "2 verified, 2 claimed, 1 edited",
        "3 verified",
    )
    assert (bool(LineCounts()), bool(LineCounts(0, 1)), LineCounts().share(0)) == (False, True, 0.0)


def test_a_placement_that_claims_code_is_a_claim() -> None:
    exact = LocatedRange(4, 7, State.EXACT, Method.ANCHOR_HASH, 0.99)
    assert placed(exact).is_claim
    assert placed(exact, action="delete").is_claim
    assert not placed(exact, action="review").is_claim
    for method in (Method.ANCHOR_BEFORE_EDIT, Method.OLDER_THAN_EDIT):
        assert not placed(LocatedRange(4, 7, State.UNVERIFIED, method, 0.5)).is_claim
    newer = placed(exact)
    history = Placement("a.py", ShownLineage(Lineage((RECORD,), RECORD, ("b" * 64,))), exact)
    assert (newer.is_claim, history.is_claim) == (True, False)


def test_an_uncertain_placement_without_lines_is_a_guess() -> None:
    guess = LocatedRange(4, 7, State.EDITED, Method.FUZZY, 0.4, ambiguous=True)
    assert placed(guess, owned=False).is_guess
    assert not placed(guess).is_guess
    assert not placed(guess, owned=False, action="review").is_guess
    assert not placed(LocatedRange(4, 7, State.EDITED, Method.FUZZY, 0.5), owned=False).is_guess


@pytest.mark.parametrize(("owned", "waiting"), [(True, True), (False, False)])
def test_a_guess_needs_no_review(owned: bool, waiting: bool) -> None:
    guess = LocatedRange(4, 7, State.EDITED, Method.FUZZY, 0.4, ambiguous=True)
    placement = placed(guess, owned=owned)
    assert needs_review(placement, {"lineStart": 4, "review": None}) == waiting
    assert describe_location(placement).startswith("may be here: ") != waiting
