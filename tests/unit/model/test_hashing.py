"""Known deviations that explain other tools' hashes (R2, R3), alone and combined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import trails
from vibes_lsp.model.hashing import (
    ContextVariant,
    IdVariant,
    explain_annotation_id,
    explain_context_hash,
)

if TYPE_CHECKING:
    from vibes_lsp.model.members import Members

ENTRY: Members = {
    "type": "environment",
    "tool_name": "Größe",
    "model_name": "m",
    "model_version": "1",
    "model_parameters": {"temperature": 1.0},
    "tool_extensions": None,
    "created_at": "2026-02-03T10:00:00Z",
}
RECORD: Members = {
    "type": "line",
    "file_path": "größe.py",
    "commit_hash": "ab" * 20,
    "anchor_hash": "c" * 64,
    "risk_score": 0.5,
    "risk_factors": [],
}


@pytest.mark.parametrize("variant", trails.CONTEXT_VARIANTS)
def test_each_deviation_of_a_key_is_named(variant: str) -> None:
    assert explain_context_hash(trails.context_hash(ENTRY, variant), ENTRY) == (variant,)


@pytest.mark.parametrize(
    "variant",
    [
        "no-type+null-dropped",
        "no-type+ascii",
        "ascii+js-number",
        "no-type+replacer+environment-unknown",
        "no-type+ascii+null-dropped+js-number",
    ],
)
def test_combined_deviations_are_named_in_order(variant: str) -> None:
    assert explain_context_hash(trails.context_hash(ENTRY, variant), ENTRY) == tuple(
        variant.split("+")
    )


def test_only_an_environment_may_have_had_an_unknown_model() -> None:
    entry: Members = {**ENTRY, "type": "prompt"}
    assert explain_context_hash(trails.context_hash(entry, "environment-unknown"), entry) == (
        ContextVariant.MISMATCH,
    )


@pytest.mark.parametrize("variant", ["spec", "less-anchors", "less-commit", "less-risk", "ascii"])
def test_each_deviation_of_an_id_is_named(variant: str) -> None:
    assert explain_annotation_id(
        {**RECORD, "annotation_id": trails.annotation_id(RECORD, variant)}
    ) == (variant,)


def test_an_id_without_the_commit_member_is_less_commit() -> None:
    identifier = trails.annotation_id(RECORD, "less-commit-member")
    assert explain_annotation_id({**RECORD, "annotation_id": identifier}) == (
        IdVariant.LESS_COMMIT,
    )


def test_combined_deviations_of_an_id() -> None:
    identifier = trails.annotation_id(RECORD, "less-anchors+less-commit-member+less-risk+ascii")
    assert explain_annotation_id({**RECORD, "annotation_id": identifier}) == (
        "less-anchors",
        "less-commit",
        "less-risk",
        "ascii",
    )


@pytest.mark.parametrize(
    ("stored", "said"),
    [(None, "absent"), (5, "mismatch"), ([], "mismatch"), ("", "mismatch"), ("0" * 64, "mismatch")],
)
def test_missing_and_invalid_ids(stored: int | str | None, said: str) -> None:
    assert explain_annotation_id({**RECORD, "annotation_id": stored}) == (said,)
    assert explain_annotation_id(RECORD) == ("absent",)


def test_an_uppercase_digest_does_not_match() -> None:
    key = trails.context_hash(ENTRY)
    assert explain_context_hash(key.upper(), ENTRY) == (ContextVariant.MISMATCH,)


def test_a_very_large_integer_does_not_stop_the_explanation() -> None:
    entry: Members = {**ENTRY, "model_parameters": {"seed": 10**400}}
    assert explain_context_hash("0" * 64, entry) == (ContextVariant.MISMATCH,)


def test_the_delete_character_counts_as_non_ascii() -> None:
    entry: Members = {"type": "prompt", "prompt_text": "\x7f"}
    assert explain_context_hash(trails.context_hash(entry, "ascii"), entry) == (
        ContextVariant.ASCII,
    )
