"""Disclosures: what is in the file, and what a changed file leads to."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from vibes_lsp.attestation.disclosure import disclose, parse_disclosure
from vibes_lsp.attestation.merkle import EntryTree, entry_tree
from vibes_lsp.errors import BadDisclosure, UnknownId
from vibes_lsp.model.hashing import ContextVariant, context_hash
from vibes_lsp.store.manifest import parse_manifest

ENTRIES: Final[list[dict[str, Any]]] = [
    {"type": "prompt", "prompt_text": f"Write part {number}.", "created_at": "2026-02-03T10:00:00Z"}
    for number in range(5)
]
KEYS: Final = [context_hash(entry) for entry in ENTRIES]
MANIFEST: Final = parse_manifest(
    json.dumps(
        {"standard": "VIBES", "version": "1.0", "entries": dict(zip(KEYS, ENTRIES, strict=True))}
    ).encode()
)
TREE: Final = entry_tree(MANIFEST)


@pytest.mark.parametrize("key", KEYS)
def test_a_disclosure_leads_to_the_root_and_has_nothing_of_other_entries(key: str) -> None:
    file = json.dumps(disclose(MANIFEST, TREE, key).as_json())
    found = parse_disclosure(file.encode())
    assert found.root == TREE.root
    assert found.variants == (ContextVariant.SPEC,)
    others = [entry for other, entry in zip(KEYS, ENTRIES, strict=True) if other != key]
    assert not [entry for entry in others if entry["prompt_text"] in file]


def _changed(change: dict[str, Any], proof: dict[str, Any] | None = None) -> bytes:
    members = {**disclose(MANIFEST, TREE, KEYS[2]).as_json(), **change}
    members["proof"] = {**members["proof"], **(proof or {})}
    return json.dumps(members).encode()


@pytest.mark.parametrize(
    "data",
    [
        _changed({"entry": {**ENTRIES[2], "prompt_text": "Write nothing."}}),
        _changed({"entry": {**ENTRIES[2], "created_at": "2026-02-04T10:00:00Z"}}),
        _changed({"entry": {**ENTRIES[2], "more": 1}}),
        _changed({"context_hash": KEYS[0]}),
        _changed({}, {"leaf_index": 0}),
        _changed({}, {"tree_size": 9}),
        _changed({}, {"tree_size": 1}),
        _changed({}, {"inclusion_path": []}),
        _changed({}, {"inclusion_path": ["0" * 64] * 3}),
        _changed({}, {"inclusion_path": ["0" * 64] * 64}),
        _changed({}, {"leaf_index": 1 << 80, "tree_size": 1 << 81}),
    ],
)
def test_a_changed_disclosure_does_not_lead_to_the_root(data: bytes) -> None:
    assert parse_disclosure(data).root != TREE.root


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a disclosure: "),
        (b"[]", "not a disclosure: expected an object"),
        (b"{}", "expected member 'disclosure_version' '1.0'"),
        (_changed({"disclosure_version": "2.0"}), "expected member 'disclosure_version' '1.0'"),
        (_changed({"disclosure_version": 1}), "expected member 'disclosure_version' '1.0'"),
        (_changed({}, {"algorithm": "md5"}), "'proof.algorithm' is invalid"),
        (_changed({"entry": []}), "'entry' is missing or invalid"),
        (_changed({"context_hash": KEYS[2].upper()}), "'context_hash' is missing or invalid"),
        (_changed({"context_hash": None}), "'context_hash' is missing or invalid"),
        (_changed({}, {"leaf_index": True}), "'proof.leaf_index' is missing or invalid"),
        (_changed({}, {"leaf_index": -1}), "'proof.leaf_index' is missing or invalid"),
        (_changed({}, {"tree_size": 0}), "'proof.tree_size' is missing or invalid"),
        (_changed({}, {"inclusion_path": ["zz"]}), "'proof.inclusion_path' is missing or invalid"),
        (_changed({}, {"inclusion_path": [1]}), "'proof.inclusion_path' is missing or invalid"),
        (
            _changed({}, {"inclusion_path": ["0" * 64] * 65}),
            "'proof.inclusion_path' is missing or invalid",
        ),
        (_changed({"envelope": "x"}), "'envelope' is missing or invalid"),
    ],
)
def test_what_is_no_disclosure_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(BadDisclosure) as raised:
        parse_disclosure(data)
    assert message in raised.value.message


def test_an_entry_that_is_newer_than_the_signed_root_is_not_disclosed() -> None:
    earlier = EntryTree({key: TREE.leaves[key] for key in sorted(KEYS[:3])})
    with pytest.raises(UnknownId, match="newer than the signed root"):
        disclose(MANIFEST, earlier, KEYS[4])
