"""RFC 7.2: the five types of record."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import LOG, check_project, finding_fields
from tests.trails import OMIT, CompleteTrail

MAKERS = {
    "line": valid_records.line,
    "function": valid_records.function,
    "session": valid_records.session_end,
    "edge": valid_records.edge,
    "delegation": valid_records.delegation,
}


@rfc_reader(
    "7.2",
    "stated",
    "each of the five record types is recognized and counted",
)
@pytest.mark.parametrize("name", MAKERS)
def test_every_type_is_known(trail: CompleteTrail, name: str) -> None:
    before = check_project(trail.root).records
    trail.writer.record(MAKERS[name](trail))
    after = check_project(trail.root).records
    assert {kind for kind in after if after[kind] != before[kind]} == {name}
    assert after["other"] == after["broken"] == 0


@rfc_reader("7.2", "stated", "the place of `type` among the members does not matter")
@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_the_type_may_stand_anywhere(
    trail: CompleteTrail, make: Callable[[CompleteTrail], dict[str, object]]
) -> None:
    record = make(trail)
    line = valid_records.append(
        trail,
        {
            **{name: value for name, value in record.items() if name != "type"},
            "type": record["type"],
        },
    )
    report = check_project(trail.root)
    assert finding_fields(report, LOG, line) == set()
    assert report.records["other"] == 0


@rfc_reader(
    "7.2", "stated", "a record whose type is missing or not a string is reported at its line"
)
@pytest.mark.parametrize(
    "value", [OMIT, None, 7, ["line"]], ids=["absent", "null", "number", "array"]
)
def test_a_record_without_a_type_is_reported(trail: CompleteTrail, value: object) -> None:
    assert valid_records.record_findings(trail, valid_records.line(trail), type=value) == {
        ("record-field", "type")
    }
