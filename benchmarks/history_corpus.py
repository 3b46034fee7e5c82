"""A repository of 40,000 commits with an annotated trail, made with `git fast-import`.

Of twelve annotated files four change often, four seldom, four hardly ever; three of them were
renamed. In the last four the annotated lines are as they were recorded, in the others many were
changed. Every 25th commit merges a branch. Half of the records name their commit, as the hook
writes them, and the others are dated by the log.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ANNOTATED: Final = 12
_OTHERS: Final = 3_000
_BEGIN: Final = 1_600_000_000
_MINUTES: Final = 60
_LINES: Final = 240
_EVERY: Final = (16, 160, 2_000)
"""Of so many commits one changes a file, by how often it changes."""
_MERGED: Final = 25
_ANNOTATED_EVERY: Final = 100
_LOG: Final = ".ai-audit/annotations.jsonl"
_ENVIRONMENT: Final = {
    "type": "environment",
    "tool_name": "t",
    "tool_version": "1",
    "model_name": "m",
    "model_version": "1",
}
_DIGEST: Final = hashlib.sha256(
    json.dumps(_ENVIRONMENT, sort_keys=True, separators=(",", ":")).encode()
).hexdigest()


@dataclass
class _File:
    path: str
    lines: list[str]


def annotated_path(number: int) -> str:
    """Return the path of an annotated file in HEAD: 0 to 3 change often, 8 to 11 hardly ever."""
    return f"src/area_{number:02d}/part_{number % 3}/subject_{number}.py"


def build_history(root: Path, commits: int) -> None:
    """Make the repository with its checkout."""
    root.mkdir(parents=True)
    _git(root, "init", "--quiet", "--initial-branch=main")
    importer = subprocess.Popen(
        ["git", "fast-import", "--quiet", "--done"], cwd=root, stdin=subprocess.PIPE
    )
    assert importer.stdin is not None
    for part in _Story(commits).parts():
        importer.stdin.write(part)
    importer.stdin.close()
    if importer.wait():
        raise RuntimeError("git fast-import failed")
    _git(root, "-c", "pack.threads=1", "repack", "-adq")
    _git(root, "reset", "--quiet", "--hard", "main")
    _name_commits(root)


class _Story:
    """The commits, as `git fast-import` reads them."""

    def __init__(self, commits: int) -> None:
        self._commits = commits
        self._random = random.Random(7)  # a benchmark's
        self._annotated = [
            _File(
                _first_path(number), [f"value_{number}_{each} = {each}" for each in range(_LINES)]
            )
            for number in range(ANNOTATED)
        ]
        self._log: list[str] = []

    def parts(self) -> Iterator[bytes]:
        first = [_write(file.path, file.lines) for file in self._annotated]
        first += [_write(_other(number), [f"other_{number} = 0"]) for number in range(_OTHERS)]
        first.append(_write(".ai-audit/config.json", [json.dumps(_CONFIG)]))
        manifest = {"standard": "VIBES", "version": "1.0", "entries": {_DIGEST: _ENVIRONMENT}}
        first.append(_write(".ai-audit/manifest.json", [json.dumps(manifest)]))
        yield self._commit(0, "main", first)
        for number in range(1, self._commits):
            turn = number % _MERGED
            if turn < _MERGED - 4:
                yield self._commit(number, "main", self._changes(number))
            elif turn == _MERGED - 4:
                yield b"reset refs/heads/side\nfrom refs/heads/main\n\n"
                yield self._commit(number, "side", self._side_changes(number))
            elif turn == _MERGED - 3:
                yield self._commit(number, "side", self._side_changes(number))
            elif turn == _MERGED - 2:
                yield self._commit(number, "main", [])
            else:
                yield self._merge(number)
        yield b"reset refs/heads/side\nfrom 0000000000000000000000000000000000000000\n\ndone\n"

    def _changes(self, number: int) -> list[bytes]:
        changes = [self._other(number)]
        for index, file in enumerate(self._annotated):
            often = _EVERY[index // 4]
            if number % often == index % 4:
                changes.append(self._edit(file, number))
        if number == self._commits // 2 // _MERGED * _MERGED:
            changes += self._renames()
        if number % _ANNOTATED_EVERY == 7:
            changes += self._annotate(number)
        return changes

    def _side_changes(self, number: int) -> list[bytes]:
        self._kept_back = self._other(number)
        return [self._kept_back]

    def _other(self, number: int) -> bytes:
        other = int(_OTHERS * self._random.random() ** 2)
        return _write(_other(other), [f"other_{other} = {number}", *["pass"] * 30])

    def _edit(self, file: _File, number: int) -> bytes:
        line = self._random.randrange(_LINES)
        file.lines[line] = f"edited_{number} = {line}"
        return _write(file.path, file.lines)

    def _renames(self) -> list[bytes]:
        changes = []
        for index in (1, 5, 9):
            file, path = self._annotated[index], annotated_path(index)
            changes.append(f"R {file.path} {path}\n".encode())
            file.path = path
        return changes

    def _annotate(self, number: int) -> list[bytes]:
        changes = []
        turn = number // _ANNOTATED_EVERY
        for index in (turn % 4, 8 + turn // 10 % 4 if turn % 10 == 0 else 4 + turn % 4):
            file = self._annotated[index]
            start = (
                len(file.lines) if index >= ANNOTATED - 4 else self._random.randrange(_LINES - 8)
            )
            lines = [f"    made_{number}_{index}_{each} = call({each})" for each in range(5)]
            file.lines[start : start + 5] = lines
            self._log.append(json.dumps(_record(file.path, start + 1, lines, number)))
            changes.append(_write(file.path, file.lines))
        return [*changes, _write(_LOG, self._log)]

    def _commit(self, number: int, branch: str, changes: list[bytes]) -> bytes:
        return _header(number, branch) + b"".join(changes) + b"\n"

    def _merge(self, number: int) -> bytes:
        return _header(number, "main") + b"merge refs/heads/side\n" + self._kept_back + b"\n"


_CONFIG: Final = {
    "standard": "VIBES",
    "standard_version": "1.0",
    "assurance_level": "medium",
    "project_name": "history",
}


def _first_path(number: int) -> str:
    path = annotated_path(number)
    return path.replace("subject", "former") if number in {1, 5, 9} else path


def _other(number: int) -> str:
    return f"src/area_{number % 40:02d}/part_{number % 7}/module_{number}.py"


def _header(number: int, branch: str) -> bytes:
    message = f"Change {number}\n\nMore words about what this commit is for.\n"
    seconds = _BEGIN + _MINUTES * number
    return (
        f"commit refs/heads/{branch}\ncommitter A <a@b> {seconds} +0000\n"
        f"data {len(message)}\n{message}"
    ).encode()


def _write(path: str, lines: list[str]) -> bytes:
    data = ("\n".join(lines) + "\n").encode()
    return b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)


def _record(path: str, start: int, lines: list[str], number: int) -> dict[str, object]:
    moment = datetime.fromtimestamp(_BEGIN + _MINUTES * number - 30, UTC)
    return {
        "type": "line",
        "annotation_id": hashlib.sha256(f"{path} {number}".encode()).hexdigest(),
        "environment_hash": _DIGEST,
        "file_path": path,
        "line_start": start,
        "line_end": start + len(lines) - 1,
        "action": "create",
        "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "commit_hash": None,
        "assurance_level": "medium",
        "anchor_context": "\n".join(lines[:3]),
        "anchor_hash": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    }


def _name_commits(root: Path) -> None:
    """Append for every second record one that names its commit, and commit them."""
    log = root / _LOG
    added = _git(root, "log", "--format=%H", "--reverse", "--", _LOG).split()
    records = [json.loads(line) for line in log.read_text().splitlines()]
    with log.open("a") as file:
        for number, record in enumerate(records):
            if number % 2:
                continue
            identifier = hashlib.sha256(record["annotation_id"].encode()).hexdigest()
            named = {
                **record,
                "commit_hash": added[number // 2],
                "annotation_id": identifier,
                "action": "rebase_remap",
            }
            edge: dict[str, object] = {
                "type": "edge",
                "edge_type": "supersedes",
                "source_ref": identifier,
                "target_ref": record["annotation_id"],
                "source_type": "annotation",
                "target_type": "annotation",
                "timestamp": record["timestamp"],
                "metadata": {"reason": "commit"},
            }
            edge["annotation_id"] = hashlib.sha256(f"edge {identifier}".encode()).hexdigest()
            file.write(f"{json.dumps(named)}\n{json.dumps(edge)}\n")
    _git(root, "add", "-A")
    _git(root, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "Name commits")


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=True
    ).stdout
