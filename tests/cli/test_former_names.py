"""Names that commands had in earlier versions still work, and are in no help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vibes_lsp.cli.main import FORMER_COMMANDS

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

ARGUMENTS = {
    "disclose": ["0"],
    "graph": ["src/auth.py:1"],
    "tag": ["no tag"],
    "read-claim": ["absent"],
    "read-entity": ["absent"],
    "read-page": ["absent"],
    "read-relation": ["absent"],
}


@pytest.mark.parametrize("former", FORMER_COMMANDS, ids=" ".join)
def test_a_former_name_does_what_the_present_one_does(
    project: Project, run_vibes: RunVibes, former: tuple[str, ...]
) -> None:
    run_vibes("kb", "init", cwd=project.root)
    arguments = ARGUMENTS.get(former[-1], [])
    before, now = (
        run_vibes(*name, *arguments, cwd=project.root) for name in (former, FORMER_COMMANDS[former])
    )
    assert (before.code, before.out, before.err) == (now.code, now.out, now.err)
    assert "no such command" not in now.err


@pytest.mark.parametrize("former", FORMER_COMMANDS, ids=" ".join)
def test_its_help_is_that_of_the_present_command(
    project: Project, run_vibes: RunVibes, former: tuple[str, ...]
) -> None:
    done = run_vibes(*former, "--help", cwd=project.root)
    assert done.code == 0
    words = FORMER_COMMANDS[former]
    named = words[:2] if words[0] == "kb" else words[:1]
    assert done.lines[0].startswith(f"Usage: vibes {' '.join(named)} ")
