"""RFC 12.4: a database that can be rebuilt at any time."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import READ_COMMANDS, check_project, finding_fields, run_vibes
from tests.trails import AUDIT_DIR, CompleteTrail


@rfc_reader(
    "12.4",
    "stated",
    "a database with another schema, or a damaged one, needs no migration",
)
@pytest.mark.parametrize(
    "content", [b"", b"SQLite format 3\0", b"\0" * 4096], ids=["empty", "cut off", "zeros"]
)
def test_a_database_of_any_schema_is_ignored(trail: CompleteTrail, content: bytes) -> None:
    before = run_vibes(trail.root, *READ_COMMANDS[1], "--json")
    for name in ("audit.db", "audit.db-wal", "audit.db-shm"):
        (trail.root / AUDIT_DIR / name).write_bytes(content)
    assert finding_fields(check_project(trail.root)) == set()
    assert run_vibes(trail.root, *READ_COMMANDS[1], "--json") == before
