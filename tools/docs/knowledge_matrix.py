"""The table of `docs/knowledge.md`: how many cases of the pack each implementation passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from tests.conformance.vouch.cases import ATTACKS, CASES

_MATRIX: Final = Path(__file__).parents[2] / "tests/conformance/vouch/matrix.json"
_TOPICS: Final = {
    "1": "files, ids",
    "3": "validation",
    "4": "review gate",
    "5": "methods",
    "6": "transport",
    "7": "audit log",
    "8": "bundles",
    "9": "capabilities",
}


def blocks() -> dict[str, list[str]]:
    """Return the lines of the blocks of the page by their names."""
    failed: dict[str, list[str]] = json.loads(_MATRIX.read_text(encoding="utf-8"))
    names = [name for name in CASES if name not in ATTACKS]
    lines = [
        f"| section | cases | vibes | {' | '.join(f'vouch-kb {each}' for each in failed)} |",
        f"|---|---|---|{'---|' * len(failed)}",
    ]
    for section, topic in _TOPICS.items():
        cases = [name for name in names if name.split(".")[0].split()[0] == section]
        passed = [sum(name not in failures for name in cases) for failures in failed.values()]
        lines.append(_row(f"{section} {topic}", len(cases), passed))
    total = [len(names) - len(failures) for failures in failed.values()]
    lines.append(_row("all", len(names), total))
    return {"matrix": lines}


def _row(title: str, cases: int, passed: list[int]) -> str:
    return f"| {title} | {cases} | {cases} | {' | '.join(map(str, passed))} |"
