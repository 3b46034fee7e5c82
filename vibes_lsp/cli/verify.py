"""`vibes verify`: whose word an attestation is, and what it still covers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import click

from vibes_lsp.attestation.attested_files import FileStatus
from vibes_lsp.attestation.envelope import Envelope
from vibes_lsp.attestation.key_files import load_public_key
from vibes_lsp.attestation.policy import apply_policy, parse_policy, read_policy
from vibes_lsp.attestation.signature_checks import IndependentTime, SignatureVerdict
from vibes_lsp.attestation.tiers import TrustTier, attestation_path
from vibes_lsp.attestation.timestamp_proofs import TimestampCheck, TimestampProof, proof_path
from vibes_lsp.attestation.trusted_keys import Role, TrustedKey
from vibes_lsp.attestation.verification import (
    NOT_PROVEN,
    Verification,
    VerificationResult,
    read_envelope,
    verify,
)
from vibes_lsp.attestation.versions_in_git import VersionsInGit
from vibes_lsp.cli.keys import key_folder, keys_dir_option, known_keys
from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled
from vibes_lsp.cli.plugins import load_time_source
from vibes_lsp.cli.project import absolute, audit_directory, now
from vibes_lsp.cli.proofs import show_disclosure, show_tag
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile, VibesError
from vibes_lsp.git.repository import open_repository
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir

EXIT_CODES = {
    VerificationResult.PASS: 0,
    VerificationResult.FAIL: 1,
    VerificationResult.UNKNOWN: 3,
}
"""2 is wrong use or broken input, as everywhere; 3 is used by this command only."""

_VERDICTS = {
    SignatureVerdict.GOOD: ("good", "green"),
    SignatureVerdict.BAD: ("BAD", "bold red"),
    SignatureVerdict.UNCHECKED: ("could not check", "yellow"),
}
_TIERS = {
    TrustTier.TOOL_CORROBORATED: "a user signed it, and the provider of the tool",
    TrustTier.SELF_ATTESTED: "only a user signed it",
    TrustTier.TOOL_ONLY: "only a tool provider signed it",
    TrustTier.NONE: "no good signature, or log or config not checked",
}
_RESULTS = {
    VerificationResult.PASS: "green",
    VerificationResult.FAIL: "bold red",
    VerificationResult.UNKNOWN: "yellow",
}
_Line: TypeAlias = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TimeSources:
    """What the user trusts to say when an attestation existed, beside cosigners.

    Attributes:
        headers: Block headers for the timestamp beside it.
        registry: A registry that may have received it.
    """

    headers: tuple[str, ...] = ()
    registry: str | None = None

    def times(self, envelope: Envelope, proof: TimestampProof | None) -> Iterator[IndependentTime]:
        """Yield the times at which an envelope existed.

        Args:
            envelope: The envelope.
            proof: The timestamp beside it.

        Raises:
            VibesError: The registry cannot be asked.
        """
        for check in proof.checks if proof is not None else ():
            if check.time is not None and check.verdict is SignatureVerdict.GOOD:
                yield IndependentTime(check.time, f"Bitcoin block {check.height}")
        if self.registry is not None:
            received_at: Callable[[str, str], datetime | None] = load_time_source(
                "registry", "`vibes verify --registry`"
            )
            moment = received_at(self.registry, envelope.attestation_id)
            if moment is not None:
                yield IndependentTime(moment, f"the registry {self.registry}")


@click.command(
    "verify",
    epilog=examples(
        "vibes verify",
        "vibes verify attestation.json --public-key ada.pub",
        "vibes verify --policy attestation-policy.toml --base origin/main",
        "vibes verify --disclosure entry.json",
    ),
)
@click.argument("envelope", required=False, type=click.Path(path_type=Path))
@click.option(
    "--public-key",
    "key_files",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Public key of a user to trust for this run; repeatable.",
)
@click.option(
    "--policy",
    "policy_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Policy to fulfil; only the keys that it names count.",
)
@click.option("--base", metavar="REV", help="Revision to read the policy from.")
@click.option(
    "--disclosure",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Disclosure of one entry to verify instead.",
)
@click.option("--root", metavar="HEX", help="Merkle root that a disclosure must lead to.")
@click.option("--tag", metavar="NAME", help="Signed git tag to verify instead.")
@click.option(
    "--allowed-signers",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="SSH keys that count for a tag.  [default: git's own setting]",
)
@click.option(
    "--block-header",
    "headers",
    multiple=True,
    metavar="HEIGHT:HEX",
    help="Header of a block from a node you trust; repeatable.",
)
@click.option("--registry", metavar="URL", help="Registry that you trust for times.")
@keys_dir_option
@audit_dir_option
@json_option
def command(
    *,
    envelope: Path | None,
    key_files: tuple[Path, ...],
    policy_file: Path | None,
    base: str | None,
    disclosure: Path | None,
    root: str | None,
    tag: str | None,
    allowed_signers: Path | None,
    headers: tuple[str, ...],
    registry: str | None,
    keys_dir: Path | None,
    audit_dir: Path | None,
    as_json: bool,
) -> int:
    """Verify an attestation and what it still covers.

    Reads attestation.json of the audit trail unless ENVELOPE is given. A signature by a key that
    is not valid any more needs a time from others: a cosignature, a proof with --block-header or
    --registry. Exits 1 if a signature is bad, an attested file changed or a policy is not
    fulfilled, 3 if nothing is wrong but not all could be checked.
    """
    subjects = {
        "ENVELOPE": envelope is not None,
        "--disclosure": disclosure is not None,
        "--tag": tag is not None,
    }
    _require_one_subject(subjects)
    _require_with(base is not None, "--base", "--policy", policy_file is not None)
    _require_with(root is not None, "--root", "--disclosure", disclosure is not None)
    _require_with(allowed_signers is not None, "--allowed-signers", "--tag", tag is not None)
    is_whole = disclosure is None and tag is None
    _require_with(policy_file is not None, "--policy", "an attestation", is_whole)
    _require_with(bool(headers), "--block-header", "an attestation", is_whole)
    _require_with(registry is not None, "--registry", "an attestation", is_whole)
    named = tuple(
        TrustedKey(load_public_key(path), Role.USER, f"the key {path.name}") for path in key_files
    )
    if disclosure is not None:
        keys = (*named, *known_keys(key_folder(keys_dir)))
        return EXIT_CODES[show_disclosure(disclosure, keys, root, as_json=as_json)]
    directory = audit_directory(audit_dir)
    if tag is not None:
        return show_tag(directory, tag, allowed_signers, as_json=as_json)
    path = envelope or _own_envelope(directory)
    sources = TimeSources(headers, registry)
    if policy_file is not None:
        return _verify_by_policy(directory, path, policy_file, base, sources, as_json=as_json)
    verification, proof = _verify(
        directory, path, (*named, *known_keys(key_folder(keys_dir))), sources
    )
    if as_json:
        print_json(_as_json(verification, proof))
    else:
        _print(verification, proof)
    return EXIT_CODES[verification.result]


def _require_one_subject(subjects: dict[str, bool]) -> None:
    names = [name for name, is_given in subjects.items() if is_given]
    if len(names) > 1:
        raise click.UsageError(f"{names[0]} and {names[1]} exclude each other")


def _require_with(is_given: bool, name: str, required: str, has_required: bool) -> None:
    if is_given and not has_required:
        raise click.UsageError(f"{name} is only for use with {required}")


def _verify(
    directory: AuditDir,
    path: Path,
    keys: tuple[TrustedKey, ...],
    sources: TimeSources,
) -> tuple[Verification, TimestampProof | None]:
    envelope = read_envelope(path)
    proof = find_proof(path, sources.headers)
    repository = open_repository(directory.project)
    verified = verify(
        envelope,
        directory,
        keys,
        now(),
        versions=None if repository is None else VersionsInGit(repository, directory),
        independent=tuple(sources.times(envelope, proof)),
    )
    return verified, proof


def find_proof(path: Path, headers: Sequence[str] = ()) -> TimestampProof | None:
    """Return the proof beside an attestation; None if there is none.

    Args:
        path: The attestation.
        headers: Block headers that the user trusts. With them, what prevents the check is an error.

    Raises:
        VibesError: With headers: a package is missing, one is malformed, or there is no proof.
    """
    target = proof_path(path)
    if not headers and not target.exists():
        return None
    try:
        check_timestamp: Callable[[Path, Sequence[str]], list[TimestampCheck]] = load_time_source(
            "timestamp", "the check of a timestamp"
        )
        return TimestampProof(target, tuple(check_timestamp(path, headers)))
    except (VibesError, ModuleNotFoundError) as error:
        if headers:
            raise
        if isinstance(error, ModuleNotFoundError):
            return TimestampProof(target, (), f"to check it the package {error.name} is needed")
        return TimestampProof(target, (), error.message)


def own_verification(directory: AuditDir) -> Verification:
    """Verify a trail's own attestation as `vibes verify` does without options."""
    keys = known_keys(key_folder(None))
    return _verify(directory, _own_envelope(directory), keys, TimeSources())[0]


