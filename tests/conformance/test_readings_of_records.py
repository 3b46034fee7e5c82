"""Readings R4 to R7 and R12: commits, edges, reviews, lineages and invalid lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import spec_reading
from tests.conformance.trail_access import (
    LOG,
    audit_dir,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
    run_vibes,
    severities,
)
from tests.server.project import STORY, Project
from tests.trails import CompleteTrail, Repository, TrailWriter
from tests.unit.recording.request_builders import review_request
from vibes_lsp.recording import Model, Recorder, Tool
from vibes_lsp.trail.reviews import Review
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path


@spec_reading("R4", "a record without a commit gets the oldest commit whose log contains it")
def test_a_commit_is_derived_from_the_history_of_the_log(trail: CompleteTrail) -> None:
    repository = Repository(trail.root)
    repository.commit("Recorded", "2026-02-03T10:30:00+00:00")
    valid_records.append(trail, {**valid_records.line(trail), "commit_hash": None})
    assert severities(check_project(trail.root), "commit-unknown") == {"note"}, (
        "newer than HEAD: it waits for its commit"
    )
    repository.commit("Recorded more", "2026-02-03T12:00:00+00:00")
    assert finding_fields(check_project(trail.root)) == set()


@spec_reading("R4", "a back-filled record and its original are one annotation")
def test_a_back_filled_record_is_no_second_edit(trail: CompleteTrail) -> None:
    original = trail.writer.record({**valid_records.line(trail), "commit_hash": None})
    edits = len(open_trail(trail.root).lineages())
    committed = trail.writer.remap(original, commit="c0ffee" * 6)
    trail_now = open_trail(trail.root)
    assert len(trail_now.lineages()) == edits
    lineage = trail_now.lineage_of(original)
    assert lineage is not None
    assert (lineage.first.id, lineage.current.id) == (original, committed)


@spec_reading(
    "R5",
    "edges with `source_id` and `target_id` are read; a missing type means annotation",
)
def test_older_names_of_the_ends_are_read(trail: CompleteTrail) -> None:
    edge = trail.writer.edge("informed_by", trail.modified, trail.created, old_names=True)
    (read,) = (
        each
        for each in open_trail(trail.root).log.edges(source=trail.modified)
        if each.record.id == edge
    )
    assert (read.source, read.target) == (trail.modified, trail.created)
    assert (read.source_type, read.target_type) == ("annotation", "annotation")
    report = check_project(trail.root)
    assert report.passed
    assert severities(report, "edge-names") == {"warning"}


def reviews(trail: CompleteTrail, annotation: str) -> list[Review]:
    trail_now = open_trail(trail.root)
    lineage = trail_now.lineage_of(annotation)
    assert lineage is not None
    return trail_now.reviews_of(lineage)


@spec_reading(
    "R6",
    "a review is an edge to the reviewer's session with reviewer, verdict and text hash",
)
def test_a_review_has_all_details(trail: CompleteTrail) -> None:
    trail.writer.review(trail.modified, verdict="rejected", reviewer="Grace", note="Too long.")
    (review,) = reviews(trail, trail.modified)
    assert (review.reviewer, review.kind, review.verdict, review.note) == (
        "Grace",
        "human",
        "rejected",
        "Too long.",
    )
    assert review.text_hash == trail.writer.files.record(trail.modified)["anchor_hash"]


@spec_reading(
    "R6",
    "a review edge is read in both directions; without metadata its reviewer is unknown",
)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_review_of_another_tool_is_read(trail: CompleteTrail, backwards: bool) -> None:
    if backwards:
        trail.writer.edge(
            "reviewed_by",
            trail.session,
            trail.function,
            source_type="session",
            target_type="annotation",
        )
    else:
        trail.writer.edge("reviewed_by", trail.function, trail.session, target_type="session")
    (review,) = reviews(trail, trail.function)
    assert (review.annotation, review.kind, review.verdict) == (trail.function, "unknown", None)


@spec_reading(
    "R6",
    "between two annotations, the one with the action `review` is the review",
)
@pytest.mark.parametrize("backwards", [False, True])
def test_the_review_between_two_annotations_is_recognised(
    trail: CompleteTrail, backwards: bool
) -> None:
    review = trail.writer.record({**valid_records.line(trail), "action": "review"})
    ends = (review, trail.function) if backwards else (trail.function, review)
    trail.writer.edge("reviewed_by", *ends, target_type="annotation")
    assert [each.annotation for each in reviews(trail, trail.function)] == [trail.function]
    assert reviews(trail, review) == []


@spec_reading("R6", "a human reviewer does not count as a model")
def test_a_person_is_no_model(trail: CompleteTrail) -> None:
    models = run_vibes(trail.root, "stats", "--by", "model", "--json").json["models"]
    assert "none" not in {each["model_name"] for each in models}
    assert sum(each["annotations"] for each in models) == 5


def placed(project: Project) -> dict[str, Any]:
    """Return the one annotation of a project as it stands now."""
    (placement,) = run_vibes(project.root, "find", "--json").json["placements"]
    return dict(placement)


@pytest.fixture
def scored(tmp_path: Path) -> Project:
    """A project with one annotation, lines 4 to 7 of `a.py`, whose risk only its review decides."""
    project = Project(tmp_path / "scored")
    others = (
        "scope_lines",
        "scope_files",
        "action_type",
        "assurance_gap",
        "temperature",
        "prompt_token_count",
        "model_capability_tier",
    )
    project.config(
        risk_scoring={
            "enabled": True,
            "weights": {**dict.fromkeys(others, 0), "human_review_present": 1},
        }
    )
    project.environment()
    project.annotated()
    return project


@spec_reading(
    "R6",
    "a person's approval lowers the risk while the reviewed text is unchanged; only an approval overrides a rejection",
)
def test_only_an_approval_of_the_text_as_it_is_releases(scored: Project) -> None:
    annotation = placed(scored)["annotationId"]

    def told() -> tuple[float, str | None, bool | None]:
        placement = placed(scored)
        review = placement["review"] or {"verdict": None, "stale": None}
        return placement["score"], review["verdict"], review["stale"]

    assert told() == (1.0, None, None)
    scored.review(annotation)
    assert told() == (0.0, "approved", False)
    scored.file("a.py", STORY.replace("hexdigest", "digest"))
    assert told() == (1.0, "approved", True)
    scored.file("a.py")
    assert told() == (0.0, "approved", False)
    scored.review(annotation, verdict="rejected", reviewer="Grace")
    assert told() == (1.0, "rejected", False)
    scored.review(annotation, reviewer="Grace")
    assert told() == (0.0, "approved", False)


@spec_reading("R6", "an AI's review is shown as such and has no effect")
@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_an_ais_review_changes_nothing(scored: Project, verdict: str) -> None:
    annotation = placed(scored)["annotationId"]
    scored.review(annotation, kind="ai", reviewer="Critic", verdict=verdict)
    placement = placed(scored)
    assert (placement["score"], placement["review"]["kind"], placement["review"]["by"]) == (
        1.0,
        "ai",
        "Critic",
    )
    assert len(run_vibes(scored.root, "find", "--unreviewed", "--json").json["placements"]) == 1
    scored.review(annotation)
    scored.review(annotation, kind="ai", reviewer="Critic", verdict=verdict)
    assert (placed(scored)["score"], placed(scored)["review"]["kind"]) == (0.0, "human")


@spec_reading(
    "R6",
    "the session of a written review names a person without model, or the AI; no reviewer counts as a model",
)
@pytest.mark.parametrize("kind", ["human", "ai"])
def test_a_written_review_names_its_reviewer(scored: Project, kind: str) -> None:
    who: dict[str, Any] = {"reviewer": "Ada"}
    if kind == "ai":
        who = {
            "reviewer_kind": "ai",
            "tool": Tool("review-bot", "1"),
            "model": Model("critic-model", "1"),
        }
    before = run_vibes(scored.root, "models", "--json").json
    with Recorder(scored.root) as recorder:
        recorder.execute(review_request("approved", "a.py", (4, 7), **who))
    records = [json.loads(line) for line in (scored.root / LOG).read_bytes().splitlines()]
    (edge,) = [each for each in records if each["type"] == "edge"]
    start = next(each for each in records if each["type"] == "session" and each["event"] == "start")
    environment = open_trail(scored.root).manifest.entry(str(start["environment_hash"]))
    assert environment is not None
    assert (edge["source_type"], edge["target_type"], edge["target_ref"]) == (
        "annotation",
        "session",
        start["session_id"],
    )
    assert (
        edge["metadata"]["kind"],
        start["agent_type"] == "human",
        environment["model_name"],
    ) == ((kind, True, "none") if kind == "human" else (kind, False, "critic-model"))
    assert run_vibes(scored.root, "models", "--json").json == before


@spec_reading("R7", "the id of any member finds the lineage, and its edges belong to all members")
def test_a_lineage_is_found_by_the_id_of_any_member(trail: CompleteTrail) -> None:
    trail_now = open_trail(trail.root)
    for member in trail.lineage:
        lineage = trail_now.lineage_of(member)
        assert lineage is not None
        assert lineage.ids == trail.lineage
        assert lineage.current.id == trail.remapped
        out, _ = trail_now.edges_of(lineage)
        assert trail.causes[4] in {edge.record.id for edge in out}


@spec_reading(
    "R7",
    "of several last records of a lineage, the one with the commit nearest to HEAD is current; without git the latest",
)
def test_of_several_last_records_the_nearest_to_head_is_current(trail: CompleteTrail) -> None:
    original = trail.writer.record(valid_records.line(trail))
    here = trail.writer.remap(original, commit="aaaa" * 10, edge_timestamp="2026-02-03T12:00:00Z")
    later = trail.writer.remap(original, commit="bbbb" * 10, edge_timestamp="2026-02-03T13:00:00Z")
    for nearest, expected in ((None, later), ("aaaa" * 10, here)):
        trail_now = Trail(audit_dir(trail.root), nearest_commit=lambda _, chosen=nearest: chosen)  # type: ignore[misc]
        trail_now.refresh()
        lineage = trail_now.lineage_of(original)
        assert lineage is not None
        assert lineage.current.id == expected


@spec_reading(
    "R7",
    "a `supersedes` edge between two edits makes the older one history only if the newer covers it",
)
@pytest.mark.parametrize(
    ("start", "end", "metadata", "history"),
    [(1, 9, None, True), (3, 9, None, False), (3, 9, "covers", True)],
)
def test_an_edit_becomes_history_when_it_is_covered(
    trail: CompleteTrail, start: int, end: int, metadata: str | None, history: bool
) -> None:
    older = trail.writer.record({**valid_records.line(trail), "line_start": 1, "line_end": 5})
    newer = trail.writer.record(
        {
            **valid_records.line(trail),
            "line_start": start,
            "line_end": end,
            "timestamp": "2026-02-03T12:00:00Z",
        }
    )
    trail.writer.edge(
        "supersedes",
        newer,
        older,
        target_type="annotation",
        metadata=None if metadata is None else {"reason": metadata},
    )
    lineage = open_trail(trail.root).lineage_of(older)
    assert lineage is not None
    assert lineage.superseded_by == (() if history is False and metadata is None else (newer,))


@spec_reading("R7", "back-fill and remap do not change which edit is newer")
def test_a_remap_does_not_change_the_rank(trail: CompleteTrail) -> None:
    older = trail.writer.record(valid_records.line(trail))
    newer = trail.writer.record({**valid_records.line(trail), "timestamp": "2026-02-03T12:00:00Z"})
    trail.writer.remap(older, commit="c0ffee" * 6, edge_timestamp="2026-02-04T12:00:00Z")
    ranked = [lineage.first.id for lineage in open_trail(trail.root).lineages_in("src/auth.py")]
    assert ranked[-2:] == [older, newer]


@spec_reading(
    "R12",
    "a line that is not a JSON object is reported with its number; other lines are still read",
)
@pytest.mark.parametrize(
    ("row", "check"),
    [
        (b"<<<<<<< HEAD", "conflict-marker"),
        (b"=======", "conflict-marker"),
        (b">>>>>>> topic", "conflict-marker"),
        (b"[1]", "log-line"),
        (b'"text"', "log-line"),
        (b"null", "log-line"),
        (b'{"type":"line"', "log-line"),
        (b"\xff\xfe", "log-line"),
        (b"# remark", "log-line"),
    ],
)
def test_an_invalid_line_hides_nothing(trail: CompleteTrail, row: bytes, check: str) -> None:
    content = (trail.root / LOG).read_bytes()
    before = check_project(trail.root).records
    first, _, rest = content.partition(b"\n")
    (trail.root / LOG).write_bytes(first + b"\n" + row + b"\n" + rest)
    report = check_project(trail.root)
    assert finding_locations(report, check) == [(LOG, 2)]
    assert report.records == {**before, "broken": 1}


@spec_reading(
    "R12",
    "commands answer with any log content, and only the report mentions skipped lines",
)
def test_broken_lines_do_not_stop_an_answer(trail: CompleteTrail) -> None:
    before = run_vibes(trail.root, "stats", "--by", "model", "--json")
    trail.writer.raw_log(
        b'<<<<<<< HEAD\n{"type":"line","file_path":7,"timestamp":[]}\n{"type":{}}\n'
    )
    after = run_vibes(trail.root, "stats", "--by", "model", "--json")
    assert (after.code, after.err) == (0, "")
    assert {each["model_name"] for each in before.json["models"]} <= {
        each["model_name"] for each in after.json["models"]
    }
    assert TrailWriter(trail.root).files.record(trail.created)
