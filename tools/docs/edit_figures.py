"""The figures on edited lines, from `benchmarks/results/agent_trace_hook.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).parents[2] / "benchmarks" / "results" / "agent_trace_hook.json"
_HEADINGS: Final = (
    "tool calls",
    "lines written",
    "`vibes hook`: calls right",
    "lines wrong",
    "missed",
    "reference hook: calls right",
    "LF only",
    "lines wrong",
    "missed",
)
_CALLS: Final = {
    "cursor-edit": "Cursor, one replacement",
    "cursor-edits": "Cursor, several replacements in one call",
    "cursor-create": "Cursor, new file",
    "claude-edit": "Claude Code, one replacement",
    "claude-replace-all": "Claude Code, every occurrence replaced",
    "claude-create": "Claude Code, new file",
    "claude-write": "Claude Code, file rewritten",
}


def blocks() -> dict[str, list[str]]:
    """Return the lines of every block, by its name."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = results["rows"]
    return {
        "agent-trace-table": [_cells(_HEADINGS), "|" + "---|" * len(_HEADINGS), *map(_row, rows)],
        "agent-trace-source": [
            f"Measured on {results['date']} with commit `{results['commit'][:12]}` of the reference hook."
        ],
    }


def _row(row: Mapping[str, Any]) -> str:
    ours, theirs = row["vibes"], row["agentTrace"]
    cells = [
        f"{_CALLS[row['kind']]}: {row['calls']}",
        f"{row['lines']:,}",
        f"{ours['right']}",
        f"{ours['wrongLines']:,}",
        f"{ours['missedLines']:,}",
        f"{theirs['right']}",
        f"{theirs['rightLf']} of {row['callsLf']}",
        f"{theirs['wrongLines']:,}",
        f"{theirs['missedLines']:,}",
    ]
    return _cells(cells)


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
