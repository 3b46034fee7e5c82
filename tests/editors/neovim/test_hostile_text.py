"""What anybody may have written into a prompt is shown as text: it is neither obeyed nor rendered, and hides nothing."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Final

import pytest

from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.editors.neovim.program import Neovim
from tests.trails.writer import TrailWriter

HOSTILE: Final = {
    "statusline": "%{system('touch owned')} %{%system('touch owned')%} %!system('touch owned') %#Error# %= %999X",
    "modeline": "vim: set foldmethod=marker nomodifiable tw=3:",
    "script": "<Cmd>silent !touch owned<CR> | call system('touch owned') `=system('touch owned')` ]] os.execute('touch owned') --[[",
    "terminal": "\x1b[31mred\x1b]8;;http://example.org\x07link\x1b]8;;\x07\x9b2J\x1b[2J\x1b]0;title\x07",
    "controls": "a\x00b\x07c\x08d\x7fe\x85f\u2028g\u2029h\r\n\ti",
    "direction": "user\u202e txt.exe\u2066 \u2069 \u200f",
    "unseen": "a\u200bb\u200cc\u2060d\ufeffe\u00adf\u034fg\u3164h\u180ei hi\U000e0041\U000e0042\U000e007f\U000e0100",
    "markup": "`](command:x) <b>bold</b> **loud** ![](http://example.org/x.png) $(id)",
    "wide": "字" * 5_000 + "👩‍👩‍👧" * 500 + "e" + "\u0301" * 5_000,
    "long": "W" * 200_000,
    "lines": "one\n" * 5_000,
}
UNSEEN: Final = {"Cc", "Cf", "Cs", "Zl", "Zp"}
TEXTS: Final = """
    local out = vim.tbl_map(function(entry) return entry.text end, vim.fn.getqflist())
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('vibes'), 0, -1, { details = true })) do
      if mark[4].virt_text then table.insert(out, mark[4].virt_text[1][1]) end
    end
    return out"""


def assert_inert(texts: list[str], longest: int) -> None:
    for text in texts:
        unseen = [hex(ord(each)) for each in text if unicodedata.category(each) in UNSEEN]
        assert unseen == [], ascii(text)
        assert len(text) <= longest


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_hostile_prompts_are_inert(open_neovim: Open, tmp_path: Path, suite: str) -> None:
    trail = TrailWriter(tmp_path, level="medium")
    trail.config(tracked_extensions=[".py"])
    text = "".join(f"x = {number}\n" for number in range(len(HOSTILE)))
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    for number, hostile in enumerate(HOSTILE.values(), 1):
        environment = trail.environment(model=hostile[:3000], tool=hostile[:3000])
        trail.line(
            "a.py", number, number, environment=environment, prompt=trail.prompt(hostile), text=text
        )
    status = (
        block("neovim.md", "Status line", "lua")
        + "vim.o.laststatus, vim.o.statusline = 2, '[%{%v:lua.vibes_status()%}]'\n"
    )
    editor = open_neovim(
        suite, tmp_path, "a.py", f"vim.g.vibes = {{ line_text = 'all' }}\n{status}"
    )

    editor.until(lambda: len(editor.lua(TEXTS)) == len(HOSTILE), "text at every line")
    editor.terminal.shows(
        "\\u001b[31mred",
        "user\\u202e txt.exe",
        "<b>bold</b> **loud**",
        "%{system(",
        "a\\u0000b\\u0007c",
    )
    editor.command("Vibes review")
    editor.terminal.shows(f"VIBES: {len(HOSTILE)} to review")
    texts = editor.lua(TEXTS)
    editor.command("cclose")
    editor.command("Vibes blame")
    editor.until(lambda: editor.lua("return #vim.api.nvim_list_wins()") == 2, "the window beside")
    beside = editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.winbufnr(1), 0, -1, false)")
    assert len(beside) == len(HOSTILE)
    editor.command("only")
    assert_inert([*texts, *beside], 300)
    assert (
        editor.lua("return vim.trim(vim.api.nvim_eval_statusline(vim.o.statusline, {}).str)")
        == f"[AI 100% · {len(HOSTILE)} to review]"
    )

    for number, name in enumerate(HOSTILE, 1):
        _opens(editor, number, name)
    assert not (tmp_path / "owned").exists()


SHOWN: Final = {
    "statusline": "%{system('touch owned')} %{%system('touch owned')%}",
    "modeline": "vim: set foldmethod=marker nomodifiable tw=3:",
    "script": "<Cmd>silent !touch owned<CR> | call system('touch owned')",
    "terminal": "\\u001b[31mred\\u001b]8;;http://example.org",
    "direction": "user\\u202e txt.exe",
    "markup": "`](command:x) <b>bold</b> **loud** ![](http://example.org/x.png) $(id)",
}
"""What is on the screen when a prompt is opened: all of it, nothing rendered."""


def _opens(editor: Neovim, line: int, name: str) -> None:
    """What opens in windows is no file, obeys no line in it, and stays on the screen."""
    for command in ("prompt", "history"):
        editor.go_to(line)
        editor.command(f"Vibes {command}")
        editor.terminal.shows(
            f"VIBES {command}", SHOWN.get(name, "") if command == "prompt" else ""
        )
        assert_inert(editor.floats().replace("\t", " ").split("\n"), 1 << 20)
        options = "return { vim.wo.foldmethod, vim.bo.textwidth, vim.bo.filetype, vim.bo.buftype, vim.bo.modifiable }"
        assert editor.lua(options) == ["manual", 0, "", "nofile", False], name
        editor.terminal.keys("q")
        editor.until(lambda: not editor.floats(), "the window to close")
    # Neovim gives a window too few rows for words that are longer than a row.
    on_screen = () if name in {"wide", "long"} else ("not reviewed",)
    assert "not reviewed" in editor.hover(line, 1, *on_screen)
