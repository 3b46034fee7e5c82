"""What other parts of a configuration build on: mappings, variables, an event, errors that say what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.documented import block
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.server.project import STORY, Project

LINE = "return vim.fn.line('.')"


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_mappings_of_on_attach_move_between_ai_lines(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    mappings = "vim.g.mapleader = ' '\n" + block("neovim.md", "Mappings", "lua")
    editor = open_neovim(suite, workspace.root, "src/auth.py", mappings)
    editor.until(lambda: editor.signs().get(27) == "│", "the signs as git's history has them")

    def press(keys: str, line: int) -> None:
        editor.terminal.text(keys)
        editor.until(lambda: editor.lua(LINE) == line, f"{keys} to go to line {line}")

    editor.go_to(1)
    press("]v", 13)
    press("]v", 23)
    editor.terminal.shows("vibes: 2 of 3")
    press("]v", 27)
    press("]v", 13)
    press("[v", 27)
    press("gg2]v", 23)
    press("gg]V", 23)
    press("gg[V", 27)
    press("''", 1)
    editor.terminal.text("]vVivd")
    editor.until(lambda: editor.lua("return vim.fn.line('$')") == 19, "the lines to be deleted")
    editor.terminal.text("u")
    editor.until(lambda: editor.lua("return vim.fn.line('$')") == 27, "the lines to come back")
    editor.until(lambda: editor.signs().get(13) == "○✓", "their signs to come back")
    editor.go_to(15)
    editor.terminal.text(" vv")
    editor.terminal.shows("VIBES annotation", "Create sign-up checks")
    editor.terminal.keys("q")
    editor.command("set nowrapscan")
    editor.go_to(27)
    editor.terminal.text("]v")
    editor.terminal.shows("vibes: no AI lines below")
    editor.command(f"edit {workspace.root}/README.md")
    answered = "return require('vibes.provenance').get(vim.api.nvim_get_current_buf()) ~= nil"
    editor.until(lambda: editor.lua(answered), "the server's answer")
    editor.command("Vibes next")
    editor.terminal.shows("vibes: no AI lines in this file")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_status_is_in_buffer_variables_and_an_event(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    listening = """
        UPDATES = {}
        vim.api.nvim_create_autocmd('User', {
          pattern = 'VibesUpdate',
          callback = function(event) table.insert(UPDATES, vim.b[event.data.buffer].vibes_status or 'none') end,
        })
    """
    status = f"vim.cmd([[{block('neovim.md', 'Status line', 'vim').strip()}]])\n"
    editor = open_neovim(suite, workspace.root, "src/auth.py", listening + status)
    editor.terminal.shows("AI 44% · 1 to review")
    assert editor.lua("return vim.b.vibes_status_dict") == {
        "lines": 27,
        "ai": 12,
        "claimed": 0,
        "edited": 0,
        "review": 1,
        "lost": 0,
        "root": str(workspace.root),
    }
    assert editor.lua("return UPDATES[#UPDATES]") == "AI 44% · 1 to review"
    editor.lua("vim.lsp.stop_client(vim.lsp.get_clients({ bufnr = 0 }))")
    editor.until(lambda: editor.lua("return UPDATES[#UPDATES]") == "none", "the last event")
    editor.terminal.until(
        lambda: "to review" not in editor.terminal.screen(), "the status to be empty"
    )


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_lost_annotations_are_in_the_health_report_and_not_on_line_1(
    open_neovim: Open, project: Project, suite: str
) -> None:
    project.line("a.py", 4, 7, text=STORY)
    gone = "x = 1\n" * 4
    lost = project.line("a.py", 1, 4, text=gone, prompt=project.prompt("Count to four."))
    project.file("a.py")
    editor = open_neovim(suite, project.root, "a.py")
    editor.until(
        lambda: editor.lua("return (vim.b.vibes_status_dict or {}).lost") == 1, "the status"
    )
    editor.until(lambda: editor.signs().get(4), "signs")
    assert 1 not in [line for line, _ in editor.problems()]
    editor.command("checkhealth vibes")
    editor.terminal.shows(
        f"annotation {lost[:8]} was not found", "recorded at lines 1-4", "“Count to four.”"
    )


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_wrong_calls_get_a_message_and_no_traceback(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    failing = "vim.g.vibes = { on_attach = function() error('my own mistake') end }\n"
    editor = open_neovim(suite, workspace.root, "src/auth.py", failing)
    editor.terminal.shows("vibes: the option on_attach failed", "my own mistake")
    editor.until(editor.signs, "signs in spite of it")
    calls = {
        "provenance_at(0)": "line must be a number, not nil (:help vibes.provenance_at())",
        "provenance_at(999, 1)": "bufnr must be a valid buffer, not 999",
        "annotations_at('a', 1)": 'bufnr must be a valid buffer, not "a"',
        "setup('x')": "options must be a table, not a string",
        "setup({ on_attach = 1 })": "on_attach must be a function, not a number",
        "record_annotation(0)": "annotation must be a table, not nil",
        "record_annotation(0, {}, 1)": "callback must be a function, not 1",
        "record_annotation(0, { prompt = print })": "nothing was done: ",
        "record_annotation(0, { range = 1 })": "nothing was done: ",
        "start_session(0, nil, nil)": "session must be a table, not nil",
        "end_session(0, 'nothing')": "nothing was done: ",
        "record_inline_completion(12345, {})": "bufnr must be a valid buffer, not 12345",
        "statusline(999)": "",
    }
    editor.lua("SAID = {} vim.notify = function(message) table.insert(SAID, message) end")
    for call, expected in calls.items():
        editor.lua("SAID = {}")
        editor.lua(f"require('vibes').{call}")
        if expected:
            said = editor.until(lambda: editor.lua("return SAID[1]"), f"a message about {call}")
            assert expected in said
            assert "traceback" not in said
            assert ".lua:" not in said
    editor.lua("GOT = nil require('vibes').start_session(0, 5, function(err) GOT = err end)")
    assert editor.lua("return GOT").startswith("session must be a table, not 5")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_all_that_is_known_of_a_line_is_returned_owner_first(
    open_neovim: Open, project: Project, suite: str
) -> None:
    older = project.line("a.py", 4, 7, text=STORY)
    newer = project.line("a.py", 5, 6, text=STORY)
    project.file("a.py")
    editor = open_neovim(suite, project.root, "a.py")
    editor.until(editor.signs, "signs")
    ids = "return vim.tbl_map(function(p) return p.annotationId end, require('vibes').annotations_at(0, ...))"
    editor.until(lambda: editor.lua(ids, 5) == [newer, older], "both annotations")
    assert editor.lua(ids, 4) == [older]
    assert editor.lua(ids, 1) == []


def test_a_log_of_many_megabytes_is_not_sent(open_neovim: Open, project: Project) -> None:
    """Neovim would copy it, and compare the copies at each change: seconds in which it is frozen."""
    project.annotated()
    log = project.root / ".ai-audit/annotations.jsonl"
    record = log.read_bytes().splitlines(keepends=True)[-1]
    log.write_bytes(record * (50 * 2**20 // len(record) + 1))
    editor = open_neovim(NEW, project.root, "a.py", size=(100, 20))
    editor.until(editor.is_attached, "the server")
    editor.command("edit .ai-audit/annotations.jsonl")
    editor.terminal.shows("vibes: nothing is shown in annotations.jsonl: it has more than 50 MB")
    assert not editor.is_attached()
