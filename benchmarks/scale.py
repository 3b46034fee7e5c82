"""A trail of years: commands, the server, its memory and its start with a saved index.

By default 1,000,000 annotations and as many edges; `VIBES_BENCH_ANNOTATIONS` gives another number.
One of 250 annotated files exists, because commands locate annotations only in files of the
checkout. Each command is a process; its memory is its largest resident set, which includes pages of
the mapped index that the system can drop. What takes long runs once, the rest three times; what is
being measured goes to standard error, the table to standard output at the end. It takes some five
minutes on two idle cores.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.corpus import CorpusSize, generate
from benchmarks.measure import SETTLED, private_memory, record_aimed, run_measured
from tests.demo.client import Client
from tests.trails import TrailWriter
from vibes_lsp.store.audit_dir import find_audit_dir
from vibes_lsp.trail.log_index import LogIndex
from vibes_lsp.trail.trail import Trail

ANNOTATIONS: Final = int(os.environ.get("VIBES_BENCH_ANNOTATIONS", "1000000"))
_EXISTING: Final = 250
"""One of so many annotated files exists."""
_VIBES: Final = Path(sys.executable).with_name("vibes")
_ROUNDS: Final = 3
_SLOW: Final = 5.0
"""CPU seconds from which on a run is not repeated."""
_EDITS: Final = 400
"""Records of a day of eight hours, each followed by a hover."""
_HOVERS: Final = 200


class _Table:
    """Rows of what was measured, each with its target."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str]] = []

    def add(self, name: str, measured: str, target: str = "") -> None:
        """Add a row, and show on standard error that it is done."""
        self._rows.append((name, measured, target))
        record_aimed(name, measured, target)
        print(f"{name}: {measured}", file=sys.stderr, flush=True)

    def print(self) -> None:
        """Print all rows."""
        widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)]
        for row in self._rows:
            cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            print("  " + "  ".join(cells).rstrip())


def main() -> None:
    """Measure and print."""
    table = _Table()
    with tempfile.TemporaryDirectory() as folder, _own_cache(Path(folder) / "cache"):
        root = Path(folder) / "project"
        size = generate(root, ANNOTATIONS)
        text = "".join(f"    value_{number} = {number}\n" for number in range(2_000))
        for number in range(0, size.files, _EXISTING):
            path = root / f"src/area_{number % 23:02d}/module_{number:06d}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        log = root / ".ai-audit/annotations.jsonl"
        duckdb = _duckdb_seconds(root, log, table)
        _index(log, table)
        _saved_answer(root, duckdb, table)
        _commands(root, size, log, table)
        _server(root, size, text, table)
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"scale: {size.annotations:,} annotations, {size.edges:,} edges, log"
        f" {size.log_bytes / 1e6:,.0f} MB, manifest {size.manifest_bytes / 1e6:,.0f} MB"
    )
    print(f"  {os.cpu_count()} cores, Python {platform.python_version()}, load {load} at the end")
    table.print()


@contextmanager
def _own_cache(folder: Path) -> Iterator[None]:
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before


def _duckdb_seconds(root: Path, log: Path, table: _Table) -> float | None:
    """Return how long DuckDB takes to answer about a file from the log; None without it."""
    if importlib.util.find_spec("duckdb") is None:
        table.add("DuckDB's answer from the log", "NOT MEASURED: duckdb is not installed")
        return None
    query: list[str | Path] = ["-c", _QUERY, log, _middle_file()]
    runs = [run_measured([sys.executable, *query], root) for _ in range(_ROUNDS)]
    elapsed, cpu = (statistics.median(run[part] for run in runs) for part in (0, 1))
    table.add("DuckDB's answer from the log", f"{elapsed:.2f} s, {cpu:.2f} s of CPU")
    return elapsed


