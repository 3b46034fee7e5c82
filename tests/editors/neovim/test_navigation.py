"""Provenance by Neovim's own functions, without our plugin: hints, references, call hierarchy, symbols, definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, Open
from tests.server.project import STORY, Project

if TYPE_CHECKING:
    from tests.editors.neovim.program import Neovim

QUICKFIX = "return vim.tbl_map(function(each) return vim.fn.fnamemodify(vim.fn.bufname(each.bufnr), ':t') .. ':' .. each.lnum .. ' ' .. each.text end, vim.fn.getqflist())"


def listed(editor: Neovim) -> list[str]:
    """Return the entries of the quickfix list: file, line and text."""
    found = editor.lua(QUICKFIX)
    return list(found) if isinstance(found, list) else []


def ask(editor: Neovim, function: str, *expected: str) -> list[str]:
    """Call a function of `vim.lsp.buf`, and wait until its list has some entries."""
    editor.lua("vim.fn.setqflist({})")
    editor.command(f"lua vim.lsp.buf.{function}")

    def complete() -> list[str] | None:
        found = listed(editor)
        has_all = all(any(each in entry for entry in found) for each in expected)
        return found if has_all else None

    return editor.until(complete, f"{expected} in the list of {function}")


def test_provenance_is_there_by_the_editors_own_functions(
    open_neovim: Open, project: Project
) -> None:
    session = project.session_start(description="Digests")
    prompt = project.prompt("Compare two payloads by their digest.")
    first = project.line("a.py", 4, 7, text=STORY, prompt=prompt, session=session)
    project.line("b.py", 10, 13, text=STORY, prompt=prompt, session=session)
    project.review(first)
    project.file("b.py", "# above\n" + STORY)
    project.file("a.py")
    setup = block("neovim.md", "Without the plugin: 0.11 and newer", "lua")
    editor = open_neovim(NEW, project.root, "a.py", setup, has_plugin=False)
    editor.until(editor.is_attached, "the server")

    editor.command("lua vim.lsp.inlay_hint.enable()")
    editor.terminal.shows("def digest(payload: bytes) -> str: AI: claude-opus-4-5")

    editor.go_to(5)
    assert len(ask(editor, "references()", "a.py:4", "b.py:11")) == 2
    editor.terminal.shows("a.py|4-7 col 1", "b.py|11-14 col 1")
    editor.command("cclose")
    editor.go_to(5)
    ask(editor, "incoming_calls()", "Compare two payloads", "session: Digests")
    editor.terminal.shows("prompt: Compare two payloads by their digest.", "session: Digests")
    editor.command("cclose")
    editor.go_to(5)
    ask(editor, "outgoing_calls()", "session")
    editor.command("cclose")
    symbols = ask(editor, "workspace_symbol('payloads digest')", "Compare two payloads")
    assert len(symbols) == 1
    editor.command("cclose")

    editor.go_to(6)
    editor.command("lua vim.lsp.buf.definition()")
    editor.until(
        lambda: editor.lua("return vim.fn.expand('%:t')") == "annotations.jsonl", "the record"
    )
    assert first in str(editor.lua("return vim.api.nvim_get_current_line()"))
