"""What notes say is shown for the lines that git gives to their commit, in any text of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.git_ai_notes import CLAUDE, attach, note, session_key
from tests.trails import Repository
from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.brought_lines import BroughtLines, committed_file
from vibes_lsp.exchange.note_overlay import notes_of_lines
from vibes_lsp.git.repository import Repository as Opened

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.lists(
    st.sampled_from(["a\n", "b\n", "  c\n", "\n", "a long line of code\n"]), max_size=9
)


@given(TEXTS, TEXTS, st.sets(st.integers(1, 9)), st.sets(st.integers(1, 9)))
def test_what_is_said_of_a_line_is_said_of_the_same_line(
    before: list[str], after: list[str], said: set[int], without: set[int]
) -> None:
    lines = {number: number for number in sorted(said) if number <= len(before)}
    brought = BroughtLines(Text("".join(before)), lines)
    text = Text("".join(after))
    shown = {line: value for line in range(11) if (value := brought.at(text, line)) is not None}
    assert all(before[value - 1] == after[line - 1] for line, value in shown.items())
    assert list(shown.values()) == sorted(set(shown.values()))
    runs = brought.runs(text, without)
    assert {line: value for start, end, value in runs for line in range(start, end + 1)} == {
        line: value for line, value in shown.items() if line not in without
    }
    if before == after:
        assert shown == lines


@pytest.mark.parametrize("folder", ["", "inner/"])
def test_a_note_follows_its_lines_through_a_rename(tmp_path: Path, folder: str) -> None:
    repository = Repository(tmp_path)
    (tmp_path / folder).mkdir(exist_ok=True)
    made = "".join(f"value_{number} = compute({number})\n" for number in range(9))
    repository.write(f"{folder}a.py", made)
    commit = repository.commit("Made")
    attach(repository, commit, note(commit, {f"{folder}a.py": [(session_key(CLAUDE), "3-5")]}))
    (tmp_path / folder / "a.py").rename(tmp_path / folder / "b.py")
    repository.commit("Renamed")
    moved = made.replace("value_3 = compute(3)\n", "value_3 = other(3)\n")
    repository.write(f"{folder}b.py", f"# a person's\n{moved}")
    repository.commit("Edited")
    opened = Opened(tmp_path)
    file = committed_file(opened, tmp_path / folder, "b.py")
    assert file is not None
    found = notes_of_lines(opened, file)
    assert found is not None
    runs = found.runs(found.text, ())
    assert [(start, end, note.commit) for start, end, note in runs] == [
        (4, 4, commit),
        (6, 6, commit),
    ]
    assert committed_file(opened, tmp_path / folder, "none.py") is None
    opened.close()
