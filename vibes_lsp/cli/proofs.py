"""`vibes attest --disclose` and `--tag`, and how `vibes verify` checks them: proofs of entries."""

from __future__ import annotations

import json
from pathlib import Path

from vibes_lsp.attestation.disclosure import (
    MAX_DISCLOSURE,
    DisclosureVerification,
    disclose,
    parse_disclosure,
    signed_root,
    verify_disclosure,
)
from vibes_lsp.attestation.envelope import Envelope
from vibes_lsp.attestation.merkle import EntryTree, attested_tree, entry_tree
from vibes_lsp.attestation.root_tag import RootTag, tag_root, verify_root_tag
from vibes_lsp.attestation.statement import parse_statement
from vibes_lsp.attestation.tiers import attestation_path
from vibes_lsp.attestation.trusted_keys import TrustedKey
from vibes_lsp.attestation.verification import VerificationResult, read_envelope
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled, print_warning
from vibes_lsp.cli.project import audit_directory, now, open_trail
from vibes_lsp.errors import HistoryUnavailable, UnknownId, UnreadableFile
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.git.signed_tags import TagVerdict
from vibes_lsp.model.hashing import ContextVariant
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.trail.lookup import look_up
from vibes_lsp.trail.trail import Trail

_VERDICTS = {
    TagVerdict.GOOD: ("good", "green"),
    TagVerdict.BAD: ("BAD", "bold red"),
    TagVerdict.UNCHECKED: ("could not check", "yellow"),
}


def print_disclosure(identifier: str, audit_dir: Path | None) -> None:
    """Print one context entry with a proof of attestation.

    Args:
        identifier: Key of the entry, or its beginning.
        audit_dir: What `--audit-dir` names.

    Raises:
        UnknownId: The manifest has no such entry.
        UnreadableFile: The attestation is about other entries.
    """
    trail = open_trail(audit_dir, uses_saved=False)
    lookup = look_up(trail, identifier)
    if lookup.kind != "entry":
        raise UnknownId(
            f"{lookup.id[:8]} is a {lookup.kind}, expected a context entry",
            hint="`vibes show` lists the entries of an annotation",
        )
    if lookup.id in trail.manifest.pending:
        raise UnknownId(f"entry {lookup.id[:8]} is still in the journal", hint="run `vibes attest`")
    envelope, tree = _attested(trail)
    print_json(
        disclose(
            trail.manifest, tree, lookup.id, envelope.as_json() if envelope else None
        ).as_json()
    )


def _attested(trail: Trail) -> tuple[Envelope | None, EntryTree]:
    """Return the attestation that covers entries of a manifest, and the tree that it signs."""
    tree = entry_tree(trail.manifest)
    path = attestation_path(trail.directory)
    if path is None:
        print_warning(
            "the trail has no attestation: who checks the proof needs the root from elsewhere, "
            f"such as a signed tag: {tree.root}"
        )
        return None, tree
    envelope = read_envelope(path)
    signed = signed_root(parse_statement(envelope))
    covered = None if signed is None else attested_tree(trail.manifest, tree, *signed)
    if covered is None:
        what = "has no Merkle root" if signed is None else "is about other entries"
        raise UnreadableFile(
            f"the attestation {what}", hint="attest the trail again with `vibes attest`"
        )
    return envelope, covered


def create_tag(name: str, revision: str, audit_dir: Path | None, *, as_json: bool) -> None:
    """Create a signed git tag with the manifest's root, and print it."""
    directory = audit_directory(audit_dir)
    root_tag = tag_root(_repository(directory), directory, name, revision)
    if as_json:
        print_json(root_tag.as_json())
    else:
        print_line(
            f"Tagged {root_tag.tag.commit[:8]} as {escape(name, 100)}: {root_tag.size:,} entries"
        )
        print_line(f"  root {root_tag.root}")


def _repository(directory: AuditDir) -> Repository:
    repository = open_repository(directory.project)
    if repository is None:
        raise HistoryUnavailable(
            f"{directory.project} is in no git repository", hint="create one with `git init`"
        )
    return repository


def show_tag(directory: AuditDir, name: str, allowed: Path | None, *, as_json: bool) -> int:
    """Verify a tag and print the result; return the exit code."""
    root_tag = verify_root_tag(_repository(directory), directory, name, allowed)
    if as_json:
        print_json(root_tag.as_json())
        return _tag_code(root_tag)
    word, style = _VERDICTS[root_tag.tag.verdict]
    print_line(f"Tag {escape(name, 100)} of {root_tag.tag.commit[:8]}")
    print_styled(
        [("  signature  ", ""), (word, style), (f": {escape(root_tag.tag.reason, 200)}", "")]
    )
    if root_tag.root is None:
        print_styled([("  root       ", ""), ("it has none", "bold red")])
    else:
        fits, wrong = ("that of the tagged manifest", "green"), ("not that of it", "bold red")
        print_styled([("  root       ", ""), fits if root_tag.of_commit else wrong])
        present = (
            (f"all {root_tag.size:,} are unchanged; {root_tag.added:,} added since", "green")
            if root_tag.added is not None
            else ("not all are there as they were", "bold red")
        )
        print_styled([("  entries    ", ""), present])
    return _tag_code(root_tag)


def _tag_code(root_tag: RootTag) -> int:
    if root_tag.passed:
        return 0
    is_wrong = (
        root_tag.tag.verdict is TagVerdict.BAD or not root_tag.of_commit or root_tag.added is None
    )
    return 1 if is_wrong else 3


def show_disclosure(
    file: Path, keys: tuple[TrustedKey, ...], root: str | None, *, as_json: bool
) -> VerificationResult:
    """Verify a disclosure and print the result; return it."""
    content = read_file(file, limit=MAX_DISCLOSURE)
    if content is None:
        raise UnreadableFile(
            f"{file} does not exist", hint="make one with `vibes attest --disclose ID`"
        )
    verification = verify_disclosure(parse_disclosure(content), keys, now(), root)
    if as_json:
        print_json(verification.as_json())
    else:
        _print_disclosure(verification)
    return verification.result


def _print_disclosure(verification: DisclosureVerification) -> None:
    disclosure = verification.disclosure
    is_own = disclosure.variants != (ContextVariant.MISMATCH,)
    print_line(f"Entry {disclosure.key[:8]}")
    for name, value in disclosure.entry.items():
        printed = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        print_styled([(f"  {escape(name, 40)}  ", "dim"), (escape(printed, 2000), "")])
    key = ("the hash of the entry", "green") if is_own else ("NOT the hash of it", "bold red")
    print_styled([("  key        ", ""), key])
    proof = (f"the entry is one of the {disclosure.size:,} that the root covers", "green")
    if verification.signed_root is None:
        proof = ("could not check: there is no root; give it with --root", "yellow")
    elif not verification.is_included:
        proof = ("BAD: it does not lead to the root", "bold red")
    print_styled([("  proof      ", ""), proof])
    for signature in verification.signatures:
        print_line(
            f"  signature  {escape(signature.key_id or 'no key id', 40)}  "
            f"{signature.verdict.value}: {escape(signature.reason, 300)}"
        )
    for problem in verification.problems:
        print_styled([("  problem    ", ""), (escape(problem, 300), "bold red")])
    print_line(f"Result: {verification.result.value}")
