"""The story of a reviewer: see who wrote the line, what is risky about it; edit above; answer for it; let another plugin complete a line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.editors.recorded import newest

REVIEWER = "vim.g.vibes = { settings = { reviewer = 'Ada Example' }, code_lens = true }\n"


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_a_reviewer_sees_who_wrote_the_line_and_answers_for_it(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", REVIEWER)

    marks = {13: "○✓", **dict.fromkeys(range(14, 21), "│"), 23: "■", 24: "│", 25: "│", 27: "│"}
    editor.until(lambda: editor.signs() == marks, f"the signs {marks}")
    editor.terminal.shows("○✓ 13 def valid_email", "■  23 def hash_password")
    editor.go_to(24, 8)
    editor.until(
        lambda: re.search(
            r"AI: claude-opus-4-5, \d+ \w+ ago · edited since · “Store passwords",
            editor.painted(24),
        ),
        "text at the end of the cursor's line",
    )
    assert "·" not in editor.painted(25)
    editor.terminal.shows("AI edit · ", " ago · critical risk · not reviewed")  # the lens

    hover = editor.hover(24, 8, "Store passwords safely", "0.84 critical")
    assert "claude-opus-4-5" in hover
    ((line, problem),) = editor.until(editor.problems, "a problem")
    assert line == 23
    assert "critical" in problem
    editor.command("lua vim.diagnostic.setloclist()")
    editor.terminal.shows("src/auth.py|23", "warning| risk 0.84 critical")
    editor.command("lclose")

    moved = editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one', '# two' })")
    assert moved is None
    assert editor.lua(SIGN_OF_CRITICAL) == [25], "marks do not move with the text"
    editor.until(lambda: {line for line, _ in editor.problems()} == {25}, "the problem to follow")
    editor.command("write")
    editor.go_to(26, 8)
    editor.until(
        lambda: "“Store passwords" in editor.painted(26), "text at the end of the line below"
    )

    editor.choose_action("Mark reviewed")
    editor.until(lambda: editor.problems() == [], "the problem to go")
    editor.until(lambda: editor.signs().get(25) == "■✓", "the sign to say so")
    editor.terminal.shows("critical risk · approved")  # the lens
    edge = newest(workspace.audit, "reviewed_by")
    assert edge["source_ref"] == workspace.hashing
    assert edge["metadata"]["verdict"] == "approved"
    assert edge["metadata"]["reviewer"] == "Ada Example"


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_another_plugin_records_an_inline_completion(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py")
    editor.until(editor.signs, "signs")
    assert editor.lua("return vim.api.nvim_buf_line_count(0)") == 27

    call = block("neovim.md", "For other plugins", "lua").replace("line = 28", "line = 27")
    editor.lua(call)
    editor.lua(
        "vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'def twice(x):', '    return 2 * x' })"
    )

    hover = editor.hover(28, 5, "A function that doubles a number.")
    assert "some-model" in hover
    assert "my-tool" in hover
    editor.until(lambda: editor.signs().get(28) is not None, "a sign on what was recorded")


SIGN_OF_CRITICAL = """
    local out = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('vibes'), 0, -1, { details = true })) do
      if vim.trim(mark[4].sign_text or '') == '■' then table.insert(out, mark[2] + 1) end
    end
    return out"""
