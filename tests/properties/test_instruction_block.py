"""The block of instructions in a file: removed again, any text is as it was, to the byte."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.agents.setup.instruction_block import InstructionBlock, instructions_for
from vibes_lsp.agents.setup.whole_files import ForeignFile

BLOCK = instructions_for("AGENTS.md")
OLDER = InstructionBlock("Record changes.\n")
TEXTS = st.text("a#-<>! \r\n", max_size=20)


@given(TEXTS)
@example("")
@example("\n")
@example("a\r\n")
@example("a\r")
def test_removing_the_block_restores_the_text(text: str) -> None:
    added = BLOCK.add(text)
    assert added.startswith(text)
    assert BLOCK.inspect(added) is HookState.CURRENT
    assert BLOCK.add(added) == added
    assert BLOCK.remove(added) == text


@given(TEXTS, TEXTS.filter(bool))
def test_text_around_the_block_stays(before: str, after: str) -> None:
    added = OLDER.add(before) + f"\n{after}"
    assert BLOCK.inspect(added) is HookState.OUTDATED
    updated = BLOCK.add(added)
    assert updated.startswith(before)
    assert updated.endswith(f"\n{after}")
    assert "Record changes.\n<" not in updated
    left = BLOCK.remove(updated)
    assert left is not None
    assert left.startswith(before)
    assert left.endswith(after)
    assert "vibes" not in left


@pytest.mark.parametrize("name", [".cursor/rules/vibes.mdc", "AGENTS.md", "docs/rules.md"])
def test_a_file_with_nothing_else_is_deleted(name: str) -> None:
    block = instructions_for(name)
    assert block.remove(block.add(None)) is None


@pytest.mark.parametrize(
    "text",
    [
        BLOCK.add("").replace("Levels", "Levels!"),
        BLOCK.add("") + "\n" + BLOCK.add(""),
        BLOCK.add("").replace("<!-- end vibes -->", ""),
        "<!-- begin vibes -->\n",
        "text\n<!-- end vibes -->\n",
    ],
)
def test_a_modified_block_is_refused(text: str) -> None:
    assert BLOCK.inspect(text) is HookState.HANDWRITTEN
    for change in (BLOCK.add, BLOCK.remove):
        with pytest.raises(ForeignFile):
            change(text)
