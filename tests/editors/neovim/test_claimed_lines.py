"""Signs and share of lines whose claim is not verified."""

from __future__ import annotations

import pytest

from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.server.project import STORY, Project


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_what_is_only_claimed_looks_different_and_does_not_count_in_the_share(
    open_neovim: Open, project: Project, suite: str
) -> None:
    project.line("a.py", 4, 7, text=STORY)
    project.line("a.py", 10, 12)
    project.file("a.py")
    editor = open_neovim(suite, project.root, "a.py")
    signs = {4: "AI", 5: "│", 6: "│", 7: "│", 10: "A?", 11: "¦", 12: "¦"}
    editor.until(lambda: editor.signs() == signs, "the signs")
    assert (
        editor.lua("return require('vibes').statusline()") == "AI 31% · 23% claimed · 2 to review"
    )
    editor.go_to(10)
    editor.until(lambda: "AI (claimed): " in editor.painted(10), "text at the end of the line")
