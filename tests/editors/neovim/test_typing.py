"""While somebody types, nothing that is shown is ever blank or beside its line: looked at after every key and every few milliseconds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.neovim.conftest import NEW, STABLE, Open

WATCH = """
    local found, namespace = {}, vim.api.nvim_create_namespace('vibes')
    local function look()
      local signs, text = {}, ''
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
        local line = vim.api.nvim_buf_get_lines(0, mark[2], mark[2] + 1, false)[1]
        if mark[4].sign_text then
          table.insert(signs, vim.trim(mark[4].sign_text) .. ' ' .. line:sub(1, 17))
        end
        if mark[4].virt_text then
          text = line:sub(1, 17) .. ': ' .. mark[4].virt_text[1][1]
        end
      end
      for name, lenses in pairs(vim.api.nvim_get_namespaces()) do
        if name:match('codelens:%d') then
          for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, lenses, 0, -1, { details = true })) do
            local chunks = mark[4].virt_text or mark[4].virt_lines[1]
            LENSES[chunks[#chunks][1]] = true
          end
        end
      end
      found[table.concat(signs, '\\n') .. '\\n\\n' .. text] = true
      WATCHED = WATCHED + 1
    end
    WATCHED, LENSES = 0, {}
    function SEEN() return vim.tbl_keys(found) end
    vim.api.nvim_create_autocmd({ 'TextChangedI', 'CursorMovedI' }, { callback = look })
    vim.uv.new_timer():start(0, 5, vim.schedule_wrap(look))
"""


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_signs_and_text_stay_with_their_lines_at_every_moment(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(
        suite,
        workspace.root,
        "src/auth.py",
        "vim.g.vibes = { code_lens = true, settings = { codeLens = { minimumBand = 'all' } } }\n",
    )
    editor.until(lambda: editor.signs().get(27) == "│", "the signs as git's history has them")
    editor.go_to(24, 8)
    editor.until(
        lambda: "“Store passwords" in editor.painted(24), "text at the end of the cursor's line"
    )
    editor.lua(WATCH)
    editor.until(lambda: editor.lua("return #SEEN()") == 1, "a first look")
    ((before),) = editor.lua("return SEEN()")
    signs, _, text = before.partition("\n\n")
    assert signs.splitlines()[8:] == [
        "■ def hash_password",
        '│     """Return wha',
        "│     salt = secret",
        '│     return f"{sal',
    ]
    assert text.startswith('    """Return wha: AI: claude-opus-4-5, ')
    assert " ago · edited since · " in text

    editor.command("normal! 2G")  # lines above: everything moves down
    editor.terminal.text("o# One more line,\n# and another one.")
    editor.until(lambda: editor.signs().get(25) == "■", "the sign two lines further down")
    editor.terminal.keys("Escape")
    away = {seen.partition("\n\n")[0] for seen in editor.lua("return SEEN()")}
    assert away == {signs}, "a sign was gone, or stood beside another line"
    lenses = editor.lua("return vim.tbl_keys(LENSES)")
    assert len(lenses) >= 2
    assert all(each.startswith("AI edit · ") for each in lenses), lenses

    editor.go_to(26, 8)
    editor.until(
        lambda: "“Store passwords" in editor.painted(26), "text at the end of the cursor's line"
    )
    editor.lua("vim.cmd('normal! 26G') " + WATCH)
    editor.terminal.text("A  ")
    editor.until(lambda: editor.lua("return vim.fn.getline(26)").endswith('"  '), "the spaces")
    editor.until(lambda: editor.signs().get(26) == "┆", "the line to count as edited")
    texts = {seen.partition("\n\n")[2] for seen in editor.lua("return SEEN()")}
    (shown,) = {text.partition(" · “")[0] for text in texts if text}
    assert re.fullmatch(
        r' {4}"""Return wha: AI: claude-opus-4-5, \d+ \w+ ago · edited since', shown
    )
    assert editor.lua("return WATCHED") > len("  ")

    editor.terminal.text("Never plain.")
    editor.until(lambda: 26 not in editor.signs(), "the line to be the edit's no longer")
