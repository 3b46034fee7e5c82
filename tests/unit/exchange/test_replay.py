"""Which edit wrote which lines of a version, and in which commit they appeared."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.requirements import in_nightly
from tests.unit.exchange.generated_histories import Generator, known_lines, write_repository
from vibes_lsp.agents.events import FileEdit
from vibes_lsp.exchange.commit_search import CommitSearch
from vibes_lsp.exchange.replay import attribute_lines
from vibes_lsp.git.repository import open_repository

if TYPE_CHECKING:
    from pathlib import Path

BASE = ["import os", "import sys", "", "def first():", "    return os.name"]
NEW = "def second(value):\n    checked = value or 1\n    return checked\n"


def written(bases: list[list[str]], version: list[str], *edits: FileEdit) -> dict[int, list[int]]:
    """Return the lines that each edit wrote, 1-based."""
    found: dict[int, list[int]] = {}
    for line, owner in enumerate(attribute_lines(bases, version, edits).owners, 1):
        if owner is not None:
            found.setdefault(owner.edit, []).append(line)
    return found


def test_the_last_edit_of_a_line_has_it() -> None:
    first = FileEdit("", old="    return os.name\n", new=f"    return os.name\n\n\n{NEW}")
    second = FileEdit("", old="value or 1", new="value or 2")
    version = [*BASE, "", "", *NEW.replace("or 1", "or 2").splitlines()]
    assert written([BASE], version, first, second) == {0: [6, 7, 8, 10], 1: [9]}


def test_lines_that_a_person_adds_between_two_edits_are_no_edits() -> None:
    first = FileEdit("", old="    return os.name\n", new=f"    return os.name\n\n\n{NEW}")
    person = [*BASE, "", "", *NEW.splitlines(), "", "PERSON = sys.argv", "OTHER = sys.path"]
    before = "".join(f"{line}\n" for line in person)
    second = FileEdit("", before=before, old="import os\n", new="import os\nimport re\n")
    version = ["import os", "import re", *person[1:]]
    assert written([BASE], version, first, second) == {0: [7, 8, 9, 10, 11], 1: [2]}


def test_a_formatter_changes_no_author() -> None:
    edit = FileEdit("", creates=True, after="total = call('a', 1, 'b')\nother = [1,2]\nlast = 3\n")
    version = ["total = call(", '    "a", 1,', '    "b",', ")", "other = [1, 2]", "last = 3"]
    assert written([], version, edit) == {0: [1, 2, 3, 4, 5, 6]}


def test_equal_lines_next_to_each_other_belong_to_none() -> None:
    edit = FileEdit("", before="one\nsame\ntwo\n", after="one\nsame\nsame\ntwo\n")
    assert written([["one", "same", "two"]], ["one", "same", "same", "two"], edit) == {}


def test_an_edit_that_was_undone_and_made_again_by_another_is_no_guess() -> None:
    """Both edits fit the version; that the first one was undone is nowhere recorded."""
    edits = [FileEdit("", old="    return os.name\n", new=f"    return 1\n\n\n{NEW}")] * 2
    version = [*BASE[:-1], "    return 1", "", "", *NEW.splitlines()]
    assert written([BASE], version, *edits) == {}


def test_lines_that_were_there_before_are_not_claimed() -> None:
    version = [*BASE, *NEW.splitlines()]
    edit = FileEdit("", creates=True, after="".join(f"{line}\n" for line in version))
    assert written([BASE], version, edit) == {0: [6, 7, 8]}


def test_a_proposal_that_a_person_changed_is_not_claimed() -> None:
    edit = FileEdit("", creates=True, after=NEW, changed_by_person=True)
    assert written([], NEW.splitlines(), edit) == {}


@pytest.mark.parametrize("first", range(0, 200 if in_nightly() else 50, 25))
def test_no_line_of_generated_histories_is_claimed_wrongly(first: int, tmp_path: Path) -> None:
    """Agents, a person and a formatter edit; files move, commits are rebased and squashed."""
    counts: Counter[str] = Counter()
    for seed in range(first, first + 25):
        history = Generator(seed).run()
        folder = tmp_path / str(seed)
        commits = write_repository(history, folder)
        truth = {
            (commit, path, number): (line, is_new)
            for commit, path, number, line, is_new in known_lines(history, commits)
        }
        repository = open_repository(folder)
        assert repository is not None
        with CommitSearch(repository, history.edits) as search:
            found = list(search.search())
        for each in found:
            for number in range(each.start, each.end + 1):
                line, is_new = truth[each.commit, each.path, number]
                assert each.edit in line.authors, (seed, each.commit, each.path, number)
                assert is_new, (seed, each.commit, each.path, number)
                counts["claimed"] += 1
        assert set(search.reasons) | {each.edit for each in found} == set(
            range(len(history.edits))
        ), "an edit is neither found nor refused"
        counts["written"] += sum(
            is_new and len(line.authors) == 1 and -1 not in line.authors
            for line, is_new in truth.values()
        )
    assert counts["claimed"] > 0.75 * counts["written"]
