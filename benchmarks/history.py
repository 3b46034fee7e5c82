"""Duration of looking up git history, as the server does when files are open.

In a repository of 40,000 commits; `VIBES_BENCH_COMMITS` gives another number. Each lookup is a new
process and is compared with `git log --format=%H -- FILE` in the same run. Of two files the one that
changes often was edited since it was annotated, so that git is also asked for blame.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.history_corpus import ANNOTATED, annotated_path, build_history
from benchmarks.measure import record_aimed

COMMITS: Final = int(os.environ.get("VIBES_BENCH_COMMITS", "40000"))
_ROUNDS: Final = 5
_FILES: Final = {"often changed, edited": 0, "seldom changed, as recorded": 8}
_ALL: Final = tuple(range(ANNOTATED))


class Part(StrEnum):
    """What a process looks up.

    Attributes:
        ALL: Everything.
        AGAIN: Everything, a second time.
    """

    ALL = "all"
    AGAIN = "again"


class Cost(NamedTuple):
    """What a lookup took: elapsed, and of the processors, git included."""

    seconds: float
    cpu: float


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "project", Path(folder) / "cache"
        build_history(root, COMMITS)
        print(f"history: {COMMITS:,} commits, {ANNOTATED} annotated files")
        often = Cost(0, 0)
        for name, number in _FILES.items():
            floor = _median(partial(_git_log, root, number))
            often = often if often.cpu else floor
            _print(f"git log, {name}", floor, floor)
            _print("  first", _median(partial(_first, root, cache, [number])), floor)
            again = _median(partial(_look_up, root, cache, [number]))
            _print("  again, new process", again, floor, "10 ms", name)
            again = _median(partial(_look_up, root, cache, [number], Part.AGAIN))
            _print("  again, same process", again, floor)
        _print("twelve files, first", _first(root, cache, _ALL), often)
        _print("  again, new process", _look_up(root, cache, _ALL), often)
        _change(root, "other.py")
        _print("  after a commit of another file", _look_up(root, cache, _ALL), often)
        _change(root, annotated_path(0))
        _print("  after a commit of one of them", _look_up(root, cache, _ALL), often)
        _commit(root, "--amend", "-m", "Amended")
        _print("  after that commit is amended", _look_up(root, cache, _ALL), often)


def _print(name: str, cost: Cost, floor: Cost, target: str = "", file: str = "") -> None:
    ratio = f", {cost.cpu / floor.cpu:5.2f} times git log" if cost != floor else ""
    aim = f"  (target: at most {target})" if target else ""
    print(f"  {name:<36} {cost.seconds:6.3f} s, {cost.cpu:6.4f} s of CPU{ratio}{aim}")
    measured = f"{cost.seconds:.3f} s, {cost.cpu:.4f} s of CPU{ratio}"
    record_aimed(f"history of {file}: {name.strip()}", measured, target and f"at most {target}")


def _median(run: Callable[[], Cost]) -> Cost:
    costs = [run() for _ in range(_ROUNDS)]
    return Cost(*(statistics.median(each) for each in zip(*costs, strict=True)))


def _git_log(root: Path, number: int) -> Cost:
    begun, used = time.perf_counter(), _cpu_seconds()
    _git(root, "log", "--format=%H", "--", annotated_path(number))
    return Cost(time.perf_counter() - begun, _cpu_seconds() - used)


def _first(root: Path, cache: Path, numbers: Sequence[int]) -> Cost:
    shutil.rmtree(cache, ignore_errors=True)
    return _look_up(root, cache, numbers)


def _look_up(root: Path, cache: Path, numbers: Sequence[int], part: Part = Part.ALL) -> Cost:
    """Look up files in a new process, which has read the trail before it begins."""
    command = [sys.executable, "-m", "benchmarks.history", str(root), part, *map(str, numbers)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Cost(*json.loads(done.stdout))


def look_up(root: Path, part: Part, numbers: Sequence[int]) -> None:
    """Look up files as the server does, and print what it took."""
    from vibes_lsp.anchors.text import Text  # noqa: PLC0415  # not for the process that measures
    from vibes_lsp.lsp.state.history_lookup import HistoryLookup, LookupRequest  # noqa: PLC0415
    from vibes_lsp.store.audit_dir import find_audit_dir  # noqa: PLC0415
    from vibes_lsp.trail.trail import Trail  # noqa: PLC0415

    directory = find_audit_dir(root)
    trail = Trail(directory, uses_saved=True)
    trail.refresh()
    paths = [annotated_path(number) for number in numbers]
    texts = {path: Text.from_bytes((root / path).read_bytes()) for path in paths}
    lookup = HistoryLookup(trail)
    request = LookupRequest(0, texts, frozenset(texts))
    if part is Part.AGAIN:
        lookup.look_up(request)
    begun, used = time.perf_counter(), _cpu_seconds()
    lookup.look_up(request)
    elapsed = time.perf_counter() - begun
    lookup.close()  # git's processes end, so that they count
    print(json.dumps((elapsed, _cpu_seconds() - used)))


def _change(root: Path, path: str) -> None:
    with (root / path).open("a", encoding="utf-8") as file:
        file.write("changed = True\n")
    _git(root, "add", "--all")
    _commit(root, "-m", f"Change {path}")


def _commit(root: Path, *arguments: str) -> None:
    _git(root, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", *arguments)


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        look_up(Path(sys.argv[1]), Part(sys.argv[2]), [int(each) for each in sys.argv[3:]])
    else:
        main()
