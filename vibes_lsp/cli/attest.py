"""`vibes attest`: check a trail, show what becomes public, and sign the digests of its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from vibes_lsp.attestation.attest import CheckedTrail, check_and_state, differing_claims
from vibes_lsp.attestation.attested_files import FileStatus, check_files
from vibes_lsp.attestation.envelope import Envelope
from vibes_lsp.attestation.key_files import PRIVATE_KEY_NAME
from vibes_lsp.attestation.keys import Signer
from vibes_lsp.attestation.publication import Publication, publication
from vibes_lsp.attestation.statement import parse_statement
from vibes_lsp.attestation.tiers import ATTESTATION_NAMES, attestation_path
from vibes_lsp.attestation.trusted_keys import read_trusted_keys
from vibes_lsp.attestation.verification import read_envelope
from vibes_lsp.checks.finding import Severity, pluralize
from vibes_lsp.cli.cosign_options import CosignOptions
from vibes_lsp.cli.keys import key_folder, keys_dir_option, load_signer
from vibes_lsp.cli.options import (
    audit_dir_option,
    dry_run_option,
    examples,
    json_option,
    refuse_combined,
)
from vibes_lsp.cli.output import (
    escape,
    print_finding,
    print_json,
    print_line,
    print_styled,
    print_warning,
    progress,
)
from vibes_lsp.cli.project import (
    audit_directory,
    finish_recording,
    fold_waiting_events,
    now,
    open_recorder,
)
from vibes_lsp.cli.proofs import create_tag, print_disclosure
from vibes_lsp.errors import BadEnvelope, RefusedWrite
from vibes_lsp.ingest.hook import has_waiting_events
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import replace_file, write_temporary
from vibes_lsp.store.journal import journal_files

_MAX_SHOWN = 5
_MAX_TEXT = 200
_SIGN_ANEW = "sign what is there now with `vibes attest`"


@click.command(
    "attest",
    epilog=examples(
        "vibes attest --dry-run",
        "vibes attest",
        "vibes attest --disclose 3f2a9c1b",
        "vibes attest --tag audit-2026-11",
    ),
)
@click.argument("revision", metavar="[REV]", required=False, help="With --tag.  [default: HEAD]")
@click.option(
    "--key",
    "key_names",
    multiple=True,
    metavar="KEY",
    help="Private key that signs; repeatable.  [default: yours]",
)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="File to write.")
@click.option(
    "--allow-failed", is_flag=True, help="Attestation of a trail that fails `vibes check`."
)
@click.option("--countersign", is_flag=True, help="Add your signature to the existing attestation.")
@click.option(
    "--disclose",
    metavar="ID",
    help="Only print one context entry with a proof that the trail has it.",
)
@click.option(
    "--tag", metavar="NAME", help="Only create a signed git tag with the manifest's root."
)
@click.option("--cosign-url", metavar="URL", help="Signing endpoint of your tool.")
@click.option("--cosign-key", metavar="KEY", help="Provider's private key on this machine.")
@click.option("--cosign-keyid", metavar="ID", help="Id that it is published under.")
@dry_run_option
@keys_dir_option
@audit_dir_option
@json_option
def command(
    *,
    revision: str | None,
    key_names: tuple[str, ...],
    output: Path | None,
    allow_failed: bool,
    countersign: bool,
    disclose: str | None,
    tag: str | None,
    cosign_url: str | None,
    cosign_key: str | None,
    cosign_keyid: str | None,
    dry_run: bool,
    keys_dir: Path | None,
    audit_dir: Path | None,
    as_json: bool,
) -> int:
    """Sign the audit trail as it is now.

    Runs `vibes check` first and refuses a trail that fails. Lists what becomes public with the
    trail; --dry-run shows the texts and paths and writes nothing. --key takes a file outside the
    project, or agent: with a fingerprint that `ssh-add -l` lists. A network is used only with
    --cosign-url; its token is read from VIBES_COSIGN_TOKEN.

    A proof of --disclose has hashes of other entries, but not their content; `vibes verify
    --disclosure FILE` checks it without the trail. A tag of --tag is signed by git, with GPG or SSH
    as the user's git configuration says; `vibes verify --tag NAME` checks it.
    """
    cosigner = CosignOptions(cosign_url, cosign_key, cosign_keyid)
    cosigner.check()
    refuse_combined(
        disclose=disclose is not None,
        tag=tag is not None,
        countersign=countersign,
        **{"dry-run": dry_run},
    )
    if revision is not None and tag is None:
        raise click.UsageError("a revision is for --tag")
    if disclose is not None:
        print_disclosure(disclose, audit_dir)
        return 0
    if tag is not None:
        create_tag(tag, revision or "HEAD", audit_dir, as_json=as_json)
        return 0
    directory = audit_directory(audit_dir)
    if not dry_run:
        _fold(directory)
    with progress() as step:
        checked = check_and_state(directory, now(), step, signs=not dry_run)
    public = publication(checked.context, checked.report)
    if not checked.report.passed and not allow_failed:
        _refuse(checked, as_json=as_json)
        return 1
    if dry_run:
        _preview(checked, public, waiting=_waiting(directory, checked), as_json=as_json)
        return 0
    target = output or attestation_path(directory) or directory.path / ATTESTATION_NAMES[0]
    envelope = _existing(checked, target) if countersign else _new_envelope(checked, target)
    folder = key_folder(keys_dir)
    signers = [
        load_signer(name, directory.project)
        for name in key_names or (str(folder / PRIVATE_KEY_NAME),)
    ]
    envelope, cosigner_id = cosigner.cosigned(
        envelope, read_trusted_keys(folder), lambda name: load_signer(name, directory.project)
    )
    for signer in signers:
        envelope = envelope.signed_by(signer)
    like = target if target.exists() else None
    replace_file(write_temporary(target.absolute().parent, envelope.encode(), like=like), target)
    if as_json:
        print_json(
            {
                "path": str(target),
                "attestationId": envelope.attestation_id,
                "keyIds": [signer.key_id for signer in signers],
                "cosignerKeyId": cosigner_id,
                "validation": checked.statement.validation_result,
                "public": public.as_json(),
            }
        )
    else:
        _print(checked, public, target, signers)
        if cosigner_id is not None:
            print_line(f"Cosigned by {escape(cosigner_id, 100)}")
    return 0


def _fold(directory: AuditDir) -> None:
    """Record agents' events that wait, and move the journal into the manifest."""
    fold_waiting_events(directory)
    if journal_files(directory):
        finish_recording(open_recorder(directory))


