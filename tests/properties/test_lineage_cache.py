"""Cached lineages equal those that a new reader builds from the whole log (R7)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties.edges import COMMITS, IDS, edge, share_keys, with_equal_key
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail import lineage_reader
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.trail import Trail

FILES = ("a.py", "./a.py", "b.py")


def annotation(number: int, path: str, *, remapped: bool, commit: str | None) -> dict[str, object]:
    """Return an annotation whose id earlier edges may name; later ones rank higher."""
    return {
        "type": "line",
        "annotation_id": IDS[number],
        "file_path": path,
        "line_start": 1 + number % 3,
        "line_end": 5,
        "action": "rebase_remap" if remapped else "create",
        "commit_hash": commit,
        "timestamp": f"2026-02-03T10:00:0{number}.000Z",
    }


numbers = st.integers(0, len(IDS) - 1)
lines = st.builds(
    annotation,
    numbers,
    st.sampled_from(FILES),
    remapped=st.booleans(),
    commit=st.sampled_from((None, *COMMITS)),
)
edges = st.builds(edge, numbers, numbers, st.sampled_from((None, "covers", "commit", "rewrite")))
steps = st.lists(
    st.tuples(st.lists(lines | edges, max_size=3), st.booleans()), min_size=1, max_size=7
)


def comparable(lineages: Sequence[Lineage], path: str) -> list[tuple[object, ...]]:
    """Return lineages of a file as comparable values."""
    here = [
        each
        for each in lineages
        if str(each.current.members["file_path"]).removeprefix("./") == path
    ]
    return [(each.ids, each.current.id, each.superseded_by) for each in here]


def elsewhere(number: int) -> dict[str, object]:
    """Return an annotation of another file."""
    return annotation(number, "b.py", remapped=False, commit=None)


def lone(number: int) -> dict[str, object]:
    """Return an annotation without a commit."""
    return annotation(number, "a.py", remapped=False, commit=None)


TWO_ENDS = [
    annotation(0, "a.py", remapped=False, commit=None),
    annotation(1, "a.py", remapped=True, commit=COMMITS[1]),
    annotation(2, "a.py", remapped=True, commit=COMMITS[0]),
    edge(1, 0, "commit"),
    edge(2, 0, "commit"),
]
"""Which of the last two is current depends on HEAD."""


TWIN = 3
ANOTHER = with_equal_key(TWIN)


def renamed(record: dict[str, object]) -> dict[str, object]:
    """Return a record about `ANOTHER` instead of the annotation with an equal key."""
    return {name: ANOTHER if value == IDS[TWIN] else value for name, value in record.items()}


@given(steps)
@example([(TWO_ENDS, False), ([], True)])
@example(
    [([edge(0, 2, None), edge(1, 2, None), lone(1)], False), ([lone(0)], False), ([lone(2)], False)]
)
def test_cached_lineages_equal_those_of_a_new_reader(
    written: list[tuple[list[dict[str, object]], bool]],
) -> None:
    joined_at_each_step(written)


@given(steps, st.lists(st.booleans(), max_size=12))
@example([([lone(TWIN)], False), ([lone(TWIN)], False)], [False, True])
@example(
    [
        ([lone(1), annotation(TWIN, "b.py", remapped=False, commit=None)], False),
        ([lone(TWIN), edge(TWIN, 1, None)], False),
    ],
    [False, True, False],
)
def test_annotations_with_equal_keys_are_not_one(
    written: list[tuple[list[dict[str, object]], bool]], choices: list[bool]
) -> None:
    pending = iter(choices)
    with_twins = [
        (
            [
                renamed(each) if IDS[TWIN] in each.values() and next(pending, False) else each
                for each in records
            ],
            switched,
        )
        for records, switched in written
    ]
    with pytest.MonkeyPatch.context() as patch:
        share_keys(patch)
        joined_at_each_step(with_twins)


@st.composite
def editing(draw: st.DrawFn) -> list[tuple[list[dict[str, object]], bool]]:
    """Edits that replace earlier ones, as a recorder writes them, and a few other edges."""
    written: list[dict[str, object]] = []
    for number in range(draw(st.integers(2, len(IDS)))):
        written.append(
            annotation(number, draw(st.sampled_from(FILES)), remapped=False, commit=None)
        )
        replaced = draw(st.sets(st.integers(0, number - 1), max_size=2)) if number else ()
        written += [
            edge(number, target, draw(st.sampled_from((None, "covers")))) for target in replaced
        ]
        if draw(st.integers(0, 5)) == 0:
            written.append(draw(edges))
    sizes = draw(st.lists(st.integers(1, 3), min_size=len(written), max_size=len(written)))
    cuts = [sum(sizes[:number]) for number in range(len(written) + 1)]
    return [(written[start:end], False) for start, end in pairwise(cuts) if start < len(written)]


@given(steps)
@example([(TWO_ENDS, False), ([], True)])
def test_components_that_files_share_are_those_of_a_new_reader(
    written: list[tuple[list[dict[str, object]], bool]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lineage_reader, "_MIN_SHARED", 1)
        joined_at_each_step(written)


@given(editing())
def test_appended_edits_give_the_lineages_of_a_new_reader(
    written: list[tuple[list[dict[str, object]], bool]],
) -> None:
    joined_at_each_step(written)


@given(steps)
@example([([edge(1, 0, "covers"), lone(0), elsewhere(1)], False), ([lone(1)], False)])
@example([([edge(1, 0, "covers"), elsewhere(0), lone(0)], False), ([elsewhere(1)], False)])
def test_other_records_with_a_known_id_are_read_alike_however_the_log_grew(
    written: list[tuple[list[dict[str, object]], bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = AuditDir(Path(folder))
        cached = Trail(directory)
        for records, _ in written:
            with directory.log.open("ab") as log:
                log.writelines(json.dumps(record).encode() + b"\n" for record in records)
            cached.refresh()
            fresh = Trail(directory)
            fresh.refresh()
            for path in ("a.py", "b.py"):
                one, other = (by_lines(each.lineages_in(path)) for each in (cached, fresh))
                assert one == other


def by_lines(lineages: Sequence[Lineage]) -> list[tuple[object, ...]]:
    """Return lineages by the lines of their records."""
    return [
        ([member.line for member in each.members], each.current.line, each.superseded_by)
        for each in lineages
    ]


def joined_at_each_step(written: list[tuple[list[dict[str, object]], bool]]) -> None:
    """Compare the lineages of each file after each step with those of a new reader."""
    with tempfile.TemporaryDirectory() as folder:
        directory = AuditDir(Path(folder))
        head = [0]

        def nearest(commits: Sequence[str]) -> str | None:
            return COMMITS[head[0]] if COMMITS[head[0]] in commits else None

        cached = Trail(directory, nearest_commit=nearest)
        seen: set[object] = set()
        for records, switched in written:
            head[0] ^= switched
            with directory.log.open("ab") as log:
                for record in records:
                    if (
                        record.get("annotation_id") not in seen or record["type"] == "edge"
                    ):  # records with equal ids are one
                        seen.add(record.get("annotation_id"))
                        log.write(json.dumps(record).encode() + b"\n")
            cached.refresh()
            fresh = Trail(directory, nearest_commit=nearest)
            fresh.refresh()
            for path in ("a.py", "b.py"):
                assert comparable(cached.lineages_in(path), path) == comparable(
                    fresh.lineages(), path
                )
