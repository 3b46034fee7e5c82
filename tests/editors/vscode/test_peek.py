"""From what shows on a line to why it is there: the peek, the actions below a hover, history, changes and commits."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Frame

from tests.demo.workspace import Workspace, build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window

MARKED = [*range(13, 21), 23, 24, 25, 27]
PROMPT = "Store passwords safely. Use what the standard library has."


def _opened(open_window: Open, tmp_path: Path) -> tuple[Window, Workspace]:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root, vibes__reviewer="Ada Example")
    code.open_file("src/auth.py")
    code.marks_on(MARKED)
    return code, workspace


def _peeked(code: Window) -> str:
    """Wait for a peek, and return the text that it shows."""
    preview = code.page.locator(".peekview-widget .preview .view-lines")
    return code.until(
        lambda: text if (text := preview.inner_text().replace("\xa0", " ")).strip() else None,
        "the text of the peek",
    )


def _preview(code: Window, heading: str) -> Frame:
    """Wait for rendered Markdown with a heading, and return its frame."""

    def found() -> Frame | None:
        frames = code.page.frames
        return next(
            (each for each in frames if each.locator("h1, h2", has_text=heading).count()), None
        )

    return code.until(found, f"rendered text with the heading {heading!r}")


def _check_peek(code: Window) -> None:
    """Wait for the peek of the risky function, and close it with the keyboard."""
    code.wait_for(".peekview-widget .ref-tree .monaco-list-row", "claude-opus-4-5 · Claude Code ·")
    code.until(lambda: "Store passwords safely." in _peeked(code), "the prompt")
    for _ in range(2):  # the first leaves the list
        code.page.keyboard.press("Escape")
    code.page.locator(".peekview-widget").wait_for(state="hidden")


def test_a_click_on_a_lens_and_a_key_open_prompt_and_history_below_the_line(
    open_window: Open, tmp_path: Path
) -> None:
    code, _ = _opened(open_window, tmp_path)
    code.lens("critical risk", at=23)
    code.click_lens("critical risk", ".peekview-widget")
    _check_peek(code)

    code.go_to(24)
    code.page.keyboard.press("Alt+Shift+V")
    _check_peek(code)

    code.go_to(1)
    code.command("VIBES: Peek Prompt and History")
    code.message("no annotation on line 1")


def test_the_text_at_a_lines_end_leads_to_actions_and_back_to_the_code(
    open_window: Open, tmp_path: Path
) -> None:
    code, workspace = _opened(open_window, tmp_path)
    code.go_to(24)
    code.until(lambda: "claude-opus-4-5" in code.painted(24), "text at the line's end")
    links = code.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content a")
    code.hover_line_end(24, "Details")
    labels = ["Prompt", "History", "Approve", "Reject", "Commit", "Details"]
    assert [each for each in links.all_inner_texts() if each in labels] == labels
    commands = links.evaluate_all("links => links.map(link => link.dataset.href ?? '')")
    assert all("passwords" not in each for each in commands), "text of the trail in a link"

    links.filter(has_text="History").first.click()
    code.wait_for(".tab.active", "Preview History.md")
    frame = _preview(code, "Annotation")
    assert PROMPT in frame.locator("pre").inner_text()
    assert workspace.hashing in frame.locator("body").inner_text(), "ids are whole"
    frame.locator("a", has_text="src/auth.py:23-27").click()
    code.wait_for(".tab.active", "auth.py")
    code.until(lambda: "Ln 23, Col 1" in code.status_bar(), "the first line of the annotation")

    code.go_to(24)
    code.hover_line_end(24, "Approve")
    links.filter(has_text="Approve").first.click()
    code.answer("Read it.", "Mark reviewed")
    code.until(lambda: "to review" not in code.status_bar(), "the approval")
    code.hover_line_end(24, "Reject")
    assert links.filter(has_text="Approve").count() == 0, "it is approved already"


def test_changes_and_commits_are_diffs_in_which_one_can_go_on(
    open_window: Open, tmp_path: Path
) -> None:
    code, workspace = _opened(open_window, tmp_path)
    code.command("VIBES: Show AI Changes since HEAD")
    code.wait_for(".tab.active", "AI changes since HEAD: 3 of 12 changed lines")
    diff = code.page.locator(".multiDiffEntry")
    code.until(lambda: [each for each in diff.all_inner_texts() if "limits.py" in each], "the file")
    code.until(lambda: diff.locator(".line-delete, .line-insert").count(), "what was changed")
    code.until(lambda: diff.locator(".glyph-margin-widgets .cgmr").count(), "our marks")

    code.open_file("src/auth.py")
    code.go_to(24)
    code.command("VIBES: Show AI Lines of the Commit")
    code.wait_for(".tab.active", f"AI lines of commit {workspace.sign_up}: 19 of 33 changed lines")
    code.until(lambda: diff.count() == 2, "both files of the commit")

    limits = workspace.root / "src/limits.py"
    limits.write_text("", encoding="utf-8")
    code.open_file("src/auth.py")
    code.command("VIBES: Show AI Changes since HEAD")
    code.until(
        lambda: re.search("no AI lines among \\d+ changed lines", code.status_bar()), "an answer"
    )