def _new_envelope(checked: CheckedTrail, target: Path) -> Envelope:
    """Return an envelope without signatures.

    Raises:
        RefusedWrite: The file to write exists and is not an attestation.
    """
    if target.exists():
        try:
            parse_statement(read_envelope(target))
        except BadEnvelope as error:
            raise RefusedWrite(
                f"{target} is not an attestation: {error.message}",
                hint="it is unchanged; move it away, or name another file with --output",
            ) from None
    return Envelope(checked.statement.encode())


def _existing(checked: CheckedTrail, target: Path) -> Envelope:
    """Return the attestation to sign once more.

    Raises:
        RefusedWrite: It is about other files than the present ones, or says what is not true of
            them.
    """
    envelope = read_envelope(target)
    statement = parse_statement(envelope)
    for file in check_files(statement, checked.context.directory):
        if file.status is not FileStatus.EQUAL:
            raise RefusedWrite(
                f"{file.name} is not as it was attested: {file.reason}", hint=_SIGN_ANEW
            )
    for name, stated, expected in differing_claims(statement, checked):
        raise RefusedWrite(
            f"{target.name}: {name} is {stated!r:.80}, expected {expected!r:.80}", hint=_SIGN_ANEW
        )
    return envelope


def _refuse(checked: CheckedTrail, *, as_json: bool) -> None:
    report = checked.report
    if as_json:
        print_json({"path": None, "validation": "FAIL", "check": report.as_json()})
        return
    errors = [finding for finding in report.findings if finding.severity == Severity.ERROR]
    for finding in errors[:_MAX_SHOWN]:
        print_finding(finding)
    if len(errors) > _MAX_SHOWN:
        print_styled([(f"  … {len(errors) - _MAX_SHOWN:,} more; see `vibes check`", "dim")])
    print_line(
        f"Not attested: the trail has {pluralize(len(errors), 'error', 'errors')}. "
        "--allow-failed signs it as failed."
    )


def _waiting(directory: AuditDir, checked: CheckedTrail) -> Members:
    """Return what signing would first record or move into the manifest."""
    return {
        "events": has_waiting_events(str(directory.waiting_events)),
        "entries": len(checked.context.trail.manifest.pending),
    }


def _preview(
    checked: CheckedTrail, public: Publication, *, waiting: Members, as_json: bool
) -> None:
    if as_json:
        statement = checked.statement.as_json()
        print_json({"statement": statement, "public": public.as_json(), "waiting": waiting})
        return
    _print_public(public)
    for entry in public.texts:
        print_styled([(f"  {entry.kind} {entry.key[:8]}  {escape(entry.text, _MAX_TEXT)}", "")])
    for path in public.paths:
        print_line(f"  file  {escape(path, _MAX_TEXT)}")
    for name in public.people:
        print_line(f"  person  {escape(name, _MAX_TEXT)}")
    for place in public.secrets:
        print_styled([("  possible secret  ", "bold red"), (escape(place, _MAX_TEXT), "")])
    if any(waiting.values()):
        print_warning("what agents wrote since is not listed; `vibes attest` records it first")
    print_line("Nothing was signed.")


def _print_public(public: Publication) -> None:
    print_line("Readers of the trail see:" if public.summary() else "The trail has no text.")
    for line in public.summary():
        print_line(f"  {line}")


def _print(
    checked: CheckedTrail, public: Publication, target: Path, signers: Sequence[Signer]
) -> None:
    if not checked.report.passed:
        errors = pluralize(checked.report.count(Severity.ERROR), "error", "errors")
        print_warning(f"the attestation says FAIL: `vibes check` has {errors}")
    _print_public(public)
    print_line(f"Signed by {', '.join(signer.key_id for signer in signers)}: {escape(target)}")
