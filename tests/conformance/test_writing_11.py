"""RFC 11: attestations and keys as they are written."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

import pytest

from tests.conformance.attestations import attested
from tests.conformance.requirement import rfc_writer
from tests.conformance.trail_access import run_vibes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import CompleteTrail


@rfc_writer("11.1", "stated", "an attestation is a DSSE envelope with an in-toto v1 statement")
@pytest.mark.usefixtures("keys")
def test_the_format_of_an_attestation(trail: CompleteTrail) -> None:
    envelope, statement = attested(trail.root)
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://itsavibe.ai/vibes/attestation/v1"
    (signature,) = envelope["signatures"]
    assert set(signature) == {"keyid", "sig"}
    assert re.fullmatch("[0-9a-f]{16}", signature["keyid"])
    assert {"validation", "project", "manifest", "annotations"} <= set(statement["predicate"])


@rfc_writer("11.2", "stated", "an attestation binds manifest, log and policy by SHA-256")
@pytest.mark.usefixtures("keys")
def test_the_subjects_of_an_attestation(trail: CompleteTrail) -> None:
    _, statement = attested(trail.root)
    names = [each["name"] for each in statement["subject"]]
    assert sorted(names) == [
        ".ai-audit/annotations.jsonl",
        ".ai-audit/config.json",
        ".ai-audit/manifest.json",
    ]
    assert all(set(each["digest"]) == {"sha256"} for each in statement["subject"])


@rfc_writer("11.3", "stated", "keys are files with these names, encodings and modes")
def test_the_files_of_keys(keys: Path) -> None:
    private, public = keys / "vibescheck.key", keys / "vibescheck.pub"
    assert private.read_text().startswith("-----BEGIN PRIVATE KEY-----\n")
    assert public.read_text().startswith("-----BEGIN PUBLIC KEY-----\n")
    if os.name == "posix":
        assert stat.S_IMODE(private.stat().st_mode) == 0o600
        assert stat.S_IMODE(public.stat().st_mode) == 0o644


@rfc_writer("11.3", "SHOULD", "the public key can be printed for those who verify")
def test_the_public_key_is_exported(keys: Path, tmp_path: Path) -> None:
    done = run_vibes(tmp_path, "keys", "export")
    assert done.out == (keys / "vibescheck.pub").read_text()
