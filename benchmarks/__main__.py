"""Run all benchmarks (`make bench`); each prints its measurements and the ratios that matter.

At the end, one table has all that has an aim, after the machine and the versions.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import (
    commit,
    editing_day,
    gate,
    history,
    hook,
    knowledge,
    many_files,
    recording,
    scale,
    server,
    typing,
    writing,
)
from benchmarks.locating import speed
from benchmarks.measure import print_all_aimed


def describe_machine() -> str:
    """Return what results depend on: the machine, its load, and versions."""
    processors = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (processors.read_text().splitlines() if processors.exists() else ())
        if line.startswith("model name")
    ]
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    found = [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}", git.strip()]
    for package in ("vibes-lsp", "pygls", "lsprotocol", "msgspec", "duckdb"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    processor = names[0] if names else platform.processor() or platform.machine()
    system = f"{platform.system()} {platform.release()}"
    return (
        f"{os.cpu_count()} cores of {processor}, {system}; load {load} of 1, 5 and 15 minutes\n"
        f"{', '.join(found)}"
    )


scale.main()  # before others read the secret of the user's cache, because it has one of its own
server.main()
typing.main()
editing_day.main()
speed.main()
writing.main()
recording.main()
gate.main()
commit.main()
hook.main()
history.main()
knowledge.main()
many_files.main()

print()
print(describe_machine())
print_all_aimed()
