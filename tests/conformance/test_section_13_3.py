"""RFC 13.3: detection of tampering."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    MANIFEST,
    check_project,
    finding_locations,
    open_trail,
    run_vibes,
)
from tests.trails import CompleteTrail


@rfc_reader(
    "13.3",
    "SHOULD",
    "every manifest key is verified, and a changed entry is reported with its line",
)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            '"prompt_text":"Limit attempts: five an hour."',
            '"prompt_text":"Limit attempts: six an hour."',
        ),
        ('"selected":"regex"', '"selected":"library"'),
        ('"temperature":0.2', '"temperature":0.3'),
        ('"reasoning_token_count":12,', ""),
        ('"tool_extensions":["filesystem"]', '"tool_extensions":["filesystem"],"added":true'),
    ],
    ids=["prompt", "decision", "environment", "reasoning", "a member added"],
)
def test_a_changed_entry_is_named(trail: CompleteTrail, old: str, new: str) -> None:
    assert check_project(trail.root).hashes_pass
    content = (trail.root / MANIFEST).read_text(encoding="utf-8")
    assert content.count(old) == 1
    line = content[: content.index(old)].count("\n") + 1
    trail.writer.raw_manifest(content.replace(old, new).encode())
    report = check_project(trail.root)
    assert finding_locations(report, "hash-mismatch") == [(MANIFEST, line)]
    assert not report.hashes_pass


@rfc_reader("13.3", "SHOULD", "two exchanged entries are both reported")
def test_exchanged_entries_are_found(trail: CompleteTrail) -> None:
    one, other = trail.command, trail.read_command
    content = (trail.root / MANIFEST).read_bytes()
    mark = b"0" * 64
    trail.writer.raw_manifest(
        content.replace(one.encode(), mark)
        .replace(other.encode(), one.encode())
        .replace(mark, other.encode())
    )
    manifest = open_trail(trail.root).manifest
    assert {line for _, line in finding_locations(check_project(trail.root), "hash-mismatch")} == {
        manifest.line_of(one),
        manifest.line_of(other),
    }


@rfc_reader("13.3", "SHOULD", "`vibes check` fails after tampering")
def test_the_program_fails_on_tampering(trail: CompleteTrail) -> None:
    assert run_vibes(trail.root, "check").code == 0
    content = (trail.root / MANIFEST).read_bytes()
    trail.writer.raw_manifest(content.replace(b"five an hour", b"nine an hour"))
    failed = run_vibes(trail.root, "check")
    assert failed.code == 1
    assert "Hash integrity: FAIL" in failed.out
