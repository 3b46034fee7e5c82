"""Statistics, shares and sessions: what counts, and what is history, a review or a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import TrailWriter
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.reports.authors import Author, Authors
from vibes_lsp.reports.statistics import CurrentEdits, count_trail, session_summaries
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.reports.statistics import Stats

ALL_FILES = Tracking(None)


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    writer = TrailWriter(tmp_path)
    writer.environment(tool="Claude Code", tool_version="1", model="opus", model_version="5")
    return writer


def trail_of(writer: TrailWriter) -> Trail:
    trail = Trail(AuditDir(writer.files.audit))
    trail.refresh()
    return trail


def stats_of(writer: TrailWriter, tracking: Tracking = ALL_FILES) -> Stats:
    return count_trail(trail_of(writer), tracking)


def shares_of(writer: TrailWriter) -> list[tuple[str, int, int, float]]:
    trail = trail_of(writer)
    return [
        (share.author.model, share.annotations, share.files, share.share)
        for share in CurrentEdits(trail).model_shares()
    ]


def test_an_empty_trail_has_statistics(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    stats = stats_of(writer)
    assert (stats.records, stats.annotations, stats.entries, stats.sessions, stats.models) == (
        0,
        0,
        0,
        0,
        [],
    )


def test_a_remapped_annotation_is_one_edit(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.remap(one, commit="a1" * 20)
    stats = stats_of(writer)
    assert (stats.records, stats.annotations, stats.current) == (3, 1, 1)
    assert stats.actions == {"create": 1}
    assert shares_of(writer) == [("opus", 1, 1, 1.0)]


def test_a_superseded_edit_is_history_and_has_no_share(writer: TrailWriter) -> None:
    old = writer.line("a.py", 1, 2)
    other = writer.environment(model="haiku")
    new = writer.line("a.py", 1, 2, environment=other, action="modify")
    writer.edge("supersedes", new, old, target_type="annotation", metadata={"reason": "covers"})
    stats = stats_of(writer)
    assert (stats.annotations, stats.current, stats.actions) == (2, 1, {"modify": 1})
    assert shares_of(writer) == [("haiku", 1, 1, 1.0)]


def test_reviews_and_people_have_no_share(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.line("a.py", 1, 2, action="review")
    writer.review(one)
    person = writer.reviewer_environment()
    writer.line("a.py", 1, 1, environment=person)
    assert shares_of(writer) == [("opus", 1, 1, 1.0)]


def test_the_largest_share_comes_first_and_equal_ones_by_name(writer: TrailWriter) -> None:
    for model, count in (("zeta", 1), ("beta", 3), ("alpha", 1)):
        environment = writer.environment(model=model)
        for number in range(count):
            writer.line(f"{number}.py", 1, 2, environment=environment)
    assert [(model, annotations) for model, annotations, _, _ in shares_of(writer)] == [
        ("beta", 3),
        ("alpha", 1),
        ("zeta", 1),
    ]
    assert [share for *_, share in shares_of(writer)] == [0.6, 0.2, 0.2]


def test_two_versions_of_a_model_are_two_rows(writer: TrailWriter) -> None:
    for version in ("1", "2"):
        writer.line(
            "a.py", 1, 2, environment=writer.environment(model="same", model_version=version)
        )
    assert [share[0] for share in shares_of(writer)] == ["same", "same"]


def test_missing_and_untracked_files_are_counted_separately(writer: TrailWriter) -> None:
    for path in ("a.py", "a.py", "gone.py", "/home/someone/x.py", "notes.md"):
        writer.line(path, 1, 2)
    stats = stats_of(writer, Tracking([".py"]))
    assert (stats.files, stats.foreign, stats.untracked) == (4, 3, 1)


def test_blank_and_broken_lines_are_not_records(writer: TrailWriter) -> None:
    writer.line("a.py", 1, 2)
    writer.raw_log(b"\n<<<<<<< HEAD\noops\n")
    assert stats_of(writer).records == 1


@pytest.mark.parametrize("action", [None, 7])
def test_an_invalid_action_counts_as_unknown(writer: TrailWriter, action: object) -> None:
    writer.line("a.py", 1, 2, action=action)
    assert stats_of(writer).actions == {"unknown": 1}


def test_the_json_of_numbers_is_in_camel_case(writer: TrailWriter) -> None:
    assert set(stats_of(writer).as_json()) == {
        "records", "annotations", "current", "files", "foreignFiles", "untrackedFiles", "sessions", "openSessions", "entries", "actions",
        "assuranceLevels", "models",
    }  # fmt: skip


def test_an_author_without_an_environment_is_unknown(writer: TrailWriter) -> None:
    prompt = writer.prompt("Go on.")
    authors = Authors(trail_of(writer))
    for reference in (None, "", "f" * 64, prompt):
        assert authors.of(reference) == Author("unknown", "unknown", "unknown", "unknown")
    assert authors.of(writer.last_environment) == Author("Claude Code", "1", "opus", "5")


def test_an_author_is_labelled_for_a_list(writer: TrailWriter) -> None:
    authors = Authors(trail_of(writer))
    assert authors.of(writer.last_environment).label == "opus (Claude Code)"
    assert Authors(trail_of(writer)).of(None).label == "unknown (unknown)"
    assert Author("vibes-lsp", "1", "none", "none").label == "a person"


def test_a_session_has_its_edits_and_its_duration(writer: TrailWriter) -> None:
    session = writer.session_start(description="Why", timestamp="2026-02-03T10:00:00Z")
    writer.line("a.py", 1, 2, session=session)
    writer.session_end(session, timestamp="2026-02-03T10:01:30+00:00")
    (summary,) = session_summaries(trail_of(writer))
    assert (summary.annotations, summary.seconds, summary.author.model) == (1, 90.0, "opus")
    assert (summary.as_json()["open"], summary.as_json()["line"]) == (False, 1)


def test_a_session_counts_an_edit_once_however_often_it_was_recorded(writer: TrailWriter) -> None:
    session = writer.session_start()
    for number, (reason, action) in enumerate(
        [("commit", "rebase_remap"), (None, "rebase_remap"), (None, "create")], 1
    ):
        edit = writer.line("a.py", number, number, session=session)
        writer.remap(edit, commit="a1" * 20, reason=reason, action=action)
    old = writer.line("a.py", 5, 5, session=session)
    new = writer.line("a.py", 5, 6, session=session, action="modify")
    writer.edge("supersedes", new, old, target_type="annotation", metadata={"reason": "covers"})
    copied = writer.files.log.read_bytes().splitlines(keepends=True)[1]
    writer.files.append_log(copied)
    (summary,) = session_summaries(trail_of(writer))
    assert summary.annotations == 5


@pytest.mark.parametrize("end", [None, "2026-02-03T09:00:00Z"])
def test_a_session_that_is_open_or_ends_too_early_has_no_duration(
    writer: TrailWriter, end: str | None
) -> None:
    session = writer.session_start(timestamp="2026-02-03T10:00:00Z")
    if end is not None:
        writer.session_end(session, timestamp=end)
    (summary,) = session_summaries(trail_of(writer))
    assert summary.seconds is None
    assert summary.session.is_open == (end is None)


def test_a_session_without_a_start(writer: TrailWriter) -> None:
    writer.session_end("stray")
    (summary,) = session_summaries(trail_of(writer))
    assert (
        summary.as_json()["session_id"],
        summary.as_json()["start"],
        summary.as_json()["open"],
    ) == ("stray", None, False)
    assert summary.author.model == "unknown"
