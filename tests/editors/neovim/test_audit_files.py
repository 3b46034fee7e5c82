"""The audit files of the demo: lenses, definitions, hovers and folds in the log, and its policy while it is edited."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.neovim.conftest import NEW, Open

INIT = "vim.g.vibes = { code_lens = true }\n"
SEARCH = "vim.fn.cursor(1, 1) vim.fn.search('{}') vim.cmd('normal! {}l')"
FILE = "return vim.fn.expand('%:t')"
FOLDS = "return vim.fn.foldclosedend(1) - vim.fn.foldclosed(1)"
MESSAGES = "return vim.tbl_map(function(each) return each.message end, vim.diagnostic.get(0))"


def test_the_log_leads_to_entries_and_lines_and_the_policy_explains_itself(
    open_neovim: Open, tmp_path: Path
) -> None:
    root = build(tmp_path / "shop").root
    editor = open_neovim(NEW, root, ".ai-audit/annotations.jsonl", INIT, size=(150, 40))
    editor.until(editor.is_attached, "the server")
    editor.terminal.shows("now at web/app.ts:1-11, exact")

    def ask(place: str, right: int, request: str) -> None:
        editor.lua(SEARCH.format(place, right))
        editor.command(f"lua vim.lsp.buf.{request}()")

    def opened(name: str) -> None:
        editor.until(lambda: editor.lua(FILE) == name, name)

    ask('"session_id"', 14, "hover")
    editor.until(lambda: "App" in editor.floats(), "what the session is about")
    editor.terminal.keys("Escape")
    ask('"command_hash"', 17, "definition")
    opened("manifest.json")
    assert '"type":"command"' in str(editor.lua("return vim.api.nvim_get_current_line()"))
    editor.command("edit .ai-audit/annotations.jsonl")
    ask('"file_path"', 1, "definition")
    opened("app.ts")
    editor.command("edit .ai-audit/annotations.jsonl")
    editor.command("set foldmethod=expr foldexpr=v:lua.vim.lsp.foldexpr() foldlevel=0")
    editor.until(lambda: editor.lua(FOLDS) == 3, "the fold of the first session")

    editor.command("edit .ai-audit/config.json")
    editor.until(editor.is_attached, "the server")
    editor.command("set nofoldenable")
    ask("assurance_level", 1, "hover")
    editor.until(lambda: 'default "medium"' in editor.floats(), "the default of the member")
    editor.terminal.keys("Escape")
    editor.go_to(1)
    editor.terminal.text('o"')
    editor.terminal.keys("C-x", "C-o")
    editor.terminal.shows("exclude_patterns", "array of string")
    editor.terminal.keys("Escape")
    editor.command("normal! u")
    editor.command('%s/"assurance_level": *"[a-z]*"/"assurance_level": "huge"/')
    editor.until(
        lambda: "assurance_level: expected low, medium or high" in str(editor.lua(MESSAGES)),
        "the finding",
    )
    assert "[ERROR]" not in editor.log()
