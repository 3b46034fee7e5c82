"""RFC 4.1: what lies in the audit directory, and which of it is the truth."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.conformance.faces import READING, opened, snapshot, vibes, vibes_each
from tests.conformance.requirement import rfc
from tests.trails import AUDIT_DIR, CompleteTrail


@rfc(
    "4.1",
    "stated",
    "the trail is found in `.ai-audit/` at the project's root, also from a folder below it",
)
def test_the_trail_is_found_from_a_folder_of_the_project(trail: CompleteTrail) -> None:
    shown = vibes(trail.root / "src", "show", trail.created, "--json")
    assert shown.code == 0
    assert shown.json["id"] == trail.created


@rfc(
    "4.1", "stated", "the log alone is the record of events: it can be read with nothing beside it"
)
def test_a_log_without_any_other_file_is_read(trail: CompleteTrail) -> None:
    expected = [lineage.current.id for lineage in opened(trail.root).lineages()]
    for name in ("manifest.json", "config.json"):
        (trail.root / AUDIT_DIR / name).unlink()
    assert [lineage.current.id for lineage in opened(trail.root).lineages()] == expected != []


@rfc("4.1", "MUST NOT", "nothing in `audit.db` is believed, and no reader touches the file")
def test_the_query_database_is_neither_believed_nor_touched(trail: CompleteTrail) -> None:
    before = vibes_each(trail.root, READING, "--json")
    with closing(sqlite3.connect(trail.root / AUDIT_DIR / "audit.db")) as database, database:
        database.execute("CREATE TABLE annotations (type, file_path, line_start, line_end, action)")
        database.execute(
            "INSERT INTO annotations VALUES ('line', 'src/invented.py', 1, 99, 'create')"
        )
    files = snapshot(trail.root)
    after = vibes_each(trail.root, READING, "--json")
    assert after == before
    assert snapshot(trail.root) == files
