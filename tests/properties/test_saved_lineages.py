"""Lineages from a saved index are those of a reader that scans the log (R7)."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.properties.edges import COMMITS, IDS, edge, share_keys, with_equal_key
from tests.properties.test_lineage_cache import FILES, annotation, edges
from tests.properties.test_log_follower import append
from tests.properties.test_saved_index import new_project
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

numbers = st.integers(0, len(IDS) - 1)
edits = st.builds(
    annotation,
    numbers,
    st.sampled_from(FILES),
    remapped=st.booleans(),
    commit=st.sampled_from((None, *COMMITS)),
)


def ambiguous(record: bytes) -> bytes:
    """Return a record that the scan finds and that the strict parser rejects."""
    return record.removesuffix(b"}") + b',"tokens":1,"tokens":2}'


def spaced(record: bytes) -> bytes:
    """Return a record as another program prints it."""
    return json.dumps(json.loads(record), indent=None).encode()


def about_a_twin(record: bytes) -> bytes:
    """Return a record about an id with the key of another."""
    return record.replace(IDS[3].encode(), with_equal_key(3).encode())


lines = st.builds(
    lambda record, change: change(json.dumps(record, separators=(",", ":")).encode()),
    edits | edges,
    st.sampled_from((bytes, bytes, bytes, ambiguous, spaced, about_a_twin)),
)
steps = st.lists(st.tuples(st.lists(lines, max_size=6), st.booleans()), min_size=1, max_size=5)


def printed(*records: dict[str, object]) -> list[bytes]:
    """Return records as lines."""
    return [json.dumps(record, separators=(",", ":")).encode() for record in records]


REPEATED = printed(
    annotation(0, "a.py", remapped=False, commit=None),
    annotation(1, "a.py", remapped=False, commit=None),
    annotation(1, "b.py", remapped=False, commit=None),
    edge(1, 0, "commit"),
)
"""An annotation of another file has the id of one that an edge names."""


def lineages(trail: Trail) -> list[list[tuple[object, ...]]]:
    """Return the lineages of each file by the lines of their records."""
    trail.refresh()
    return [
        [
            ([member.line for member in each.members], each.current.line, each.superseded_by)
            for each in trail.lineages_in(path)
        ]
        for path in ("a.py", "b.py", "c.py")
    ]


@settings(max_examples=100)
@given(steps, st.booleans())
@example([(REPEATED, True), ([], False)], False)
def test_lineages_from_a_saved_index_are_those_of_the_log(
    written: list[tuple[list[bytes], bool]], with_twins: bool
) -> None:
    with new_project(small=False) as (path, _), pytest.MonkeyPatch.context() as patch:
        if with_twins:
            share_keys(patch)
        directory = AuditDir(path.parent)
        assert directory.log == path
        reader = Trail(directory, uses_saved=True)
        for records, is_restarted in written:
            append(path, b"".join(record + b"\n" for record in records))
            expected = lineages(Trail(directory))
            assert lineages(reader) == expected
            if is_restarted:
                reader = Trail(directory, uses_saved=True)
                assert lineages(reader) == expected
