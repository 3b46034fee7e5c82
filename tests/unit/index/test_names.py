"""Numbered strings, in memory as they are or packed."""

from __future__ import annotations

from vibes_lsp.index.columns import Names
from vibes_lsp.model.paths import normal_path

SEEN = ("b.py", "", "Größe.py", "./b.py", "\ud800.py", "\U0001f600")


def test_packed_strings_are_found_and_numbered_as_before() -> None:
    names = Names(normal_path)
    assert list(names.numbers([*SEEN, None, "b.py"])) == [*range(len(SEEN)), 1, 0]
    names.pack()
    assert list(names) == list(SEEN)
    assert [names[number] for number in range(len(names))] == list(SEEN)
    assert names.variants("b.py") == [0, 3]
    assert [names.find(name) for name in SEEN] == list(range(len(SEEN)))
    assert names.find("c.py") is None


def test_strings_are_added_after_packed_ones() -> None:
    names = Names()
    numbered = [*names.numbers(SEEN)]
    names.pack()
    assert list(names.numbers(["c.py", *SEEN, "d.py"])) == [len(SEEN), *numbered, len(SEEN) + 1]
    assert list(names) == [*SEEN, "c.py", "d.py"]
    names.pack()
    assert list(names) == [*SEEN, "c.py", "d.py"]


def test_no_strings_can_be_packed() -> None:
    names = Names()
    names.pack()
    assert (list(names), names.find("a"), list(names.numbers(["a"]))) == ([], None, [0])
