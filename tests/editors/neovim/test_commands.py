"""What `:Vibes` does, as typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.demo.workspace import build
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.editors.recorded import newest

AUTHOR = """vim.g.vibes = {
  settings = { reviewer = 'Ada Example' },
  tool = { name = 'Some Tool', version = '1.0' },
  model = { name = 'some-model', version = '2026-01' },
}
"""


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_what_was_asked_and_what_is_known_opens_in_a_window(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py")
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.go_to(24)
    editor.command("Vibes prompt")
    editor.terminal.shows(
        "VIBES prompt", "Store passwords safely. Use what the standard library has."
    )
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")
    editor.command("Vibes history")
    editor.terminal.shows("VIBES history", "log line", "Records")
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")
    editor.command("Vibes changes HEAD~2..HEAD")
    editor.terminal.shows("VIBES changes", "AI lines of a change", "valid_email")
    editor.terminal.keys("q")
    editor.until(lambda: editor.lua("return #vim.api.nvim_list_wins()") == 1, "it to close")
    editor.go_to(1)
    editor.command("Vibes prompt")
    editor.terminal.shows("nothing is recorded for this line")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_what_waits_is_a_list_to_work_through(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", AUTHOR)
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.command("Vibes review")
    editor.terminal.shows(
        "VIBES: 5 to review",
        "hash_password · 0.84 critical · claude-opus-4-5 · ",
        "0.77 high · gpt-5-mini",
    )
    first, *_ = editor.lua(
        "return vim.tbl_map(function(e) return { e.lnum, e.type } end, vim.fn.getqflist())"
    )
    assert first == [23, "E"]

    editor.command("cfirst")
    editor.until(
        lambda: editor.lua("return vim.fn.line('.')") == 23, "the cursor at the riskiest place"
    )
    editor.command("Vibes review rejected Argon2 it shall be.")
    editor.until(
        lambda: (
            editor.signs().get(23) == "■"
            and any("rejected" in problem for _, problem in editor.problems())
        ),
        "the verdict in the problem",
    )
    editor.terminal.shows("VIBES: 4 to review")
    edge = newest(workspace.audit, "reviewed_by")
    assert (edge["metadata"]["verdict"], edge["metadata"]["note"]) == (
        "rejected",
        "Argon2 it shall be.",
    )


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_words_are_completed_and_wrong_ones_named(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    (tmp_path / "a.txt").write_text("twice\n", encoding="utf-8")
    (tmp_path / "b.py").touch()
    editor = open_neovim(suite, tmp_path, "a.txt")
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    names = editor.lua("return require('vibes.command').names()")
    assert editor.lua(complete, "Vibes ") == names == sorted(names)
    assert editor.lua(complete, "Vibes re") == ["record", "remap", "review"]
    assert editor.lua(complete, "'a,'bVib rev") == ["review"]
    assert editor.lua(complete, "1,2Vibes review a") == ["approved"]
    assert editor.lua(complete, "Vibes next ") == ["review"]
    assert editor.lua(complete, "Vibes claims ") == ["all"]
    assert editor.lua(complete, "'<,'>Vibes pro") == ["prompt", "propose"]
    assert editor.lua(complete, "Vibes session ") == ["start", "end"]
    assert editor.lua(complete, "Vibes record de") == ["delete", "decision", "delegation"]
    assert editor.lua(complete, "Vibes record relation c") == ["caused_by"]
    assert editor.lua(complete, "Vibes record read a.p b") == ["b.py"]
    assert editor.lua(complete, "Vibes record function ") == ["twice"], "the word at the cursor"
    assert editor.lua(complete, "Vibes toggle ") == ["lens", "signs", "text"]
    assert editor.lua(complete, "Vibes prompt ") == []
    assert editor.lua(complete, "Vibes nothing ") == []
    editor.command("Vibes nothing")
    editor.terminal.shows("unknown command :Vibes nothing; expected blame, changes")
    editor.command("Vibes review")
    editor.terminal.shows("no server runs: see :checkhealth vibes")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_the_bare_command_lists_what_there_is_and_runs_it(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", AUTHOR, size=(80, 24))
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.command("Vibes")
    screen = editor.terminal.shows("VIBES commands · AI 44% · 1 to review", "<CR> run")
    for name in editor.lua("return require('vibes.command').names()"):
        assert f":Vibes {name} " in screen
    editor.terminal.keys("/Vibes review", "Enter", "Enter")
    editor.terminal.shows("VIBES: 5 to review")
    editor.command("cclose")
    editor.command("Vibes")
    editor.terminal.shows("<CR> run")
    editor.terminal.keys("/Vibes record", "Enter", "Enter")
    editor.terminal.shows("\n:Vibes record")
    editor.terminal.keys("Escape")
