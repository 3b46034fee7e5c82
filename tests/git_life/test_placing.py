"""The placing of lines is never wrong about whose a line is."""

from __future__ import annotations

import os

import pytest

from tests.git_life import kinds, results
from tests.git_life.life import Case, lived
from tests.git_life.placing import Placing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its hook needs named pipes")

KINDS = (
    "update_branch",
    "conflict_by_hand",
    "squash_then_more",
    "rebase_fixup",
    "rebase_reorder",
    "cherry_pick_range",
    "revert_twice",
    "moved_block",
    "formatter_first",
    "partial_staging",
    "stash_over_branches",
    "several_edits",
)


@pytest.mark.parametrize("kind", KINDS)
def test_no_owner_is_wrong_and_clones_know_what_the_checkout_knows(kind: str) -> None:
    assert kind in kinds.KINDS
    with lived(Case(kind, 1), Placing, asks=False) as life:
        counts = life.verdicts.counts
        assert not sum(results.errors(counts)), life.verdicts.problems
        assert counts["clone.verified"] == counts["checkout.verified"]
        assert counts["checkout.blamed_verified"] >= 0.9 * counts["checkout.blamed"]
