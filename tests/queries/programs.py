"""Run queries: jq and bash as programs, DuckDB and SQLite as libraries."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tests.requirements import TOOLS, require, require_module
from vibes_lsp.database.build import build_database
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path


def bash(root: Path, script: str) -> tuple[int, str]:
    """Run a script unchanged; return its exit code and its output."""
    shell = require("bash", "runs the standard's command lines")
    require("jq", "they call it")
    path = os.pathsep.join([os.environ.get("PATH", ""), str(TOOLS)])
    run = subprocess.run(
        [shell, "-c", script],
        cwd=root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert not run.stderr
    return run.returncode, run.stdout


def in_duckdb(root: Path, sql: str) -> list[tuple[Any, ...]]:
    """Run a query with DuckDB in the project folder."""
    duckdb = require_module("duckdb", "it runs the standard's queries over the log")
    with duckdb.connect() as connection:
        connection.execute("SET file_search_path = ?", [str(root)])
        rows: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
        return rows


def in_sqlite(root: Path, sql: str) -> list[tuple[Any, ...]]:
    """Build `audit.db` and run a query with SQLite."""
    database = build_database(AuditDir(root / ".ai-audit")).path
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql).fetchall()
