"""Attestations that tests submit: statements of made-up projects, really signed."""

from __future__ import annotations

import hashlib

from vibes_lsp.attestation.envelope import Envelope
from vibes_lsp.attestation.keys import PrivateKey, generate_private_key
from vibes_lsp.attestation.statement import Statement, Subject


def attestation(project: str = "shop", number: int = 0, key: PrivateKey | None = None) -> Envelope:
    """Return a signed attestation; another one for each number."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    statement = Statement(
        (Subject(".ai-audit/annotations.jsonl", digest),),
        {"project": {"name": project}, "validation": {"result": "PASS"}},
    )
    return Envelope(statement.encode()).signed_by(key or generate_private_key())
