"""Members and the current record of lineages: back-fill, remap, orphans (R7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import OMIT, Repository, TrailWriter, complete
from tests.unit.trail.trails import current_ids, lineage_of, read_trail
from vibes_lsp.git.repository import open_repository

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vibes_lsp.trail.lineage import NearestCommit

FIRST, SECOND, THIRD = "a1" * 20, "b2" * 20, "c3" * 20


def test_a_back_fill_after_a_newer_edit_does_not_change_the_owner(writer: TrailWriter) -> None:
    older = writer.line("a.py", 1, 9)
    newer = writer.line("a.py", 3, 5, action="modify")
    filled = writer.remap(older, commit=FIRST)
    trail = read_trail(writer.root)
    assert current_ids(trail.lineages_in("a.py")) == [filled, newer], (
        "the newer edit still ranks highest"
    )
    assert lineage_of(trail, filled).first.id == older


def test_a_remap_with_a_later_timestamp_does_not_change_the_owner(writer: TrailWriter) -> None:
    """Other tools give a remap a later timestamp; the lineage still ranks by its first record."""
    older = writer.line("a.py", 1, 9)
    newer = writer.line("a.py", 3, 5, action="modify")
    moved = writer.remap(older, commit=FIRST, start=2, end=10, reason=None, timestamp=writer.tick())
    assert current_ids(read_trail(writer.root).lineages()) == [moved, newer]


def test_the_chain_of_a_complete_trail_has_one_current_record(tmp_path: Path) -> None:
    made = complete(tmp_path)
    lineage = lineage_of(read_trail(tmp_path), made.pending)
    assert lineage.ids == made.lineage
    assert lineage.current.id == made.remapped
    assert lineage.action == "create", "a remap takes its root's action"


def test_edges_of_a_record_without_commit_apply_to_its_back_fill(tmp_path: Path) -> None:
    made = complete(tmp_path)
    trail = read_trail(tmp_path)
    out, _ = trail.edges_of(lineage_of(trail, made.remapped))
    assert made.causes[-1] in {edge.record.id for edge in out}


def test_a_review_of_a_record_without_commit_applies_to_its_back_fill(writer: TrailWriter) -> None:
    pending = writer.line("a.py", 1, 2, text="a\nb\n")
    writer.review(pending, note="Fine.")
    committed = writer.remap(pending, commit=FIRST)
    trail = read_trail(writer.root)
    (review,) = trail.reviews_of(lineage_of(trail, committed))
    assert (review.annotation, review.verdict, review.note) == (pending, "approved", "Fine.")


def _back_filled_on_two_branches(writer: TrailWriter) -> tuple[str, str, str]:
    pending = writer.line("a.py", 1, 2)
    return pending, writer.remap(pending, commit=FIRST), writer.remap(pending, commit=SECOND)


def test_of_two_back_fills_the_later_one_is_current(
    writer: TrailWriter,
) -> None:
    pending, one, other = _back_filled_on_two_branches(writer)
    (lineage,) = read_trail(writer.root).lineages()
    assert set(lineage.ids) == {pending, one, other}
    assert lineage.current.id == other, "without git the later end holds, by the time of its edge"


def test_of_two_back_fills_the_later_one_is_current_in_any_log_order(writer: TrailWriter) -> None:
    pending = writer.line("a.py", 1, 2)
    later = writer.remap(pending, commit=SECOND, edge_timestamp="2026-03-02T00:00:00Z")
    writer.remap(pending, commit=FIRST, edge_timestamp="2026-03-01T00:00:00Z")
    (lineage,) = read_trail(writer.root).lineages()
    assert lineage.current.id == later, (
        "place in the log is the direction of a merge and decides nothing"
    )


def test_a_back_fill_of_both_branches_has_the_time_of_its_latest_edge(tmp_path: Path) -> None:
    """One record, two edges: their order in the log depends on the direction of the merge."""
    found = []
    for name, days in (("one", (1, 3)), ("other", (3, 1))):
        writer = TrailWriter(tmp_path / name)
        writer.environment()
        pending = writer.line("a.py", 1, 2)
        twice = writer.remap(pending, commit=FIRST, edge_timestamp=f"2026-03-0{days[0]}T00:00:00Z")
        writer.remap(pending, commit=SECOND, edge_timestamp="2026-03-02T00:00:00Z")
        writer.remap(pending, commit=FIRST, edge_timestamp=f"2026-03-0{days[1]}T00:00:00Z")
        (lineage,) = read_trail(tmp_path / name).lineages()
        found.append(lineage.current.id)
        assert lineage.current.id == twice
    assert found[0] == found[1]


def test_of_two_back_fills_the_nearest_commit_is_current(writer: TrailWriter) -> None:
    _, one, other = _back_filled_on_two_branches(writer)
    questions: list[Sequence[str]] = []

    def nearest(commits: Sequence[str]) -> str:
        questions.append(commits)
        return FIRST

    (lineage,) = read_trail(writer.root, nearest).lineages()
    assert lineage.current.id == one != other
    assert [set(commits) for commits in questions] == [{FIRST, SECOND}]


def test_of_two_back_fills_the_later_is_current_if_no_commit_is_an_ancestor(
    writer: TrailWriter,
) -> None:
    _, _, other = _back_filled_on_two_branches(writer)
    (lineage,) = read_trail(writer.root, lambda _: None).lineages()
    assert lineage.current.id == other


def test_git_is_not_asked_about_a_single_end(tmp_path: Path) -> None:
    complete(tmp_path)

    def nearest(_: Sequence[str]) -> str:
        pytest.fail("a chain with one end needs no git")

    assert len(read_trail(tmp_path, nearest).lineages()) == 5


def test_a_real_repository_decides_between_two_back_fills(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write("a.py", "a\nb\n")
    reached = repository.commit("Ours")
    repository.switch("topic", create=True)
    elsewhere = repository.commit("Theirs")
    repository.switch("main")
    writer = TrailWriter(tmp_path)
    writer.environment()
    pending = writer.line("a.py", 1, 2)
    ours = writer.remap(pending, commit=reached)
    theirs = writer.remap(pending, commit=elsewhere)
    git = open_repository(tmp_path)
    assert git is not None
    assert current_ids(read_trail(tmp_path, git.nearest_ancestor).lineages()) == [ours]
    repository.switch("topic")
    assert current_ids(read_trail(tmp_path, git.nearest_ancestor).lineages()) == [theirs]


def test_an_orphan_record_is_never_current(writer: TrailWriter) -> None:
    committed = writer.line("a.py", 1, 2, commit=FIRST, text="a\nb\n")
    orphan = writer.remap(committed, commit=SECOND, reason="orphan", action="rebase_orphan")
    (lineage,) = read_trail(writer.root).lineages()
    assert lineage.current.id == committed
    assert orphan in lineage.ids
    assert not lineage.superseded_by


def test_an_orphan_record_of_another_tool_is_never_current(writer: TrailWriter) -> None:
    committed = writer.line("a.py", 1, 2, commit=FIRST)
    writer.remap(
        committed, commit=SECOND, reason=None, action="rebase_orphan", timestamp=writer.tick()
    )
    (lineage,) = read_trail(writer.root).lineages()
    assert lineage.current.id == committed


@pytest.mark.parametrize(
    "nearest",
    [None, lambda commits: FIRST if FIRST in commits else None],
    ids=["no-history", "first-is-nearest"],
)
def test_a_remap_after_an_orphan_is_current(
    writer: TrailWriter, nearest: NearestCommit | None
) -> None:
    """It also replaces what the orphan replaced, even in the commit nearest to HEAD."""
    committed = writer.line("a.py", 1, 2, commit=FIRST)
    orphan = writer.remap(committed, commit=SECOND, reason="orphan", action="rebase_orphan")
    again = writer.remap(orphan, commit=THIRD, reason="rewrite")
    (lineage,) = read_trail(writer.root, nearest).lineages()
    assert lineage.current.id == again


def test_a_lineage_of_orphans_only_has_a_current_record(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2, action="rebase_orphan")
    other = writer.remap(one, commit=None, reason="orphan", action="rebase_orphan")
    (lineage,) = read_trail(writer.root).lineages()
    assert lineage.current.id in {one, other}
    assert lineage.action == ""


def test_remaps_of_other_tools_are_recognised_by_their_action(writer: TrailWriter) -> None:
    """RFC 7.3.1 gives the edge no metadata; a tool may also change members such as the session."""
    original = writer.line("a.py", 1, 2, commit=FIRST)
    moved = writer.remap(
        original,
        commit=SECOND,
        start=4,
        end=5,
        reason=None,
        session_id="rebase",
        timestamp=writer.tick(),
    )
    (lineage,) = read_trail(writer.root).lineages()
    assert lineage.ids == (original, moved)
    assert lineage.current.id == moved


def test_a_record_that_differs_in_commit_lines_and_anchors_is_the_same_edit(
    writer: TrailWriter,
) -> None:
    when = writer.tick()
    original = writer.line("a.py", 1, 2, timestamp=when, text="a\nb\nc\n")
    copied = writer.line("a.py", 2, 3, timestamp=when, commit=FIRST, text="x\na\nb\n")
    writer.edge("supersedes", copied, original, target_type="annotation")
    (lineage,) = read_trail(writer.root).lineages()
    assert lineage.current.id == copied


def test_a_record_with_another_prompt_is_another_edit(writer: TrailWriter) -> None:
    when = writer.tick()
    original = writer.line("a.py", 1, 2, timestamp=when)
    other = writer.line("a.py", 4, 5, timestamp=when, prompt=writer.prompt("Again"))
    writer.edge("supersedes", other, original, target_type="annotation")
    assert current_ids(read_trail(writer.root).lineages()) == [original, other]


def test_edges_with_the_older_member_names_join_records(writer: TrailWriter) -> None:
    original = writer.line("a.py", 1, 2)
    moved = writer.line("a.py", 4, 5, action="rebase_remap")
    writer.edge("supersedes", moved, original, old_names=True)
    assert current_ids(read_trail(writer.root).lineages_in("a.py")) == [moved]


def test_records_without_an_id_are_joined_by_their_computed_id(writer: TrailWriter) -> None:
    original = writer.line("a.py", 1, 2, annotation_id=OMIT)
    moved = writer.line("a.py", 4, 5, action="rebase_remap", annotation_id=OMIT)
    writer.edge("supersedes", moved, original, target_type="annotation", annotation_id=OMIT)
    (lineage,) = read_trail(writer.root).lineages()
    assert lineage.ids == (original, moved)


def test_records_with_equal_ids_are_one(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    line = writer.files.log.read_bytes()
    filled = writer.remap(one, commit=FIRST)
    writer.raw_log(line * 3)
    trail = read_trail(writer.root)
    (lineage,) = trail.lineages_in("a.py")
    assert lineage.ids == (one, filled)
    assert trail.lineages() == [lineage]


def test_an_edge_to_a_missing_record_is_ignored(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.edge(
        "supersedes", one, "0" * 64, target_type="annotation", metadata={"reason": "commit"}
    )
    writer.edge(
        "supersedes", "f" * 64, one, target_type="annotation", metadata={"reason": "covers"}
    )
    assert current_ids(read_trail(writer.root).lineages()) == [one]


def test_an_edge_from_a_record_to_itself_is_ignored(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    for reason in ("commit", "covers"):
        writer.edge("supersedes", one, one, target_type="annotation", metadata={"reason": reason})
    assert current_ids(read_trail(writer.root).lineages()) == [one]


def test_a_lineage_that_moved_to_another_file_is_only_there(writer: TrailWriter) -> None:
    old = writer.line("old.py", 1, 2)
    new = writer.remap(old, commit=FIRST, reason="rewrite", file_path="new.py")
    trail = read_trail(writer.root)
    assert current_ids(trail.lineages_in("new.py")) == [new]
    assert trail.lineages_in("old.py") == []
    assert trail.lineages() == trail.lineages_in("new.py")
