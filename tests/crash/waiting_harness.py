"""Kill writers of waiting records, and the hook that writes them into a commit (R29)."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.crash.crash_harness import HOOKED, WriterProcess, kill_after
from tests.crash.workloads import ORIGIN, write_until_killed
from tests.trails import Repository, context_hash
from tests.unit.store.empty_trail import new_trail, prompt, session
from vibes_lsp.maintenance.pre_commit import prepare_commit
from vibes_lsp.recording import Recorder
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.locks import FileLock
from vibes_lsp.store.waiting import register_hook, waiting_place
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from tests.crash.workloads import Acknowledge
    from vibes_lsp.store.waiting import WaitingPlace


def waiting_trail(folder: Path) -> tuple[AuditDir, WaitingPlace]:
    """Create a trail in a repository, whose records wait."""
    repository = Repository(folder)
    directory = new_trail(
        folder, compress_reasoning_threshold_bytes=20, external_blob_threshold_bytes=1000
    )
    repository.write("app.py", "import os\n")
    repository.commit("Begin")
    place = waiting_place(directory)
    assert place is not None
    hook = place.common / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n", "utf-8")  # the harness runs the hook itself
    register_hook(place, hook)
    return directory, place


def check_waiting(place: WaitingPlace, entries: set[str], records: set[str]) -> None:
    """Assert that all acknowledged entries and records wait, each record once, after its entry."""
    known: set[str] = set()
    times: Counter[str] = Counter()
    for line in place.records.read_bytes().splitlines():
        members = json.loads(line)
        if len(members) == 1 and "head" not in members:
            [(key, entry)] = members.items()
            assert context_hash(entry) == key
            known.add(key)
        elif "annotation_id" in members:
            times[members["annotation_id"]] += 1
            assert members.get("prompt_hash", "") in {"", *known}, "before its entry"
    assert entries <= known, f"{len(entries - known)} acknowledged entries are lost"
    wrong = {record: times[record] for record in records if times[record] != 1}
    assert not wrong, f"acknowledged records that are not there once: {wrong}"


def kills(folder: Path, wanted: int, seed: int) -> dict[str, int]:
    """Kill three writers at random moments, again and again, and check what waits."""
    chance = random.Random(seed)
    directory, place = waiting_trail(folder / "work")
    seen: Counter[str] = Counter()
    entries: set[str] = set()
    records: set[str] = set()
    log, manifest = directory.log.read_bytes(), directory.manifest.read_bytes()
    while seen["kills"] < wanted:
        numbers = [seen["kills"] + each for each in range(3)]
        children = [WriterProcess(partial(write_until_killed, directory, own)) for own in numbers]
        kill_after(chance.choice(children), chance.randrange(12), chance.random() * 0.003)
        for child in children:
            os.kill(child.pid, signal.SIGKILL)
        for child in children:
            assert child.end() == -signal.SIGKILL, "a writer failed by itself"
            entries |= child.entries
            records |= child.records
        seen["kills"] += 3
        seen["within a write"] += FileLock(place.lock).has_unfinished_write()
        records |= set(AuditWriter(directory).append([session(seen["kills"], by="after")]))
        check_waiting(place, entries, records)
    assert (directory.log.read_bytes(), directory.manifest.read_bytes()) == (log, manifest)
    return {**seen, "entries": len(entries), "records": len(records)}


def together(folder: Path, processes: int, count: int) -> dict[str, int]:
    """Write from many processes at once."""
    directory, place = waiting_trail(folder / "work")
    children = [
        WriterProcess(partial(write_some, directory, own, count)) for own in range(processes)
    ]
    assert [child.end() for child in children] == [0] * processes
    records = {record for child in children for record in child.records}
    check_waiting(place, set(), records)
    return {"records": len(records)}


def write_some(directory: AuditDir, own: int, count: int, acknowledge: Acknowledge) -> None:
    """Write records with an entry each, half of them shared."""
    with AuditWriter(directory) as writer:
        for number in range(count):
            key = writer.entry(prompt(f"{own if number % 2 else 'all'} {number}"))
            acknowledge("record", writer.append([session(number, prompt_hash=key, by=own)]))


def hooks(folder: Path) -> dict[str, int]:
    """Kill the hook before and after each of its system calls, then make the commit."""
    directory, _ = waiting_trail(folder / "template")
    text = "import os\n\n\ndef added_by_an_agent(value):\n    return value * 1001\n"
    (directory.project / "app.py").write_text(text, "utf-8")
    with Recorder(directory) as recorder:
        edit = recorder.annotate_lines("app.py", 4, 5, "create", ORIGIN).annotation_id
    subprocess.run(["git", "add", "app.py"], cwd=directory.project, check=True)
    seen: Counter[str] = Counter()
    for way in ("before", "after"):
        for number in range(10_000):
            root = folder / f"{way}-{number}"
            shutil.copytree(directory.project, root, symlinks=True)
            child = WriterProcess(partial(_run_hook, root, way, number))
            ended = child.end()
            assert ended in {0, -signal.SIGKILL}
            prepare_commit(root, {})  # the commit is tried again
            git = ("git", "-c", "core.hooksPath=/dev/null")
            subprocess.run([*git, "commit", "--quiet", "-m", "The edit"], cwd=root, check=True)
            status = subprocess.check_output(["git", "status", "--porcelain"], cwd=root)
            assert status == b"", (way, number, status)
            lines = (root / ".ai-audit/annotations.jsonl").read_bytes().splitlines()
            ids = [json.loads(line)["annotation_id"] for line in lines]
            assert ids.count(edit) == 1, (way, number)
            assert len(ids) == len(set(ids))
            shutil.rmtree(root)
            if ended == 0:
                seen[way] = number
                break
            seen["kills"] += 1
    return dict(seen)


def _run_hook(root: Path, way: str, wanted: int, _: Acknowledge) -> None:
    calls = -1

    def hook(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: object, **named: object) -> object:
            nonlocal calls
            calls += 1
            if calls != wanted:
                return real(*arguments, **named)
            try:
                return real(*arguments, **named) if way == "after" else None
            finally:
                os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, name, call)

    for name in HOOKED:
        hook(name)
    prepare_commit(root, {})


if __name__ == "__main__":
    modes: dict[str, Callable[..., dict[str, int]]] = {
        "kills": kills,
        "together": together,
        "hooks": hooks,
    }
    sys.stdout.write(json.dumps(modes[sys.argv[1]](Path(sys.argv[2]), *map(int, sys.argv[3:]))))
