"""Our example records what Neovim's own inline completion puts in, by a server that knows nothing of us."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, Open
from tests.editors.neovim.program import PLUGIN


def test_what_is_accepted_is_recorded(open_neovim: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    completer = Path(__file__).with_name("completer.lua").read_text(encoding="utf-8")
    init = completer + block("neovim.md", "Neovim's own inline completion", "lua")
    editor = open_neovim(
        NEW,
        workspace.root,
        "src/auth.py",
        init,
        modules=[PLUGIN / "examples/inline_completion.lua"],
    )
    editor.until(lambda: editor.signs().get(23) == "■", "signs")

    editor.terminal.text("Godef ")
    editor.terminal.shows("def twice(x):")  # offered
    assert "twice" not in editor.lua(
        "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')"
    )
    editor.terminal.keys("Tab")
    editor.until(
        lambda: editor.lua("return vim.fn.getline(29)") == "    return 2 * x",
        "the completion in the text",
    )
    editor.terminal.keys("Escape")

    hover = editor.hover(29, 6, "some-completer")
    assert "unchanged since" in hover or "as recorded" in hover, hover
    editor.until(lambda: editor.signs().get(28) is not None, "a sign on what was recorded")
