"""Ids of annotations, and the supersedes edges between them."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from vibes_lsp.trail.index_writer import IdKeys

if TYPE_CHECKING:
    import pytest

IDS = [sha256(str(number).encode()).hexdigest() for number in range(7)]
COMMITS = ("c" * 40, "d" * 40)


def edge(source: int, target: int, reason: str | None) -> dict[str, object]:
    """Return a supersedes edge; its ends need not exist."""
    return {
        "type": "edge",
        "edge_type": "supersedes",
        "source_ref": IDS[source],
        "target_ref": IDS[target],
        "timestamp": "2026-02-03T11:00:00.000Z",
        "metadata": {"reason": reason},
    }


def share_keys(patch: pytest.MonkeyPatch) -> None:
    """Give ids with the same first six digits one key, as if they had one by chance."""
    patch.setattr(
        IdKeys, "key", lambda _, identifier: int.from_bytes(identifier[:6].encode(), "big")
    )


def with_equal_key(number: int) -> str:
    """Return another id that has the key of an annotation's id, after `share_keys`."""
    return IDS[number][:8] + "0" * 56
