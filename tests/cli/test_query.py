"""`vibes query`: the derived database, and untrusted SQL."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import simulate_terminal, vibes
from tests.trails import Repository
from tests.unit.checks.projects import Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def database(project: Project) -> Path:
    return project.root / ".ai-audit" / "audit.db"


def one(run_vibes: RunVibes, project: Project, sql: str) -> object:
    done = run_vibes("query", sql, "--json", cwd=project.root)
    assert done.code == 0, done.err
    [[value]] = done.json["rows"]
    return value


def test_sql_that_is_not_utf_8_is_refused_in_a_line(project: Project) -> None:
    done = vibes("query", "-", cwd=project.root, given=b"SELECT '\xff'", PYTHONUTF8="1")
    assert done.code == 2
    assert "standard input is not UTF-8: byte 9" in done.err
    assert vibes("query", "-", cwd=project.root, given="SELECT 'é'").lines[-1] == "é"


def test_every_record_and_entry_is_a_row_and_git_sees_nothing(project: Project) -> None:
    repository = Repository(project.root)
    repository.commit("All")
    done = vibes("query", "--build", "--json", cwd=project.root)
    assert done.code == 0, done.err
    records = [
        json.loads(line) for line in (project.audit / "annotations.jsonl").read_bytes().splitlines()
    ]
    rows = done.json["rows"]
    for kind, table in (
        ("line", "line_annotations_all"),
        ("function", "function_annotations_all"),
        ("session", "sessions"),
        ("edge", "edges"),
    ):
        assert rows[table] == sum(record["type"] == kind for record in records)
    assert (rows["prompts"], rows["decisions"], rows["reasoning"]) == (2, 1, 3)
    assert repository.git("status", "--porcelain") == ""
    assert sorted(path.name for path in database(project).parent.glob("audit.db*")) == ["audit.db"]


def test_rows_say_what_is_current_and_reasoning_is_text(
    project: Project, run_vibes: RunVibes
) -> None:
    trail = project.trail
    current = run_vibes(
        "query",
        "SELECT annotation_id, lineage_id FROM line_annotations",
        "--json",
        cwd=project.root,
    )
    assert dict(current.json["rows"])[trail.remapped] == trail.pending
    assert {row[0] for row in current.json["rows"]} == set(trail.current) - {trail.function}
    assert (
        one(
            run_vibes,
            project,
            "SELECT count(*) FROM reasoning WHERE reasoning_text LIKE 'Windows slide.%' AND external",
        )
        == 1
    )


def test_a_view_shows_what_the_edit_did_after_a_remap(
    project: Project, run_vibes: RunVibes
) -> None:
    def rows(table: str) -> list[list[str]]:
        sql = (
            f"SELECT action, edit_action, annotation_id FROM {table}"
            f" WHERE lineage_id = '{project.trail.pending}' ORDER BY log_line"
        )
        found = run_vibes("query", sql, "--json", cwd=project.root).json["rows"]
        return [list(map(str, row)) for row in found]

    first, *remaps = rows("line_annotations_all")
    assert first == ["create", "create", project.trail.pending]
    assert {tuple(row[:2]) for row in remaps} == {("rebase_remap", "create")}
    assert rows("line_annotations") == [["create", "create", project.trail.remapped]]


def test_what_replaces_a_creation_as_a_whole_counts_as_one(
    project: Project, run_vibes: RunVibes
) -> None:
    """A sum over creations would lose its lines."""
    made = project.writer.line("src/limits.py", 1, 9, action="create")
    changed = project.writer.line("src/limits.py", 1, 12, action="modify")
    project.writer.edge(
        "supersedes", changed, made, target_type="annotation", metadata={"reason": "covers"}
    )
    sql = (
        "SELECT annotation_id, action, edit_action FROM line_annotations"
        f" WHERE annotation_id IN ('{made}', '{changed}')"
    )
    done = run_vibes("query", sql, "--json", cwd=project.root)
    assert done.json["rows"] == [[changed, "create", "modify"]]


def test_a_query_sees_what_was_just_recorded(project: Project, run_vibes: RunVibes) -> None:
    before = one(run_vibes, project, "SELECT count(*) FROM line_annotations")
    project.writer.line("src/limits.py", 1, 2)
    assert one(run_vibes, project, "SELECT count(*) FROM line_annotations") == int(str(before)) + 1


def test_a_database_of_another_trail_is_not_used(project: Project, run_vibes: RunVibes) -> None:
    run_vibes("query", "--build", cwd=project.root)
    with closing(sqlite3.connect(database(project))) as connection:
        connection.execute("DELETE FROM line_annotations_all")
        connection.commit()
    copied = database(project).read_bytes()
    os.utime(project.root / ".ai-audit" / "annotations.jsonl")  # as a checkout does
    assert one(run_vibes, project, "SELECT count(*) > 0 FROM line_annotations") == 1
    assert database(project).read_bytes() != copied


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_broken_database_is_rebuilt(
    project: Project, run_vibes: RunVibes, content: bytes
) -> None:
    database(project).write_bytes(content)
    assert one(run_vibes, project, "SELECT count(*) > 0 FROM line_annotations") == 1


def test_a_database_that_was_changed_is_rebuilt(project: Project, run_vibes: RunVibes) -> None:
    run_vibes("query", "--build", cwd=project.root)
    with closing(sqlite3.connect(database(project))) as connection:
        connection.execute("DELETE FROM edges")
        connection.commit()
    assert one(run_vibes, project, "SELECT count(*) > 0 FROM edges") == 1


def test_a_database_that_another_program_locks_is_replaced(
    project: Project, run_vibes: RunVibes
) -> None:
    """An index in WAL mode, too: its log must not be applied to the new database."""
    run_vibes("query", "--build", cwd=project.root)
    with closing(sqlite3.connect(database(project), isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("DELETE FROM edges")
        assert one(run_vibes, project, "SELECT count(*) > 0 FROM edges") == 1
        assert sorted(path.name for path in project.audit.glob("audit.db*")) == ["audit.db"]
        with closing(sqlite3.connect(database(project))) as reader:
            assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert reader.execute("SELECT count(*) > 0 FROM edges").fetchall() == [(1,)]
        other.execute("ROLLBACK")


def test_a_database_with_damaged_pages_is_rebuilt(project: Project, run_vibes: RunVibes) -> None:
    """As after a fault of the disk: nothing but its content shows the damage."""
    run_vibes("query", "--build", cwd=project.root)
    path = database(project)
    status, whole = path.stat(), path.read_bytes()
    for page in range(2 * 4096, len(whole), 4096):
        whole = whole[:page] + b"\xff" * 8 + whole[page + 8 :]
    with path.open("r+b") as file:
        file.write(whole)
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    sql = "SELECT count(*) > 0 FROM edges WHERE metadata IS NULL OR metadata != ''"
    assert one(run_vibes, project, sql) == 1


def test_what_a_killed_build_left_is_removed(project: Project, run_vibes: RunVibes) -> None:
    run_vibes("query", "--build", cwd=project.root)
    left = project.audit / "wal/audit.db.0123456789abcdef"
    for age in (0, 2 * 3600):
        left.write_bytes(b"half")
        os.utime(left, (time.time() - age, time.time() - age))
        run_vibes("query", "--build", cwd=project.root)
        assert left.exists() == (age == 0)


def test_a_query_works_where_the_database_cannot_be_written(
    project: Project, run_vibes: RunVibes
) -> None:
    database(project).mkdir()
    assert one(run_vibes, project, "SELECT count(*) > 0 FROM edges") == 1
    done = run_vibes("query", "--build", cwd=project.root)
    assert (done.code, "audit.db" in done.err) == (2, True)
    assert sorted(path.name for path in database(project).parent.glob("audit.db*")) == ["audit.db"]


def test_it_is_not_written_where_git_does_not_ignore_it(
    project: Project, run_vibes: RunVibes
) -> None:
    (project.root / ".ai-audit" / ".gitignore").write_bytes(b"*.lock\n")
    done = run_vibes("query", "--build", cwd=project.root)
    assert (done.code, database(project).exists()) == (2, False)
    assert "git does not ignore" in done.err
    assert one(run_vibes, project, "SELECT count(*) > 0 FROM edges") == 1
    assert not database(project).exists()


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH DATABASE 'other.db' AS other",
        "DELETE FROM edges",
        "CREATE TABLE mine (x)",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "VACUUM INTO 'copy.db'",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
        "SELECT zeroblob(1000000000)",
        "SELEC",
        "SELECT * FROM nothing",
        "",
    ],
)
def test_only_a_select_is_executed(project: Project, run_vibes: RunVibes, sql: str) -> None:
    run_vibes("query", "--build", cwd=project.root)
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    done = run_vibes("query", sql, cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()} == before


def test_a_long_query_is_stopped(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("query", ENDLESS, "--timeout", "0.2", cwd=project.root)
    assert (done.code, "takes longer than 0.2 seconds of processor time;" in done.err) == (2, True)


@pytest.mark.parametrize("timeout", ["nan", "inf", "0", "-1"])
def test_the_timeout_must_be_finite(project: Project, run_vibes: RunVibes, timeout: str) -> None:
    done = run_vibes("query", "SELECT 1", "--timeout", timeout, cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "--timeout" in done.err


@pytest.mark.parametrize("sql", ["", "  \n", ";", "-- SELECT 1"])
def test_an_empty_query_is_wrong_use(project: Project, run_vibes: RunVibes, sql: str) -> None:
    done = run_vibes("query", "--", sql, cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("vibes: empty query: expected one SELECT")


def test_rows_are_limited_and_a_line_says_so(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes(
        "query", "SELECT annotation_id FROM edges", "--limit", "2", "--json", cwd=project.root
    )
    assert (len(done.json["rows"]), done.json["truncated"]) == (2, True)
    assert (
        "first 2 rows; there are more"
        in run_vibes(
            "query", "SELECT annotation_id FROM edges", "--limit", "2", cwd=project.root
        ).out
    )


def test_columns_that_do_not_fit_are_listed_and_cells_are_cut(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate_terminal(monkeypatch)
    done = run_vibes("query", "SELECT * FROM environments", cwd=project.root)
    assert max(map(len, done.lines)) <= 80
    shown = done.lines[0].split()
    every = run_vibes("query", "SELECT * FROM environments", "--json", cwd=project.root).json[
        "columns"
    ]
    left_out = every[len(shown) :]
    assert shown
    assert left_out
    assert all(
        name.startswith(heading.removesuffix("…"))
        for heading, name in zip(shown, every, strict=False)
    )
    assert done.lines[-1].startswith(
        f"{len(left_out)} of {len(every)} columns not shown; use --json for all: {left_out[0]}"
    )
    few = run_vibes("query", "SELECT hash, tool_name FROM environments", cwd=project.root)
    assert "not shown" not in few.out
    assert all(len(line.split()[0]) == 64 for line in few.lines[2:])


def test_cells_that_do_not_fit_end_in_an_ellipsis(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate_terminal(monkeypatch)
    done = run_vibes(
        "query",
        "SELECT printf('%.100c', 'x') AS a, 1 AS b, printf('%.100c', '漢') AS c",
        cwd=project.root,
    )
    assert done.lines[0].split() == ["a", "b", "c"]
    cells = done.lines[2].split()
    assert (cells[0].strip("x"), cells[1], cells[2].strip("漢")) == ("…", "1", "…")
    assert len(cells[0]) > 30


def test_values_without_a_json_type_are_still_json(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes(
        "query",
        "SELECT x'00ff', 9e999, NULL, 1.5, CAST(x'ff41' AS TEXT)",
        "--json",
        cwd=project.root,
    )
    assert done.json["rows"] == [["00ff", None, None, 1.5, "\ufffdA"]]


def test_hostile_text_comes_out_escaped(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("query", "SELECT char(27) || '[2J' AS \"\x1b[1m\"", cwd=project.root)
    assert (done.code, "\x1b" in done.out) == (0, False)


def test_the_statement_may_come_by_standard_input(project: Project) -> None:
    done = vibes("query", "-", cwd=project.root, given="SELECT 41 + 1 AS answer")
    assert (done.code, "42" in done.out) == (0, True)


COUNTING = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"


def test_an_answer_is_bounded_in_bytes(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes(
        "query",
        f"{COUNTING} SELECT printf('%.*c', 5000000, 'x') FROM r",
        "--json",
        cwd=project.root,
    )
    assert done.code == 0
    assert done.json["truncated"]
    assert len(done.json["rows"]) == 13


def test_a_value_is_bounded(project: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("query", "SELECT hex(zeroblob(20000000))", cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert "too big" in done.err


def test_a_function_that_does_not_return_is_abandoned(project: Project) -> None:
    """SQLite cannot interrupt a function, so the command exits without waiting for it."""
    hostile = "SELECT instr(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')"
    done = vibes("query", hostile, "--timeout", "0.5", cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "vibes: the query takes longer than 0.5 seconds of processor time; add a WHERE clause or a LIMIT\n"
    )


def test_thousands_of_columns_are_shown_as_far_as_they_fit(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = "SELECT " + ",".join(["1"] * 2000)
    piped = run_vibes("query", statement, cwd=project.root)
    assert piped.code == 0
    assert piped.lines[-1].split() == ["1"] * 2000
    simulate_terminal(monkeypatch)
    done = run_vibes("query", statement, cwd=project.root)
    assert done.code == 0
    assert "of 2000 columns not shown" in done.out
    assert max(map(len, done.lines)) <= 80
