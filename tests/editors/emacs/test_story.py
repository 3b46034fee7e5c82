"""The story of a reviewer in Emacs, as far as eglot goes: hover, problems, a code action that leaves its edge on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.emacs.conftest import OLD, STABLE, Open
from tests.editors.recorded import newest
from tests.trails.repository import Repository


@pytest.mark.parametrize("suite", [OLD, STABLE])
def test_a_reviewer_sees_who_wrote_the_line_and_answers_for_it(
    open_emacs: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    Repository(workspace.root).git("config", "user.name", "Nobody Example")
    (tmp_path / "elsewhere.py").write_text("x = 1\n", encoding="utf-8")
    editor = open_emacs(suite, tmp_path, "elsewhere.py")
    editor.until(lambda: editor.mode_line("elsewhere.py"), "Emacs")

    editor.open(workspace.root / "src/auth.py")
    editor.until(lambda: "[eglot:shop]" in (editor.mode_line("auth.py") or ""), "the server")
    editor.go_to(23)
    editor.terminal.shows("claude-opus-4-5 · Claude Code")  # in the echo area
    editor.terminal.keys("C-h", ".")
    editor.terminal.shows(
        "*eldoc*", "claude-opus-4-5", "Store passwords safely", "Risk 0.84 critical"
    )
    editor.alone()
    editor.terminal.keys("M-?")
    editor.terminal.shows("*xref*", "\nsrc/auth.py\n")  # all ranges of the prompt
    editor.alone()
    editor.switch("auth.py")

    editor.command("flymake-show-buffer-diagnostics")
    ((line, problem),) = editor.until(editor.problems, "a problem")
    assert line == 23
    assert "risk 0.84 critical" in problem
    editor.terminal.keys("M-<")
    editor.terminal.text("# one")
    editor.terminal.keys("Enter")
    editor.until(
        lambda: [line for line, _ in editor.problems() or ()] == [24], "the problem to follow"
    )

    editor.go_to(24)
    editor.choose_action("Mark reviewed")
    editor.terminal.keys(
        "C-n"
    )  # what came together with an answer, Emacs 28 takes in when more comes, as about another line
    editor.until(lambda: editor.problems() == [], "the problem to go")
    edge = newest(workspace.audit, "reviewed_by")
    assert edge["source_ref"] == workspace.hashing
    assert edge["metadata"]["verdict"] == "approved"
    assert edge["metadata"]["reviewer"] == "Ada Example"  # as the settings say

    editor.alone()
    editor.switch("elsewhere.py")
    assert "eglot" not in (editor.mode_line("elsewhere.py") or ""), (
        "a server was started where there is no trail"
    )
