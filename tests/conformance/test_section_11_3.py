"""RFC 11.3: private keys stay out of projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import check_project, finding_locations
from tests.unit.attestation.attested_trail import private_key
from vibes_lsp.attestation.keys import PrivateKey

if TYPE_CHECKING:
    from tests.trails import CompleteTrail


@rfc_reader("11.3", "MUST NOT", "a private key in the project is an error")
def test_a_private_key_in_the_project_is_found(trail: CompleteTrail) -> None:
    path = trail.root / ".ai-audit" / "vibescheck.key"
    path.write_bytes(PrivateKey(private_key(1)).pem())
    report = check_project(trail.root)
    assert not report.passed
    assert finding_locations(report, "private-key") == [(".ai-audit/vibescheck.key", None)]
