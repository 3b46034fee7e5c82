"""A coding agent edits the file that is open: its lines are marked while it still works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.agent_edits import ALL_LINES, FILE, FIRST_LINES, PROMPT, agent_that_edits
from tests.editors.neovim.conftest import NEW, STABLE, Open

RELOADING = """
vim.o.autoread = true
vim.fn.timer_start(200, function() vim.cmd('silent! checktime') end, { ['repeat'] = -1 })
"""


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_an_agents_edit_is_marked_with_its_prompt(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    with agent_that_edits(tmp_path / "sandbox") as agent:
        editor = open_neovim(suite, agent.project, FILE, RELOADING)
        editor.until(editor.is_attached, "the server")
        agent.is_begun.set()
        editor.until(lambda: editor.signs().keys() == FIRST_LINES, f"signs on {FIRST_LINES}")
        agent.is_first_seen.set()
        editor.until(lambda: editor.signs().keys() == ALL_LINES, f"signs on {ALL_LINES}")
        print(f"Neovim ({suite}) marks Codex's edit after {agent.seconds():.2f} s")  # noqa: T201
        editor.go_to(2)
        editor.until(lambda: f"“{PROMPT}" in editor.painted(2), "the prompt at the line's end")
        editor.hover(24, 1, PROMPT, "gpt-6.1-sol")
