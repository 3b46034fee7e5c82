"""Lineages depend on the records only, not on the direction of a merge."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.logs import logs
from tests.trails import TrailWriter, merge_logs
from tests.unit.trail.trails import ENVIRONMENT, current_ids, read_trail
from vibes_lsp.model.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vibes_lsp.trail.lineage import Lineage, NearestCommit

COMMITS = tuple(f"{number}{number}" * 20 for number in range(6))


@dataclass(frozen=True)
class Step:
    """One record to write; `which` chooses among the annotations so far."""

    kind: str
    which: int
    other: int
    start: int
    length: int


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(
            [
                "line",
                "line",
                "function",
                "commit",
                "rewrite",
                "orphan",
                "foreign remap",
                "covers",
                "later edit",
                "review",
            ]
        ),
        st.integers(0, 9),
        st.integers(0, 9),
        st.integers(1, 9),
        st.integers(0, 4),
    ),
    max_size=8,
)


def record(writer: TrailWriter, steps: Sequence[Step], known: list[str]) -> None:
    """Write the records of some steps; append the ids of annotations to `known`."""
    for step in steps:
        place = step.start, step.start + step.length
        if step.kind == "line" or not known:
            known.append(writer.line("a.py", *place, environment=ENVIRONMENT))
            continue
        one, other = known[step.which % len(known)], known[step.other % len(known)]
        commit = COMMITS[step.other % len(COMMITS)]
        match step.kind:
            case "function":
                known.append(writer.function("a.py", f"f{step.other % 2}", environment=ENVIRONMENT))
            case "commit" | "rewrite":
                known.append(
                    writer.remap(one, commit=commit, start=place[0], end=place[1], reason=step.kind)
                )
            case "orphan":
                known.append(
                    writer.remap(one, commit=commit, reason="orphan", action="rebase_orphan")
                )
            case "foreign remap":
                known.append(writer.remap(one, commit=commit, reason=None, timestamp=writer.tick()))
            case "covers":
                writer.edge(
                    "supersedes",
                    one,
                    other,
                    target_type="annotation",
                    metadata={"reason": "covers"},
                )
            case "later edit":
                writer.edge("supersedes", one, other, target_type="annotation")
            case _:
                writer.review(one, session="reviewer")


def branches(
    root: Path, base: Sequence[Step], ours: Sequence[Step], theirs: Sequence[Step]
) -> tuple[bytes, bytes, bytes]:
    """Write a trail and two branches of it with different times."""
    known: list[str] = []
    start = TrailWriter(root / "base", start="2026-02-03T10:00:00Z")
    start.raw_log(b"")
    record(start, base, known)
    before = start.files.log.read_bytes()
    sides = []
    for name, time, steps in (
        ("ours", "2026-02-04T10:00:00.250Z", ours),
        ("theirs", "2026-02-04T10:00:00.500Z", theirs),
    ):
        writer = TrailWriter(root / name, start=time)
        writer.raw_log(before)
        record(writer, steps, list(known))
        sides.append(writer.files.log.read_bytes())
    return before, sides[0], sides[1]


def comparable(
    lineages: Sequence[Lineage],
) -> list[tuple[str, frozenset[str], str, tuple[str, ...]]]:
    """Return what is shown of lineages, without the order of members."""
    return [
        (each.first.id, frozenset(each.ids), each.current.id, each.superseded_by)
        for each in lineages
    ]


def first_of(commits: Sequence[str]) -> str:
    return min(commits)


@given(STEPS, STEPS, STEPS, st.sampled_from([None, first_of]))
def test_both_directions_of_a_merge_give_the_same_lineages(
    base: list[Step],
    ours: list[Step],
    theirs: list[Step],
    nearest: Callable[[Sequence[str]], str] | None,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        before, left, right = branches(root, base, ours, theirs)
        found = []
        for name, sides in (("one", (left, right)), ("other", (right, left))):
            TrailWriter(root / name).raw_log(merge_logs(before, *sides))
            trail = read_trail(root / name, nearest)
            found.append((comparable(trail.lineages()), comparable(trail.lineages_in("a.py"))))
        assert found[0] == found[1]


@given(STEPS, st.sampled_from([None, first_of]))
def test_lineages_of_files_and_records_equal_those_of_the_trail(
    steps: list[Step], nearest: NearestCommit | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = TrailWriter(Path(folder))
        known: list[str] = []
        record(writer, steps, known)
        trail = read_trail(Path(folder), nearest)
        everything = trail.lineages()
        assert trail.lineages_in("a.py") == everything
        for lineage in everything:
            assert all(trail.lineage_of(identifier) == lineage for identifier in lineage.ids)


@given(STEPS)
def test_every_annotation_is_in_one_lineage_and_one_is_no_history(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        known: list[str] = []
        record(TrailWriter(Path(folder)), steps, known)
        lineages = read_trail(Path(folder)).lineages()
        assert sorted(identifier for lineage in lineages for identifier in lineage.ids) == sorted(
            set(known)
        )
        assert bool(current_ids(lineages)) == bool(known)
        assert all(lineage.current in lineage.members for lineage in lineages)


@given(STEPS)
def test_back_fill_does_not_change_ranks(steps: list[Step]) -> None:
    """Back-fill all lineages in the order of ids; the order of edits stays."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        writer = TrailWriter(root)
        record(writer, steps, [])
        before = read_trail(root).lineages() if steps else []
        for number, lineage in enumerate(sorted(before, key=lambda each: each.current.id)):
            writer.remap(lineage.current.id, commit=COMMITS[number % 6])
        after = read_trail(root).lineages()
        assert [each.first.id for each in after] == [each.first.id for each in before]
        assert [bool(each.superseded_by) for each in after] == [
            bool(each.superseded_by) for each in before
        ]


@given(logs())
def test_lineages_of_any_log_are_ordered_by_time(log: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        TrailWriter(Path(folder)).raw_log(log)
        trail = read_trail(Path(folder))
        lineages = trail.lineages()
        assert [each.rank for each in lineages] == sorted(each.rank for each in lineages)
        for lineage in lineages:
            assert parse_timestamp(lineage.first.text("timestamp") or "") in (
                lineage.first.moment,
                None,
            )
            trail.reviews_of(lineage)
        assert bool(current_ids(lineages)) == bool(lineages)
