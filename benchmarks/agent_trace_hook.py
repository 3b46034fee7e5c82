"""Edited lines by our hook and by agent-trace's reference hook, on the same generated edits.

    python -m benchmarks.agent_trace_hook CHECKOUT --bun PATH [--write]

CHECKOUT is a checkout of github.com/cursor/agent-trace, whose hook is run as it is. It reads
payloads of Cursor and Claude Code. Both hooks get the same payloads, with the same file on the
disk; lines are compared with those that the edit wrote. The
figures that end in `Lf` are of files whose lines all end at LF and that have no byte-order mark.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tests.unit.agents.generated_edits import FOLDER
from tests.unit.agents.payload_kinds import KINDS
from tests.unit.agents.tool_calls import Call, Payload
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.edited_lines import resolve_edits
from vibes_lsp.agents.events import FilesEdited

RESULTS: Final = Path(__file__).parent / "results" / "agent_trace_hook.json"
_CALLS: Final = 200
_KINDS: Final = (
    "cursor-edit",
    "cursor-edits",
    "cursor-create",
    "claude-edit",
    "claude-replace-all",
    "claude-create",
    "claude-write",
)
_HOOK: Final = "reference/trace-hook.ts"
_TRACES: Final = ".agent-trace/traces.jsonl"


def main() -> None:
    """Measure, print, and write the results if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--bun", default="bun", help="the program that runs the hook")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    rows = [_measure(kind, arguments.checkout, arguments.bun) for kind in _KINDS]
    for row in rows:
        print(json.dumps(row))
    if arguments.write:
        revision = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=arguments.checkout,
            capture_output=True,
            text=True,
            check=True,
        )
        results = {
            "date": datetime.now(UTC).date().isoformat(),
            "commit": revision.stdout.strip(),
            "rows": rows,
        }
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def _measure(kind: str, checkout: Path, bun: str) -> dict[str, Any]:
    """Return how many calls of a kind have exactly their lines, and how many lines are wrong."""
    scores: dict[str, dict[str, int]] = {
        name: {"right": 0, "rightLf": 0, "unresolved": 0, "wrongLines": 0, "missedLines": 0}
        for name in ("vibes", "agentTrace")
    }
    lines = plain = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _commit(root)
        rng = random.Random(kind)
        for _ in range(_CALLS):
            call = KINDS[kind].generate(rng)
            saved = call[-1].saved or ""
            payload = json.loads(
                json.dumps(KINDS[kind].report(call)).replace(FOLDER, root.as_posix())
            )
            truth = _numbers(saved, {line for edit in call for line in edit.written})
            lines += len(truth)
            is_plain = "\r\n" not in saved and not saved.startswith("\ufeff")
            plain += is_plain
            file = root / call[-1].path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(saved.encode())
            found = {
                "vibes": _by_vibes(payload, call),
                "agentTrace": _by_agent_trace(payload, root, checkout, bun),
            }
            for name, claimed in found.items():
                score = scores[name]
                score["unresolved"] += claimed is None
                score["right"] += claimed == truth
                score["rightLf"] += is_plain and claimed == truth
                score["wrongLines"] += len((claimed or set()) - truth)
                score["missedLines"] += len(truth - (claimed or set()))
    return {"kind": kind, "calls": _CALLS, "callsLf": plain, "lines": lines, **scores}


def _commit(root: Path) -> None:
    """Make a repository with one commit, as the reference hook asks git for it."""
    identity = ("-c", "user.name=b", "-c", "user.email=b@example.org")
    for command in (("init", "-q"), (*identity, "commit", "-q", "--allow-empty", "-m", "Start")):
        subprocess.run(["git", *command], cwd=root, check=True)


def _by_vibes(payload: Payload, call: Call) -> set[int] | None:
    """Return the lines of the saved file that we claim; None if any edit is unresolved."""
    event = read_event(payload)
    if event is None or not isinstance(event.action, FilesEdited):
        return set()
    saved = call[-1].saved or ""
    claimed: set[str] = set()
    for resolved in resolve_edits(event.action.edits, saved):
        if resolved is None:
            return None
        lines = _lines(resolved.after)
        claimed |= {
            lines[number - 1]
            for each in resolved.ranges
            for number in range(each.start, each.end + 1)
        }
    return _numbers(saved, claimed)


def _by_agent_trace(payload: Payload, root: Path, checkout: Path, bun: str) -> set[int]:
    """Return the lines that the reference hook writes to its trace."""
    traces = root / _TRACES
    traces.unlink(missing_ok=True)
    subprocess.run(
        [bun, "run", str(checkout / _HOOK)],
        input=json.dumps(payload).encode(),
        cwd=root,
        env={**os.environ, "CURSOR_PROJECT_DIR": str(root)},
        check=True,
    )
    records = traces.read_text(encoding="utf-8").splitlines() if traces.exists() else []
    return {number for record in records for number in _traced(json.loads(record))}


def _traced(record: dict[str, Any]) -> Iterator[int]:
    for file in record["files"]:
        for conversation in file["conversations"]:
            for each in conversation["ranges"]:
                yield from range(each["start_line"], each["end_line"] + 1)


def _numbers(text: str, wanted: set[str]) -> set[int]:
    return {number for number, line in enumerate(_lines(text), 1) if line in wanted}


def _lines(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


if __name__ == "__main__":
    main()
