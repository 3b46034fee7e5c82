"""How fast a large log is read, and how much memory its index takes.

The index keeps ids, edge ends, paths and sessions. It is compared with SHA-256 of the file, the
floor of anything that reads every byte, and with `json.loads` of every line, with the records kept
or dropped.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.corpus import generate
from benchmarks.measure import median_seconds, print_aimed, private_bytes
from vibes_lsp.trail.log_index import LogIndex

ANNOTATIONS = 100_000


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        size = generate(Path(folder), ANNOTATIONS)
        log = Path(folder) / ".ai-audit" / "annotations.jsonl"
        print(
            f"scan: {size.annotations:,} annotations, {size.records:,} records,"
            f" {size.log_bytes / 1e6:.0f} MB"
        )
        times = median_seconds(
            {
                "scan": lambda: _scan(log),
                "sha256": lambda: _sha256(log),
                "json, records kept": lambda: _json_kept(log),
                "json, records dropped": lambda: _json_dropped(log),
            }
        )
        for name, seconds in times.items():
            print(
                f"  {name:<24}{seconds * 1000:8.0f} ms  {size.log_bytes / 1e6 / seconds:7.0f} MB/s"
            )
        floor = times["scan"] / times["sha256"]
        print_aimed("scan with ids and edges / SHA-256", f"{floor:.2f}", "at most 4")
        kept = times["json, records kept"] / times["scan"]
        print_aimed("json.loads, records kept / scan", f"{kept:.2f}", "at least 7")
        print(f"  json dropped / scan      {times['json, records dropped'] / times['scan']:8.2f}")
        follow = median_seconds({"unchanged": _unchanged(log)}, rounds=1000)["unchanged"]
        print(f"  refresh, nothing new     {follow * 1e6:8.1f} µs")
        _memory(log, size.annotations)


def _memory(log: Path, annotations: int) -> None:
    if not sys.platform.startswith("linux"):
        print("  memory is measured on Linux only")
        return
    code = (
        "from pathlib import Path\n"
        "from vibes_lsp.trail.rows import LogLineKind\n"
        "from vibes_lsp.trail.log_index import LogIndex\n"
    )
    prepare = f"def prepare():\n    LogIndex(Path({str(log)!r} + '.absent')).refresh()\n"
    scanned = (
        f"def hold():\n    index = LogIndex(Path({str(log)!r}))\n"
        "    index.refresh()\n    return index\n"
    )
    asked = scanned.replace(
        "    return",
        "    identifier = next(index.records_of(LogLineKind.LINE)).id\n"
        "    index.by_id(identifier)\n    index.edges(source=identifier)\n    return",
    )
    for name, hold in (("after the scan", scanned), ("with id and edge tables", asked)):
        held = private_bytes(code + prepare + hold)
        print(
            f"  memory, {name:<25} {held / 1e6:6.1f} MB,"
            f" {held / annotations:4.0f} bytes per annotation"
        )


def _scan(log: Path) -> LogIndex:
    index = LogIndex(log)
    index.refresh()
    return index


def _unchanged(log: Path) -> Callable[[], object]:
    os.utime(log, (0, 0))  # so old that its stamp shows every change
    index = LogIndex(log)
    index.refresh()
    return index.refresh


def _sha256(log: Path) -> str:
    with log.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _json_kept(log: Path) -> list[object]:
    with log.open("rb") as file:
        return [json.loads(line) for line in file]


def _json_dropped(log: Path) -> None:
    with log.open("rb") as file:
        for line in file:
            json.loads(line)


if __name__ == "__main__":
    main()
