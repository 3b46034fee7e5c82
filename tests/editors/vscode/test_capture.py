"""Capture of accepted completions that nobody tells of: only when it is asked for, and nothing but those."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window
from tests.server.project import Project

TOGGLE = "VIBES: Toggle Capture of Accepted Completions"


def _recorded(project: Project) -> list[dict[str, Any]]:
    """Return what is recorded for the file that is typed in."""
    log = project.root / ".ai-audit/annotations.jsonl"
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [
        record for record in records if record["type"] == "line" and record["file_path"] == "b.py"
    ]


def _complete(code: Window, line: int, begun: str) -> None:
    """Type the beginning of a function on an empty line, and accept the completion that shows."""
    code.go_to(line)
    code.type(begun)
    code.wait_for(".ghost-text-decoration, .ghost-text")
    code.page.keyboard.press("Tab")
    code.until(lambda: "return" in code.painted(line + 1), "the completion in the text")


def test_only_what_the_key_put_in_is_captured_and_only_when_asked_for(
    open_window: Open, tmp_path: Path
) -> None:
    project = Project(tmp_path / "shop")
    project.config()
    project.environment()
    project.annotated("a.py")
    project.file("b.py", "\n" * 40)
    code = open_window(
        project.root,
        beside=["completer"],
        vibes__capture__tool="tests.completer",
        editor__quickSuggestions="off",
    )
    code.open_file("a.py")
    code.lens("AI edit")
    code.open_file("b.py")
    _complete(code, 1, "def tw")  # while it is off

    code.command(TOGGLE)
    code.wait_for("[id='status.languageStatus'][aria-label*='completions are captured']")
    _complete(code, 5, "def th")
    code.until(lambda: len(_recorded(project)) == 1, "the record")
    assert "unknown model · Completer" in code.hover(5, 6, "captured, low confidence")
    code.lens("captured", at=5)

    _complete(code, 9, "def qu")  # whose maker tells of it
    code.until(lambda: len(_recorded(project)) == 2, "the maker's record")
    assert "completer-small" in code.hover(9, 6, "completer-small")

    code.go_to(5)
    code.page.keyboard.press("Shift+ArrowDown")
    code.page.keyboard.press("Shift+ArrowDown")
    code.page.keyboard.press("Control+C")
    code.go_to(13)
    code.page.keyboard.press("Control+V")
    code.until(lambda: "def thrice" in code.painted(13), "what was pasted")
    code.page.keyboard.press("Control+Z")
    code.until(lambda: "def" not in code.painted(13), "the paste undone")
    code.page.keyboard.press("Control+Y")
    code.until(lambda: "def thrice" in code.painted(13), "the paste done again")
    code.go_to(17)
    code.page.keyboard.press("Control+Space")
    code.wait_for(".suggest-widget .monaco-list-row", "suggested_name_of_some_length")
    code.page.keyboard.press("Tab")
    code.until(
        lambda: "suggested_name_of_some_length(one, two)" in code.painted(17),
        "the suggestion in the text",
    )
    code.command("Format Document")
    code.until(
        lambda: "put there by the formatter" in code.editor.inner_text().replace("\xa0", " "),
        "the formatter's line",
    )

    _complete(code, 20, "def tw")  # what was captured before would be in the log before it
    code.until(
        lambda: [record for record in _recorded(project) if record["line_start"] == 20],
        "the last record",
    )
    code.save()
    assert [(record["line_start"], record["line_end"]) for record in _recorded(project)] == [
        (5, 6),
        (9, 10),
        (20, 21),
    ]
