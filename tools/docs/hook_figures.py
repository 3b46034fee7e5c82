"""The duration of `vibes hook`, from `benchmarks/results/hook.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

RESULTS: Final = Path(__file__).parents[2] / "benchmarks" / "results" / "hook.json"


def blocks() -> dict[str, list[str]]:
    """Return the lines of every block, by its name."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    head = ["annotations in the trail", "the hook", "median", "Python that does nothing"]
    head.append("empty console script")
    lines = [_cells(head), "|" + "---|" * len(head)]
    for row in rows:
        ratios = (f"{row[name]:.2f}x" for name in ("python", "script"))
        duration = f"{row['milliseconds']} ms"
        lines.append(_cells([f"{row['annotations']:,}", row["what"], duration, *ratios]))
    return {"hook-duration": lines}


def _cells(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
