"""`find` and the review queue where many annotated files are in the checkout.

2,000 files have 50 annotations each; a quarter of the files was edited in later commits, and a
hundredth of the annotations is reviewed. `VIBES_BENCH_FILES` gives another number of files. Each
row is a process: its CPU seconds, those of git included, and its largest resident set. Before each
row `first` the cache folder is emptied. The floor is what git alone takes: a log of all commits and
a blame of each file.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.corpus import START
from benchmarks.measure import min_cpu_seconds, print_aimed, run_measured

FILES: Final = int(os.environ.get("VIBES_BENCH_FILES", "2000"))
_EACH: Final = 50
_LINES: Final = 6
"""Lines of an annotation; one blank line follows."""
_COMMITS: Final = 8
_VIBES: Final = Path(sys.executable).with_name("vibes")
_COMMANDS: Final = (("find", "--no-git"), ("find",), ("review", "--list"), ("find", "--json"))


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "project", Path(folder) / "cache"
        build(root, FILES)
        os.environ["XDG_CACHE_HOME"] = str(cache)
        floor = min_cpu_seconds({"git": partial(_log_and_blame, root)}, 1)["git"]
        print(f"many files: {FILES * _EACH:,} annotations in {FILES:,} files", flush=True)
        print(f"  git log, and git blame of each file: {floor:.2f} s of CPU", flush=True)
        for command in _COMMANDS:
            shutil.rmtree(cache, ignore_errors=True)
            first = _row(root, command, "first")
            print_aimed(f"first vibes {' '.join(command)} / git's blame", f"{first / floor:.2f}")
            _row(root, command, "again", "2 s, 300 MB")
        append(root, 1, FILES)
        _row(root, ("find",), "after an append")
        _git(root, "add", "--all")
        _git(root, "commit", "--quiet", "--message", "Record an edit")
        _row(root, ("find",), "after its commit")
        _row(root, ("find",), "again", "2 s, 300 MB")
        edited = root / _path(3)
        edited.write_text("# by a person\n" + edited.read_text())
        _row(root, ("find",), "after an edit")
        _git(root, "commit", "--quiet", "--all", "--message", "Edit a file")
        _row(root, ("find",), "after its commit")


def _log_and_blame(root: Path) -> None:
    _git(root, "log", "--raw", "--format=%H", "HEAD")
    for number in range(FILES):
        _git(root, "blame", "--incremental", "--root", "HEAD", "--", _path(number))


def _row(root: Path, command: tuple[str, ...], when: str, target: str = "") -> float:
    """Print one row, and return the CPU seconds."""
    _, cpu, memory = run_measured([_VIBES, *command], root)
    name = f"vibes {' '.join(command)}, {when}"
    aim = f"  (target: at most {target})" if target else ""
    print(f"  {name:<36} {cpu:6.2f} s of CPU, {memory / 1e6:4.0f} MB{aim}", flush=True)
    return cpu


def build(root: Path, files: int) -> None:
    """Make a repository with a trail.

    Args:
        root: Its folder, which does not exist.
        files: The number of annotated files.
    """
    audit = root / ".ai-audit"
    audit.mkdir(parents=True)
    config = {
        "standard": "VIBES",
        "standard_version": "1.0",
        "assurance_level": "medium",
        "project_name": "many files",
    }
    (audit / "config.json").write_text(json.dumps(config))
    entries = dict(_entries(files))
    manifest = {"standard": "VIBES", "version": "1.0", "entries": entries}
    (audit / "manifest.json").write_text(json.dumps(manifest))
    _git(root, "init", "--quiet", "--initial-branch=main")
    _git(root, "config", "user.name", "A")
    _git(root, "config", "user.email", "a@b")
    chance = random.Random(1)
    keys = list(entries)
    batch = -(-files // _COMMITS)
    for number in range(_COMMITS):
        chosen = range(number * batch, min((number + 1) * batch, files))
        with (audit / "annotations.jsonl").open("a") as log:
            for file in chosen:
                path = root / _path(file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(_lines(file)) + "\n")
                log.writelines(json.dumps(each) + "\n" for each in _records(file, keys, chance))
        for file in range(0, number * batch, 4):  # edited: a new head, and a line of each tenth
            if file % _COMMITS == number:
                path = root / _path(file)
                lines = ["# moved", "# down", *path.read_text().splitlines()]
                for line in range(5, len(lines), 70):
                    lines[line] += "  # edited"
                path.write_text("\n".join(lines) + "\n")
        _git(root, "add", "--all")
        when = f"{1_767_686_400 + 86_400 * (number + 1)} +0000"
        _git(root, "commit", "--quiet", "--message", f"commit {number}", date=when)
    _git(root, "gc", "--quiet")


def append(root: Path, file: int, files: int) -> None:
    """Append one annotation of a file and one review."""
    keys = list(dict(_entries(files)))
    *_, annotation, edge = _records(file, keys, random.Random(2))
    with (root / ".ai-audit/annotations.jsonl").open("a") as log:
        log.writelines(json.dumps(each) + "\n" for each in (annotation, edge))


def _entries(files: int) -> Iterator[tuple[str, dict[str, object]]]:
    for number in range(max(files // 2, 3)):
        entry: dict[str, object] = (
            {
                "type": "environment",
                "tool_name": "Claude Code",
                "tool_version": f"1.{number}",
                "model_name": ("claude-opus-4-5", "gpt-5")[number % 2],
                "model_version": "20251101",
            }
            if number < 3
            else {
                "type": "prompt",
                "prompt_text": f"Task {number}: keep the order of what it is given. " * 4,
                "prompt_type": "user_instruction",
            }
        )
        yield _digest(entry), entry


def _path(file: int) -> str:
    return f"src/area_{file % 23:02d}/module_{file:05d}.py"


def _lines(file: int) -> list[str]:
    return [
        line
        for number in range(_EACH)
        for line in (
            f"def read_{file}_{number}(path: str, limit: int = {number}) -> list[str]:",
            f'    """Return at most {number} lines of file {file}."""',
            "    lines = open(path).readlines()",
            f"    chosen = [line for line in lines if len(line) > {number * 31 + file}]",
            f"    print(len(lines), {file}, {number})",
            f"    return chosen[:limit + {file + number}]",
            "",
        )
    ]


def _records(file: int, keys: list[str], chance: random.Random) -> Iterator[dict[str, object]]:
    text = "\n".join(_lines(file)) + "\n"
    lines = text.splitlines()
    file_hash = hashlib.sha256(text.encode()).hexdigest()
    older = ""
    for number in range(_EACH):
        start = number * (_LINES + 1) + 1
        part = lines[start - 1 : start - 1 + _LINES]
        stamp = (START + timedelta(seconds=file * 300 + number)).isoformat(timespec="milliseconds")
        stamp = stamp.replace("+00:00", "Z")
        prompt = chance.choice(keys[3:] or keys)
        record: dict[str, object] = {
            "type": "line",
            "file_path": _path(file),
            "line_start": start,
            "line_end": start + _LINES - 1,
            "environment_hash": keys[file % 3],
            "prompt_hash": prompt,
            "action": "create" if number % 2 else "modify",
            "timestamp": stamp,
            "commit_hash": None,
            "session_id": f"session-{file // 3}",
            "assurance_level": "medium",
            "anchor_context": "\n".join(part[:3]),
            "anchor_hash": hashlib.sha256("\n".join(part).encode()).hexdigest(),
            "file_content_hash": file_hash,
        }
        record["annotation_id"] = identity = _digest(record)
        yield record
        draw = chance.random()
        if draw < 0.1 and older:
            metadata = {"reason": "covers"}
            yield _edge("supersedes", identity, ("annotation", older), stamp, metadata)
        elif draw < 0.11:
            metadata = {"reviewer": "Ann", "kind": "human", "verdict": "approved"}
            yield _edge("reviewed_by", identity, ("person", "Ann"), stamp, metadata)
        else:
            yield _edge("caused_by", identity, ("context", prompt), stamp, {})
        older = identity


def _edge(
    kind: str, source: str, target: tuple[str, str], stamp: str, metadata: dict[str, str]
) -> dict[str, object]:
    edge: dict[str, object] = {
        "type": "edge",
        "edge_type": kind,
        "source_ref": source,
        "source_type": "annotation",
        "target_ref": target[1],
        "target_type": target[0],
        "timestamp": stamp,
        "metadata": metadata,
    }
    return {**edge, "annotation_id": _digest(edge)}


def _digest(value: dict[str, object]) -> str:
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def _git(root: Path, *arguments: str, date: str | None = None) -> None:
    environment = dict(os.environ)
    if date is not None:
        environment |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    subprocess.run(
        ["git", *arguments], cwd=root, stdout=subprocess.DEVNULL, check=True, env=environment
    )


if __name__ == "__main__":
    main()
