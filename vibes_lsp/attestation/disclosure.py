"""Disclosures: one manifest entry with the proof that a signed Merkle root covers it (RFC 13.2).

The file and the signer's key are enough to check the entry. The proof has hashes of other entries,
but nothing of their content.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.attestation.envelope import parse_envelope
from vibes_lsp.attestation.merkle import ALGORITHM, EntryTree, entry_leaf, root_from_path
from vibes_lsp.attestation.signature_checks import (
    SignatureCheck,
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
)
from vibes_lsp.attestation.statement import Statement, parse_statement
from vibes_lsp.attestation.trusted_keys import TrustedKey
from vibes_lsp.attestation.verification import VerificationResult, failed_validation
from vibes_lsp.errors import BadDisclosure, BadEnvelope, MalformedJson, UnknownId
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.hashing import ContextVariant, explain_context_hash
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, text, texts
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.store.manifest import Manifest

VERSION: Final = "1.0"
MAX_DISCLOSURE: Final = 16 << 20
"""Largest disclosure that is read, in bytes."""
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MAX_PATH: Final = 64


@dataclass(frozen=True, slots=True)
class Disclosure:
    """One entry with its inclusion proof.

    Attributes:
        key: The entry's key in the manifest.
        entry: The entry exactly as stored.
        index: Its place among the leaves, which are sorted by key.
        size: The number of leaves.
        path: The inclusion proof, nearest node first.
        envelope: The attestation whose statement has the root; None for a root from elsewhere.
    """

    key: str
    entry: Members
    index: int
    size: int
    path: tuple[str, ...]
    envelope: Members | None = None

    @property
    def root(self) -> str | None:
        """The root that the proof leads to; None if no tree has such a proof."""
        path = [bytes.fromhex(node) for node in self.path]
        root = root_from_path(entry_leaf(self.key, self.entry), self.index, self.size, path)
        return None if root is None else root.hex()

    @property
    def variants(self) -> tuple[ContextVariant, ...]:
        """How the key follows from the entry (R2)."""
        return explain_context_hash(self.key, self.entry)

    def as_json(self) -> Members:
        """Return the content of the file, with names as in the files of a trail."""
        path: list[JsonValue] = list(self.path)
        return {
            "standard": "VIBES",
            "disclosure_version": VERSION,
            "context_hash": self.key,
            "entry": self.entry,
            "proof": {
                "algorithm": ALGORITHM,
                "leaf_index": self.index,
                "tree_size": self.size,
                "inclusion_path": path,
            },
            **({} if self.envelope is None else {"envelope": self.envelope}),
        }


def disclose(
    manifest: Manifest, tree: EntryTree, key: str, envelope: Members | None = None
) -> Disclosure:
    """Return the disclosure of an entry.

    Args:
        manifest: The manifest.
        tree: The tree that was signed: of this manifest, or of an earlier one.
        key: The whole key of an entry.
        envelope: The attestation that has the tree's root.

    Raises:
        UnknownId: The tree has no such entry.
        MalformedJson: The entry is not a JSON object.
    """
    if key not in tree.leaves:
        raise UnknownId(
            f"entry {key[:8]} is not covered: it is newer than the signed root",
            hint="attest the trail again with `vibes attest`",
        )
    entry = parse_object(manifest.raw(key))
    return Disclosure(key, entry, tree.index_of(key), tree.size, tree.inclusion_path(key), envelope)


def parse_disclosure(content: bytes) -> Disclosure:
    """Return the disclosure in a file.

    Raises:
        BadDisclosure: The file has another content.
    """
    try:
        members = parse_object(content)
    except MalformedJson as error:
        raise BadDisclosure(f"not a disclosure: {error.message}") from None
    version = text(members, "disclosure_version")
    if version is None or version.split(".")[0] != VERSION.split(".")[0]:
        raise BadDisclosure(f"not a disclosure: expected member 'disclosure_version' {VERSION!r}")
    proof = mapping(members, "proof")
    if proof.get("algorithm") != ALGORITHM:
        raise BadDisclosure(f"member 'proof.algorithm' is invalid: expected {ALGORITHM!r}")
    key = text(members, "context_hash") or ""
    index, size = integer(proof, "leaf_index"), integer(proof, "tree_size")
    path, entry = texts(proof, "inclusion_path"), members.get("entry")
    stored = proof.get("inclusion_path")
    checks = {
        "context_hash": _HASH.fullmatch(key) is not None,
        "entry": isinstance(entry, dict),
        "proof.leaf_index": index is not None and index >= 0,
        "proof.tree_size": size is not None and size > 0,
        "proof.inclusion_path": isinstance(stored, list)
        and len(path) == len(stored) <= _MAX_PATH
        and all(map(_HASH.fullmatch, path)),
        "envelope": isinstance(members.get("envelope", {}), dict),
    }
    for name, valid in checks.items():
        if not valid:
            raise BadDisclosure(f"member '{name}' is missing or invalid")
    envelope = mapping(members, "envelope") if "envelope" in members else None
    return Disclosure(key, mapping(members, "entry"), index or 0, size or 0, path, envelope)


@dataclass(frozen=True, slots=True)
class DisclosureVerification:
    """What a disclosure proves.

    Attributes:
        disclosure: The disclosure.
        signed_root: The root that is signed, or was given; None if there is none.
        signatures: The result for each signature of its attestation.
        statement: The statement of its attestation.
    """

    disclosure: Disclosure
    signed_root: str | None
    signatures: tuple[SignatureCheck, ...] = ()
    statement: Statement | None = None

    @property
    def is_included(self) -> bool:
        """Whether the entry is one of those that the root covers."""
        return self.signed_root is not None and self.disclosure.root == self.signed_root

    @property
    def problems(self) -> list[str]:
        """What else is wrong with the attestation, each a sentence without a full stop."""
        return [] if self.statement is None else list(failed_validation(self.statement))

    @property
    def result(self) -> VerificationResult:
        """FAIL if anything is wrong, UNKNOWN if no signature could be checked, else PASS."""
        is_wrong = (
            bool(self.problems)
            or self.disclosure.variants == (ContextVariant.MISMATCH,)
            or (self.signed_root is not None and not self.is_included)
        )
        verdicts = {check.verdict for check in self.signatures}
        if is_wrong or SignatureVerdict.BAD in verdicts:
            return VerificationResult.FAIL
        if self.signed_root is None or SignatureVerdict.UNCHECKED in verdicts:
            return VerificationResult.UNKNOWN
        return VerificationResult.PASS

    def as_json(self) -> Members:
        """Return the shape of `vibes verify --disclosure FILE --json`."""
        at = self.statement.attested_at if self.statement else None
        return {
            "result": self.result.value,
            "contextHash": self.disclosure.key,
            "entry": self.disclosure.entry,
            "hashVariants": [variant.value for variant in self.disclosure.variants],
            "included": self.is_included,
            "root": self.signed_root,
            "entries": self.disclosure.size,
            "signatures": [check.as_json() for check in self.signatures],
            "problems": list(self.problems),
            "project": self.statement.project if self.statement else None,
            "attestedAt": format_timestamp(at) if at is not None else None,
        }


def verify_disclosure(
    disclosure: Disclosure, keys: Sequence[TrustedKey], now: datetime, root: str | None = None
) -> DisclosureVerification:
    """Verify a disclosure against its own attestation, or against a root from elsewhere.

    Args:
        disclosure: The disclosure; untrusted.
        keys: The known keys.
        now: The current time.
        root: A root that the caller trusts, such as that of a signed tag; replaces the attestation.

    Raises:
        BadEnvelope: Its attestation cannot be read, or has no root of this size.
    """
    if root is not None or disclosure.envelope is None:
        return DisclosureVerification(disclosure, root)
    envelope = parse_envelope(canonical_json(disclosure.envelope))
    statement = parse_statement(envelope)
    signed = signed_root(statement)
    if signed is None or signed[1] != disclosure.size:
        raise BadEnvelope("the attestation has no Merkle root of this number of entries")
    signatures = check_signatures(envelope, keys, SignatureTimes(now, statement.attested_at))
    return DisclosureVerification(disclosure, signed[0], signatures, statement)


def signed_root(statement: Statement) -> tuple[str, int] | None:
    """Return the Merkle root in a statement, and its number of entries; None without one."""
    about = mapping(mapping(statement.predicate, "manifest"), "merkle")
    root, size = text(about, "root") or "", integer(about, "entries")
    if about.get("algorithm") != ALGORITHM or size is None or not _HASH.fullmatch(root):
        return None
    return root, size
