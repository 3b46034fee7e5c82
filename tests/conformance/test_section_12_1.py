"""RFC 12.1: versions of the standard."""

from __future__ import annotations

import json

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    CONFIG,
    MANIFEST,
    READ_COMMANDS,
    check_project,
    finding_fields,
    finding_locations,
    run_vibes,
    severities,
    snapshot,
)
from tests.trails import AUDIT_DIR, CompleteTrail

FILES = pytest.mark.parametrize(
    ("file", "member"), [(MANIFEST, "version"), (CONFIG, "standard_version")]
)


def declare(trail: CompleteTrail, file: str, member: str, version: str) -> None:
    """Let a file of the trail declare a version of the standard."""
    path = trail.root / file
    content = json.loads(path.read_bytes())
    path.write_bytes(json.dumps(content | {member: version}, ensure_ascii=False).encode())


@rfc_reader(
    "12.1",
    "MUST",
    "the versions of manifest and policy are checked before any answer",
)
@rfc_reader(
    "12.1",
    "SHOULD",
    "a command on a trail with an unknown major version prints a warning on standard error",
)
@FILES
@pytest.mark.parametrize(
    "arguments",
    [each for each in READ_COMMANDS if each[0] not in ("check", "doctor")],
    ids=" ".join,
)
def test_an_unknown_major_version_is_a_warning_beside_every_answer(
    trail: CompleteTrail, file: str, member: str, arguments: tuple[str, ...]
) -> None:
    before = run_vibes(trail.root, *arguments, "--json")
    assert before.err == ""
    declare(trail, file, member, "2.0")
    after = run_vibes(trail.root, *arguments, "--json")
    assert (after.code, after.out) == (0, before.out), "read as far as possible"
    assert file.rpartition("/")[2] in after.err
    assert "2.0" in after.err


@rfc_reader(
    "12.1", "SHOULD", "a report about such a trail has a warning at the member and continues"
)
@FILES
@pytest.mark.parametrize("version", ["2.0", "0.9", "10.1.3", "next"])
def test_an_unknown_major_version_is_a_warning_of_the_report(
    trail: CompleteTrail, file: str, member: str, version: str
) -> None:
    declare(trail, file, member, version)
    report = check_project(trail.root)
    assert finding_locations(report, "version-unsupported") == [(file, 1)]
    assert finding_fields(report) == {("version-unsupported", member)}
    assert severities(report, "version-unsupported") == {"warning"}
    assert report.records["line"] == 6


@rfc_reader("12.1", "MUST", "nothing is written to a trail of an unknown major version")
@FILES
@pytest.mark.parametrize("missing", [".gitignore", "annotations.jsonl"])
def test_a_trail_of_an_unknown_major_version_is_not_written_to(
    trail: CompleteTrail, file: str, member: str, missing: str
) -> None:
    declare(trail, file, member, "2.0")
    (trail.root / AUDIT_DIR / missing).unlink()
    before = snapshot(trail.root)
    refused = run_vibes(trail.root, "init")
    assert refused.code == 2
    assert "2.0" in refused.err
    assert snapshot(trail.root) == before
    declare(trail, file, member, "1.9")
    assert run_vibes(trail.root, "init").code == 0
    assert missing in snapshot(trail.root)


@rfc_reader("12.1", "stated", "another minor version or patch level is read without a warning")
@FILES
@pytest.mark.parametrize("version", ["1.0", "1.1", "1.0.7", "1.12.0-rc.1", "1"])
def test_another_minor_version_is_fine(
    trail: CompleteTrail, file: str, member: str, version: str
) -> None:
    declare(trail, file, member, version)
    assert finding_fields(check_project(trail.root)) == set()
    assert run_vibes(trail.root, "stats").err == ""
