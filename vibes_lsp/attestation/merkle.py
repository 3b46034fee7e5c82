"""Merkle trees (RFC 9162, 2.1) and the tree over the entries of a manifest (RFC 13.2).

The leaves of a manifest are sorted by key, so that its root depends on what is in it, and not on
the order or the white space of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import canonical_json, parse_json
from vibes_lsp.model.members import JsonValue, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.store.manifest import Manifest

ALGORITHM: Final = "rfc9162-sha256"
"""The name of the hash algorithm in files: SHA-256 with the prefixes of RFC 9162, 2.1.1."""

_LEAF: Final = b"\x00"
_NODE: Final = b"\x01"


def leaf_hash(content: bytes) -> bytes:
    """Return the hash of a leaf (RFC 9162, 2.1.1)."""
    return hashlib.sha256(_LEAF + content).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()


def root_hash(leaves: Sequence[bytes]) -> bytes:
    """Return the root over the hashes of leaves (RFC 9162, 2.1.1)."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    *_, top = _levels(leaves)
    return top[0]


def inclusion_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the inclusion proof of a leaf, nearest node first (RFC 9162, 2.1.3.1)."""
    path = []
    for level in _levels(leaves):
        sibling = index ^ 1
        if sibling < len(level):
            path.append(level[sibling])
        index >>= 1
    return tuple(path)


def root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that an inclusion proof leads to (RFC 9162, 2.1.3.2).

    None if no tree of this size has a leaf at this index with a proof of this length.
    """
    if not 0 <= index < size:
        return None
    last, root = size - 1, leaf
    for node in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            root = _node_hash(node, root)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            root = _node_hash(root, node)
        index, last = index >> 1, last >> 1
    return root if last == 0 else None


def _levels(leaves: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield the nodes of each level, the root last; a node without a sibling moves up as it is."""
    level = leaves
    while True:
        yield level
        if len(level) <= 1:
            return
        above = [_node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = above + list(level[len(above) * 2 :])


@dataclass(frozen=True)
class EntryTree:
    """The Merkle tree over entries of a manifest.

    Attributes:
        leaves: The hash of each entry, by its key; sorted by key.
    """

    leaves: dict[str, bytes]

    @property
    def size(self) -> int:
        """The number of entries."""
        return len(self.leaves)

    @cached_property
    def root(self) -> str:
        """The root, in hexadecimal digits."""
        return root_hash(list(self.leaves.values())).hex()

    def index_of(self, key: str) -> int:
        """Return the place of an entry among the leaves."""
        return list(self.leaves).index(key)

    def inclusion_path(self, key: str) -> tuple[str, ...]:
        """Return the inclusion proof of an entry, in hexadecimal digits."""
        leaves = list(self.leaves.values())
        return tuple(node.hex() for node in inclusion_path(leaves, self.index_of(key)))

    def restricted_to(self, keys: Sequence[str]) -> EntryTree:
        """Return the tree over some of the entries."""
        return EntryTree({key: self.leaves[key] for key in sorted(keys)})


def entry_leaf(key: str, entry: JsonValue) -> bytes:
    """Return the hash of an entry with its key, all members included, `created_at` as well."""
    return leaf_hash(canonical_json([key, entry]))


def entry_tree(manifest: Manifest) -> EntryTree:
    """Return the tree over the entries of the manifest file, without those of its journal.

    Raises:
        MalformedJson: An entry cannot be hashed (R1).
    """
    return EntryTree({key: _leaf_of(manifest, key) for key in sorted(manifest.stored)})


def _leaf_of(manifest: Manifest, key: str) -> bytes:
    try:
        return entry_leaf(key, parse_json(bytes(manifest.stored[key])))
    except MalformedJson as error:
        raise MalformedJson(f"entry {key[:8]} of the manifest: {error.reason}") from None


def attested_tree(manifest: Manifest, tree: EntryTree, root: str, size: int) -> EntryTree | None:
    """Return the tree of a smaller manifest that this one has grown from; None if none is found.

    Entries are only ever added, so the tree is looked for among the entries that come first in the
    file, and among the oldest: a union merge may place entries of another branch before them. The
    root proves the answer.

    Args:
        manifest: The manifest as it is now.
        tree: Its tree.
        root: The root of the smaller manifest.
        size: The number of its entries.
    """
    if size > tree.size:
        return None
    if size == tree.size:
        return tree if tree.root == root else None
    for keys in (list(manifest.stored), _oldest_first(manifest)):
        candidate = tree.restricted_to(keys[:size])
        if candidate.root == root:
            return candidate
    return None


def _oldest_first(manifest: Manifest) -> list[str]:
    """Return the keys by `created_at`; entries without one come first, as in the file."""
    beginning = datetime.min.replace(tzinfo=UTC)

    def created(key: str) -> datetime:
        return parse_timestamp(text(manifest.entry(key) or {}, "created_at") or "") or beginning

    return sorted(manifest.stored, key=created)
