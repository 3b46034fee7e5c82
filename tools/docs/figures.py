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
_HISTORY: Final = "with history"
_ANCHORS: Final = "anchors only"


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
    return {
        "locating-five": _table("repository", results["five"], called=True),
        "locating-others": _table("drawn from", results["others"], called=False),
        "locating-sums": _sums(results),
        "locating-summary": _summary(results),
    }


def _table(heading: str, rows: Sequence[Mapping[str, Any]], *, called: bool) -> list[str]:
    headings = [heading, "mode", "ranges", "start right", "start and end right", "sure claims"]
    headings += ["sure and wrong, on surviving lines", "sure and wrong, on dead ranges"]
    if called:
        headings.append("unchanged at one place, called sure")
    lines = [_row(headings), "|" + "---|" * len(headings)]
    told = None
    for row in rows:
        source = (
            ""
            if row["source"] == told
            else f"**{row['source']}**"
            if row["source"] == "all"
            else row["source"]
        )
        told = row["source"]
        cells = [
            source,
            row["mode"],
            f"{row['ranges']:,}",
            f"{row['startRight']:.2f} %",
            f"{row['bothRight']:.2f} %",
        ]
        cells += [
            f"{row['sure']:,}",
            f"{row['wrong']:,}",
            f"{row['wrongDead']:,} of {row['dead']:,}",
        ]
        if called:
            cells.append(f"{row['calledSure']:.2f} %")
        lines.append(_row(cells))
    return lines


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _sums(results: Mapping[str, Any]) -> list[str]:
    history, anchors = (_sum(results, mode) for mode in (_HISTORY, _ANCHORS))
    return [
        f"- All of these together: with history {history['sure']:,} sure claims, of which {history['wrong']:,} are wrong on surviving lines and",
        f"  {history['wrongDead']:,} on {history['dead']:,} dead ranges; with anchors alone {anchors['sure']:,}, of which {anchors['wrong']:,} are wrong on surviving",
        f"  lines and {anchors['wrongDead']:,} on dead ranges.",
        f"- On {results['unseen']['repositories']} repositories never used before, {results['unseen']['wrong']:,} of {results['unseen']['sure']:,} sure claims with history are wrong.",
    ]


def _summary(results: Mapping[str, Any]) -> list[str]:
    whole = _whole(results, _HISTORY)
    wrong, unseen = whole["wrong"] + whole["wrongDead"], results["unseen"]
    return [
        f"Measured on {whole['ranges']:,} ranges of five public repositories: the first line of {whole['startRight']:.1f} % was found, first and last line of {whole['bothRight']:.1f} %,",
        f"and {wrong:,} of {whole['sure']:,} claims called sure were wrong; in five repositories never used before, {unseen['wrong']:,} of {unseen['sure']:,}",
        "([how](docs/accuracy.md)).",
    ]


def _whole(results: Mapping[str, Any], mode: str) -> Mapping[str, Any]:
    return next(row for row in results["five"] if row["source"] == "all" and row["mode"] == mode)


def _sum(results: Mapping[str, Any], mode: str) -> dict[str, int]:
    rows = [*(row for row in results["five"] if row["source"] != "all"), *results["others"]]
    return {
        name: sum(row[name] for row in rows if row["mode"] == mode)
        for name in ("sure", "wrong", "wrongDead", "dead")
    }
