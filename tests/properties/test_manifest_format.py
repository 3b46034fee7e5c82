"""Written values are the given ones."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.json_values import MEMBERS
from tests.trails import context_hash
from vibes_lsp.model.canonical_json import with_portable_numbers
from vibes_lsp.model.members import Members
from vibes_lsp.store.manifest import parse_manifest
from vibes_lsp.store.manifest_format import add_entries

_ENTRIES = st.lists(MEMBERS, max_size=6).map(
    lambda entries: {context_hash(entry): entry for entry in entries}
)


@given(MEMBERS)
def test_portable_members_have_the_same_values(members: Members) -> None:
    assert with_portable_numbers(members) == members


@given(_ENTRIES, _ENTRIES, MEMBERS, st.sampled_from([None, 0, 2]))
def test_a_manifest_keeps_all_that_it_had_and_gains_all_that_is_new(
    before: dict[str, Members], other: dict[str, Members], unknown: Members, indent: int | None
) -> None:
    new = {key: entry for key, entry in other.items() if key not in before}
    frame = {**unknown, "standard": "VIBES", "version": "1.0", "entries": before}
    data = json.dumps(frame, indent=indent, ensure_ascii=indent is None).encode()
    text = add_entries(
        parse_manifest(data), {key: json.dumps(entry).encode() for key, entry in new.items()}
    )
    assert json.loads(text) == {**frame, "entries": {**before, **new}}
    assert text.count(b"\n") == len(before) + len(new) + 2
