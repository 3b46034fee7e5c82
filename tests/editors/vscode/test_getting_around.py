"""Commands that go from change to change and show what is behind one, and the menu of the status bar."""

from __future__ import annotations

import re
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window


def _at(code: Window, line: int) -> None:
    code.wait_for(f".statusbar-item:has-text('Ln {line}, ')")


def test_keys_go_to_the_next_and_previous_ai_change_after_edits_too(
    open_window: Open, tmp_path: Path
) -> None:
    code = open_window(build(tmp_path / "shop").root)
    code.open_file("src/auth.py")
    code.marks_on([*range(13, 21), 23, 24, 25, 27])
    code.go_to(1)
    for line in (13, 23, 27, 13):
        code.page.keyboard.press("Alt+n")
        _at(code, line)
    code.wait_for(".statusbar-item", "VIBES: AI change 1 of 3")
    for line in (27, 23):
        code.page.keyboard.press("Alt+p")
        _at(code, line)
    code.go_to(1)
    code.type("# one\n# two\n")
    code.page.keyboard.press("Alt+n")  # at once: where changes were before is no answer
    _at(code, 15)
    code.open_file("README.md")
    code.command("VIBES: Go to Next AI Change")
    code.wait_for(".statusbar-item", "VIBES: no AI changes in this file")


def test_the_palette_shows_prompt_and_history_and_the_status_bar_opens_a_menu(
    open_window: Open, tmp_path: Path
) -> None:
    code = open_window(build(tmp_path / "shop").root)
    code.open_file("src/auth.py")
    marked = code.marks_on([*range(13, 21), 23, 24, 25, 27])
    code.go_to(24)
    code.command("VIBES: Show Prompt")
    code.wait_for(".tab.active", "Prompt")
    code.open_file("src/auth.py")
    code.go_to(24)
    code.command("VIBES: Show History")
    code.wait_for(".tab.active", "History")
    code.open_file("src/auth.py")
    code.go_to(1)
    code.command("VIBES: Show Prompt")
    code.message("VIBES: no annotation on this line")
    code.command("Notifications: Clear All Notifications")

    item = code.page.locator(".statusbar-item", has_text="AI 44% · 1 to review").first

    def tooltip() -> str:
        item.hover()
        return code.page.locator(".monaco-hover:not(.hidden)").last.inner_text(timeout=3000)

    said = code.until(lambda: text if "claude" in (text := tooltip()) else None, "the tooltip")
    assert re.search(r"claude-opus-4-5:\s12\slines", said)
    assert "Click for a menu" in said

    code.press_in_status_bar("AI 44%")
    code.choose("Hide Marks")
    code.until(lambda: not code.marks(), "no marks")
    code.press_in_status_bar("AI 44%")
    code.choose("Show Marks")
    code.until(lambda: code.marks() == marked, "the marks again")
    code.go_to(24)
    code.page.keyboard.press("Control+K")
    code.page.keyboard.press("a")
    code.until(lambda: not code.marks(), "no marks by key")
