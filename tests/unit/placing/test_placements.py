"""Equal annotations of a file are shown once (R18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import OMIT, TrailWriter
from tests.unit.trail.trails import read_trail
from vibes_lsp.placing.placements import ShownLineage, deduplicate

if TYPE_CHECKING:
    pass


def shown(writer: TrailWriter) -> list[ShownLineage]:
    return deduplicate(read_trail(writer.root).lineages_in("a.py"))


def ids(each: ShownLineage) -> tuple[str, ...]:
    return tuple(lineage.current.id for lineage in (*each.duplicates, each.lineage))


def test_placeholders_of_a_file_are_shown_once(writer: TrailWriter) -> None:
    real = writer.line("a.py", 1, 1, text="a\n", action="modify")
    made = tuple(
        writer.line("a.py", 1, 1, action="modify", command=writer.command(f"edit {n}"))
        for n in range(3)
    )
    one, stand_in = shown(writer)
    assert (ids(one), one.is_placeholder) == ((real,), False)
    assert (ids(stand_in), stand_in.is_placeholder) == (made, True)


def test_a_single_unanchored_change_of_line_one_is_no_placeholder(writer: TrailWriter) -> None:
    made = writer.line("a.py", 1, 1, action="modify")
    (one,) = shown(writer)
    assert (ids(one), one.is_placeholder) == ((made,), False)


@pytest.mark.parametrize(
    ("end", "action", "text"),
    [(2, "modify", None), (1, "create", None), (1, "modify", "a\n"), (1, "delete", None)],
)
def test_other_changes_of_line_one_are_no_placeholders(
    writer: TrailWriter, end: int, action: str, text: str | None
) -> None:
    for number in range(2):
        writer.line("a.py", 1, end, action=action, text=text, prompt=writer.prompt(f"Do {number}"))
    assert [each.is_placeholder for each in shown(writer)] == [False, False]


def test_of_duplicates_the_last_one_is_shown(writer: TrailWriter) -> None:
    made = tuple(
        writer.line("a.py", 3, 4, session=f"s{n}", commit="ab" * n or None) for n in range(3)
    )
    other = writer.line("a.py", 3, 5)
    one, more = shown(writer)
    assert ids(one) == made
    assert one.lineage.current.id == made[-1]
    assert ids(more) == (other,)


def test_null_and_absent_members_are_equal(writer: TrailWriter) -> None:
    made = (
        writer.line("a.py", 3, 4, prompt_hash=None),
        writer.line("a.py", 3, 4, commit_hash=OMIT),
    )
    assert [ids(each) for each in shown(writer)] == [made]


def test_another_prompt_is_another_edit(writer: TrailWriter) -> None:
    for text in ("One", "Two"):
        writer.line("a.py", 3, 4, prompt=writer.prompt(text))
    assert len(shown(writer)) == 2


def test_annotations_are_shown_in_order_of_rank(writer: TrailWriter) -> None:
    first = writer.line("a.py", 1, 1, action="modify")
    second = writer.line("a.py", 7, 8)
    third = writer.line("a.py", 1, 1, action="modify")
    assert [ids(each) for each in shown(writer)] == [(second,), (first, third)]
