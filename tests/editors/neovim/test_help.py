"""The help file and the page say what there is: every command, option and function; `:checkhealth` says why nothing shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.requirements import REPOSITORY


def test_everything_is_in_the_help_file(open_neovim: Open, tmp_path: Path) -> None:
    editor = open_neovim(NEW, tmp_path, "a.txt")
    tags = set(editor.lua("vim.cmd('helptags ALL') return vim.fn.getcompletion('vibes', 'help')"))
    tags |= set(editor.lua("return vim.fn.getcompletion(':Vibes', 'help')"))
    page = (REPOSITORY / "docs/editors/neovim.md").read_text(encoding="utf-8")
    api = (REPOSITORY / "docs/plugin-authors.md").read_text(encoding="utf-8")

    for name in editor.lua("return require('vibes.command').names()"):
        assert f":Vibes-{name}" in tags
        assert f"Vibes {name}" in page
    for name in editor.lua(
        "local names = vim.tbl_keys(require('vibes.config').types) return names"
    ):
        assert f"vibes-option-{name}" in tags
        assert f"`{name}`" in page or f"  {name} = " in page
    for name in editor.lua("return vim.tbl_keys(require('vibes'))"):
        assert f"vibes.{name}()" in tags or f"vibes.{name}" in tags
        assert name in page or f"`{name}`" in api
    editor.command("help vibes-lua")
    editor.terminal.shows("require('vibes').statusline")


def test_the_options_on_the_page_are_the_defaults(open_neovim: Open, tmp_path: Path) -> None:
    plain = open_neovim(NEW, tmp_path, "a.txt")
    chosen = open_neovim(NEW, tmp_path, "b.txt", block("neovim.md", "Options", "lua"))
    options = "return require('vibes.config').options"
    assert chosen.lua(options) == plain.lua(options)
    assert "vibes" not in chosen.lua("return vim.fn.execute('messages')")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_health_says_why_nothing_shows(open_neovim: Open, tmp_path: Path, suite: str) -> None:
    workspace = build(tmp_path / "shop")
    (tmp_path / "elsewhere.py").write_text("x = 1\n", encoding="utf-8")
    editor = open_neovim(
        suite, workspace.root, "src/auth.py", "vim.g.vibes = { line_text = 'sometimes' }\n"
    )
    editor.until(editor.is_attached, "the server")
    editor.command("checkhealth vibes")
    editor.terminal.shows(
        'line_text must be "off", "line" or "all"', "vibes-lsp 0.", "src/auth.py: attached"
    )
    editor.command(f"edit {tmp_path}/elsewhere.py")
    editor.command("checkhealth vibes")
    editor.terminal.shows("so no server is started")

    lost = open_neovim(
        suite, workspace.root, "src/auth.py", "vim.g.vibes = { cmd = { 'no-such-program' } }\n"
    )
    lost.command("checkhealth vibes")
    lost.terminal.shows("no-such-program was not found")
