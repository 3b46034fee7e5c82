"""Prompt and history in a floating window whose keys act on the annotation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.editors.neovim.program import Neovim
from tests.editors.recorded import newest

REVIEWER = "vim.g.vibes = { settings = { reviewer = 'Ada Example' } }\n"
LENS = """
    local argument = { uri = vim.uri_from_bufnr(0), annotationIds = {} }
    for _, row in ipairs({ 13, 23 }) do
      table.insert(argument.annotationIds, require('vibes').provenance_at(0, row).annotationId)
    end
    local client = vim.lsp.get_clients({ bufnr = 0 })[1]
    local command = { title = '2 AI edits', command = 'vibes.ui.showAnnotations', arguments = { argument } }
    if client.exec_cmd then client:exec_cmd(command) else client:_exec_cmd(command) end"""


@pytest.fixture(params=[STABLE, NEW])
def editor(open_neovim: Open, tmp_path: Path, request: pytest.FixtureRequest) -> Neovim:
    """Open the file with the risky function, the cursor in it."""
    workspace = build(tmp_path / "shop")
    editor = open_neovim(request.param, workspace.root, "src/auth.py", REVIEWER, size=(80, 40))
    editor.until(lambda: editor.signs().get(27) == "│", "the signs as git's history has them")
    editor.go_to(24)
    return editor


def test_keys_review_the_annotation(editor: Neovim, tmp_path: Path) -> None:
    audit = tmp_path / "shop/.ai-audit"
    editor.command("Vibes show")
    editor.terminal.shows("VIBES annotation", "Store passwords safely", "a approve · r reject")
    editor.terminal.keys("?")
    editor.terminal.shows("VIBES keys", "Reject, with a note", "Open the record in the audit log")
    editor.terminal.keys("q")
    editor.terminal.until(lambda: "VIBES keys" not in editor.terminal.screen(), "the keys to close")

    editor.terminal.keys("r")
    editor.answer("Why is it rejected?", "Argon2 it shall be.")
    editor.until(lambda: "rejected" in editor.floats(), "the rejection in the history")
    edge = newest(audit, "reviewed_by")
    assert (edge["metadata"]["verdict"], edge["metadata"]["note"]) == (
        "rejected",
        "Argon2 it shall be.",
    )
    editor.terminal.keys("a")
    editor.until(lambda: "approved" in editor.floats(), "the approval in the history")
    assert newest(audit, "reviewed_by")["metadata"]["verdict"] == "approved"
    editor.terminal.keys("Escape")
    editor.until(lambda: not editor.floats(), "the window to close")
    editor.until(lambda: editor.signs().get(23) == "■✓", "the sign to say so")


def test_keys_lead_to_commit_record_and_code(editor: Neovim) -> None:
    editor.command("Vibes show")
    editor.terminal.shows("c commit · o record")
    editor.terminal.keys("c")
    editor.terminal.shows("VIBES commit ", "src/auth.py", "def hash_password")
    editor.terminal.keys("q")
    editor.until(lambda: editor.lua("return #vim.api.nvim_list_wins()") == 1, "it to close")

    editor.command("Vibes show")
    editor.terminal.shows("c commit · o record")
    editor.go_to(3)
    editor.terminal.keys("Enter")
    editor.until(lambda: not editor.floats(), "the window to close")
    assert editor.lua("return vim.fn.line('.')") == 23

    editor.command("Vibes show")
    editor.terminal.shows("c commit · o record")
    editor.terminal.keys("o")
    editor.until(
        lambda: editor.lua("return vim.fn.expand('%:t')") == "annotations.jsonl", "the audit log"
    )
    assert '"line_start"' in editor.lua("return vim.fn.getline('.')")


def test_a_lens_of_several_annotations_opens_all_and_keys_act_on_the_one_at_the_cursor(
    editor: Neovim,
) -> None:
    editor.lua(LENS)
    editor.until(
        lambda: "Create sign-up checks" in editor.floats() and "Store pass" in editor.floats(),
        "both prompts",
    )
    editor.lua("vim.cmd('normal! gg') vim.fn.search('Store passwords')")
    editor.terminal.keys("Enter")
    editor.until(lambda: not editor.floats(), "the window to close")
    assert editor.lua("return vim.fn.line('.')") == 23

    editor.lua("require('vibes.annotation_window').open(0, { ('0'):rep(64) })")
    editor.until(lambda: "no annotation" in editor.floats(), "the reason")
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")
    editor.lua("require('vibes.annotation_window').open(0, { 7, false })")
    editor.terminal.shows("vibes: no annotation to show")


NEW_LINES = """
    vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'def twice(x):', '    return 2 * x' })
    require('vibes').record_annotation(0, {
      range = { start = { line = 27, character = 0 }, ['end'] = { line = 29, character = 0 } },
      action = 'create',
      tool = { name = 't', version = '1' },
      model = { name = 'm', version = '1' },
    })"""


def test_what_is_not_committed_has_no_commit_to_show(editor: Neovim) -> None:
    editor.lua(NEW_LINES)
    editor.until(lambda: editor.signs().get(28) is not None, "the sign of the new record")
    editor.go_to(28)
    editor.command("Vibes show")
    editor.terminal.shows("c commit")
    editor.terminal.keys("c")
    editor.terminal.shows("commit is not known")
