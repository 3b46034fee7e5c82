"""Provenance by Helix's own pickers and keys: ranges of a prompt, prompts by their words, the audit files."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.helix.conftest import Open
from tests.server.project import STORY, Project


def test_ranges_of_a_prompt_and_prompts_by_their_words(open_helix: Open, tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.config()
    project.environment()
    prompt = project.prompt("Compare two payloads by their digest.")
    project.line("a.py", 4, 7, text=STORY, prompt=prompt)
    project.line("b.py", 10, 13, text=STORY, prompt=prompt)
    project.file("b.py", "# above\n" + STORY)
    project.file("a.py")
    terminal = open_helix(tmp_path, "a.py")
    terminal.shows("def digest")
    terminal.text("5gg")

    def references() -> bool:
        screen = terminal.screen()
        if "b.py" in screen:
            return True
        if "No configured language server" in screen or "No references found" in screen:
            terminal.text("gr")  # the server is still starting
        return False

    terminal.text("gr")
    terminal.until(references, "the references")
    terminal.shows("a.py", "b.py", "2/2")
    terminal.keys("Escape")
    terminal.until(lambda: "2/2" not in terminal.screen(), "the list to close")
    terminal.text(" S")
    terminal.text("payloads")
    terminal.shows("prompt: Compare two payloads by their digest.")
    terminal.keys("Escape")
    terminal.until(lambda: "prompt: Compare" not in terminal.screen(), "the list to close")
    terminal.text("6gg0gd")
    terminal.shows('"file_path":"a.py","line_start":4')


def test_the_audit_files_lead_to_entries_and_the_policy_is_explained(
    open_helix: Open, tmp_path: Path
) -> None:
    terminal = open_helix(build(tmp_path / "shop").root, ".ai-audit/config.json")
    terminal.shows('"assurance_level"')
    terminal.text("4ggf:lllcx")
    terminal.keys("Escape")
    terminal.shows("● 1")  # so the server has started: what follows is asked for once
    terminal.text(" d")
    terminal.shows("assurance_level: expected low, medium or high")
    terminal.keys("Escape")
    terminal.text("u4gg04l")
    terminal.text(" k")
    terminal.shows('default "medium"')
    terminal.keys("Escape")
    terminal.text('ggo"')
    terminal.shows("exclude_patterns", "durability")
    terminal.keys("Escape", "Escape")
    terminal.text("u:o .ai-audit/annotations.jsonl")
    terminal.keys("Enter")
    terminal.shows("NOR   .ai-audit/annotations.jsonl")
    terminal.text("2gg/command_hash")
    terminal.keys("Enter")
    terminal.text("16l")

    terminal.text("gd")
    terminal.shows('"entries":{')
