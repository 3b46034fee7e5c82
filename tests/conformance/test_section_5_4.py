"""RFC 5.4: the id of a record."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import check_project, finding_locations, log_lines
from tests.trails import CompleteTrail, annotation_id


@rfc_reader(
    "5.4", "stated", "the id of a record of any type is the hash of all its members but the id"
)
@pytest.mark.parametrize("make", valid_records.EVERY_TYPE)
def test_every_type_of_record_has_its_id_from_its_content(
    trail: CompleteTrail, make: Callable[[CompleteTrail], dict[str, object]]
) -> None:
    valid_records.append(trail, {**make(trail), "unknown": {"b": 1, "a": "ä"}})
    ids = check_project(trail.root).annotation_ids
    assert ids["spec"] == log_lines(trail.root) == sum(ids.values())


@rfc_reader("5.4", "stated", "a record that does not match its id is reported at its line")
@pytest.mark.parametrize("member", ["timestamp", "line_end", "unknown"])
def test_a_changed_record_no_longer_has_its_id(trail: CompleteTrail, member: str) -> None:
    record = valid_records.line(trail)
    identifier = annotation_id(record)
    changed = {
        **record,
        "annotation_id": identifier,
        member: 3 if member == "line_end" else "2026-02-03T11:00:01Z",
    }
    line = valid_records.append(trail, changed)
    assert finding_locations(check_project(trail.root), "annotation-id-mismatch") == [
        (".ai-audit/annotations.jsonl", line)
    ]


@rfc_reader("5.4", "stated", "the order and spacing of a record's members do not change its id")
def test_the_order_of_members_does_not_matter(trail: CompleteTrail) -> None:
    record = {
        **valid_records.line(trail),
        "annotation_id": annotation_id(valid_records.line(trail)),
    }
    valid_records.append(trail, {name: record[name] for name in reversed(record)})
    assert not check_project(trail.root).findings
