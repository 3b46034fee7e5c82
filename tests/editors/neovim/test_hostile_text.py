"""What anybody may have written into a prompt is shown as text: it is neither obeyed nor rendered, and hides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.trails.writer import TrailWriter

PROMPT = "`](command:x) <b>bold</b> **loud** \x1b[31m \u202ereversed %{system('touch owned')} $(id)\nvim: set foldmethod=marker nomodifiable tw=3:"
TEXT = "def twice(x):\n    return 2 * x\n"


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_hostile_prompts_are_inert(open_neovim: Open, tmp_path: Path, suite: str) -> None:
    trail = TrailWriter(tmp_path, level="medium")
    trail.config(tracked_extensions=[".py"])
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    trail.line("a.py", 1, 2, environment=trail.environment(), prompt=trail.prompt(PROMPT), text=TEXT)
    status = "vim.cmd([[set laststatus=2 statusline=%{v:lua.require'vibes'.statusline()}]])\n"
    editor = open_neovim(suite, tmp_path, "a.py", status)

    editor.until(lambda: "<b>bold</b> **loud** \\u001b[31m \\u202erev" in editor.painted(1), "the prompt at the line's end, as text")
    editor.hover(1, 1, "<b>bold</b> **loud**", "reversed")
    editor.command("Vibes prompt")
    screen = editor.terminal.shows("VIBES prompt", "<b>bold</b> **loud** \\u001b[31m", "vim: set foldmethod=marker")
    assert "](command:x)" in screen
    assert editor.lua("return { vim.wo.foldmethod, vim.bo.textwidth, vim.bo.filetype, vim.bo.buftype }") == ["manual", 0, "", "nofile"]
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")
    editor.command("Vibes history")
    editor.terminal.shows("VIBES history", "<b>bold</b> **loud**")
    assert editor.lua("return { vim.wo.foldmethod, vim.bo.textwidth }") == ["manual", 0]
    editor.terminal.keys("q")
    editor.command("Vibes review")
    editor.terminal.shows("VIBES: 1 to review")
    assert not (tmp_path / "owned").exists()