def _as_json(verification: Verification, proof: TimestampProof | None) -> Members:
    report = ["".join(part for part, _ in line) for line in _report(verification, proof)]
    return {
        **verification.as_json(),
        "timestamp": None if proof is None else proof.as_json(),
        "report": "\n".join(report),
    }


def _verify_by_policy(
    directory: AuditDir,
    path: Path,
    file: Path,
    base: str | None,
    sources: TimeSources,
    *,
    as_json: bool,
) -> int:
    repository = open_repository(directory.project)
    if base is not None and repository is None:
        raise HistoryUnavailable(
            f"{directory.project} is in no git repository", hint="leave --base out"
        )
    policy = parse_policy(read_policy(absolute(file), repository, base or ""))
    verification, proof = _verify(directory, path, policy.keys, sources)
    verdict = apply_policy(policy, verification, now())
    if as_json:
        by_policy: Members = {
            "result": verdict.result.value,
            "file": file.as_posix(),
            "base": base,
            "requirements": [requirement.as_json() for requirement in verdict.requirements],
        }
        print_json({**_as_json(verification, proof), "policy": by_policy})
    else:
        _print(verification, proof)
        print_line(f"Policy {escape(file, 200)}{f' at {escape(base, 100)}' if base else ''}")
        for requirement in verdict.requirements:
            style = _RESULTS[requirement.result]
            print_styled(
                [
                    (f"  {requirement.rule:<13} ", ""),
                    (requirement.result.value, style),
                    (f": {escape(requirement.reason, 400)}", ""),
                ]
            )
        print_styled([("Policy: ", ""), (verdict.result.value, _RESULTS[verdict.result])])
    return EXIT_CODES[verdict.result]


