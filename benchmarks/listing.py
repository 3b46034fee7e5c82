"""Duration of the commands that list all annotations: 500 in 100 files, with 2,000 commits.

Each runs first without a cache, then with one. The floor is the necessary work: starting a program
that does nothing, and one `git log`. On a real trail (500 annotations, 97 files, 3,800 commits,
1,700 files of 92 MB) `find` went from 8.6 s of CPU time to 2.0 s the first time and 1.0 s again. It
takes a sixth and a fifth more since uncertain lines are looked up with `git blame`, for this and
other reasons.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.measure import min_cpu_seconds

COMMITS: Final = 2_000
FILES: Final = 100
EACH: Final = 5
OTHERS: Final = 2_000
_VIBES: Final = Path(sys.executable).with_name("vibes")
_COMMANDS: Final = (("find",), ("review", "--list"), ("coverage",), ("blame", "src/0.py"))
_AIM_FIRST: Final = 12.0
_AIM_AGAIN: Final = 10.0


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "project", Path(folder) / "cache"
        _build(root)
        subjects: dict[str, Callable[[], object]] = {"floor": lambda: _floor(root)}
        for command in _COMMANDS:
            subjects[f"{' '.join(command)}, first"] = lambda command=command: _first(
                root, cache, command
            )  # type: ignore[misc]
            subjects[f"{' '.join(command)}, again"] = lambda command=command: _run(
                root, cache, *command
            )  # type: ignore[misc]
        times = min_cpu_seconds(subjects)
        floor = times.pop("floor")
        print(
            f"listing: {FILES * EACH:,} annotations in {FILES:,} files,"
            f" {COMMITS:,} commits, {OTHERS:,} other files"
        )
        print(f"  floor {floor:.2f} s of CPU time: starting a program, and one git log")
        for name, seconds in times.items():
            aim = _AIM_FIRST if name.endswith("first") else _AIM_AGAIN
            print(
                f"  {name:<24} {seconds:5.2f} s, {seconds / floor:4.1f} times the floor"
                f"  (target: at most {aim:.0f})"
            )


def _floor(root: Path) -> None:
    subprocess.run([_VIBES, "--version"], cwd=root, stdout=subprocess.DEVNULL, check=True)
    _git(root, "log", "--raw", "--format=%H", "HEAD")


def _first(root: Path, cache: Path, command: tuple[str, ...]) -> None:
    shutil.rmtree(cache, ignore_errors=True)
    _run(root, cache, *command)


def _run(root: Path, cache: Path, *command: str) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    subprocess.run(
        [_VIBES, *command], cwd=root, env=environment, stdout=subprocess.DEVNULL, check=True
    )


def _build(root: Path) -> None:
    audit = root / ".ai-audit"
    audit.mkdir(parents=True)
    config = {
        "standard": "VIBES",
        "standard_version": "1.0",
        "assurance_level": "medium",
        "project_name": "listing",
    }
    (audit / "config.json").write_text(json.dumps(config))
    environment = {
        "type": "environment",
        "tool_name": "t",
        "tool_version": "1",
        "model_name": "m",
        "model_version": "1",
    }
    digest = hashlib.sha256(
        json.dumps(environment, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()
    (audit / "manifest.json").write_text(
        json.dumps({"standard": "VIBES", "version": "1.0", "entries": {digest: environment}})
    )
    with (audit / "annotations.jsonl").open("w") as log:
        log.writelines(
            json.dumps(_record(file, number, digest)) + "\n"
            for file in range(FILES)
            for number in range(EACH)
        )
    _git(root, "init", "--quiet", "--initial-branch=main")
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=root, input="".join(_history()).encode(), check=True
    )
    _git(root, "reset", "--quiet", "--hard", "main")


def _lines(file: int, edits: int) -> list[str]:
    lines = [f"value_{file}_{number} = {number * 7919 + file}" for number in range(60)]
    return [*(f"# edit {each}" for each in range(edits)), *lines]


def _record(file: int, number: int, environment: str) -> dict[str, object]:
    start = 10 * number + 1
    lines = _lines(file, 0)[start - 1 : start + 4]
    return {
        "type": "line",
        "environment_hash": environment,
        "file_path": f"src/{file}.py",
        "line_start": start,
        "line_end": start + 4,
        "action": "create",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "commit_hash": None,
        "assurance_level": "medium",
        "anchor_context": "\n".join(lines[:3]),
        "anchor_hash": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    }


def _history() -> Iterator[str]:
    """Yield the commits: each adds a line at the top of a file; the last deletes some files."""
    for commit in range(COMMITS):
        message = f"commit {commit}"
        yield (
            f"commit refs/heads/main\ncommitter A <a@b> {1_767_225_600 + 60 * commit} +0000\n"
            f"data {len(message)}\n{message}\n"
        )
        changed = range(FILES) if commit == 0 else [commit % FILES]
        for file in changed:
            yield _file(f"src/{file}.py", "\n".join(_lines(file, commit // FILES)) + "\n")
        if commit == 0:
            for other in range(OTHERS):
                yield _file(f"lib/{other % 50}/{other}.py", f"other_{other} = 1\n" * 300)
        if commit == COMMITS - 1:
            yield from (f"D src/{file}.py\n" for file in range(0, FILES, 5) if file)


def _file(path: str, text: str) -> str:
    return f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
