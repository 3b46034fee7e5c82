"""RFC 6.1: the manifest's frame."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.faces import MANIFEST, checked, found, opened, places
from tests.conformance.requirement import rfc
from tests.trails import CompleteTrail


def rewrite(trail: CompleteTrail, change: dict[str, Any], *without: str) -> None:
    manifest = json.loads((trail.root / MANIFEST).read_bytes())
    kept = {name: value for name, value in manifest.items() if name not in without}
    trail.writer.raw_manifest(json.dumps(kept | change, ensure_ascii=False, indent=1).encode())


@rfc(
    "6.1",
    "REQUIRED",
    "a frame without `standard` or `version` is reported at the member, and its entries are still read",
)
@pytest.mark.parametrize("member", ["standard", "version"])
def test_a_missing_member_of_the_frame_is_reported(trail: CompleteTrail, member: str) -> None:
    entries = len(opened(trail.root).manifest)
    rewrite(trail, {}, member)
    assert found(checked(trail.root)) == {("manifest-frame", member)}
    assert len(opened(trail.root).manifest) == entries


@rfc(
    "6.1",
    "REQUIRED",
    "a manifest without `entries`, or with something else in its place, is reported and hides no record",
)
@pytest.mark.parametrize("change", [None, [], "none"], ids=["absent", "array", "string"])
def test_missing_entries_are_reported(trail: CompleteTrail, change: object) -> None:
    rewrite(trail, {} if change is None else {"entries": change}, "entries")
    report = checked(trail.root)
    assert places(report, "manifest-json") == [(MANIFEST, 1)]
    assert report.records["line"] == 6
    assert not report.schema_passes


@rfc("6.1", "REQUIRED", "a manifest of another standard is reported at its line")
@pytest.mark.parametrize("value", ["VOUCH", "vibes", 1])
def test_another_standard_is_reported(trail: CompleteTrail, value: object) -> None:
    rewrite(trail, {"standard": value})
    report = checked(trail.root)
    assert found(report) == {("manifest-frame", "standard")}
    assert places(report, "manifest-frame") == [(MANIFEST, 2)]


@rfc("6.1", "stated", "members of the frame that we do not know are no finding")
def test_an_unknown_member_of_the_frame_is_accepted(trail: CompleteTrail) -> None:
    rewrite(trail, {"generator": {"name": "other tool"}})
    assert found(checked(trail.root)) == set()
