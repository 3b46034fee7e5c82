"""Forks writer processes and kills them; the tests run it as a separate program.

Modes: `kills FOLDER KILLS SEED`, `stages FOLDER`, `together FOLDER PROCESSES RECORDS`. Each prints
its statistics as one JSON object.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.crash.trail_checks import check_trail_invariants
from tests.crash.workloads import (
    ORIGIN,
    completion,
    create_due_commits,
    write_backfills,
    write_completions,
    write_each_kind,
    write_until_killed,
)
from tests.unit.store.empty_trail import leftover_files, new_trail, prompt, read_strictly, session
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.recording import Recorder
from vibes_lsp.recording.results import Recorded
from vibes_lsp.store.locks import append_lock
from vibes_lsp.store.log_follower import LogFollower
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.crash.workloads import Acknowledge
    from vibes_lsp.store.audit_dir import AuditDir

HOOKED = ("open", "write", "pwrite", "ftruncate", "fsync", "replace", "unlink", "mkdir", "close")
"""The system calls that change something on disk, or who holds what."""
WRITERS = 3
ROUNDS_PER_TRAIL = 8


class WriterProcess:
    """A forked writer and what it has acknowledged so far."""

    def __init__(self, work: Callable[[Acknowledge], None]) -> None:
        self.entries: set[str] = set()
        self.records: set[str] = set()
        self.pending: set[str] = set()
        self.count = 0
        self._rest = b""
        self.out, into = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(into)
            return
        write = os.write

        def acknowledge(kind: str, names: Iterable[str]) -> None:
            write(into, f"{kind} {' '.join(names)}\n".encode())

        status = 1
        try:
            work(acknowledge)
            status = 0
        except BaseException:  # noqa: BLE001  # the process ends here
            traceback.print_exc()
        os._exit(status)

    def read_acknowledgements(self) -> bool:
        """Read acknowledgements, waiting for at least one; return False at the end."""
        data = os.read(self.out, 1 << 16)
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            kind, *names = line.decode().split()
            {"entry": self.entries, "record": self.records, "pending": self.pending}.get(
                kind, set()
            ).update(names)
            self.count += 1
        return bool(data)

    def end(self) -> int:
        """Read the rest and return the exit code."""
        while self.read_acknowledgements():
            pass
        os.close(self.out)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def small_thresholds(folder: Path) -> AuditDir:
    """Create a trail in which short reasoning already goes to blobs."""
    return new_trail(
        folder, compress_reasoning_threshold_bytes=20, external_blob_threshold_bytes=1000
    )


def kills(folder: Path, wanted: int, seed: int) -> dict[str, int]:
    """Kill writers at random moments, start new ones each time, and check the trail."""
    chance = random.Random(seed)
    seen: Counter[str] = Counter()
    while seen["kills"] < wanted:
        directory = small_thresholds(folder / str(seen["trails"]))
        seen["trails"] += 1
        create_due_commits(directory.project, chance.randrange(1, 40))
        entries: set[str] = set()
        records: set[str] = set()
        for number in range(ROUNDS_PER_TRAIL):
            seeds = [seen["trails"] * 1000 + number * WRITERS + each for each in range(WRITERS)]
            fills_in = number % 4 == 0
            works = (
                write_until_killed,
                write_completions,
                write_backfills if fills_in else write_until_killed,
            )
            children = [
                WriterProcess(partial(work, directory, own))
                for work, own in zip(works, seeds, strict=True)
            ]
            if fills_in and chance.random() < 0.5:
                kill_after(children[-1], 1, chance.random() * 0.6)  # it asks git most of that time
            else:
                kill_after(chance.choice(children), chance.randrange(12), chance.random() * 0.003)
            for child in children:
                os.kill(child.pid, signal.SIGKILL)
            for child in children:
                assert child.end() == -signal.SIGKILL, "a writer failed by itself"
                entries |= child.entries
                records |= child.records
            seen["kills"] += WRITERS
            seen["while a completion is pending"] += any(
                directory.pending_completions.glob("*.json")
            )
            seen["within a write"] += append_lock(directory).has_unfinished_write()
            seen["while folding"] += any(
                name.endswith(".tmp") for name in leftover_files(directory)
            )
            seen["with a journal left"] += bool(leftover_files(directory))
            records |= settle_pending(
                directory, {name for child in children for name in child.pending}
            )
            AuditWriter(directory).fold()
            check_trail_invariants(directory, entries, records)
        seen["filled in"] += backfill_rest(directory)
        seen["entries"] += len(entries)
        seen["records"] += len(records)
    return dict(seen)


def settle_pending(directory: AuditDir, held: Iterable[str]) -> set[str]:
    """Record pending completions, and repeat all requests: each was recorded once."""
    recorder = Recorder(directory)
    recorder.record_pending_completions()
    records: set[str] = set()
    for name in held:
        answers = [recorder.execute(completion(name)[0].request(ORIGIN)) for _ in range(2)]
        assert answers[0] == answers[1], "the same part again, and another answer"
        assert isinstance(answers[0], Recorded), "a part that was acknowledged is not recorded"
        records |= {answers[0].annotation_id or "", *answers[0].edges}
    return records


def backfill_rest(directory: AuditDir) -> int:
    """Back-fill the rest; return the number of annotations, each with its commit in one record."""
    backfill(Recorder(directory))
    written = [json.loads(line) for line in directory.log.read_bytes().splitlines()]
    commits = Counter(record["file_path"] for record in written if record.get("commit_hash"))
    assert set(commits.values()) == {1}, commits
    assert set(commits) == {path.name for path in directory.project.glob("f*.py")}
    return len(commits)


def kill_after(child: WriterProcess, acknowledged: int, seconds: float) -> None:
    """Wait for a number of acknowledgements, then for a random time, and kill the writer."""
    while child.count < acknowledged and child.read_acknowledgements():
        pass
    end = time.monotonic() + seconds
    while (
        (left := end - time.monotonic()) > 0
        and select.select([child.out], [], [], left)[0]
        and child.read_acknowledgements()
    ):
        pass


def stages(folder: Path) -> dict[str, int]:
    """Kill a writer before, within and after each of its system calls, then run another one."""
    seen: Counter[str] = Counter()
    for way in ("before", "within", "after"):
        for number in range(10_000):
            directory = small_thresholds(folder / f"{way}-{number}")
            child = WriterProcess(partial(die_at_call, directory, way, number))
            ended = child.end()
            if ended == 0:
                seen[way] = number
                break
            assert ended == -signal.SIGKILL
            seen["kills"] += 1
            seen["within a write"] += append_lock(directory).has_unfinished_write()
            AuditWriter(directory).fold()
            check_trail_invariants(directory, child.entries, child.records)
            there = set(read_strictly(directory).records)
            acknowledged: dict[str, set[str]] = {"entry": set(), "record": set()}
            write_each_kind(directory, partial(_collect, acknowledged), known=there.__contains__)
            check_trail_invariants(
                directory,
                acknowledged["entry"] | child.entries,
                acknowledged["record"] | child.records,
            )
    return dict(seen)


def _collect(acknowledged: dict[str, set[str]], kind: str, names: Iterable[str]) -> None:
    acknowledged[kind].update(names)


def die_at_call(directory: AuditDir, way: str, wanted: int, acknowledge: Acknowledge) -> None:
    """Write, and die at one of the hooked calls."""
    calls = -1

    def hook(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: object, **named: object) -> object:
            nonlocal calls
            calls += 1
            if calls != wanted:
                return real(*arguments, **named)
            try:
                if way == "within":
                    descriptor, data = arguments
                    assert isinstance(data, bytes | memoryview)
                    return real(descriptor, data[: len(data) // 2])
                return real(*arguments, **named) if way == "after" else None
            finally:
                os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, name, call)

    for name in ("write",) if way == "within" else HOOKED:
        hook(name)
    write_each_kind(directory, acknowledge)


def together(folder: Path, processes: int, records: int) -> dict[str, float]:
    """Write from many processes while this one reads, and check every read."""
    directory = new_trail(folder)
    begun = time.perf_counter()
    children = [
        WriterProcess(partial(write_shared_entries, directory, own, records))
        for own in range(processes)
    ]
    follower, manifest, lines, polls = LogFollower(directory.log), None, 0, 0
    running = {child.pid for child in children}
    while running:
        running -= {
            pid
            for pid in running
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        }
        update = follower.poll()
        polls += 1
        new = [line for batch in update.batches for line in batch.lines] if update else []
        assert not (lines and update and update.reset), "the log only grows"
        manifest = read_manifest(directory, manifest)
        assert all(json.loads(line)["prompt_hash"] in manifest for line in new), (
            "a record was there before its entry"
        )
        lines += len(new)
    written = time.perf_counter() - begun
    codes = [child.end() for child in children]
    assert codes == [0] * processes, f"a writer failed: {codes}"
    acknowledged = [record for child in children for record in child.records]
    assert len(acknowledged) == len(set(acknowledged)) == processes * records
    check_trail_invariants(
        directory, {entry for child in children for entry in child.entries}, acknowledged
    )
    assert read_strictly(directory).lines == processes * records
    return {"records": len(acknowledged), "seconds": round(written, 2), "polls": polls}


def write_shared_entries(
    directory: AuditDir, own: int, records: int, acknowledge: Acknowledge
) -> None:
    """Write records with an entry each, half of them shared, and fold now and then."""
    with AuditWriter(directory) as writer:
        ids = []
        for number in range(records):
            key = writer.entry(prompt(f"{own if number % 2 else 'all'} {number}"))
            ids += writer.append([session(number, prompt_hash=key, by=own)])
            if number % max(10, records // 10) == own % 10:
                writer.fold(wait=False)
    acknowledge("record", ids)


if __name__ == "__main__":
    modes: dict[str, Callable[..., dict[str, float] | dict[str, int]]] = {
        "kills": kills,
        "stages": stages,
        "together": together,
    }
    sys.stdout.write(json.dumps(modes[sys.argv[1]](Path(sys.argv[2]), *map(int, sys.argv[3:]))))
