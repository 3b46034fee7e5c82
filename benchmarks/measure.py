"""Time and memory, always of several subjects in one run, to be compared as ratios.

What has an aim is also recorded, for the table at the end of a run of all benchmarks.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

_aimed: Final[list[tuple[str, str, str]]] = []

SETTLED: Final = 2.5
"""Seconds after which the time of a file shows every later write; until then each look reads it."""


def print_aimed(name: str, measured: str, aim: str = "") -> None:
    """Print one result; with an aim, also record it for the table of all."""
    print(f"  {name:<58}{measured:>12}{f'  (aim: {aim})' if aim else ''}", flush=True)
    record_aimed(name, measured, aim)


def record_aimed(name: str, measured: str, aim: str) -> None:
    """Record a result that has an aim, printed elsewhere, for the table of all."""
    if aim:
        _aimed.append((name, " ".join(measured.split()), aim))


def print_all_aimed() -> None:
    """Print the table of all results that have an aim, in the order of the benchmarks."""
    names, results, _ = (max(map(len, column)) for column in zip(*_aimed, strict=True))
    print(f"{'':<{names}}  {'measured':<{results}}  aim")
    for name, measured, aim in _aimed:
        print(f"{name:<{names}}  {measured:<{results}}  {aim}")


def installed_environment() -> dict[str, str]:
    """Return the environment of a process that starts as an installed program does.

    Its bytecode is kept, in a folder of this process: an installer compiles what it installs, and
    to compile two hundred modules takes longer than to start with them.
    """
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": _bytecode_folder().name}


@cache
def _bytecode_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="vibes-bytecode-")


def median_seconds(
    subjects: Mapping[str, Callable[[], object]], rounds: int = 5
) -> dict[str, float]:
    """Return median seconds of each subject; they alternate, so that noise affects all alike."""
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            begun = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}


def min_cpu_seconds(
    subjects: Mapping[str, Callable[[], object]], rounds: int = 5
) -> dict[str, float]:
    """Return the least CPU seconds of each subject, child processes included.

    The minimum is hardly affected by other programs. Garbage is collected between subjects, so that
    none pays for another.
    """
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            gc.collect()
            begun = _cpu_seconds()
            run()
            times[name].append(_cpu_seconds() - begun)
    return {name: min(taken) for name, taken in times.items()}


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def private_memory(process: int) -> int:
    """Return the private memory of a running process, in bytes; on Linux."""
    names = ("Private_Clean", "Private_Dirty")
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(names))


def run_measured(command: Sequence[str | Path], folder: Path) -> tuple[float, float, int]:
    """Return seconds, CPU seconds and the largest resident set of a command, in bytes.

    A command that exits with findings is measured too; any other failure is an error.
    """
    script = (
        "import json, resource, subprocess, sys, time\n"
        "begun = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "assert done.returncode in (0, 1), done.returncode\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([time.perf_counter() - begun, used.ru_utime + used.ru_stime,"
        " used.ru_maxrss * 1024]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env=installed_environment(),
    )
    seconds, cpu, memory = json.loads(done.stdout)
    return seconds, cpu, memory
