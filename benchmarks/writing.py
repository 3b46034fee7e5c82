"""How fast a trail grows: entries into a manifest of 100,000, and records into the log.

An entry is compared with the plain way of RFC 9.3: lock, read, merge, write a temporary file,
flush, rename. Both run in several processes at once, as agents in one project do, with the shipped
durability.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.hashing import context_hash
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import parse_manifest, read_manifest
from vibes_lsp.store.manifest_format import add_entries, new_manifest
from vibes_lsp.store.writer import AuditWriter

ENTRIES = 100_000
PROCESSES = 4
PLAIN = 2
"""Updates of each process in the plain way, about half a second each."""
UPDATES = 2_000
RECORDS = 4_000
_AIM = 1_000


def main() -> None:
    """Measure and print."""
    if os.name != "posix":
        print("writing: is measured on POSIX systems only")
        return
    with tempfile.TemporaryDirectory() as folder:
        directory = AuditDir(Path(folder) / ".ai-audit")
        directory.path.mkdir()
        directory.manifest.write_bytes(
            new_manifest(dict(_keyed(number) for number in range(ENTRIES)))
        )
        size = directory.manifest.stat().st_size
        print(
            f"writing: {PROCESSES} processes,"
            f" a manifest of {ENTRIES:,} entries, {size / 1e6:.0f} MB"
        )
        plain = PROCESSES * PLAIN / _together(_plain, directory, PLAIN)
        journal = PROCESSES * UPDATES / _together(_journal, directory, UPDATES)
        begun = time.perf_counter()
        folded = AuditWriter(directory).fold()
        fold = time.perf_counter() - begun
        whole = folded / (folded / journal + fold)
        records = PROCESSES * RECORDS / _together(_records, directory, RECORDS)
        assert len(read_manifest(directory)) == ENTRIES + PROCESSES * (PLAIN + UPDATES), (
            "an entry is missing"
        )
        print(f"  lock, merge, rename      {plain:10.2f} updates/s")
        print(f"  through the journal      {journal:10.0f} updates/s")
        print(
            f"  folding included         {whole:10.0f} updates/s"
            f"  ({folded:,} entries folded in {fold * 1000:.0f} ms)"
        )
        print(f"  journal / plain          {journal / plain:10.0f}  (target: at least {_AIM:,})")
        print(f"  records, one at a time   {records:10.0f} records/s")
        _alone(directory)


def _alone(directory: AuditDir) -> None:
    """Print how long one writer waits for one edit: an entry, and a record with its edge."""
    writer = AuditWriter(directory)
    writer.entry(_entry(-1))
    times = []
    for number in range(1_000):
        begun = time.perf_counter()
        key = writer.entry(_entry(-2 - number))
        writer.append([_record(number, key), {**_record(number, key), "type": "edge"}])
        times.append(time.perf_counter() - begun)
    slow = statistics.quantiles(times, n=20)[-1]
    print(
        f"  one edit, alone          {statistics.median(times) * 1e6:10.0f} µs,"
        f" p95 {slow * 1e6:.0f} µs"
    )


def _together(work: Callable[[AuditDir, int, int], None], directory: AuditDir, count: int) -> float:
    """Return the seconds from the common start of all processes to the end of the last."""
    context = multiprocessing.get_context("fork")
    start = context.Barrier(PROCESSES + 1)
    processes = [
        context.Process(target=_wait_and, args=(start, work, directory, number, count))
        for number in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    start.wait()
    begun = time.perf_counter()
    for process in processes:
        process.join()
    assert all(process.exitcode == 0 for process in processes), "a writer failed"
    return time.perf_counter() - begun


def _wait_and(
    start: Barrier,
    work: Callable[[AuditDir, int, int], None],
    directory: AuditDir,
    own: int,
    count: int,
) -> None:
    start.wait()
    work(directory, own, count)


def _plain(directory: AuditDir, own: int, count: int) -> None:
    """Write each update by itself, parsing and splicing as fast as folding does."""
    for number in range(count):
        with (directory.path / "plain.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            manifest = parse_manifest(directory.manifest.read_bytes())
            key, entry = _keyed(10_000_000 + own * 1_000_000 + number)
            temporary = directory.path / f"{own}.tmp"
            with temporary.open("wb") as file:
                file.write(add_entries(manifest, {key: canonical_json(entry)}))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(directory.manifest)


def _journal(directory: AuditDir, own: int, count: int) -> None:
    writer = AuditWriter(directory)
    for number in range(count):
        writer.entry(_entry(20_000_000 + own * 1_000_000 + number))


def _records(directory: AuditDir, own: int, count: int) -> None:
    writer = AuditWriter(directory)
    for number in range(count):
        writer.append([_record(own * 1_000_000 + number, "0" * 64)])


def _keyed(number: int) -> tuple[str, Members]:
    entry = _entry(number)
    return context_hash(entry), entry


def _entry(number: int) -> Members:
    words = (
        f"Entry {number}: "
        + "make the parser keep what it does not know, and say so in its documentation. " * 6
    )
    return {
        "type": "prompt",
        "prompt_text": words,
        "prompt_type": "user_instruction",
        "created_at": "2026-02-03T10:00:00.000Z",
    }


def _record(number: int, key: str) -> Members:
    return {
        "type": "line",
        "file_path": f"src/module_{number % 50}.py",
        "line_start": number,
        "line_end": number + 3,
        "environment_hash": "e" * 64,
        "prompt_hash": key,
        "action": "modify",
        "timestamp": "2026-02-03T10:00:00.000Z",
        "anchor_context": "def parse(line):\n    return line\n" * 3,
        "anchor_hash": "a" * 64,
        "commit_hash": None,
    }


if __name__ == "__main__":
    main()
