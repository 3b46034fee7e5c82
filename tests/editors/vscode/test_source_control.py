"""Before a commit: the view in source control counts its AI lines, and those that nobody has reviewed."""

from __future__ import annotations

from pathlib import Path

from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window
from tests.server.project import STORY, Project
from tests.trails import Repository


def _view(code: Window) -> str:
    pane = code.page.locator('.pane:has(.pane-header[aria-label^="AI Lines in This Commit"])')
    return " ".join(" ".join(pane.all_inner_texts()).split())


def test_the_view_counts_the_ai_lines_of_the_next_commit(open_window: Open, tmp_path: Path) -> None:
    project = Project(tmp_path / "shop")
    project.config()
    project.environment()
    repository = Repository(project.root)
    project.file("a.py", "import hashlib\n")
    repository.commit("Begin")
    project.line("a.py", 4, 7, text=STORY)
    reviewed = project.line("a.py", 10, 13, text=STORY)
    project.review(reviewed)
    project.file("a.py", STORY)
    code = open_window(project.root, git__enabled=True, vibes__reviewer="Ada Example")
    code.open_file("a.py")
    code.marks_on([4, 5, 6, 7, 10, 11, 12, 13])
    code.command("Source Control: Focus on AI Lines in This Commit View")
    code.until(
        lambda: "AI lines in your changes, none staged: 8, 4 unreviewed" in _view(code),
        "the lines of the work tree",
    )
    repository.git("add", "a.py")
    code.until(
        lambda: "AI lines in this commit: 8, 4 unreviewed" in _view(code), "the staged lines"
    )
    rows = code.view("AI Lines in This Commit")
    assert rows == [
        "a.py, AI lines: 8, 4 unreviewed",
        "Lines 4-7 of a.py, unreviewed",
        "Lines 10-13 of a.py, reviewed",
    ]
    code.click_row("Lines 4-7 of a.py")
    code.wait_for(".statusbar-item:has-text('Ln 4, ')")
    code.command("VIBES: Mark Reviewed…")
    code.answer("", "Mark reviewed")
    code.until(lambda: "AI lines in this commit: 8 " in _view(code), "all reviewed")
    repository.git("commit", "--quiet", "--message", "Go on")
    code.until(lambda: "none staged: 0" in _view(code), "nothing left to commit")