_QUERY: Final = """
import duckdb, sys
log = "read_json_auto('" + sys.argv[1].replace("'", "''") + "', format='newline_delimited')"
print(len(duckdb.sql(f'''
    WITH log AS (SELECT * FROM {log})
    SELECT annotation_id, line_start, line_end, prompt_hash FROM log
    WHERE type IN ('line', 'function') AND file_path = '{sys.argv[2]}' AND annotation_id NOT IN (
        SELECT target_ref FROM log
        WHERE type = 'edge' AND edge_type = 'supersedes' AND target_ref IS NOT NULL)
''').fetchall()))
"""


def _taken(run: Callable[[], object]) -> tuple[float, float]:
    """Return seconds elapsed and of CPU, with those of processes that this one waited for."""
    begun, before = time.perf_counter(), os.times()
    run()
    after = os.times()
    return time.perf_counter() - begun, sum(after[:4]) - sum(before[:4])


def _index(log: Path, table: _Table) -> None:
    """Compare the first index with the floors, in memory and in the cache."""
    runs: dict[str, list[tuple[float, float]]] = {"sha": [], "json": [], "scan": [], "build": []}
    for _ in range(_ROUNDS):
        runs["sha"].append(_taken(lambda: _sha256(log)))
        runs["json"].append(_taken(lambda: _json(log)))
        runs["scan"].append(_taken(LogIndex(log).refresh))
        _remove_saved()
        index = LogIndex(log, uses_saved=True)
        runs["build"].append(_taken(index.refresh))
        index.close()
        if runs["build"][0][1] > _SLOW:
            break
    taken = {
        name: [statistics.median(part) for part in zip(*each, strict=True)]
        for name, each in runs.items()
    }

    def ratio(one: str, other: str) -> str:
        elapsed, cpu = (a / b for a, b in zip(taken[one], taken[other], strict=True))
        return f"{elapsed:.2f}, of CPU {cpu:.2f}"

    for name, what in (("sha", "SHA-256 of the log"), ("scan", "scan"), ("build", "build")):
        table.add(what, f"{taken[name][0]:.2f} s, {taken[name][1]:.2f} s of CPU")
    table.add("index in memory / SHA-256", ratio("scan", "sha"))
    table.add("json.loads of each line / index in memory", ratio("json", "scan"))
    table.add("first index / SHA-256", ratio("build", "sha"), "at most 25")
    opened = []
    for _ in range(20):
        begun = time.perf_counter()
        LogIndex(log, uses_saved=True).refresh()
        opened.append(time.perf_counter() - begun)
    saved = sum(file.stat().st_size for file in _saved())
    median = statistics.median(opened) * 1e3
    table.add("open the saved index", f"{median:.2f} ms, {saved / 1e6:.0f} MB")


def _saved_answer(root: Path, duckdb: float | None, table: _Table) -> None:
    """Compare the answer about a file from the saved index with DuckDB, and with a start."""
    path, directory = _middle_file(), find_audit_dir(root)
    first = Trail(directory, uses_saved=True)
    first.refresh()
    taken = []
    for _ in range(20):
        begun = time.perf_counter()
        trail = Trail(directory, uses_saved=True)
        trail.refresh()
        trail.lineages_in(path)
        taken.append(time.perf_counter() - begun)
        del trail
    answer = statistics.median(taken)
    code = "from vibes_lsp.lsp.main import new_server; new_server()"
    starts = [run_measured([sys.executable, "-c", code], root)[0] for _ in range(_ROUNDS)]
    start = statistics.median(starts)
    table.add("answer from the saved index, opening it included", f"{answer * 1e3:.2f} ms")
    table.add(
        "answer from the saved index / start of a server", f"{answer / start:.1%}", "at most 5 %"
    )
    if duckdb is not None:
        table.add("DuckDB / answer from the saved index", f"{duckdb / answer:.0f}", "at least 300")


def _saved() -> list[Path]:
    folder = Path(os.environ["XDG_CACHE_HOME"], "vibes-lsp/trail")
    return list(folder.iterdir()) if folder.is_dir() else []


def _remove_saved() -> None:
    for file in _saved():
        file.unlink()


