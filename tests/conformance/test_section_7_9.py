"""RFC 7.9: the actions of an AI."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import check_project, finding_locations, open_trail, run_vibes
from tests.conformance.valid_records import function, line, record_findings
from tests.trails import CompleteTrail


@rfc_reader("7.9", "REQUIRED", "the actions of an edit are known, and another word is reported")
@pytest.mark.parametrize("word", ["create", "modify", "delete", "review", "rename", "Create", ""])
def test_every_action_is_known(trail: CompleteTrail, word: str) -> None:
    known = word in ("create", "modify", "delete", "review")
    assert record_findings(trail, line(trail), action=word) == (
        set() if known else {("record-field", "action")}
    )
    assert (
        open_trail(trail.root).lineages_in("src/auth.py")[-1].current.members["action"] == word
    ), "read, whatever it says"


@rfc_reader(
    "7.9",
    "MUST",
    "a remapped line or function record without a `supersedes` edge to its original is reported",
)
@pytest.mark.parametrize("make", [line, function])
def test_a_remap_needs_its_edge(trail: CompleteTrail, make: object) -> None:
    record = line(trail) if make is line else function(trail)
    original = trail.writer.record(record)
    trail.writer.cause(original, trail.command)
    remapped = trail.writer.remap(original, commit="c0ffee" * 6)
    assert not finding_locations(check_project(trail.root), "remap-edge")
    log = trail.root / ".ai-audit/annotations.jsonl"
    log.write_bytes(
        b"".join(
            row
            for row in log.read_bytes().splitlines(keepends=True)
            if f'"source_ref":"{remapped}"'.encode() not in row
        )
    )
    assert len(finding_locations(check_project(trail.root), "remap-edge")) == 1


@rfc_reader(
    "7.9", "stated", "a remapped record is not a new edit: the action of its original stays"
)
def test_a_remap_keeps_the_action_of_its_original(trail: CompleteTrail) -> None:
    stats = run_vibes(trail.root, "stats", "--json").json
    assert stats["actions"] == {"create": 4, "modify": 1}
    lineage = open_trail(trail.root).lineage_of(trail.remapped)
    assert lineage is not None
    assert (lineage.current.text("action"), lineage.action) == ("rebase_remap", "create")


@rfc_reader("7.9", "MAY", "a review may have reasoning; it is not an edit and counts for no model")
def test_a_review_is_no_edit(trail: CompleteTrail) -> None:
    before = run_vibes(trail.root, "stats", "--by", "model", "--json").json
    assert (
        record_findings(trail, line(trail), action="review", reasoning_hash=trail.reasoning)
        == set()
    )
    assert run_vibes(trail.root, "stats", "--by", "model", "--json").json == before
