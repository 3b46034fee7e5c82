"""RFC 5.2: context hashes."""

from __future__ import annotations

import json

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import MANIFEST, check_project, finding_fields
from tests.conformance.valid_records import environment, prompt
from tests.trails import CompleteTrail, context_hash


def mismatches(trail: CompleteTrail) -> int:
    return check_project(trail.root).context_hashes["mismatch"]


@rfc_reader("5.2", "stated", "the order of members, at any depth, does not change a hash")
def test_the_order_of_members_does_not_matter(trail: CompleteTrail) -> None:
    entry = environment()
    shuffled = {name: entry[name] for name in reversed(entry)}
    shuffled["model_parameters"] = {"nested": {"seed": 1}, "temperature": 0.7}
    trail.writer.entry(shuffled, key=context_hash(entry))
    assert finding_fields(check_project(trail.root)) == set()


@rfc_reader("5.2", "stated", "the file's white space does not change a hash")
def test_white_space_does_not_matter(trail: CompleteTrail) -> None:
    manifest = json.loads((trail.root / MANIFEST).read_bytes())
    trail.writer.raw_manifest(
        json.dumps(manifest, indent="\t", ensure_ascii=False, separators=(" , ", " : ")).encode()
    )
    report = check_project(trail.root)
    assert report.context_hashes["spec"] == len(manifest["entries"])
    assert finding_fields(report) == set()


@rfc_reader("5.2", "stated", "the creation time is not part of a hash")
def test_the_creation_time_does_not_matter(trail: CompleteTrail) -> None:
    trail.writer.entry(
        {**prompt(), "created_at": "2020-01-01T00:00:00Z"}, key=context_hash(prompt())
    )
    assert finding_fields(check_project(trail.root)) == set()


@rfc_reader("5.2", "stated", "text is hashed as UTF-8 without escapes")
def test_text_is_hashed_as_utf_8(trail: CompleteTrail) -> None:
    entry = {**prompt(), "prompt_text": "Größe prüfen 🙂 \u2028"}
    trail.writer.entry(entry)
    assert finding_fields(check_project(trail.root)) == set()
    escaped = (trail.root / MANIFEST).read_bytes().replace("Größe".encode(), b"Gr\\u00f6\\u00dfe")
    trail.writer.raw_manifest(escaped)
    assert finding_fields(check_project(trail.root)) == set(), (
        "an escape in the file stands for the character"
    )


@rfc_reader("5.2", "stated", "every other member is hashed, unknown ones included")
@pytest.mark.parametrize(
    "change", [{"tool_version": "2.0.1"}, {"model_parameters": {"temperature": 0.8}}, {"added": 1}]
)
def test_every_other_member_matters(trail: CompleteTrail, change: dict[str, object]) -> None:
    entry = {**environment(), "unknown": "kept"}
    trail.writer.entry(entry)
    assert mismatches(trail) == 0
    trail.writer.entry({**entry, **change}, key=context_hash({**entry, "unknown": "other"}))
    assert mismatches(trail) == 1
