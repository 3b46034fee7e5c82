"""Without a mouse and without seeing colours: what marks say stands in words, and every verdict can be given at the keyboard."""

from __future__ import annotations

import re
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.recorded import newest
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window


def _described(code: Window, line: int, expected: re.Pattern[str]) -> None:
    """Ask at the keyboard about a line until a screen reader would say what is expected."""
    hovers = code.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content")

    def said() -> bool:
        code.go_to(line, 2)
        code.command("Show or Focus Hover")
        hovers.filter(has_text=expected).first.wait_for()
        return True

    code.until(said, f"words about line {line}")


def test_marks_speak_and_verdicts_need_no_mouse(open_window: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root, vibes__reviewer="Ada Example")
    code.open_file("src/auth.py")
    code.lens("critical risk")
    code.marks_on([*range(13, 21), 23, 24, 25, 27])
    _described(code, 23, re.compile(r"Risk\s0\.\d\d critical"))
    _described(code, 13, re.compile(r"Risk\s0\.\d\d low"))
    share = code.page.locator(
        ".statusbar-item[id='vibes-lsp.vibes-lsp.vibes.share'], .statusbar-item[aria-label*='verified as an AI']"
    ).first
    sentence = "edits to review: 1. Opens a menu."
    code.until(lambda: sentence in (share.get_attribute("aria-label") or ""), "the share in words")

    code.command("VIBES: Focus on Review View")
    code.until(lambda: len(code.view("Review")) == 8, "the queue")
    code.command("VIBES: Show Provenance")
    for name in ("Review", "Provenance"):
        code.wait_for(f'.pane:has(.pane-header[aria-label^="{name}"]) .monaco-list-row')
        assert all(row.strip() and "$(" not in row for row in code.view(name))
        tree = code.page.locator(
            f'.pane:has(.pane-header[aria-label^="{name}"]) .monaco-list'
        ).first
        assert name in (tree.get_attribute("aria-label") or "")

    code.command("VIBES: Focus on Review View")
    code.wait_for(".part.sidebar .monaco-list:focus")  # where keys go
    for key in ("Home", "ArrowDown"):
        code.page.keyboard.press(key)
    code.wait_for(
        ".part.sidebar .monaco-list-row.focused[aria-label*='critical 0.84, lines 23-27 of src/auth.py']"
    )
    code.page.keyboard.press("Shift+F10")
    code.wait_for(".monaco-menu .action-item", "Reject")
    code.page.keyboard.press("ArrowDown")
    code.wait_for(
        ".monaco-menu .action-item.focused, .monaco-menu .action-item:focus-within", "Mark Reviewed"
    )
    code.page.keyboard.press("Enter")
    code.answer("Read it.", "Mark reviewed")
    code.until(
        lambda: not [row for row in code.view("Review") if "src/auth.py" in row],
        "the approved range to leave",
    )
    assert newest(workspace.audit, "reviewed_by")["metadata"]["verdict"] == "approved"
