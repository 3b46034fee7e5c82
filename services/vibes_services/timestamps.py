"""OpenTimestamps proofs (RFC 11.5): make, upgrade and check them.

The opentimestamps library reads, writes and evaluates proofs; calendars are asked by
`attestation.http_client`, because the library's client follows redirects and limits no answer.
Checking is offline: against block headers that the user has from a node they trust.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from bitcoin.core import CBlockHeader, b2lx
from bitcoin.core.serialize import uint256_from_compact, uint256_from_str
from opentimestamps.calendar import DEFAULT_AGGREGATORS, DEFAULT_CALENDAR_WHITELIST
from opentimestamps.core.notary import BitcoinBlockHeaderAttestation, PendingAttestation
from opentimestamps.core.op import OpAppend, OpSHA256
from opentimestamps.core.serialize import (
    BytesDeserializationContext,
    BytesSerializationContext,
    DeserializationError,
)
from opentimestamps.core.timestamp import DetachedTimestampFile, Timestamp

from vibes_lsp.attestation.http_client import ask
from vibes_lsp.attestation.signature_checks import SignatureVerdict
from vibes_lsp.attestation.timestamp_proofs import TimestampCheck
from vibes_lsp.errors import ServiceFailure, VibesError

DEFAULT_CALENDARS: Final[tuple[str, ...]] = tuple(DEFAULT_AGGREGATORS)
"""The public calendars that the library lists."""

MAX_PROOF: Final = 64 << 10
"""Largest proof that is read, in bytes; a complete one has about 1,000 to 5,000."""

HEADER_BYTES: Final = 80
_MAX_HEIGHT: Final = 1 << 31
_MAX_CALENDAR_ANSWER: Final = 10_000
_NONCE_BYTES: Final = 16
_TARGET_BYTES: Final = 32
_ACCEPT: Final = {"Accept": "application/vnd.opentimestamps.v1"}
# What the library raises for bytes that are no proof.
_PARSE_FAILURES: Final = (
    DeserializationError,
    AssertionError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)


class BadTimestamp(VibesError):
    """A file is no OpenTimestamps proof, or one for other data (RFC 11.5)."""

    code = "bad-timestamp"


@dataclass(frozen=True, slots=True)
class CalendarResult:
    """What a calendar did.

    Attributes:
        url: Its address.
        problem: Why it gave nothing; empty if it did.
    """

    url: str
    problem: str = ""


def create_proof(
    digest: bytes, calendars: Sequence[str] = DEFAULT_CALENDARS
) -> tuple[bytes, list[CalendarResult]]:
    """Have calendars timestamp a digest; return the pending proof and what each calendar did.

    They get a hash of the digest and a random number, so that they cannot recognise the file.

    Args:
        digest: SHA-256 of the file.
        calendars: URLs of calendars; one answer is enough.

    Raises:
        VibesError: A URL may not be asked.
        ServiceFailure: No calendar gave an attestation.
    """
    proof = DetachedTimestampFile(OpSHA256(), Timestamp(digest))
    blinded = proof.timestamp.ops.add(OpAppend(os.urandom(_NONCE_BYTES)))
    commitment = blinded.ops.add(OpSHA256())
    results = []
    for url in calendars:
        problem = ""
        try:
            answer = ask(
                f"{url.rstrip('/')}/digest",
                body=commitment.msg,
                headers=_ACCEPT,
                limit=_MAX_CALENDAR_ANSWER,
            )
            if answer.status != 200:
                problem = f"status {answer.status}"
            else:
                commitment.merge(_parse_timestamp(answer.body, commitment.msg))
        except (ServiceFailure, BadTimestamp) as error:
            problem = error.message
        results.append(CalendarResult(url, problem))
    if all(each.problem for each in results):
        listed = "; ".join(f"{each.url}: {each.problem}" for each in results)
        raise ServiceFailure(f"no calendar gave a timestamp: {listed}", hint="try again later")
    return _encode(proof), results


def upgrade_proof(
    data: bytes, digest: bytes, calendars: Sequence[str] = ()
) -> tuple[bytes, list[CalendarResult]]:
    """Complete pending attestations by what calendars have by now.

    A proof is untrusted: only the public calendars that the library lists are asked, and those
    given here.

    Args:
        data: The proof.
        digest: SHA-256 of the file.
        calendars: URLs of further calendars.

    Returns:
        The proof, unchanged if nothing is new, and what each calendar did.

    Raises:
        BadTimestamp: It is no proof, or one for another file.
    """
    proof = _parse_proof(data, digest)
    allowed = {url.rstrip("/") for url in calendars}
    results, changed = [], False
    for node, attestation in list(_attestations(proof.timestamp)):
        if not isinstance(attestation, PendingAttestation) or _has_block(node):
            continue
        url = attestation.uri.rstrip("/")
        problem = ""
        if url not in allowed and url not in DEFAULT_CALENDAR_WHITELIST:
            problem = "not asked: name it with --calendar if you trust it"
        else:
            try:
                problem = _upgrade(node, url)
            except (ServiceFailure, BadTimestamp) as error:
                problem = error.message
        results.append(CalendarResult(url, problem))
        changed = changed or not problem
    return (_encode(proof) if changed else data), results


def check_proof(
    data: bytes, digest: bytes, headers: Mapping[int, bytes] | None = None
) -> list[TimestampCheck]:
    """Check a proof without asking anybody; the blocks come first, the oldest first.

    Args:
        data: The proof; untrusted.
        digest: SHA-256 of the file.
        headers: The 80 bytes of block headers that the user trusts, by height.

    Raises:
        BadTimestamp: It is no proof, or one for another file.
    """
    proof = _parse_proof(data, digest)
    found = []
    for node, attestation in _attestations(proof.timestamp):
        if isinstance(attestation, PendingAttestation):
            check = TimestampCheck(
                SignatureVerdict.UNCHECKED,
                "pending: no block attests it yet",
                calendar=attestation.uri,
            )
        elif isinstance(attestation, BitcoinBlockHeaderAttestation):
            check = _check_block(node.msg, attestation, (headers or {}).get(attestation.height))
        else:
            check = TimestampCheck(SignatureVerdict.UNCHECKED, "an attestation of an unknown kind")
        found.append(check)
    return sorted(
        set(found), key=lambda each: (each.height is None, each.height or 0, each.calendar or "")
    )


def parse_block_header(text: str) -> tuple[int, bytes]:
    """Return height and bytes of a block header written as `HEIGHT:HEX`.

    Raises:
        VibesError: It is written otherwise.
    """
    height, _, digits = text.strip().partition(":")
    try:
        header = bytes.fromhex(digits)
    except ValueError:
        header = b""
    if not height.isdecimal() or len(height) > 10 or len(header) != HEADER_BYTES:
        raise VibesError(
            f"block header {text[:40]!r}: expected HEIGHT:HEX with {2 * HEADER_BYTES} digits",
            hint="a node prints the digits with `bitcoin-cli getblockheader HASH false`",
        )
    return int(height), header


def _check_block(
    message: bytes, attestation: BitcoinBlockHeaderAttestation, header: bytes | None
) -> TimestampCheck:
    height = attestation.height
    if len(message) != _TARGET_BYTES or not 0 <= height < _MAX_HEIGHT:
        return TimestampCheck(SignatureVerdict.BAD, "it names no possible block")
    root = b2lx(message)
    if header is None:
        return TimestampCheck(
            SignatureVerdict.UNCHECKED,
            f"the header of Bitcoin block {height} is needed to check it",
            height,
            root,
        )
    block = CBlockHeader.deserialize(header)
    block_hash = b2lx(block.GetHash())
    if not _meets_target(block):
        return TimestampCheck(
            SignatureVerdict.BAD,
            f"the given header of block {height} is damaged",
            height,
            root,
            block_hash,
        )
    if block.hashMerkleRoot != message:
        return TimestampCheck(
            SignatureVerdict.BAD,
            f"the given header of block {height} has another Merkle root",
            height,
            root,
            block_hash,
        )
    return TimestampCheck(
        SignatureVerdict.GOOD,
        f"Bitcoin block {height} attests it",
        height,
        root,
        block_hash,
        datetime.fromtimestamp(block.nTime, UTC),
    )


def _meets_target(block: CBlockHeader) -> bool:
    """Whether a header has the work that it states; a changed one has not."""
    try:
        target = uint256_from_compact(block.nBits)
    except ValueError:  # a negative shift
        return False
    return bool(0 < target < 1 << 256 and uint256_from_str(block.GetHash()) <= target)


def _upgrade(node: Timestamp, url: str) -> str:
    """Merge what a calendar has for a message; return a problem, empty if there is none."""
    answer = ask(f"{url}/timestamp/{node.msg.hex()}", headers=_ACCEPT, limit=_MAX_CALENDAR_ANSWER)
    if answer.status == 404:
        return "no block attests it yet"
    if answer.status != 200:
        return f"status {answer.status}"
    found = _parse_timestamp(answer.body, node.msg)
    if not _has_block(found):
        return "no block attests it yet"
    node.merge(found)
    return ""


def _parse_proof(data: bytes, digest: bytes) -> DetachedTimestampFile:
    if len(data) > MAX_PROOF:
        raise BadTimestamp(f"too large: {len(data):,} bytes, expected at most {MAX_PROOF:,}")
    proof = _read(data, DetachedTimestampFile.deserialize)
    if not isinstance(proof.file_hash_op, OpSHA256) or proof.file_digest != digest:
        raise BadTimestamp(
            "the proof is for another file", hint="it covers the exact bytes of the file"
        )
    return proof


def _parse_timestamp(data: bytes, message: bytes) -> Timestamp:
    return _read(data, lambda context: Timestamp.deserialize(context, message))


def _read(data: bytes, deserialize: Any) -> Any:
    context = BytesDeserializationContext(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library warns of rare operations
            found = deserialize(context)
        context.assert_eof()
    except _PARSE_FAILURES as error:
        raise BadTimestamp(f"not an OpenTimestamps proof: {str(error)[:200]}") from None
    return found


def _encode(proof: DetachedTimestampFile) -> bytes:
    context = BytesSerializationContext()
    proof.serialize(context)
    encoded: bytes = context.getbytes()
    return encoded


def _attestations(timestamp: Timestamp) -> Iterator[tuple[Timestamp, Any]]:
    """Yield the attestations of a proof, each with the node that it attests."""
    for attestation in timestamp.attestations:
        yield timestamp, attestation
    for following in timestamp.ops.values():
        yield from _attestations(following)


def _has_block(timestamp: Timestamp) -> bool:
    return any(
        isinstance(each, BitcoinBlockHeaderAttestation) for _, each in _attestations(timestamp)
    )
