"""`vibes verify`: whose word an attestation is, and what it still covers."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.keys import key_folder, keys_dir_option, known_keys
from vibes_lsp.cli.options import audit_dir_option, examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled
from vibes_lsp.cli.project import audit_directory
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.history.repository import open_repository
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.verify.attested_files import FileStatus
from vibes_lsp.verify.key_files import load_public_key
from vibes_lsp.verify.signature_checks import SignatureVerdict
from vibes_lsp.verify.tiers import TrustTier, attestation_path
from vibes_lsp.verify.trusted_keys import Role, TrustedKey
from vibes_lsp.verify.verification import (
    NOT_PROVEN,
    Verification,
    VerificationResult,
    read_envelope,
    verify,
)
from vibes_lsp.verify.versions_in_git import VersionsInGit

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
    TrustTier.NONE: "no signature is known to be good",
}
_RESULTS = {
    VerificationResult.PASS: "green",
    VerificationResult.FAIL: "bold red",
    VerificationResult.UNKNOWN: "yellow",
}


@click.command(
    "verify",
    epilog=examples("vibes verify", "vibes verify attestation.json --public-key ada.pub"),
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
@keys_dir_option
@audit_dir_option
@json_option
def command(
    envelope: Path | None,
    key_files: tuple[Path, ...],
    keys_dir: Path | None,
    audit_dir: Path | None,
    as_json: bool,
) -> int:
    """Verify an attestation and what it still covers.

    Reads attestation.json of the audit trail unless ENVELOPE is given. Exits 1 if a signature is
    bad or an attested file changed, 3 if nothing is wrong but not all could be checked.
    """
    directory = audit_directory(audit_dir)
    named = tuple(
        TrustedKey(load_public_key(path), Role.USER, f"the key {path.name}") for path in key_files
    )
    repository = open_repository(directory.project)
    result = verify(
        read_envelope(envelope or _own_envelope(directory)),
        directory,
        (*named, *known_keys(key_folder(keys_dir))),
        None if repository is None else VersionsInGit(repository, directory),
    )
    if as_json:
        print_json(result.as_json())
    else:
        _print(result)
    return EXIT_CODES[result.result]


def _own_envelope(directory: AuditDir) -> Path:
    path = attestation_path(directory)
    if path is None:
        raise UnreadableFile(
            f"{directory.path.name}/ has no attestation",
            hint="make one with `vibes attest`, or name an envelope",
        )
    return path


def _print(result: Verification) -> None:
    statement = result.statement
    at = statement.attested_at
    print_line(f"Attestation {result.envelope.attestation_id[:16]}")
    print_line(f"  project    {escape(statement.project or 'not named', 100)}")
    print_line(f"  attested   {at:%Y-%m-%d %H:%M} UTC" if at else "  attested   no time stated")
    print_line(f"  check      {escape(statement.validation_result or 'not stated', 20)}")
    print_line("Signatures")
    for signature in result.signatures:
        word, style = _VERDICTS[signature.verdict]
        print_styled(
            [
                (f"  {escape(signature.key_id or 'no key id', 40)}  ", ""),
                (word, style),
                (f": {escape(signature.reason, 300)}", ""),
            ]
        )
    print_line("Files")
    for file in result.files:
        style = "green" if file.is_covered else "bold red"
        if file.status is FileStatus.UNCHECKED:
            style = "yellow"
        print_styled([(f"  {escape(file.name, 100)}  ", ""), (escape(file.reason, 300), style)])
    for problem in result.problems:
        print_styled([("Problem: ", "bold red"), (escape(problem, 300), "")])
    print_line(f"Trust tier: {result.tier.value} ({_TIERS[result.tier]})")
    print_styled([("Result: ", ""), (result.result.value, _RESULTS[result.result])])
    print_line(NOT_PROVEN)
