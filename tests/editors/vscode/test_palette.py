"""What a newcomer finds in the palette: the walkthrough, the log, a new start of the server."""

from __future__ import annotations

import re
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open

STEPS = ["Install the server", "Look at a line", "Review it", "Record what an AI wrote"]


def test_the_walkthrough_opens_and_the_server_starts_anew(
    open_window: Open, tmp_path: Path
) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root)
    code.open_file("src/auth.py")
    code.lens("critical risk")

    def log_shown() -> bool:
        code.command("VIBES: Show Log")
        code.page.locator(
            ".part.panel .view-line", has_text=re.compile(r"\[(info|warning)\]")
        ).first.wait_for()
        return True

    assert code.until(log_shown, "the log")
    started = code.program.log_count("] starting ")
    code.command("VIBES: Restart Server")
    code.until(
        lambda: code.program.log_count("] starting ") == started + 1, "another start in the log"
    )
    code.until(lambda: len(code.marks()) == 12, "the marks again")
    code.lens("critical risk")

    code.command("Welcome: Open Walkthrough...")
    code.choose("Know who wrote your code")
    code.wait_for(".getting-started-category", "Know who wrote your code")
    for step in STEPS:
        code.wait_for(".getting-started-step", step)
    # The server runs already.
    code.wait_for(".getting-started-step:has(.complete)", "Install the server")
    code.page.locator(".getting-started-step", has_text="Look at a line").first.click()
    code.wait_for(".getting-started-step.expanded .monaco-button", "Show Provenance")
