"""A coding agent edits the file that is open: its lines are marked while it still works."""

from __future__ import annotations

from pathlib import Path

from tests.editors.agent_edits import ALL_LINES, FILE, FIRST_LINES, PROMPT, agent_that_edits
from tests.editors.vscode.conftest import Open


def test_an_agents_edit_is_marked_with_its_prompt(open_window: Open, tmp_path: Path) -> None:
    with agent_that_edits(tmp_path / "sandbox") as agent:
        code = open_window(agent.project)
        code.open_file(FILE)
        agent.is_begun.set()
        code.until(lambda: code.marks().keys() == FIRST_LINES, f"marks on {FIRST_LINES}")
        agent.is_first_seen.set()
        code.until(lambda: code.marks().keys() == ALL_LINES, f"marks on {ALL_LINES}")
        print(f"VS Code marks Codex's edit after {agent.seconds():.2f} s")  # noqa: T201
        code.go_to(2)
        code.until(lambda: PROMPT in code.painted(2), "the prompt at the line's end")
        assert "gpt-6.1-sol" in code.hover(24, 6, PROMPT)
