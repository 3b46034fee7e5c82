"""RFC 11.2: attestations bind files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.attestations import attested
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import run_vibes

if TYPE_CHECKING:
    from tests.trails import CompleteTrail


@rfc_reader("11.2", "stated", "a modified file invalidates an attestation")
@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("name", ["manifest.json", "annotations.jsonl", "config.json"])
def test_a_modified_file_is_found(trail: CompleteTrail, name: str) -> None:
    attested(trail.root)
    path = trail.root / ".ai-audit" / name
    path.write_bytes(path.read_bytes().replace(b"e", b"E", 1))
    done = run_vibes(trail.root, "verify")
    assert done.code == 1
    assert f"{name}  changed" in done.out
