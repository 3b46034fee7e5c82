"""`vibes timestamp`: prove by OpenTimestamps that an attestation existed before a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from vibes_lsp.cli.attestation_file import (
    attestation_file,
    create_new_file,
    read_bytes,
)
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled
from vibes_lsp.errors import BadTimestamp, RefusedWrite, VibesError
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.members import Members
from vibes_lsp.store.files import MAX_FILE, replace_file, write_temporary

if TYPE_CHECKING:
    from vibes_lsp.verify.timestamps import CalendarResult, TimestampCheck

_F = TypeVar("_F", bound=Callable[..., Any])

SUFFIX: Final = ".ots"
_STYLES: Final = {"good": "green", "bad": "bold red", "unchecked": "yellow"}


def _file_argument(function: _F) -> _F:
    return click.argument(
        "file", type=click.Path(path_type=Path), required=False, metavar="[FILE]"
    )(function)


def calendar_option(function: _F) -> _F:
    """Add `--calendar URL`."""
    return click.option(
        "--calendar",
        "calendars",
        multiple=True,
        metavar="URL",
        help="OpenTimestamps calendar; repeatable.",
    )(function)


def block_header_option(function: _F) -> _F:
    """Add `--block-header HEIGHT:HEX`."""
    return click.option(
        "--block-header",
        "headers",
        multiple=True,
        metavar="HEIGHT:HEX",
        help="Header of a block from a node you trust; repeatable.",
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
@calendar_option
def create_command(file: Path | None, calendars: tuple[str, ...]) -> None:
    """Have calendars timestamp an attestation.

    Asks the public calendars, or those named. They get a blinded digest, nothing of the file. A
    block attests it some hours later: complete the proof then with `vibes timestamp upgrade`.
    """
    path = attestation_file(file)
    for each in create_timestamp(path, calendars):
        _print_calendar(each, "accepted it")
    print_line(f"wrote {proof_path(path)}; complete it later: vibes timestamp upgrade")


def create_timestamp(path: Path, calendars: Sequence[str]) -> list[CalendarResult]:
    """Write the proof of a file beside it; return what each calendar did.

    Raises:
        RefusedWrite: There is a proof.
        ServiceFailure: No calendar answered.
        VibesError: A package is missing, or a URL may not be asked.
    """
    from vibes_lsp.verify.timestamps import (  # noqa: PLC0415  # optional packages
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
@calendar_option
def upgrade_command(file: Path | None, calendars: tuple[str, ...]) -> int:
    """Complete a proof with what its calendars have by now.

    A proof cannot name others to ask than the public calendars and those given. Exits with 1 if the
    proof is not complete yet.
    """
    from vibes_lsp.verify.timestamps import (  # noqa: PLC0415  # optional packages
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
@block_header_option
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
            print_check(each)
    verdicts = {each.verdict.value for each in checks}
    if "bad" in verdicts:
        return 1
    return 0 if "good" in verdicts else 3


def check_timestamp(path: Path, headers: Sequence[str] = ()) -> list[TimestampCheck]:
    """Return the result for each attestation in the proof beside a file.

    Raises:
        VibesError: A package is missing, a header is malformed, or there is no proof of this file.
    """
    from vibes_lsp.verify.timestamps import (  # noqa: PLC0415  # optional packages
        check_proof,
        parse_block_header,
    )

    known = dict(parse_block_header(each) for each in headers)
    target, digest = proof_path(path), _digest(path)
    data = _proof(target)
    return _naming(target, lambda: check_proof(data, digest, known))


@dataclass(frozen=True, slots=True)
class FoundProof:
    """The proof beside an attestation.

    Attributes:
        path: Its file.
        checks: The result for each attestation in it.
        problem: Why there is none; empty if there are results.
    """

    path: Path
    checks: tuple[TimestampCheck, ...]
    problem: str = ""

    def as_json(self) -> Members:
        """Return the object of `vibes verify --json`."""
        return {
            "file": self.path.name,
            "attestations": [each.as_json() for each in self.checks],
            "problem": self.problem or None,
        }


def find_proof(path: Path, headers: Sequence[str] = ()) -> FoundProof | None:
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
        return FoundProof(target, tuple(check_timestamp(path, headers)))
    except (VibesError, ModuleNotFoundError) as error:
        if headers:
            raise
        if isinstance(error, ModuleNotFoundError):
            return FoundProof(target, (), f"to check it the package {error.name} is needed")
        return FoundProof(target, (), error.message)


def print_check(check: TimestampCheck) -> None:
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


def proof_path(path: Path) -> Path:
    """Return where the proof of a file lies (RFC 11.5)."""
    return path.with_name(path.name + SUFFIX)


_T = TypeVar("_T")


def _naming(target: Path, call: Callable[[], _T]) -> _T:
    """Call a function; name the proof in what it finds wrong."""
    try:
        return call()
    except BadTimestamp as error:
        raise BadTimestamp(f"{target}: {error.message}", hint=error.hint) from None


def _proof(target: Path) -> bytes:
    from vibes_lsp.verify.timestamps import MAX_PROOF  # noqa: PLC0415  # optional packages

    if not target.exists():
        raise VibesError(f"{target} does not exist", hint="make it with `vibes timestamp create`")
    return read_bytes(target, MAX_PROOF)


def _digest(path: Path) -> bytes:
    return hashlib.sha256(read_bytes(path, MAX_FILE)).digest()


def _print_calendar(result: CalendarResult, success: str) -> None:
    print_line(f"{escape(result.url)}: {escape(result.problem) or success}")
