"""RFC 8.1: the project's policy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    CONFIG,
    audit_dir,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
    run_vibes,
    severities,
)
from tests.conformance.valid_records import append, line
from tests.trails import OMIT, CompleteTrail
from vibes_lsp.model.config import Config
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.store.config import load_config

REQUIRED = ("standard", "standard_version", "assurance_level", "project_name")
OPTIONAL = (
    "tracked_extensions",
    "exclude_patterns",
    "compress_reasoning_threshold_bytes",
    "external_blob_threshold_bytes",
    "risk_scoring",
)


def policy(trail: CompleteTrail, **members: object) -> Config:
    """Write a policy; return what is in force."""
    trail.writer.config(**members)
    return load_config(audit_dir(trail.root)).config


@rfc_reader(
    "8.1",
    "REQUIRED",
    "a missing required member of the policy is reported; the other members apply",
)
@pytest.mark.parametrize("member", REQUIRED)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_a_missing_required_member_is_reported(
    trail: CompleteTrail, member: str, value: object
) -> None:
    config = policy(trail, exclude_patterns=["gen/**"], **{member: value})
    assert config.exclude_patterns == ["gen/**"]
    assert ("config-field", member) in finding_fields(check_project(trail.root), CONFIG)


@rfc_reader(
    "8.1", "REQUIRED", "a required member with a value that it may not have is reported at its line"
)
@pytest.mark.parametrize(
    ("member", "value"),
    [("standard", "VOUCH"), ("assurance_level", "highest"), ("project_name", 7)],
)
def test_a_wrong_value_is_reported_at_its_line(
    trail: CompleteTrail, member: str, value: object
) -> None:
    trail.writer.config(**{member: value})
    number = 2 + REQUIRED.index(member)
    assert finding_locations(check_project(trail.root), "config-field") == [(CONFIG, number)]


@rfc_reader("8.1", "REQUIRED", "each of the three assurance levels is known")
@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_every_assurance_level_is_known(trail: CompleteTrail, level: str) -> None:
    assert policy(trail, assurance_level=level).assurance_level == level
    report = check_project(trail.root)
    assert finding_fields(report, CONFIG) == set()
    assert report.level == level


@rfc_reader("8.1", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert policy(trail, **{member: value}) == Config(
        assurance_level=AssuranceLevel.HIGH, project_name="demo"
    )
    assert finding_fields(check_project(trail.root)) == set()


@rfc_reader(
    "8.1",
    "OPTIONAL",
    "without `tracked_extensions` all files are tracked; with it, those with such an extension",
)
@pytest.mark.parametrize(
    ("members", "untracked"),
    [({}, 0), ({"tracked_extensions": [".py"]}, 2), ({"tracked_extensions": []}, 5)],
)
def test_all_files_are_tracked_by_default(
    trail: CompleteTrail, members: dict[str, object], untracked: int
) -> None:
    for path in ("Makefile", "docs/a.md"):
        append(trail, {**line(trail), "file_path": path})
    trail.writer.config(**members)
    assert run_vibes(trail.root, "stats", "--json").json["untrackedFiles"] == untracked


@rfc_reader(
    "8.1",
    "OPTIONAL",
    "without `exclude_patterns` nothing is excluded; with it, what a pattern matches",
)
@pytest.mark.parametrize(
    ("patterns", "tracked"),
    [
        (OMIT, True),
        ([], True),
        (["**/vendor/**"], False),
        (["src/*/"], False),
        (["*.js"], True),
        (["vendor"], False),
    ],
)
def test_nothing_is_excluded_by_default(
    trail: CompleteTrail, patterns: object, tracked: bool
) -> None:
    append(trail, {**line(trail), "file_path": "src/vendor/lib/x.py"})
    trail.writer.config(exclude_patterns=patterns)
    assert severities(check_project(trail.root), "path-untracked") == (
        set() if tracked else {"note"}
    )


@rfc_reader(
    "8.1",
    "OPTIONAL",
    "the default thresholds for compression and blobs are 10,240 and 102,400 bytes",
)
def test_thresholds_have_defaults(trail: CompleteTrail) -> None:
    config = policy(trail)
    assert (config.compress_reasoning_threshold_bytes, config.external_blob_threshold_bytes) == (
        10_240,
        102_400,
    )
    config = policy(trail, compress_reasoning_threshold_bytes=1, external_blob_threshold_bytes=2)
    assert (config.compress_reasoning_threshold_bytes, config.external_blob_threshold_bytes) == (
        1,
        2,
    )


@rfc_reader(
    "8.1",
    "OPTIONAL",
    "an invalid threshold is reported, and its default applies",
)
@pytest.mark.parametrize("value", ["10240", -1, 1.5, True])
def test_a_threshold_is_a_number_of_bytes(trail: CompleteTrail, value: object) -> None:
    assert (
        policy(trail, external_blob_threshold_bytes=value).external_blob_threshold_bytes == 102_400
    )
    assert finding_fields(check_project(trail.root)) == {
        ("config-field", "external_blob_threshold_bytes")
    }


@rfc_reader("8.1", "OPTIONAL", "without `risk_scoring`, or with null, risk is not scored")
@pytest.mark.parametrize(
    ("value", "word"),
    [
        (OMIT, "off"),
        (None, "off"),
        ({}, "off"),
        ({"enabled": False}, "off"),
        ({"enabled": True}, "on"),
    ],
)
def test_risk_is_not_scored_by_default(trail: CompleteTrail, value: object, word: str) -> None:
    trail.writer.config(risk_scoring=value)
    steps: list[dict[str, Any]] = run_vibes(trail.root, "doctor", "--json").json["steps"]
    (about_config,) = (step for step in steps if step["about"] == "config.json")
    assert about_config["health"] == "ok"
    assert f"PRISM {word}" in about_config["message"]


@rfc_reader("8.1", "stated", "unknown members of the policy are not reported")
def test_an_unknown_member_is_accepted(trail: CompleteTrail) -> None:
    trail.writer.config(review_policy={"who": ["everyone"]})
    assert finding_fields(check_project(trail.root)) == set()


@rfc_reader(
    "8.1",
    "stated",
    "a missing or invalid policy is reported; records and entries are still read",
)
@pytest.mark.parametrize(
    ("content", "check"),
    [(None, "config-missing"), (b'{"standard": "VIBES",', "config-json"), (b"[]", "config-json")],
)
def test_a_broken_policy_hides_nothing(
    trail: CompleteTrail, content: bytes | None, check: str
) -> None:
    before = check_project(trail.root)
    path = trail.root / CONFIG
    path.unlink() if content is None else path.write_bytes(content)
    report = check_project(trail.root)
    assert {name for name, _ in finding_fields(report, CONFIG)} == {check}
    assert (report.records, report.entries) == (before.records, before.entries)
    assert len(open_trail(trail.root).lineages()) == 5
