"""RFC 11.6: what an attestation does not prove."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.attestations import attested
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import run_vibes

if TYPE_CHECKING:
    from tests.trails import CompleteTrail


@rfc_reader("11.6", "stated", "what an attestation does not prove is said with each result")
@pytest.mark.usefixtures("keys")
def test_what_is_not_proven_is_said(trail: CompleteTrail) -> None:
    attested(trail.root)
    last = run_vibes(trail.root, "verify").out.splitlines()[-1]
    assert "records are true" in last
    assert "code is right" in last
    assert "signer is honest" in last