def _json(log: Path) -> None:
    with log.open("rb") as file:
        for line in file:
            json.loads(line)


def _sha256(log: Path) -> str:
    with log.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _commands(root: Path, size: CorpusSize, log: Path, table: _Table) -> None:
    with log.open("rb") as file:
        identifier = next(
            record["annotation_id"] for record in map(json.loads, file) if record["type"] == "line"
        )
    targets: dict[tuple[str, ...], str] = {
        ("--version",): "the program's own start",
        ("log", "--limit", "20"): "0.5 s, 300 MB",
        ("show", identifier[:12]): "0.5 s, 300 MB",
        ("blame", _middle_file(), "--no-git"): "0.5 s, 300 MB",
        ("blame", size.hottest_file, "--no-git"): "0.5 s, 300 MB",
        ("find", "--no-git"): "2 s, 300 MB",
        ("review", "--list"): "2 s, 300 MB",
        ("sessions", "--open"): "2 s, 300 MB",
        ("stats",): "2 s, 300 MB",
        ("models",): "2 s, 300 MB",
        ("check",): "30 s, 500 MB",
    }
    for command, target in targets.items():
        runs = [run_measured([_VIBES, *command], root)]
        while len(runs) < _ROUNDS and runs[0][1] < _SLOW:
            runs.append(run_measured([_VIBES, *command], root))
        seconds, cpu, memory = (statistics.median(each) for each in zip(*runs, strict=True))
        measured = f"{seconds:6.2f} s  {cpu:6.2f} s of CPU  {memory / 1e6:4.0f} MB"
        table.add(f"vibes {' '.join(command)}"[:60], measured, target)


def _middle_file() -> str:
    """Return an existing file with an ordinary number of annotations."""
    return f"src/area_{_EXISTING % 23:02d}/module_{_EXISTING:06d}.py"


def _server(root: Path, size: CorpusSize, text: str, table: _Table) -> None:
    command = [sys.executable, "-c", "from vibes_lsp.lsp.main import main; main()"]
    begun = time.perf_counter()
    with Client(root, command) as client:
        started = time.perf_counter() - begun
        client.open(size.hottest_file)
        first = time.perf_counter() - begun - started
        table.add("start of the server", f"{started * 1e3:.0f} ms")
        table.add("placements of the file with most annotations after it", f"{first * 1e3:.0f} ms")
        if not sys.platform.startswith("linux"):
            return
        process = client.process_id
        total = size.log_bytes + size.manifest_bytes
        held = private_memory(process)
        measured = f"{held / 1e6:.0f} MB, {held / total:.1%} of log and manifest"
        table.add("private memory of the server", measured, "at most 25 %")
        writer = TrailWriter(root)
        middle = held
        edited = _middle_file()
        hover = {
            "textDocument": {"uri": client.open(edited)},
            "position": {"line": 20, "character": 0},
        }
        waits: list[float] = []
        for number in range(_EDITS):
            line = 1 + number % 1_900
            writer.line(edited, line, line + 2, text=text, environment="e" * 64)
            begun = time.perf_counter()
            client.request("textDocument/hover", hover)
            waits.append(time.perf_counter() - begun)
            if number == _EDITS // 2:
                middle = private_memory(process)
        again = private_memory(process)
        time.sleep(SETTLED)
        idle = []
        for _ in range(_HOVERS):
            begun = time.perf_counter()
            client.request("textDocument/hover", hover)
            idle.append(time.perf_counter() - begun)
        growth = f"{again / 1e6:.0f} MB, {(again - middle) / 1e6:+.1f} MB in the second half"
        table.add(f"the same after {_EDITS:,} records", growth)
        ratio = statistics.median(waits) / statistics.median(idle)
        table.add(
            "hover after a record",
            f"{statistics.median(waits) * 1e3:.2f} ms, {ratio:.1f} times a warm one",
            "at most 10 times",
        )


if __name__ == "__main__":
    main()
