"""Without our plugin: the plain client, set up as the documentation says, in each age of Neovim."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, OLD, STABLE, Open
from tests.editors.recorded import newest
from tests.trails.repository import Repository

HEADINGS = {
    OLD: "Without the plugin: 0.7",
    STABLE: "Without the plugin: 0.8 to 0.10",
    NEW: "Without the plugin: 0.11 and newer",
}


@pytest.mark.parametrize("suite", [OLD, STABLE, NEW])
def test_a_reviewer_sees_who_wrote_the_line_and_answers_for_it(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    Repository(workspace.root).git("config", "user.name", "Ada Example")
    (tmp_path / "elsewhere.py").write_text("x = 1\n", encoding="utf-8")
    editor = open_neovim(
        suite,
        tmp_path,
        "elsewhere.py",
        block("neovim.md", HEADINGS[suite], "lua"),
        has_plugin=False,
    )
    assert not editor.is_attached(), "a server was started where there is no trail"

    editor.command(f"edit {workspace.root}/src/auth.py")
    editor.until(editor.is_attached, "the server")
    assert "claude-opus-4-5" in editor.hover(24, 8, "Store passwords safely", "0.84 critical")
    ((line, problem),) = editor.until(editor.problems, "a problem")
    assert line == 23
    assert "critical" in problem
    editor.command("lua (vim.lsp.codelens.enable or vim.lsp.codelens.refresh)()")
    editor.terminal.shows("AI edit · ", " critical risk · not reviewed")

    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one' })")
    editor.until(lambda: [line for line, _ in editor.problems()] == [24], "the problem to follow")
    editor.go_to(25)
    editor.choose_action("Mark reviewed")
    editor.until(lambda: editor.problems() == [], "the problem to go")
    edge = newest(workspace.audit, "reviewed_by")
    assert edge["source_ref"] == workspace.hashing
    assert edge["metadata"]["verdict"] == "approved"
    assert edge["metadata"]["reviewer"] == "Ada Example"
