"""The independent hashing, compared with published digests and with a real trail."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.trails.hashing import annotation_id, context_hash, javascript_number, variant_of

if TYPE_CHECKING:
    from pathlib import Path


def test_example_of_the_standard() -> None:
    entry = {
        "type": "environment",
        "tool_name": "Claude Code",
        "tool_version": "1.5.2",
        "model_name": "claude-opus-4-5",
        "model_version": "20251101",
        "model_parameters": {"temperature": 0.7, "max_tokens": 4096},
        "tool_extensions": ["filesystem", "git"],
    }
    assert context_hash(entry).startswith("1749ca5f")
    assert context_hash({**entry, "created_at": "2026-02-03T14:30:00Z"}) == context_hash(entry)


def test_vector_of_another_implementation() -> None:
    entry = {
        "type": "environment",
        "tool_name": "maestro",
        "tool_version": "1.0",
        "model_name": "claude",
        "model_version": "opus",
        "model_parameters": {"temperature": 0.7, "top_p": 0.9},
    }
    assert context_hash(entry).startswith("86a53837")


@pytest.mark.parametrize(
    ("variant", "equivalent"),
    [
        ("no-type", {"a": None, "b": {"a": 1.0, "c": "é"}}),
        ("null-dropped", {"type": "x", "b": {"a": 1.0, "c": "é"}}),
        ("no-type+null-dropped", {"b": {"a": 1.0, "c": "é"}}),
        ("js-number", {"type": "x", "a": None, "b": {"a": 1, "c": "é"}}),
        ("replacer", {"type": "x", "a": None, "b": {"a": 1.0}}),
        ("replacer+null-dropped", {"type": "x", "b": {}}),
        (
            "environment-unknown",
            {
                "type": "x",
                "a": None,
                "b": {"a": 1.0, "c": "é"},
                **dict.fromkeys(("model_name", "model_version"), "unknown"),
            },
        ),
    ],
)
def test_a_variant_is_the_standard_hash_of_the_changed_entry(
    variant: str, equivalent: dict[str, object]
) -> None:
    entry = {"type": "x", "a": None, "b": {"a": 1.0, "c": "é"}, "created_at": "now"}
    assert context_hash(entry, variant) == context_hash(equivalent)


def test_ascii_differs_only_for_non_ascii_text() -> None:
    assert context_hash({"a": "plain"}, "ascii") == context_hash({"a": "plain"})
    assert context_hash({"a": "é"}, "ascii") != context_hash({"a": "é"})


def test_an_unknown_variant_is_rejected() -> None:
    with pytest.raises(ValueError, match="no-such"):
        context_hash({}, "spec+no-such")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("variant", ["spec", "js-number"])
def test_numbers_that_json_lacks_have_no_hash(number: float, variant: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        context_hash({"n": number}, variant)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.7, "0.7"),
        (100.0, "100"),
        (-2.5, "-2.5"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (123e18, "123000000000000000000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.25e300, "1.25e+300"),
        (123456.789, "123456.789"),
        (2**53 + 1, "9007199254740992"),
        (2**60, "1152921504606847000"),
    ],
)
def test_javascript_number(number: float, text: str) -> None:
    assert javascript_number(number) == text


def test_annotation_id_variants_drop_what_their_names_say() -> None:
    bare = {"type": "line", "timestamp": "t", "commit_hash": None}
    anchored = {**bare, "anchor_context": "a", "anchor_hash": "b", "file_content_hash": "c"}
    scored: dict[str, object] = {**bare, "risk_score": 0.5, "risk_factors": []}
    committed = {**bare, "commit_hash": "abc"}
    assert annotation_id({**bare, "annotation_id": "x"}) == annotation_id(bare)
    assert annotation_id(anchored, "less-anchors") == annotation_id(bare)
    assert annotation_id(scored, "less-risk") == annotation_id(bare)
    assert annotation_id(committed, "less-commit") == annotation_id(bare)
    assert annotation_id(committed, "less-commit-member") == annotation_id(
        {"type": "line", "timestamp": "t"}
    )
    assert annotation_id(
        {**anchored, "commit_hash": "abc"}, "less-anchors+less-commit"
    ) == annotation_id(bare)
    assert annotation_id({**bare, "file_path": "é"}, "ascii") != annotation_id(
        {**bare, "file_path": "é"}
    )


def test_every_key_of_a_real_manifest_is_a_known_variant(real_trail: Path) -> None:
    entries: dict[str, dict[str, object]] = json.loads((real_trail / "manifest.json").read_bytes())[
        "entries"
    ]
    assert Counter(variant_of(entry, key) for key, entry in entries.items()) == {
        "spec": 437,
        "no-type": 2546,
        "environment-unknown": 1,
        "no-type+environment-unknown": 1,
    }


def test_every_id_of_a_real_log_is_a_known_variant(real_trail: Path) -> None:
    found: Counter[tuple[str, str | None]] = Counter()
    for line in (real_trail / "annotations.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if stored := record.get("annotation_id"):
            matches = [
                name for name in ("spec", "less-anchors") if annotation_id(record, name) == stored
            ]
            found[record["type"], matches[0] if matches else None] += 1
    assert found == {("session", "spec"): 26, ("line", "spec"): 8, ("line", "less-anchors"): 39}
