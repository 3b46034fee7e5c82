"""Merging a trail loses and changes nothing, for any additions of both sides."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.json_values import TEXT, json_values
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.store.manifest import ManifestForm, parse_manifest
from vibes_lsp.store.manifest_format import new_manifest
from vibes_lsp.store.three_way_merge import (
    MergeSides,
    merge_log,
    merge_manifest,
    merge_members,
)

if TYPE_CHECKING:
    from vibes_lsp.model.members import Members

RECORDS = st.lists(st.integers(0, 9).map(lambda number: b'{"n":%d}\n' % number), max_size=5).map(
    b"".join
)
ENTRIES = st.dictionaries(st.integers(0, 9), st.just(None), max_size=5)
NAME = ("config.json",)
MEMBERS = st.dictionaries(st.sampled_from("abcd"), json_values(TEXT), max_size=4)


def manifest(numbers: dict[int, None], *, indented: bool) -> bytes:
    text = new_manifest({f"{number:064x}": {"type": "prompt", "n": number} for number in numbers})
    return json.dumps(json.loads(text), indent=2).encode() if indented else text


@given(RECORDS, RECORDS, RECORDS, RECORDS)
def test_every_line_of_a_log_is_there_in_the_order_of_its_side(
    base: bytes, ours: bytes, theirs: bytes, later: bytes
) -> None:
    sides = MergeSides(
        base,
        base + ours,
        base + theirs,
        base + b"<<<<<<< a\n" + ours + b"=======\n" + theirs + b">>>>>>> b\n" + later,
    )
    merged = merge_log(sides)
    assert merged.startswith(base + ours)
    assert set(merged.splitlines()) == set((base + ours + theirs + later).splitlines())
    assert merge_log(MergeSides(base, merged, base + theirs, merged)) == merged


@given(ENTRIES, ENTRIES, ENTRIES, st.booleans(), st.booleans())
def test_every_entry_of_a_manifest_is_there_once(
    base: dict[int, None],
    ours: dict[int, None],
    theirs: dict[int, None],
    our_indent: bool,
    their_indent: bool,
) -> None:
    sides = [
        manifest({**base, **side}, indented=indent)
        for side, indent in ((ours, our_indent), (theirs, their_indent))
    ]
    merged = merge_manifest(MergeSides(manifest(base, indented=False), sides[0], sides[1], None))
    read = parse_manifest(merged)
    assert read.form is ManifestForm.OBJECT
    assert {int(key, 16): read.entry(key) for key in read} == {
        n: {"type": "prompt", "n": n} for n in {**base, **ours, **theirs}
    }
    assert merge_manifest(MergeSides(None, merged, sides[1], None)) == merged


@given(MEMBERS, MEMBERS, MEMBERS)
def test_one_side_that_changed_nothing_yields_to_the_other(
    base: Members, ours: Members, theirs: Members
) -> None:
    assert canonical_json(merge_members(base, ours, base, NAME)) == canonical_json(ours)
    assert canonical_json(merge_members(base, base, theirs, NAME)) == canonical_json(theirs)
    with contextlib.suppress(RefusedWrite):
        one, other = (
            merge_members(base, ours, theirs, NAME),
            merge_members(base, theirs, ours, NAME),
        )
        lists = [
            name for name in one if isinstance(one[name], list | dict)
        ]  # what was added to a list comes in another order
        assert {n: canonical_json(v) for n, v in one.items() if n not in lists} == {
            n: canonical_json(v) for n, v in other.items() if n not in lists
        }
