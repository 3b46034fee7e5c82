"""RFC 6.1: the members of the manifest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    MANIFEST,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
)
from tests.trails import CompleteTrail


def rewrite(trail: CompleteTrail, change: dict[str, Any], *without: str) -> None:
    manifest = json.loads((trail.root / MANIFEST).read_bytes())
    kept = {name: value for name, value in manifest.items() if name not in without}
    trail.writer.raw_manifest(json.dumps(kept | change, ensure_ascii=False, indent=1).encode())


@rfc_reader(
    "6.1",
    "REQUIRED",
    "a frame without `standard` or `version` is reported at the member, and its entries are still read",
)
@pytest.mark.parametrize("member", ["standard", "version"])
def test_a_missing_member_of_the_frame_is_reported(trail: CompleteTrail, member: str) -> None:
    entries = len(open_trail(trail.root).manifest)
    rewrite(trail, {}, member)
    assert finding_fields(check_project(trail.root)) == {("manifest-frame", member)}
    assert len(open_trail(trail.root).manifest) == entries


@rfc_reader(
    "6.1",
    "REQUIRED",
    "a manifest with missing or invalid `entries` is reported; all records are still read",
)
@pytest.mark.parametrize("change", [None, [], "none"], ids=["absent", "array", "string"])
def test_missing_entries_are_reported(trail: CompleteTrail, change: object) -> None:
    rewrite(trail, {} if change is None else {"entries": change}, "entries")
    report = check_project(trail.root)
    assert finding_locations(report, "manifest-json") == [(MANIFEST, 1)]
    assert report.records["line"] == 6
    assert not report.schema_passes


@rfc_reader("6.1", "REQUIRED", "a manifest of another standard is reported at its line")
@pytest.mark.parametrize("value", ["VOUCH", "vibes", 1])
def test_another_standard_is_reported(trail: CompleteTrail, value: object) -> None:
    rewrite(trail, {"standard": value})
    report = check_project(trail.root)
    assert finding_fields(report) == {("manifest-frame", "standard")}
    assert finding_locations(report, "manifest-frame") == [(MANIFEST, 2)]


@rfc_reader("6.1", "stated", "unknown members of the frame are not reported")
def test_an_unknown_member_of_the_frame_is_accepted(trail: CompleteTrail) -> None:
    rewrite(trail, {"generator": {"name": "other tool"}})
    assert finding_fields(check_project(trail.root)) == set()
