"""RFC 7.6: edge records."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import run_vibes
from tests.conformance.valid_records import EDGE_TYPES, edge, record_findings
from tests.trails import OMIT, CompleteTrail

REQUIRED = (
    "type",
    "edge_type",
    "source_ref",
    "source_type",
    "target_ref",
    "target_type",
    "timestamp",
)
OPTIONAL = ("session_id", "metadata")


@rfc_reader("7.6", "stated", "an edge record with all its members is read without findings")
def test_a_whole_record_is_accepted(trail: CompleteTrail) -> None:
    assert record_findings(trail, edge(trail)) == set()


@rfc_reader(
    "7.6",
    "REQUIRED",
    "an edge record that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert ("record-field", member) in record_findings(trail, edge(trail), **{member: OMIT})


@rfc_reader("7.6", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert record_findings(trail, edge(trail), **{member: value}) == set()


@rfc_reader("7.6", "REQUIRED", "each of the six edge types is known, another one is reported")
@pytest.mark.parametrize("word", [*EDGE_TYPES, "blames", "Caused_By"])
def test_the_edge_type_is_one_of_six_words(trail: CompleteTrail, word: str) -> None:
    assert record_findings(trail, edge(trail), edge_type=word) == (
        set() if word in EDGE_TYPES else {("record-field", "edge_type")}
    )


@rfc_reader(
    "7.6",
    "REQUIRED",
    "an end is an existing annotation, context or session; anything else is reported",
)
@pytest.mark.parametrize("end", ["source", "target"])
def test_an_end_is_of_a_known_kind_and_there(trail: CompleteTrail, end: str) -> None:
    ids = {"annotation": trail.modified, "context": trail.command, "session": trail.session}
    for kind, identifier in ids.items():
        assert (
            record_findings(trail, edge(trail), **{f"{end}_type": kind, f"{end}_ref": identifier})
            == set()
        )
        others = [each for each in ids if each != kind]
        for other in others:
            assert record_findings(
                trail, edge(trail), **{f"{end}_type": other, f"{end}_ref": identifier}
            ) == {("edge-end", f"{end}_ref")}
    assert record_findings(trail, edge(trail), **{f"{end}_type": "commit"}) == {
        ("record-field", f"{end}_type")
    }


@rfc_reader("7.6", "stated", "an edge leads from its source, the effect, to its target, the cause")
def test_an_edge_has_a_direction(trail: CompleteTrail) -> None:
    shown = run_vibes(trail.root, "show", trail.modified, "--json").json["edges"]
    assert {(each["edge_type"], each["target_ref"]) for each in shown["out"]} >= {
        ("caused_by", trail.prompt),
        ("informed_by", trail.read_command),
    }
    assert shown["in"] == []
    read = run_vibes(trail.root, "show", trail.read_command, "--json").json["edges"]
    assert [each["source_ref"] for each in read["in"]] == [trail.modified]
    assert read["out"] == []


@rfc_reader("7.6", "OPTIONAL", "metadata may contain anything and is shown unchanged")
def test_metadata_is_free(trail: CompleteTrail) -> None:
    metadata = {"type": "line", "deep": [{"a": None}, 1.5, "ü"], "reason": 7}
    assert record_findings(trail, edge(trail), metadata=metadata) == set()
    shown = run_vibes(trail.root, "show", trail.created, "--json").json["edges"]["out"]
    assert metadata in [each.get("metadata") for each in shown]
