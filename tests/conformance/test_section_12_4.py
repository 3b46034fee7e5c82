"""RFC 12.4: a database that can be made anew at any time."""

from __future__ import annotations

import pytest

from tests.conformance.faces import READING, checked, found, vibes
from tests.conformance.requirement import rfc
from tests.trails import AUDIT_DIR, CompleteTrail


@rfc(
    "12.4",
    "stated",
    "a database of another schema, or a damaged one, needs no migration: nothing depends on it",
)
@pytest.mark.parametrize(
    "content", [b"", b"SQLite format 3\0", b"\0" * 4096], ids=["empty", "cut off", "zeros"]
)
def test_a_database_of_any_schema_is_passed_over(trail: CompleteTrail, content: bytes) -> None:
    before = vibes(trail.root, *READING[1], "--json")
    for name in ("audit.db", "audit.db-wal", "audit.db-shm"):
        (trail.root / AUDIT_DIR / name).write_bytes(content)
    assert found(checked(trail.root)) == set()
    assert vibes(trail.root, *READING[1], "--json") == before
