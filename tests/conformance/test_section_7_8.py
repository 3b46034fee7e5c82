"""RFC 7.8: the derived database."""

from __future__ import annotations

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    READ_COMMANDS,
    check_project,
    run_vibes_commands,
    severities,
    snapshot,
)
from tests.trails import AUDIT_DIR, CompleteTrail, Repository


@rfc_reader(
    "7.8",
    "MUST",
    "a database that `.gitignore` does not list is reported",
)
def test_a_database_that_is_not_ignored_is_reported(trail: CompleteTrail) -> None:
    repository = Repository(trail.root)
    (trail.root / AUDIT_DIR / ".gitignore").write_bytes(b"*.lock\nwal/\nspool/\n")
    repository.write(f"{AUDIT_DIR}/audit.db", b"SQLite format 3\0")
    repository.commit("Everything, by mistake")
    report = check_project(trail.root)
    assert severities(report, "git-ignore") == severities(report, "git-derived") == {"warning"}


@rfc_reader("7.8", "MAY", "reading neither needs nor creates a database")
def test_reading_makes_no_database(trail: CompleteTrail) -> None:
    files = snapshot(trail.root)
    assert run_vibes_commands(trail.root, READ_COMMANDS).code == 0
    assert snapshot(trail.root) == files
