"""RFC 8.2: long reasoning."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import check_project, finding_fields, run_vibes
from tests.trails import CompleteTrail


@rfc_reader("8.2", "MUST", "compressed and external entries are shown as text")
@pytest.mark.parametrize(
    ("name", "beginning"),
    [("compressed_reasoning", "Length first."), ("external_reasoning", "Windows slide.")],
)
def test_packed_reasoning_is_shown_as_text(trail: CompleteTrail, name: str, beginning: str) -> None:
    key: str = getattr(trail, name)
    shown = run_vibes(trail.root, "show", key)
    assert shown.code == 0
    assert beginning in shown.out
    stored = run_vibes(trail.root, "show", key, "--json").json["entry"]
    assert beginning not in str(stored), "what is stored is given as it is stored"


@rfc_reader("8.2", "MUST", "the reasoning of an annotation is shown in each stored form")
@pytest.mark.parametrize(
    ("name", "beginning"),
    [("created", "An address"), ("modified", "Length first."), ("worker_line", "Windows slide.")],
)
def test_the_reasoning_of_an_annotation_is_shown(
    trail: CompleteTrail, name: str, beginning: str
) -> None:
    identifier: str = getattr(trail, name)
    assert beginning in run_vibes(trail.root, "show", identifier).out


@rfc_reader(
    "8.2", "MAY", "inline reasoning of any length is accepted, regardless of the thresholds"
)
def test_long_inline_reasoning_is_accepted(trail: CompleteTrail) -> None:
    trail.writer.config(compress_reasoning_threshold_bytes=0, external_blob_threshold_bytes=0)
    key = trail.writer.reasoning("Thinking on. " * 20_000)
    assert finding_fields(check_project(trail.root)) == set()
    assert "Thinking on." in run_vibes(trail.root, "show", key).out
