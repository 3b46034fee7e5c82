"""Merkle trees against the published vectors of Certificate Transparency, and over manifests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.attestation.merkle import (
    EntryTree,
    attested_tree,
    entry_tree,
    inclusion_path,
    leaf_hash,
    root_from_path,
    root_hash,
)
from vibes_lsp.errors import MalformedJson
from vibes_lsp.store.manifest import Manifest, parse_manifest

LEAVES: Final = [
    leaf_hash(bytes.fromhex(data))
    for data in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
"""The leaves of the reference tree of RFC 6962's implementations."""
ROOTS: Final = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
PATHS: Final = {
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}


@pytest.mark.parametrize("size", range(9))
def test_roots_are_the_published_ones(size: int) -> None:
    assert root_hash(LEAVES[:size]).hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size"), PATHS)
def test_inclusion_proofs_are_the_published_ones(index: int, size: int) -> None:
    assert [node.hex() for node in inclusion_path(LEAVES[:size], index)] == PATHS[index, size]


def _recursive_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root as RFC 9162 defines it, by its recursion."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    parts = _recursive_root(leaves[:split]) + _recursive_root(leaves[split:])
    return hashlib.sha256(b"\x01" + parts).digest()


SIZES: Final = st.integers(1, 200)


@given(SIZES, st.data())
def test_every_leaf_has_a_proof_that_leads_to_the_defined_root(size: int, data: Any) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(leaves, index)
    assert root_hash(leaves) == _recursive_root(leaves)
    assert root_from_path(leaves[index], index, size, path) == _recursive_root(leaves)


@given(SIZES, st.data())
def test_no_changed_proof_leads_to_the_root(size: int, data: Any) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    path, root = inclusion_path(leaves, index), root_hash(leaves)
    leaf = leaves[index]
    assert root_from_path(leaf_hash(b"other"), index, size, path) != root
    assert root_from_path(leaf, index, size, (*path, root)) is None
    assert root_from_path(leaf, size, size, path) is None
    assert root_from_path(leaf, -1, size, path) is None
    if path:
        place = data.draw(st.integers(0, len(path) - 1))
        changed = [*path[:place], leaf_hash(b"other"), *path[place + 1 :]]
        assert root_from_path(leaf, index, size, changed) != root
        assert root_from_path(leaf, index, size, path[:-1]) is None
        other = data.draw(st.integers(0, size - 1).filter(lambda each: each != index))
        assert root_from_path(leaf, other, size, path) != root


def _manifest(entries: dict[str, Any], **layout: Any) -> Manifest:
    data = {"standard": "VIBES", "version": "1.0", "entries": entries}
    return parse_manifest(json.dumps(data, **layout).encode())


def _entry(number: int, day: int) -> tuple[str, dict[str, Any]]:
    created = f"2026-02-{day:02}T10:00:00Z"
    return f"{number:064x}", {"type": "prompt", "prompt_text": f"p{number}", "created_at": created}


EARLIER: Final = [_entry(number, day) for number, day in ((7, 1), (3, 2), (9, 3), (1, 4))]
ADDED: Final = [_entry(number, day) for number, day in ((2, 5), (8, 6))]


def test_the_root_depends_on_the_entries_and_not_on_the_form_of_the_file() -> None:
    plain = entry_tree(_manifest(dict(EARLIER)))
    assert entry_tree(_manifest(dict(reversed(EARLIER)), indent=2)).root == plain.root
    for key, entry in EARLIER:
        changed = dict(EARLIER) | {key: {**entry, "created_at": "2026-03-01T10:00:00Z"}}
        assert entry_tree(_manifest(changed)).root != plain.root


@pytest.mark.parametrize("entries", [EARLIER + ADDED, ADDED + EARLIER], ids=["appended", "merged"])
def test_the_earlier_manifest_is_found_in_one_that_has_grown(entries: list[Any]) -> None:
    before = entry_tree(_manifest(dict(EARLIER)))
    grown = _manifest(dict(entries))
    found = attested_tree(grown, entry_tree(grown), before.root, before.size)
    assert found == before


def test_an_earlier_manifest_with_a_changed_entry_is_not_found() -> None:
    before = entry_tree(_manifest(dict(EARLIER)))
    changed = dict(EARLIER) | {EARLIER[0][0]: {"type": "prompt", "prompt_text": "other"}}
    for entries in (changed, changed | dict(ADDED), dict(EARLIER[1:])):
        manifest = _manifest(entries)
        assert attested_tree(manifest, entry_tree(manifest), before.root, before.size) is None


def test_an_entry_that_cannot_be_hashed_is_named() -> None:
    data = b'{"standard":"VIBES","version":"1.0","entries":{"' + b"a" * 64 + b'":{"x":1,"x":2}}}'
    with pytest.raises(MalformedJson, match="entry aaaaaaaa of the manifest: duplicate"):
        entry_tree(parse_manifest(data))


def test_the_tree_of_no_entries_has_the_published_root() -> None:
    assert EntryTree({}).root == ROOTS[0]
