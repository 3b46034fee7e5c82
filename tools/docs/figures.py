"""The figures on locating, which pages take from `benchmarks/results/locating.json`.

A page has blocks between two comments; `make docs` writes what stands in them, and nothing else of
the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).parents[2] / "benchmarks" / "results" / "locating.json"
_BLOCK: Final = re.compile(
    r"(?P<begin>^(?P<indent> *)<!-- begin (?P<name>[a-z-]+): [^\n]*-->\n)(?P<text>.*?)(?P<end>^ *<!-- end (?P=name) -->$)",
    re.MULTILINE | re.DOTALL,
)
_MODES: Final = ("anchors only", "in git")


def with_blocks(page: str, made: Mapping[str, Sequence[str]]) -> str:
    """Return a page with the lines of its blocks, by the names of the blocks."""

    def write(match: re.Match[str]) -> str:
        text = "".join(
            f"{match['indent']}{line}\n" if line else "\n" for line in made[match["name"]]
        )
        return match["begin"] + text + match["end"]

    return _BLOCK.sub(write, page)


def blocks() -> dict[str, list[str]]:
    """Return the lines of every block, by its name."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    draws = results["draws"]
    totals = [{"source": "**all**", "mode": mode, **_sum(draws, mode)} for mode in _MODES]
    return {
        "locating-draws": _table("drawn", [*draws, *totals]),
        "locating-distances": _table("commits between A and B", results["distances"]),
        "locating-generated": _generated(results["generated"]),
        "locating-summary": _summary(*(_sum(draws, mode) for mode in _MODES)),
    }


def _table(heading: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    headings = [heading, "mode", "ranges", "start right", "start and end right", "sure claims"]
    headings += ["sure and wrong, on surviving lines", "sure and wrong, on dead ranges"]
    lines = [_row(headings), "|" + "---|" * len(headings)]
    for row in rows:
        cells = [row["source"], row["mode"], f"{row['ranges']:,}"]
        cells += [
            _share(row["startsRight"], row["starts"]),
            _share(row["bothRight"], row["both"]),
            f"{row['sure']:,}",
            f"{row['wrong']:,}",
            f"{row['wrongDead']:,} of {row['dead']:,}",
        ]
        lines.append(_row(cells))
    return lines


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %"


def _generated(sums: Mapping[str, int]) -> list[str]:
    return [
        "Generated edits of 260 files in each draw, where the identity of every line is known, by anchors alone:",
        f"{_share(sums['startsRight'], sums['starts'])} of starts and {_share(sums['bothRight'], sums['both'])} of both ends are right; {sums['wrong'] + sums['wrongDead']:,} of {sums['sure']:,} sure claims are wrong,",
        "nearly all where several edits at once copied a block and edited or deleted the original.",
    ]


def _summary(anchors: Mapping[str, int], in_git: Mapping[str, int]) -> list[str]:
    wrong, sure = (
        anchors[name] + in_git[name] + (anchors[dead] + in_git[dead] if dead else 0)
        for name, dead in (("wrong", "wrongDead"), ("sure", ""))
    )
    return [
        f"Measured on {anchors['ranges']:,} ranges of this project's history: by anchors alone the first line of {100 * anchors['startsRight'] / anchors['starts']:.1f} % was found,",
        f"first and last line of {100 * anchors['bothRight'] / anchors['both']:.1f} %, with git of {100 * in_git['bothRight'] / in_git['both']:.1f} %; {wrong:,} of {sure:,} claims called sure was wrong",
        "([how](docs/accuracy.md)).",
    ]


def _sum(rows: Sequence[Mapping[str, Any]], mode: str) -> dict[str, int]:
    names = [name for name in rows[0] if name not in ("source", "mode")]
    return {name: sum(row[name] for row in rows if row["mode"] == mode) for name in names}
