"""The blame window: blocks with model, age, risk and prompt beside their lines, and keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.neovim.conftest import NEW, STABLE, Open

BESIDE = "return vim.api.nvim_buf_get_lines(vim.fn.winbufnr(1), 0, -1, false)"
WINDOWS = "return #vim.api.nvim_list_wins()"


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_each_block_is_described_once_beside_its_lines(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", size=(80, 35))
    editor.until(lambda: editor.signs().get(27) == "│", "the signs as git's history has them")
    editor.go_to(24)
    editor.command("Vibes blame")
    screen = editor.terminal.shows("VIBES blame", "? shows the keys")
    beside = {row + 1: text for row, text in enumerate(editor.lua(BESIDE)) if text}
    assert list(beside) == [*range(13, 21), 23, 24, 25, 27]
    assert beside[13].startswith("○ claude-opus-4-5 · ")
    assert beside[13].endswith(" months ago")
    assert beside[14] == "│ risk 0.24 low · approved"
    assert beside[15].startswith("│ “Create sign-up checks")
    assert beside[23].startswith("■ claude-opus-4-5 · ")
    assert beside[24] == "│ risk 0.84 critical · to review"
    assert beside[27] == "│"
    assert max(map(len, beside.values())) <= 36, "the window takes more than 45 % of the screen"
    row = next(row for row in screen.splitlines() if "def hash_password" in row)
    assert row.startswith("■ claude-opus-4-5 · "), "a block stands beside another line"

    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one' })")
    editor.until(lambda: editor.lua(BESIDE)[23].startswith("■"), "the blocks to follow an edit")

    editor.command("wincmd h")
    editor.go_to(25)
    editor.terminal.keys("?")
    editor.terminal.shows("VIBES keys", "Show prompt and history", "Close")
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the keys to close")
    editor.terminal.keys("Enter")
    editor.terminal.shows("VIBES annotation", "Store passwords safely")
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the annotation to close")
    editor.terminal.keys("q")
    editor.until(lambda: editor.lua(WINDOWS) == 1, "the blame window to close")
    assert editor.lua("return { vim.wo.wrap, vim.wo.scrollbind }") == [True, False]


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_the_command_again_closes_it_from_either_window(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py")
    editor.until(editor.signs, "signs")
    for window in ("h", "l"):
        editor.command("Vibes blame")
        editor.terminal.shows("VIBES blame")
        editor.command(f"wincmd {window}")
        editor.command("Vibes blame")
        editor.until(lambda: editor.lua(WINDOWS) == 1, "the window to close")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_a_changes_window_leads_to_the_code(open_neovim: Open, tmp_path: Path, suite: str) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py")
    editor.until(editor.signs, "signs")
    editor.command("Vibes changes HEAD~2..HEAD")
    editor.terminal.shows("VIBES changes", "? shows the keys")
    editor.lua("vim.fn.search('Return the text of the mail')")
    editor.terminal.keys("Enter")
    editor.until(
        lambda: editor.lua("return vim.fn.expand('%:t')") == "mail.py", "the file of the change"
    )
    assert editor.lua("return vim.fn.getline('.')") == '    """Return the text of the mail."""'
    editor.command("wincmd p")
    editor.go_to(1)
    editor.terminal.keys("Enter")
    editor.terminal.shows("vibes: no code at the cursor")
