"""Where there is no audit trail nothing runs; and what is switched off is not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, STABLE, Open


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_no_server_starts_where_there_is_no_trail(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "plain/.ai-audit").write_text("a file, no folder\n", encoding="utf-8")
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, tmp_path, "plain/a.py")
    assert editor.lua("return vim.bo.filetype") == "python"
    editor.command(f"split {workspace.root}/src/auth.py")
    editor.until(editor.is_attached, "the server, in a file that has a trail")
    editor.command("wincmd p")
    editor.until(lambda: editor.lua("return vim.fn.expand('%:t')") == "a.py", "the first window")
    assert not editor.is_attached()
    assert editor.lua("return require('vibes').statusline()") == ""


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_marks_can_be_switched(open_neovim: Open, tmp_path: Path, suite: str) -> None:
    workspace = build(tmp_path / "shop")
    status = f"vim.cmd([[{block('neovim.md', 'Status line', 'vim').strip()}]])\n"
    editor = open_neovim(suite, workspace.root, "src/auth.py", status)
    editor.terminal.shows("AI 44% · 1 to review", "○✓ 13")
    editor.go_to(13)
    editor.until(
        lambda: "AI: claude-opus-4-5, " in editor.painted(13),
        "text at the end of the cursor's line",
    )

    editor.command("Vibes toggle")
    editor.until(lambda: editor.signs() == {} and "·" not in editor.painted(13), "all marks to go")
    editor.command("Vibes toggle")
    editor.until(lambda: editor.signs().get(23) == "■", "the marks to come back")
    editor.command("Vibes toggle signs")
    editor.until(lambda: editor.signs() == {}, "the signs to go")
    assert (
        editor.lua("return require('vibes').provenance_at(0, 13).model.name") == "claude-opus-4-5"
    )
    editor.command("Vibes toggle text")
    editor.until(lambda: "· edited since ·" in editor.painted(23), "text at every range")
    assert "AI: claude-opus-4-5, " in editor.painted(13)
    editor.command("Vibes toggle text")
    editor.until(lambda: "·" not in editor.painted(13) + editor.painted(23), "no text")
    editor.command("Vibes toggle lens")
    editor.terminal.shows("critical risk · not reviewed")
    editor.command("Vibes toggle lens")
    editor.terminal.until(
        lambda: "critical risk" not in editor.terminal.screen(), "the lenses to go"
    )
