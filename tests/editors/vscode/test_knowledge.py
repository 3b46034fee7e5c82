"""The knowledge base at the line: propose a claim, decide on it, read it, and keep its evidence true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.knowledge import run_kb
from tests.editors.vscode.window import Window

TEXT: Final = "Passwords are stored as salted SHA-256"
STATE: Final = "Evidence: lines "


def _select(code: Window, first: int, last: int) -> None:
    """Select whole lines."""
    code.go_to(first)
    for _ in range(last - first + 1):
        code.page.keyboard.press("Shift+ArrowDown")
    code.wait_for(".statusbar-item", "selected)")


def _rows(code: Window) -> list[str]:
    """Return the rows of the view that are proposals, without their age."""
    return [row for row in code.view("Review") if "proposed by" in row]


def _claims(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run_kb(root, "list-claims", "--json"))["claims"]
    return found


def test_a_claim_is_proposed_approved_read_and_re_anchored(
    open_window: Open, tmp_path: Path
) -> None:
    shop = build(tmp_path / "shop")
    run_kb(shop.root, "init")
    code = open_window(shop.root, vibes__reviewer="Ada Example")
    code.open_file("src/auth.py")
    code.lens("critical risk", at=23)

    _select(code, 23, 27)
    code.command("Vouch: Propose Claim…")
    code.answer(TEXT, "Propose a claim about lines 23 to 27")
    code.answer("fact", "Type of the claim")
    code.answer("High", "Confidence in the claim")
    code.lens("1 pending", at=23)

    code.command("VIBES: Focus on Review View")
    (row,) = code.until(lambda: _rows(code), "the proposal in the view")
    assert row.startswith(
        f"{TEXT}, claim, fact, confidence 90%, proposed by Ada Example, lines 23-27 of src/auth.py"
    )
    code.wait_for(".tree-explorer-viewlet-tree-view .message", "6 to review: ")
    code.wait_for(".activitybar .badge-content", "6")
    code.go_to(1)
    code.click_row(TEXT)
    code.wait_for(".statusbar-item", "Ln 23, Col 1")
    code.press_button_in_row(TEXT, "Approve Proposal")
    code.until(lambda: not _rows(code), "the proposal to leave the view")
    code.wait_for(".activitybar .badge-content", "5")
    (claim,) = _claims(shop.root)
    assert (claim["text"], claim["approved_by"]) == (TEXT, "Ada Example")
    assert (claim["type"], claim["confidence"]) == ("fact", 0.9)

    code.lens("1 claim", at=23)
    hover = code.hover(24, 8, TEXT)
    assert f"{STATE}as quoted" in hover
    assert "Claim: Confirm · Supersede · Archive" in hover
    assert "claude-opus-4-5" in hover, "who wrote the lines is beside what is said about them"

    code.go_to(25)
    code.type("    # twice\n")
    hover = code.hover(24, 8, "edited since")
    assert "Claim: Confirm · Re-anchor · Supersede · Archive" in hover
    assert code.until(lambda: [each for each in code.problems() if TEXT in each], "a problem")
    code.go_to(24)
    code.command("Vouch: Re-anchor Evidence")
    code.hover(24, 8, f"{STATE}as quoted")
    code.until(lambda: not [each for each in code.problems() if TEXT in each], "no problem")
    (claim,) = _claims(shop.root)
    assert len(claim["evidence"]) == 2
    assert code.blocked == [], "something looked outwards"