def _own_envelope(directory: AuditDir) -> Path:
    path = attestation_path(directory)
    if path is None:
        raise UnreadableFile(
            f"{directory.path.name}/ has no attestation",
            hint="make one with `vibes attest`, or name an envelope",
        )
    return path


def _print(verification: Verification, proof: TimestampProof | None) -> None:
    for line in _report(verification, proof):
        print_styled(line)


def _report(verification: Verification, proof: TimestampProof | None) -> Iterator[_Line]:
    """Yield what is printed for people: lines, each in parts of one style."""
    statement = verification.statement
    at = statement.attested_at
    yield [(f"Attestation {verification.envelope.attestation_id[:16]}", "")]
    yield [(f"  project    {escape(statement.project or 'not named', 100)}", "")]
    yield [(f"  attested   {at:%Y-%m-%d %H:%M} UTC" if at else "  attested   no time stated", "")]
    yield [(f"  check      {escape(statement.validation_result or 'not stated', 20)}", "")]
    yield [("Signatures", "")]
    for signature in verification.signatures:
        word, style = _VERDICTS[signature.verdict]
        yield [
            (f"  {escape(signature.key_id or 'no key id', 40)}  ", ""),
            (word, style),
            (f": {escape(signature.reason, 300)}", ""),
        ]
        delay = verification.signing_delay(signature)
        if delay is not None:
            yield [(f"    cosigned {delay.signed_at:%Y-%m-%d %H:%M} UTC: {delay.describe()}", "")]
        elif signature.role is Role.TOOL_PROVIDER:
            yield [("    cosigned at a time that it does not prove", "")]
    if proof is not None:
        yield from _proof_report(proof)
    yield [("Files", "")]
    for file in verification.files:
        style = "green" if file.is_covered else "bold red"
        if file.status is FileStatus.UNCHECKED:
            style = "yellow"
        yield [(f"  {escape(file.name, 100)}  ", ""), (escape(file.reason, 300), style)]
    for problem in verification.problems:
        yield [("Problem: ", "bold red"), (escape(problem, 300), "")]
    failed = verification.result is VerificationResult.FAIL
    why = "what was attested does not hold" if failed else _TIERS[verification.tier]
    yield [(f"Trust tier: {verification.tier.value} ({why})", "")]
    yield [("Result: ", ""), (verification.result.value, _RESULTS[verification.result])]
    yield [(NOT_PROVEN, "")]


def _proof_report(proof: TimestampProof) -> Iterator[_Line]:
    yield [(f"Timestamp {escape(proof.path.name, 100)}", "")]
    if proof.problem:
        yield [("  could not check", "yellow"), (f": {escape(proof.problem, 300)}", "")]
    for check in proof.checks:
        word, style = _VERDICTS[check.verdict]
        yield [("  ", ""), (word, style), (f": {escape(check.reason, 300)}", "")]
        if check.time is not None:
            time = f"{check.time:%Y-%m-%d %H:%M} UTC"
            block = f"if the main chain has block {check.block_hash}"
            yield [(f"    existed before {time} {block}", "")]
