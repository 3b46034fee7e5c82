"""A folder without an audit trail: buttons start one, or open a demo, with the program that was found."""

from __future__ import annotations

import json
from pathlib import Path

from tests.editors.vscode.conftest import Open
from tests.trails import Repository


def test_a_button_starts_a_trail(open_window: Open, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "a.py").write_text("one = 1\n", encoding="utf-8")
    Repository(folder).commit("Begin")
    home = tmp_path / "home"
    home.mkdir()
    code = open_window(folder, environment={"HOME": str(home)})
    code.until(lambda: code.program.log_count("no audit trail found"), "the extension")
    code.command("VIBES: Focus on Review View")
    code.wait_for(".welcome-view-content", "This folder has no audit trail.")
    code.page.locator(".monaco-button", has_text="Start a Trail").first.click()
    code.wait_for(".quick-input-title", "Start an audit trail in own")
    code.page.locator(".quick-input-widget .monaco-button", has_text="OK").first.click()
    code.message("own has an audit trail")
    config = json.loads((folder / ".ai-audit/config.json").read_text(encoding="utf-8"))
    assert (config["project_name"], config["risk_scoring"]["enabled"]) == ("own", True)
    assert (folder / ".git/hooks/pre-commit").is_file()
    code.until(lambda: code.program.log_count("starting "), "the server starts")


def test_a_button_opens_a_demo(open_window: Open, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (folder / "a.py").write_text("one = 1\n", encoding="utf-8")
    code = open_window(folder, environment={"HOME": str(home)})
    code.until(lambda: code.program.log_count("no audit trail found"), "the extension")
    code.command("VIBES: Focus on Review View")
    code.wait_for(".welcome-view-content", "This folder has no audit trail.")
    with code.page.context.expect_page() as opened:
        code.page.locator(".monaco-button", has_text="Open a Demo").first.click()
        code.answer(str(home / "vibes-demo"), "Open a demo")
    assert "vibes-demo" in opened.value.url
    assert (home / "vibes-demo/.ai-audit/annotations.jsonl").is_file()
    code.command("VIBES: Open a Demo…")
    code.answer(str(home / "vibes-demo"), "Open a demo")
    code.message("vibes-demo", "not empty")
