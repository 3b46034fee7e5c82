"""Beside other plugins: gitsigns shows git's changes in the same file, lazy.nvim loads ours.

Both plugins are in no package index: where `make editors` cannot fetch them, these tests are skipped, in CI too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.editors.neovim.program import PLUGIN
from tests.requirements import REPOSITORY

PLUGINS = REPOSITORY / ".tools/neovim-plugins"
GITSIGNS = """
vim.o.signcolumn, vim.o.laststatus = 'yes:2', 2
vim.o.statusline = "%f %=[%{get(b:,'gitsigns_status','')}] [%{get(b:,'vibes_status','')}]"
require('gitsigns').setup({
  current_line_blame = true,
  current_line_blame_opts = { delay = 1 },
  on_attach = function(bufnr)
    vim.keymap.set('n', ']c', function() require('gitsigns').nav_hunk('next') end, { buffer = bufnr })
    vim.keymap.set({ 'o', 'x' }, 'ih', require('gitsigns').select_hunk, { buffer = bufnr })
  end,
})
"""
LINE = "return vim.fn.line('.')"


def require_plugin(name: str) -> Path:
    """Return the folder of a plugin; skip the test where it could not be fetched."""
    folder = PLUGINS / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not in .tools: `make editors` fetches it where it can be reached")
    return folder


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_gitsigns_and_vibes_share_signs_mappings_and_status_line(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    gitsigns = require_plugin("gitsigns.nvim")
    workspace = build(tmp_path / "shop")
    mappings = block("neovim.md", "Mappings", "lua")
    editor = open_neovim(
        suite, workspace.root, "src/auth.py", mappings + GITSIGNS, plugins=[gitsigns]
    )
    editor.until(lambda: editor.signs().get(27) == "│", "our signs as git's history has them")
    edit = "    return len(password) >= 12  and  password.lower() != password"
    editor.lua("vim.api.nvim_buf_set_lines(0, 19, 20, false, { ..., '    # was here' })", edit)
    editor.command("write")
    editor.until(lambda: editor.signs().get(20) == "┆", "our sign of an edited line")
    editor.until(lambda: editor.signs().get(24) == "■", "our sign below, moved down")
    status = re.compile(r"\[\+\d+ ~\d+\] \[AI \d+% · \d to review\]")
    editor.until(lambda: status.search(editor.terminal.screen()), "both in the status line")

    def row(line: int) -> str:
        found = re.search(rf"^.*\D{line} .*$", editor.terminal.screen(), re.MULTILINE)
        return found[0] if found else ""

    editor.until(lambda: {"┃", "┆"} <= set(row(20)), "both signs beside the changed line")
    assert "│" in row(18)
    assert "┃" not in row(18)
    assert "■" in row(24)

    editor.go_to(1)
    editor.terminal.text("]v")
    editor.until(lambda: editor.lua(LINE) == 13, "]v to go to the first lines of an AI")
    editor.go_to(1)
    editor.terminal.text("]c")
    editor.until(lambda: editor.lua(LINE) == 20, "]c to go to the first change")
    editor.until(
        lambda: "AI: claude-opus-4-5" in row(20) and "Not Committed Yet" in row(20),
        "both texts at the end of the line",
    )
    for blame, title in (("Gitsigns blame", "Not Committed Yet"), ("Vibes blame", "VIBES blame")):
        editor.command(blame)
        editor.terminal.shows(title)
        editor.terminal.shows("def hash_password")
        editor.command("only")
    assert "rror" not in editor.lua("return vim.fn.execute('messages')")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_the_lazy_snippet_loads_the_plugin_with_its_options(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    lazy = require_plugin("lazy.nvim")
    workspace = build(tmp_path / "shop")
    spec = (
        block("neovim.md", "The plugin", "lua")
        .replace("~/.local/share/vibes.nvim", str(PLUGIN))
        .replace('line_text = "line"', 'line_text = "all"')
    )
    assert str(PLUGIN) in spec
    init = f"""
        vim.opt.rtp:prepend('{lazy}')
        local spec = (function() {spec} end)()
        require('lazy').setup({{ spec }}, {{ change_detection = {{ enabled = false }}, rocks = {{ enabled = false }} }})
    """
    editor = open_neovim(suite, workspace.root, "src/auth.py", init, has_plugin=False)
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.until(lambda: "AI: claude-opus-4-5" in editor.painted(13), "the option line_text")
    assert "AI: claude-opus-4-5" in editor.painted(23)
    editor.command("Vibes")
    editor.terminal.shows("VIBES commands")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_the_options_of_the_lazy_snippet_are_valid_and_count_when_set_late(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    """As a plugin manager does: the plugin is loaded after the file is open, then `setup` is called."""
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", has_plugin=False)
    spec = block("neovim.md", "The plugin", "lua").replace("return {", "SPEC = {", 1)
    editor.lua(spec)
    editor.lua("SAID = {} vim.notify = function(message) table.insert(SAID, message) end")
    load = f"""
        vim.opt.rtp:prepend('{PLUGIN}')
        vim.cmd.runtime('plugin/vibes.lua')
        SPEC.opts.settings = {{ codeLens = {{ enable = false }} }}
        require(SPEC.main).setup(SPEC.opts)"""
    editor.lua(load)
    editor.until(lambda: editor.signs().get(23) == "■", "signs in the file that was open")
    settings = "return vim.lsp.get_clients({ bufnr = 0 })[1].config.init_options"
    assert editor.lua(settings) == {"codeLens": {"enable": False}}
    assert editor.lua("return SAID") == []
