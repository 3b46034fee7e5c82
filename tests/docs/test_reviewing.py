"""The example in `docs/reviewing.md` works, and the page lists the keys of the dialogue."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY
from vibes_lsp.cli.agents import VARIABLES
from vibes_lsp.cli.review_dialogue import HELP

PAGE = (REPOSITORY / "docs" / "reviewing.md").read_text(encoding="utf-8")


def test_the_shell_snippet_has_an_ai_review_what_still_waits_for_a_person(tmp_path: Path) -> None:
    (snippet,) = code_blocks(PAGE, "sh")
    run = run_shell(snippet, tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "approved by AI" in run.stdout.splitlines()[-1]


def test_every_key_and_every_mark_of_an_agent_is_listed() -> None:
    assert set(re.findall(r"`(\w)`", "".join(re.findall(r"^\| `.*?\|", PAGE, re.MULTILINE)))) == {
        line[0] for line in HELP
    }
    assert all(f"`{name}`" in PAGE for name in VARIABLES)
