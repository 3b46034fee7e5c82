"""Duration of `vibes gate` with 100,000 annotations in 2,000 files, as a process for each run.

A tenth of the files was edited after recording, so that lines must be searched; in half of these
the annotated lines themselves changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILES: Final = 2_000
EACH: Final = 50
LINES: Final = 5
SESSIONS: Final = 500
EDITED: Final = 10
_AIM: Final = 10.0
_VIBES: Final = Path(sys.executable).with_name("vibes")
_RULES: Final = [
    {
        "condition": "temperature > 0.8 AND action_type == 'create' AND scope_lines > 4",
        "action": "require_review",
    },
    {"condition": "scope_files > 10 AND human_review_present == 1", "action": "flag"},
]


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        _build(root)
        log = root / ".ai-audit/annotations.jsonl"
        print(
            f"gate: {FILES * EACH:,} annotations in {FILES:,} files,"
            f" a log of {log.stat().st_size / 1e6:.0f} MB"
        )
        for label, arguments in (
            ("work tree", ()),
            ("work tree, JSON", ("--json",)),
            ("as a change", ("--base", "HEAD~1")),
            ("as a change, JSON", ("--base", "HEAD~1", "--json")),
            ("one file of it", (_path(7),)),
            ("stored, all records", ("--stored", "--all")),
        ):
            seconds, cpu = _timed(root, *arguments)
            print(
                f"  {label:<24} {seconds:6.1f} s, {cpu:6.1f} s of CPU time"
                f"  (target: at most {_AIM:.0f} s)"
            )


def _timed(root: Path, *arguments: str) -> tuple[float, float]:
    """Return elapsed seconds and CPU seconds of a run, git included."""
    cpu, begun = _cpu_seconds(), time.perf_counter()
    done = subprocess.run(
        [_VIBES, "gate", *arguments],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    seconds = time.perf_counter() - begun
    assert done.returncode == 1, done.stderr.decode()
    return seconds, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _build(root: Path) -> None:
    audit = root / ".ai-audit"
    audit.mkdir(parents=True)
    risk = {"enabled": True, "review_rules": _RULES}
    config = {
        "standard": "VIBES",
        "standard_version": "1.0",
        "assurance_level": "medium",
        "project_name": "gate",
        "risk_scoring": risk,
    }
    (audit / "config.json").write_text(json.dumps(config))
    entries = [_environment(number) for number in range(4)] + [
        _prompt(number) for number in range(1_000)
    ]
    keyed = {_digest(entry): entry for entry in entries}
    (audit / "manifest.json").write_text(
        json.dumps({"standard": "VIBES", "version": "1.0", "entries": keyed})
    )
    _git(root, "init", "--quiet", "--initial-branch=main")
    _commit(root)
    keys = list(keyed)
    with (audit / "annotations.jsonl").open("w") as log:
        for number in range(FILES):
            file = root / _path(number)
            file.parent.mkdir(parents=True, exist_ok=True)
            lines = [
                f"    value_{number}_{line} = compute({line * 7919 % 1000}, {number})"
                for line in range(EACH * LINES)
            ]
            file.write_text("\n".join(lines) + "\n")
            for record in _records(number, lines, keys):
                log.write(json.dumps(record, separators=(",", ":")) + "\n")
            if number % EDITED == 0:
                lines[3:3] = ["    # a person's"]
                if number % (2 * EDITED) == 0:
                    lines[30::20] = [line + "  # later" for line in lines[30::20]]
                file.write_text("\n".join(lines) + "\n")
    _commit(root)


def _records(number: int, lines: list[str], keys: list[str]) -> Iterator[dict[str, object]]:
    whole = _hash("\n".join(lines) + "\n")
    for at in range(EACH):
        block = lines[at * LINES : (at + 1) * LINES]
        record: dict[str, object] = {
            "type": "line",
            "file_path": _path(number),
            "line_start": at * LINES + 1,
            "line_end": (at + 1) * LINES,
            "environment_hash": keys[at % 4],
            "prompt_hash": keys[4 + (number * EACH + at) % 1_000],
            "action": "create",
            "timestamp": f"2026-02-03T10:{at:02}:00.000Z",
            "session_id": f"session-{number % SESSIONS}",
            "commit_hash": None,
            "assurance_level": "medium",
            "anchor_context": "\n".join(block[:3])[:256],
            "anchor_hash": _hash("\n".join(block)),
            "file_content_hash": whole,
            "risk_score": 0.4712,
            "risk_factors": [
                {"signal": "temperature", "value": 0.125 + 0.25 * (at % 4), "weight": 0.15}
            ],
        }
        record["annotation_id"] = _digest(record)
        yield record


def _environment(number: int) -> dict[str, object]:
    return {
        "type": "environment",
        "tool_name": "Claude Code",
        "tool_version": "1.0.0",
        "model_name": "claude-opus-4-5",
        "model_version": "20251101",
        "model_parameters": {"temperature": 0.25 + 0.5 * number},
    }


def _prompt(number: int) -> dict[str, object]:
    return {
        "type": "prompt",
        "prompt_text": f"Compute the values of part {number}. " * 8,
        "prompt_type": "user_instruction",
    }


def _path(number: int) -> str:
    return f"src/area_{number % 23:02}/module_{number:04}.py"


def _digest(value: dict[str, object]) -> str:
    return _hash(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _commit(root: Path) -> None:
    _git(root, "add", "--all")
    _git(
        root,
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.org",
        "commit",
        "--quiet",
        "--message",
        "More",
    )


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


if __name__ == "__main__":
    main()
