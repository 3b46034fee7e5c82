"""Duration of the commands that list all annotations: 1,500 in 300 files, with 2,000 commits.

Each runs first without facts of git, then with those of the same HEAD, then with those of the commit
before. The floor is the necessary work the first time: starting a program that does nothing, one
`git log`, and `git blame` of each file.
A fifth of the annotations has no line hashes, as those of other tools.
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
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.measure import min_cpu_seconds

COMMITS: Final = 2_000
FILES: Final = 300
EACH: Final = 5
OTHERS: Final = 2_000
_VIBES: Final = Path(sys.executable).with_name("vibes")
_COMMANDS: Final = (("find",), ("review", "--list"), ("coverage",), ("blame", "src/0.py"))
_AIM_FIRST: Final = 1.3
_AIM_AGAIN: Final = 0.3
_RUNS: Final = 2


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "project", Path(folder) / "cache"
        _build(root)
        subjects: dict[str, Callable[[], object]] = {"floor": lambda: _floor(root)}
        for command in _COMMANDS:
            name, before = " ".join(command), Path(folder) / command[0]
            _git(root, "reset", "--quiet", "--hard", "main~1")
            _run(root, before, *command)
            _git(root, "reset", "--quiet", "--hard", "ORIG_HEAD")
            subjects[f"{name}, first"] = partial(_first, root, cache, command)
            subjects[f"{name}, again"] = partial(_run, root, cache, *command)
            subjects[f"{name}, one commit later"] = partial(_later, root, cache, before, command)
        times = min_cpu_seconds(subjects, _RUNS)
        floor = times.pop("floor")
        print(
            f"listing: {FILES * EACH:,} annotations in {FILES:,} files,"
            f" {COMMITS:,} commits, {OTHERS:,} other files"
        )
        print(f"  floor {floor:.2f} s of CPU time: starting a program, git log and git blame")
        for name, seconds in times.items():
            aim = _AIM_FIRST if name.endswith("first") else _AIM_AGAIN
            print(
                f"  {name:<32} {seconds:5.2f} s, {seconds / floor:4.2f} times the floor"
                f"  (target: at most {aim})"
            )


def _floor(root: Path) -> None:
    subprocess.run([_VIBES, "--version"], cwd=root, stdout=subprocess.DEVNULL, check=True)
    _git(root, "log", "--raw", "--format=%H", "HEAD")
    for file in (root / "src").iterdir():
        _git(root, "blame", "--incremental", "--root", "HEAD", "--", f"src/{file.name}")


def _first(root: Path, cache: Path, command: tuple[str, ...]) -> None:
    shutil.rmtree(cache, ignore_errors=True)
    _run(root, cache, *command)


def _later(root: Path, cache: Path, before: Path, command: tuple[str, ...]) -> None:
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(before, cache)
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
        ["git", "fast-import", "--quiet"],
        cwd=root,
        input="".join(_history(audit)).encode(),
        check=True,
    )
    _git(root, "reset", "--quiet", "--hard", "main")


def _lines(file: int, edits: int) -> list[str]:
    lines = [f"value_{file}_{number} = {number * 7919 + file}" for number in range(60)]
    return [*(f"# edit {each}" for each in range(edits)), *lines]


def _record(file: int, number: int, environment: str) -> dict[str, object]:
    start = 10 * number + 1
    whole = _lines(file, 0)
    lines = whole[start - 1 : start + 4]
    hashes = "".join(hashlib.sha256(line.encode()).hexdigest()[:8] for line in lines)
    known = {
        "line_hashes": hashes,
        "file_content_hash": hashlib.sha256(("\n".join(whole) + "\n").encode()).hexdigest(),
    }
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
        **(known if number else {}),
    }


def _history(audit: Path) -> Iterator[str]:
    """Yield the commits: each adds a line at the top of a file; one deletes some files."""
    for commit in range(COMMITS):
        message = f"commit {commit}"
        yield (
            f"commit refs/heads/main\ncommitter A <a@b> {1_767_225_600 + 60 * commit} +0000\n"
            f"data {len(message)}\n{message}\n"
        )
        changed = range(FILES) if commit == 0 else [commit % FILES]
        for number in changed:
            yield _file(f"src/{number}.py", "\n".join(_lines(number, commit // FILES)) + "\n")
        if commit == 0:
            for file in audit.iterdir():
                yield _file(f"{audit.name}/{file.name}", file.read_text())
            for other in range(OTHERS):
                yield _file(f"lib/{other % 50}/{other}.py", f"other_{other} = 1\n" * 300)
        if commit == COMMITS - 2:
            yield from (f"D src/{file}.py\n" for file in range(0, FILES, 5) if file)


def _file(path: str, text: str) -> str:
    return f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
