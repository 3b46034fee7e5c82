"""A queue of twenty thousand: a sign that work goes on, rows as they come, and an editor that goes on answering."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.editors.vscode.conftest import Open
from tests.editors.vscode.large_project import COUNT, build
from tests.editors.vscode.window import Window


def test_twenty_thousand_rows_come_bit_by_bit_and_the_editor_answers(
    open_window: Open, tmp_path: Path
) -> None:
    project = build(tmp_path / "large")
    code = open_window(project.root)
    code.open_file("part00/module000.py")
    message = code.page.locator(".tree-explorer-viewlet-tree-view .message")
    code.command("VIBES: Focus on Review View")

    def first_rows() -> list[str] | None:
        is_reading = "to review so far" in "".join(message.all_inner_texts())
        return code.view("Review") if is_reading and len(code.view("Review")) > 1 else None

    assert code.until(first_rows, "rows before all were found")
    assert code.page.locator(".part.sidebar .monaco-progress-container.active").count() > 0
    code.go_to(1)
    code.type("# typed meanwhile\n")
    code.until(
        lambda: "typed meanwhile" in code.editor.inner_text().replace("\xa0", " "), "the text"
    )

    code.wait_for(".tree-explorer-viewlet-tree-view .message", f"{COUNT} to review: ")
    code.wait_for(".activitybar .badge-content", "20K")
    progress = code.page.locator(".part.sidebar .monaco-progress-container.active")
    code.until(lambda: progress.count() == 0, "the sign of progress to go")

    code.command("VIBES: Group Review Queue By…")
    code.answer("prompt", "Group the review queue by")
    code.until(
        lambda: [
            row for row in code.view("Review") if row == f"Write the steps., {COUNT} to review"
        ],
        "all in one group",
    )
    for left in (COUNT - 200, COUNT - 400):
        more = f"Show 200 more of {left}"
        code.command("VIBES: Focus on Review View")
        code.until(partial(_shows_last, code, more), more)
        code.click_row(more)


def _shows_last(code: Window, row: str) -> bool:
    """Scroll the focused list to its end, and return whether a row of this name is there."""
    code.page.keyboard.press("End")
    return row in code.view("Review")
