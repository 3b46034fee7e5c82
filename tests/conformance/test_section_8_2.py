"""RFC 8.2: long reasoning."""

from __future__ import annotations

import pytest

from tests.conformance.faces import checked, found, vibes
from tests.conformance.requirement import rfc
from tests.trails import CompleteTrail


@rfc("8.2", "MUST", "whoever asks for a compressed or external entry gets its text")
@pytest.mark.parametrize(
    ("name", "beginning"),
    [("compressed_reasoning", "Length first."), ("external_reasoning", "Windows slide.")],
)
def test_packed_reasoning_is_shown_as_text(trail: CompleteTrail, name: str, beginning: str) -> None:
    key: str = getattr(trail, name)
    shown = vibes(trail.root, "show", key)
    assert shown.code == 0
    assert beginning in shown.out
    stored = vibes(trail.root, "show", key, "--json").json["entry"]
    assert beginning not in str(stored), "what is stored is given as it is stored"


@rfc("8.2", "MUST", "the reasoning behind an annotation is found whichever way it is stored")
@pytest.mark.parametrize(
    ("name", "beginning"),
    [("created", "An address"), ("modified", "Length first."), ("worker_line", "Windows slide.")],
)
def test_the_reasoning_of_an_annotation_is_shown(
    trail: CompleteTrail, name: str, beginning: str
) -> None:
    identifier: str = getattr(trail, name)
    assert beginning in vibes(trail.root, "show", identifier).out


@rfc("8.2", "MAY", "reasoning may stand inline however long it is, whatever the thresholds say")
def test_long_inline_reasoning_is_accepted(trail: CompleteTrail) -> None:
    trail.writer.config(compress_reasoning_threshold_bytes=0, external_blob_threshold_bytes=0)
    key = trail.writer.reasoning("Thinking on. " * 20_000)
    assert found(checked(trail.root)) == set()
    assert "Thinking on." in vibes(trail.root, "show", key).out
