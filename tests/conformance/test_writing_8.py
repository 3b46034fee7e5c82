"""RFC 8: creating and following the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.recorded_trail import LEVELS
from tests.conformance.requirement import rfc_writer
from tests.unit.recording.projects import new_project, session_origin
from vibes_lsp.recording import Reasoning

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.recorded_trail import RecordedTrail


@rfc_writer("8.1", "REQUIRED", "a new policy has its required members and the requested level")
@pytest.mark.parametrize("level", LEVELS)
def test_the_policy_is_complete(all_written: dict[str, RecordedTrail], level: str) -> None:
    config = all_written[level].config
    assert {name: config[name] for name in ("standard", "assurance_level", "project_name")} == {
        "standard": "VIBES",
        "assurance_level": level,
        "project_name": "project",
    }
    assert config["standard_version"].startswith("1.")
    assert {record["assurance_level"] for record in all_written[level].annotations()} == {level}


@rfc_writer(
    "8.1", "OPTIONAL", "files that the policy does not track, or excludes, are not recorded"
)
@pytest.mark.parametrize(
    "policy",
    [{"tracked_extensions": [".ts"]}, {"exclude_patterns": ["a.*"]}],
    ids=["extensions", "patterns"],
)
def test_untracked_files_are_not_recorded(tmp_path: Path, policy: dict[str, Any]) -> None:
    project = new_project(tmp_path / "project", **policy)
    assert project.recorder.annotate_lines(
        "a.py", 1, 3, "create", session_origin(project.session())
    ).untracked
    assert project.records("line") == []


@rfc_writer("8.1", "OPTIONAL", "the policy's thresholds decide how reasoning is stored")
def test_thresholds_are_obeyed(tmp_path: Path) -> None:
    project = new_project(
        tmp_path / "project",
        "high",
        compress_reasoning_threshold_bytes=10,
        external_blob_threshold_bytes=100,
    )
    session = project.session()
    for length in (10, 11, 101):
        project.recorder.annotate_lines(
            "a.py", 1, 3, "modify", session_origin(session, reasoning=Reasoning("x" * length))
        )
    forms = [
        sorted({"reasoning_text", "compressed", "external"} & set(entry))
        for entry in project.entries("reasoning").values()
    ]
    assert forms == [["reasoning_text"], ["compressed"], ["external"]]


@rfc_writer(
    "8.2",
    "stated",
    "a compressed entry has its text and `compressed`, an external one `external` and `blob_path`",
)
def test_packed_entries_have_the_members_of_the_rfc(high: RecordedTrail) -> None:
    [compressed] = [entry for entry in high.entries("reasoning").values() if "compressed" in entry]
    [external] = [entry for entry in high.entries("reasoning").values() if "external" in entry]
    assert (compressed["compressed"], isinstance(compressed["reasoning_text_compressed"], str)) == (
        True,
        True,
    )
    assert (external["external"], external["blob_path"].startswith("blobs/")) == (True, True)
    assert external["blob_path"].endswith(".json.gz")
