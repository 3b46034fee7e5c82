"""Timing and memory, so that two things are always measured in the same run and compared as a ratio."""

from __future__ import annotations

import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def interleaved(subjects: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Return the median seconds of each subject; the rounds go through all of them, so that noise hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            begun = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}


def processor_time(
    subjects: Mapping[str, Callable[[], object]], rounds: int = 5
) -> dict[str, float]:
    """Return the least processor seconds of each subject, those of processes included that it starts and waits for; what else runs hardly tells.

    What one subject leaves to the collector is collected before the next begins, so that none pays for another.
    """
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            gc.collect()
            begun = _spent()
            run()
            times[name].append(_spent() - begun)
    return {name: min(taken) for name, taken in times.items()}


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def private_bytes(code: str) -> int:
    """Return how many bytes of private memory some code adds to a fresh interpreter that has imported what it needs.

    The code defines `prepare()` and `hold()`; what `hold` returns is kept alive while the memory is read.
    """
    script = f"{code}\n{_READ_MEMORY}"
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    before, after = json.loads(done.stdout)
    return int(after) - int(before)


_READ_MEMORY = """
import gc, json, sys

def private():
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))

prepare()
gc.collect()
before = private()
held = hold()
gc.collect()
print(json.dumps([before, private()]))
"""
