"""The placing of lines is never wrong about whose a line is, in any kind of history."""

from __future__ import annotations

import os
from typing import Final

import pytest

from tests.git_life import results
from tests.git_life.__main__ import cases
from tests.git_life.judge import ERRORS, disagreements
from tests.git_life.kinds import KINDS
from tests.git_life.life import Case, lived
from tests.git_life.placing import Placing
from tests.requirements import in_ci, in_nightly

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its hook needs named pipes")

COUNT: Final = 1000 if in_nightly() else max(100, len(KINDS)) if in_ci() else len(KINDS)
CASES: Final = tuple(cases(range(1, COUNT), list(KINDS), COUNT))
LESS_IS_KNOWN: Final = {
    "formatter_last": "the formatter changes most lines of a block after the hook has seen it",
    "real_kept": "a third of a block and more is rewritten before the commit",
    "rewritten_before_commit": "more than half of a block may be rewritten before the commit",
}
"""Kinds in which less than nearly all lines are verified, and why."""
SHARED_LINES: Final = ("real_squashed", "real_thrown_away")
"""Kinds in which a person writes a function that shares lines with a block that the AI wrote there.

Where they share half of its distinctive lines, no text says who wrote these lines.
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}-{case.seed}")
def test_no_owner_is_wrong_and_clones_know_what_the_checkout_knows(case: Case) -> None:
    with lived(case, Placing, asks=in_ci()) as life:
        assert not disagreements(life.work), "the generator and git's blame"
        assert life.history.happened.unknown < 10, "lines that git placed otherwise"
        counts, problems = life.verdicts.counts, life.verdicts.problems
        errors = dict(zip(ERRORS, results.errors(counts), strict=True))
        if case.kind in SHARED_LINES:
            del errors["person_ordinary"]
        assert not sum(errors.values()), problems
        assert counts["clone.blamed_verified"] == counts["checkout.blamed_verified"], problems
        assert not counts["gate.unseen"], problems
        assert not counts["log.twice"], problems
        if case.seed == 1 and case.kind not in LESS_IS_KNOWN:
            assert counts["checkout.blamed_verified"] >= 0.98 * counts["checkout.blamed"], problems
