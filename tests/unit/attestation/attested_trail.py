"""A trail and an attestation of it, made from the standard's text without the product's signer."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vibes_lsp.attestation.keys import PublicKey
from vibes_lsp.attestation.trusted_keys import Role, TrustedKey
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path

FILES = ("manifest.json", "annotations.jsonl", "config.json")


def private_key(seed: int) -> Ed25519PrivateKey:
    """Return the same key for the same number."""
    return Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)


def public_key(seed: int) -> PublicKey:
    return PublicKey(private_key(seed).public_key().public_bytes_raw())


def trusted(seed: int, role: Role = Role.USER, name: str = "Ada") -> TrustedKey:
    return TrustedKey(public_key(seed), role, name)


def new_trail(folder: Path, records: int = 3) -> AuditDir:
    """Write a trail with this many records by hand."""
    directory = AuditDir(folder / ".ai-audit")
    directory.path.mkdir(parents=True)
    config = {"standard": "VIBES", "standard_version": "1.0", "project_name": "lamp"}
    directory.config.write_text(json.dumps(config, indent=2) + "\n")
    directory.manifest.write_bytes(
        b'{"standard":"VIBES","version":"1.0","entries":{\n'
        + b",".join(b'"%064x":{"type":"command","n":%d}\n' % (n, n) for n in range(records))
        + b"}}\n"
    )
    directory.log.write_bytes(b"".join(record(n) for n in range(records)))
    return directory


def record(number: int) -> bytes:
    return b'{"type":"session","session_id":"s%d"}\n' % number


def statement(directory: AuditDir, predicate: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an in-toto statement about the present files."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {
                "name": f".ai-audit/{name}",
                "digest": {
                    "sha256": hashlib.sha256((directory.path / name).read_bytes()).hexdigest()
                },
            }
            for name in FILES
        ],
        "predicateType": "https://itsavibe.ai/vibes/attestation/v1",
        "predicate": {
            "validation": {"result": "PASS", "version": "1.0.0"},
            "project": {"name": "lamp", "assurance_level": "low"},
            **(predicate or {}),
        },
    }


def sizes(directory: AuditDir) -> dict[str, Any]:
    """Return what a predicate may say of the present files, so that their beginning is found."""
    log, manifest = directory.log.read_bytes(), directory.manifest.read_bytes()
    return {
        "annotations": {"bytes": len(log), "records": log.count(b"\n")},
        "manifest": {"bytes": len(manifest), "entries": len(json.loads(manifest)["entries"])},
    }


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


PAYLOAD_TYPE = "application/vnd.in-toto+json"


def envelope(content: dict[str, Any] | bytes, *seeds: int, kind: str = PAYLOAD_TYPE) -> bytes:
    """Return an envelope signed by these keys."""
    payload = content if isinstance(content, bytes) else json.dumps(content).encode()
    return json.dumps(
        {
            "payloadType": kind,
            "payload": base64.b64encode(payload).decode(),
            "signatures": [
                {
                    "keyid": public_key(seed).key_id,
                    "sig": base64.b64encode(private_key(seed).sign(pae(kind, payload))).decode(),
                }
                for seed in seeds
            ],
        }
    ).encode()
