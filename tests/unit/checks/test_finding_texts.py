"""The texts of all findings are in one snapshot that is reviewed like code."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

from tests.snapshot import assert_snapshot
from vibes_lsp.checks import catalogue as checks
from vibes_lsp.gate import catalogue as gate

if TYPE_CHECKING:
    from vibes_lsp.checks.finding import Check

SNAPSHOT: Final = Path(__file__).with_name("finding_texts.txt")
WIDTH: Final = 100


def test_the_texts_of_all_findings() -> None:
    assert_snapshot("\n".join(map(entry, (*checks.ALL, *gate.ALL))), SNAPSHOT)


def entry(check: Check) -> str:
    """Return a finding as its reader sees it: id, severity, title, reason, advice."""
    texts = (check.title, check.why, f"-> {check.fix}")
    body = "".join(
        fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ") + "\n" for text in texts
    )
    return f"{check.severity}[{check.id}]\n{body}"
