"""`vibes timestamp`: prove by OpenTimestamps that an attestation existed before a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from vibes_lsp.attestation.timestamp_proofs import TimestampCheck, proof_path
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled
from vibes_lsp.errors import RefusedWrite, VibesError
from vibes_lsp.model.ages import describe_age
from vibes_lsp.store.files import MAX_FILE, replace_file, write_temporary
from vibes_services.commands.attestation_file import (
    attestation_file,
    create_new_file,
    read_bytes,
)

if TYPE_CHECKING:
    from vibes_services.timestamps import CalendarResult

_F = TypeVar("_F", bound=Callable[..., Any])

_STYLES: Final = {"good": "green", "bad": "bold red", "unchecked": "yellow"}


def _file_argument(function: _F) -> _F:
    return click.argument(
        "file", type=click.Path(path_type=Path), required=False, metavar="[FILE]"
    )(function)


def _calendar_option(function: _F) -> _F:
    """Add `--calendar URL`."""
    return click.option(
        "--calendar",
        "calendars",
        multiple=True,
        metavar="URL",
        help="OpenTimestamps calendar; repeatable.",
    )(function)


@click.group(
    "timestamp",
    epilog=examples(
        "vibes timestamp create",
        "vibes timestamp upgrade",
        "vibes timestamp verify --block-header 358391:HEX",
    ),
)
def command() -> None:
    """Prove when an attestation existed, by OpenTimestamps.

    The proof lies beside the attestation as FILE.ots, which other OpenTimestamps programs read.
    """


@command.command("create", epilog=examples("vibes timestamp create --calendar URL"))
@_file_argument
@_calendar_option
def create_command(file: Path | None, calendars: tuple[str, ...]) -> None:
    """Have calendars timestamp an attestation.

    Asks the public calendars, or those named. They get a blinded digest, nothing of the file. A
    block attests it some hours later: complete the proof then with `vibes timestamp upgrade`.
    """
    path = attestation_file(file)
    for each in _create_timestamp(path, calendars):
        _print_calendar(each, "accepted it")
    print_line(f"wrote {proof_path(path)}; complete it later: vibes timestamp upgrade")


def _create_timestamp(path: Path, calendars: Sequence[str]) -> list[CalendarResult]:
    """Write the proof of a file beside it; return what each calendar did.

    Raises:
        RefusedWrite: There is a proof.
        ServiceFailure: No calendar answered.
        VibesError: A URL may not be asked.
    """
    from vibes_services.timestamps import (  # noqa: PLC0415  # slow to import
        DEFAULT_CALENDARS,
        create_proof,
    )

    target = proof_path(path)
    if target.exists():
        raise RefusedWrite(f"{target} exists", hint="complete it, or remove it for a new one")
    proof, results = create_proof(_digest(path), calendars or DEFAULT_CALENDARS)
    create_new_file(target, proof)
    return results


@command.command("upgrade", epilog=examples("vibes timestamp upgrade"))
@_file_argument
@_calendar_option
def upgrade_command(file: Path | None, calendars: tuple[str, ...]) -> int:
    """Complete a proof with what its calendars have by now.

    Only the public calendars and those given with --calendar are asked. Exits with 1 if the
    proof is not complete yet.
    """
    from vibes_services.timestamps import (  # noqa: PLC0415  # slow to import
        check_proof,
        upgrade_proof,
    )

    path = attestation_file(file)
    target, digest = proof_path(path), _digest(path)
    before = _proof(target)
    proof, results = _naming(target, lambda: upgrade_proof(before, digest, calendars))
    if proof != before:
        replace_file(write_temporary(target.parent, proof, like=target), target)
    for each in results:
        _print_calendar(each, "completed it")
    heights = [each.height for each in check_proof(proof, digest) if each.height is not None]
    if not heights:
        print_line("no block attests it yet: try again in some hours")
        return 1
    print_line(f"{target.name}: attested by Bitcoin block {min(heights)}")
    return 0


@command.command(
    "verify",
    epilog=examples(
        "vibes timestamp verify",
        'vibes timestamp verify --block-header "358391:$(cat header-358391.hex)"',
    ),
)
@_file_argument
@click.option(
    "--block-header",
    "headers",
    multiple=True,
    metavar="HEIGHT:HEX",
    help="Header of a block from a node you trust; repeatable.",
)
@json_option
def verify_command(file: Path | None, headers: tuple[str, ...], as_json: bool) -> int:
    """Check a proof against block headers, without a network.

    Exits with 0 if a header confirms it, 1 if the proof is bad, 3 if it could not be checked.
    """
    path = attestation_file(file)
    checks = check_timestamp(path, headers)
    if as_json:
        print_json({"file": str(path), "attestations": [each.as_json() for each in checks]})
    else:
        for each in checks:
            _print_check(each)
    verdicts = {each.verdict.value for each in checks}
    if "bad" in verdicts:
        return 1
    return 0 if "good" in verdicts else 3


def check_timestamp(path: Path, headers: Sequence[str] = ()) -> list[TimestampCheck]:
    """Return the result for each attestation in the proof beside a file, for `vibes verify` too.

    Raises:
        VibesError: A header is malformed, or there is no proof of this file.
    """
    from vibes_services.timestamps import (  # noqa: PLC0415  # slow to import
        check_proof,
        parse_block_header,
    )

    known = dict(parse_block_header(each) for each in headers)
    target, digest = proof_path(path), _digest(path)
    data = _proof(target)
    return _naming(target, lambda: check_proof(data, digest, known))


def _print_check(check: TimestampCheck) -> None:
    """Print the result for one attestation of a proof."""
    verdict = check.verdict.value
    print_styled([(f"{verdict}: ", _STYLES[verdict]), (escape(check.reason), "")])
    if check.time is not None:
        age = describe_age(check.time, datetime.now(UTC))
        print_line(f"  existed before {check.time:%Y-%m-%d %H:%M} UTC ({age})")
        print_line(f"  if the main chain has block {check.block_hash}")
    elif check.merkle_root is not None:
        print_line(f"  its Merkle root must be {check.merkle_root}")
    elif check.calendar is not None:
        print_line(f"  calendar {escape(check.calendar)}")


_T = TypeVar("_T")


def _naming(target: Path, call: Callable[[], _T]) -> _T:
    """Call a function; name the proof in what it finds wrong."""
    from vibes_services.timestamps import BadTimestamp  # noqa: PLC0415  # slow to import

    try:
        return call()
    except BadTimestamp as error:
        raise BadTimestamp(f"{target}: {error.message}", hint=error.hint) from None


def _proof(target: Path) -> bytes:
    from vibes_services.timestamps import MAX_PROOF  # noqa: PLC0415  # slow to import

    if not target.exists():
        raise VibesError(f"{target} does not exist", hint="make it with `vibes timestamp create`")
    return read_bytes(target, MAX_PROOF)


def _digest(path: Path) -> bytes:
    return hashlib.sha256(read_bytes(path, MAX_FILE)).digest()


def _print_calendar(result: CalendarResult, success: str) -> None:
    print_line(f"{escape(result.url)}: {escape(result.problem) or success}")
