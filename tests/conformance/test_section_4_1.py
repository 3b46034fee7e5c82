"""RFC 4.1: the files of the audit directory and which of them are authoritative."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    READ_COMMANDS,
    open_trail,
    run_vibes,
    run_vibes_commands,
    snapshot,
)
from tests.trails import AUDIT_DIR, CompleteTrail


@rfc_reader(
    "4.1",
    "stated",
    "the trail is found in `.ai-audit/` at the project's root, also from a folder below it",
)
def test_the_trail_is_found_from_a_folder_of_the_project(trail: CompleteTrail) -> None:
    shown = run_vibes(trail.root / "src", "show", trail.created, "--json")
    assert shown.code == 0
    assert shown.json["id"] == trail.created


@rfc_reader("4.1", "stated", "the log can be read without any other file")
def test_a_log_without_any_other_file_is_read(trail: CompleteTrail) -> None:
    expected = [lineage.current.id for lineage in open_trail(trail.root).lineages()]
    for name in ("manifest.json", "config.json"):
        (trail.root / AUDIT_DIR / name).unlink()
    assert [lineage.current.id for lineage in open_trail(trail.root).lineages()] == expected != []


@rfc_reader("4.1", "MUST NOT", "`audit.db` is neither read nor changed")
def test_the_database_is_neither_read_nor_changed(trail: CompleteTrail) -> None:
    before = run_vibes_commands(trail.root, READ_COMMANDS, "--json")
    with closing(sqlite3.connect(trail.root / AUDIT_DIR / "audit.db")) as database, database:
        database.execute("CREATE TABLE annotations (type, file_path, line_start, line_end, action)")
        database.execute(
            "INSERT INTO annotations VALUES ('line', 'src/invented.py', 1, 99, 'create')"
        )
    files = snapshot(trail.root)
    after = run_vibes_commands(trail.root, READ_COMMANDS, "--json")
    assert after == before
    assert snapshot(trail.root) == files
