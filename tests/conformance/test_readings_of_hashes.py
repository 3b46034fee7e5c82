"""Readings R1 to R3: canonical JSON, and known deviations of other tools' hashes and ids."""

from __future__ import annotations

import json

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import spec_reading
from tests.conformance.trail_access import (
    LOG,
    MANIFEST,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
    run_vibes,
    severities,
)
from tests.trails import CONTEXT_VARIANTS, OMIT, CompleteTrail, annotation_id, context_hash

ODD_ENTRY = {
    "type": "environment",
    "tool_name": "Werkzeug für alles",
    "tool_version": "1.0",
    "model_name": "model",
    "model_version": "1",
    "model_parameters": {"temperature": 1.0},
    "tool_extensions": None,
    "created_at": "2026-02-03T10:00:00Z",
}
"""An entry on which each known mistake shows."""


@spec_reading("R1", "a stored null is hashed; without it the entry is another one")
def test_a_stored_null_is_hashed(trail: CompleteTrail) -> None:
    with_null, without = (
        {**valid_records.command(), "command_exit_code": None},
        {**valid_records.command()},
    )
    del without["command_exit_code"]
    assert context_hash(with_null) != context_hash(without)
    trail.writer.entry(with_null)
    trail.writer.entry(without)
    assert finding_fields(check_project(trail.root)) == set()


@spec_reading(
    "R1",
    "NaN, infinities and duplicate members with different values are reported",
)
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", '1,"risk_score":2'])
def test_what_has_no_canonical_form_is_refused(trail: CompleteTrail, value: str) -> None:
    row = json.dumps({**valid_records.line(trail), "risk_score": 7777}).replace("7777", value)
    line = (trail.root / LOG).read_bytes().count(b"\n") + 1
    trail.writer.raw_log(row.encode() + b"\n")
    key = trail.writer.entry({**valid_records.prompt(), "risk_score": 7777})
    trail.writer.raw_manifest((trail.root / MANIFEST).read_bytes().replace(b"7777", value.encode()))
    report = check_project(trail.root)
    assert finding_locations(report, "log-line") == [(LOG, line)]
    assert ("entry-field" in {check for check, _ in finding_fields(report)}) or (
        "manifest-json" in {check for check, _ in finding_fields(report)}
    )
    assert open_trail(trail.root).manifest.entry(key) is None


@spec_reading("R1", "duplicate members with the same value count as one")
def test_a_repeated_member_with_one_value_is_accepted(trail: CompleteTrail) -> None:
    record = {
        **valid_records.line(trail),
        "annotation_id": annotation_id(valid_records.line(trail)),
    }
    row = json.dumps(record, ensure_ascii=False).replace(
        '"line_start": 2', '"line_start": 2, "line_start": 2'
    )
    trail.writer.raw_log(row.encode() + b"\n")
    trail.writer.cause(str(record["annotation_id"]), trail.command)
    assert finding_fields(check_project(trail.root)) == set()


@spec_reading(
    "R2", "a key computed with a known deviation verifies, and the report names the deviation"
)
@pytest.mark.parametrize("variant", [each for each in CONTEXT_VARIANTS if each != "spec"])
def test_a_key_with_a_known_deviation_verifies(trail: CompleteTrail, variant: str) -> None:
    key = trail.writer.entry(ODD_ENTRY, variant=variant)
    assert key != context_hash(ODD_ENTRY)
    report = check_project(trail.root)
    assert (report.context_hashes[variant], report.context_hashes["mismatch"]) == (1, 0)
    assert severities(report, "hash-variant") == {"warning"}
    assert report.passed


@spec_reading("R2", "combined deviations are recognized")
@pytest.mark.parametrize(
    "variant",
    [
        "no-type+ascii",
        "no-type+null-dropped+js-number",
        "no-type+environment-unknown",
        "ascii+replacer",
    ],
)
def test_combined_deviations_are_recognised(trail: CompleteTrail, variant: str) -> None:
    trail.writer.entry(ODD_ENTRY, variant=variant)
    report = check_project(trail.root)
    assert report.hashes_pass
    assert report.context_hashes["spec"] == len(open_trail(trail.root).manifest) - 1


@spec_reading("R2", "only a key without a known explanation is a mismatch")
def test_a_key_that_nothing_explains_is_a_mismatch(trail: CompleteTrail) -> None:
    trail.writer.entry({**ODD_ENTRY, "tool_name": "Another"}, key=context_hash(ODD_ENTRY))
    report = check_project(trail.root)
    assert report.context_hashes["mismatch"] == 1
    assert severities(report, "hash-mismatch") == {"error"}


@spec_reading(
    "R3",
    "an id computed before anchors, commit or risk were added, or with escapes, verifies",
)
@pytest.mark.parametrize(
    ("variant", "name"),
    [
        ("less-anchors", "less-anchors"),
        ("less-commit", "less-commit"),
        ("less-commit-member", "less-commit"),
        ("less-risk", "less-risk"),
        ("ascii", "ascii"),
        ("less-anchors+less-risk", "less-risk"),
    ],
)
def test_an_id_with_a_known_deviation_verifies(
    trail: CompleteTrail, variant: str, name: str
) -> None:
    record = {**valid_records.line(trail), "note": "für später"}
    identifier = trail.writer.record(record, id_variant=variant)
    trail.writer.cause(identifier, trail.command)
    report = check_project(trail.root)
    assert (report.annotation_ids[name], report.annotation_ids["mismatch"]) == (1, 0)
    assert finding_fields(report) == {("annotation-id-variant", "annotation_id")}


@spec_reading(
    "R3",
    "a record without an id gets the id of its content, for `show` and for edges",
)
def test_a_record_without_an_id_gets_its_own(trail: CompleteTrail) -> None:
    identifier = trail.writer.record({**valid_records.line(trail), "annotation_id": OMIT})
    trail.writer.cause(identifier, trail.command)
    assert finding_fields(check_project(trail.root)) == {("annotation-id-absent", "annotation_id")}
    shown = run_vibes(trail.root, "show", identifier, "--json").json
    assert "annotation_id" not in shown["record"]
    assert [edge["edge_type"] for edge in shown["edges"]["out"]] == ["caused_by"]


@spec_reading("R3", "two records with the same id count as one, as after a merge")
def test_two_records_with_one_id_are_one(trail: CompleteTrail) -> None:
    before = check_project(trail.root)
    edits = len(open_trail(trail.root).lineages())
    trail.writer.raw_log((trail.root / LOG).read_bytes())
    report = check_project(trail.root)
    assert (report.records, report.annotation_ids) == (before.records, before.annotation_ids)
    assert finding_fields(report) == set()
    assert len(open_trail(trail.root).lineages()) == edits
    assert len(open_trail(trail.root).log.edges(source=trail.created)) == 4
