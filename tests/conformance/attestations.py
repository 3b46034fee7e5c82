"""An attestation that the program made, as an independent reader sees it."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from tests.conformance.trail_access import run_vibes

if TYPE_CHECKING:
    from pathlib import Path


def attested(root: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attest a trail; return the envelope and its statement."""
    done = run_vibes(root, "attest", "--allow-failed")
    assert done.code == 0, done.err
    envelope = json.loads((root / ".ai-audit/attestation.json").read_bytes())
    return envelope, json.loads(base64.b64decode(envelope["payload"], validate=True))
