"""64-bit keys of ids, by which an index finds records and edges.

The upper half of a key shows how the id begins, so that a prefix is a range of keys. The lower half
is a hash of the rest by a secret of the user. So no author of a trail can choose ids that share
keys, where each look-up would read all of them.
"""

from __future__ import annotations

import binascii
import re
import struct
import sys
from array import array
from collections.abc import Callable
from functools import cache
from hashlib import blake2b, sha256
from operator import mul
from typing import Final

from vibes_lsp.store.user_cache import SECRET_BYTES, kept_secret

_WORDS: Final = 8
"""Groups of 32 bits in a digest."""
_unpack: Final[Callable[[bytes], tuple[int, ...]]] = struct.Struct(f">{_WORDS}I").unpack
_HASH_BITS: Final = 32
"""Bits in the lower half of a key."""
_START_BYTES: Final = 4
"""Bytes of a digest in the upper half of its key, or of another id's text."""
_SUM_BITS: Final = 60
"""Bits of the sum of products whose upper ones are the hash (multilinear hashing).

Words have 32 bits, so two ids share a hash with a probability of 2 ** -29. With 60 bits a word, its
product and the sum of seven fit into 96 bits: the hashes of many ids are a few long numbers.
"""
_DIGEST_DIGITS: Final = 64
_NO_DIGEST: Final = "0" * _DIGEST_DIGITS
_is_digest: Final = re.compile(rf"[0-9a-f]{{{_DIGEST_DIGITS}}}\Z").match
_is_start_of_digest: Final = re.compile(rf"[0-9a-f]{{0,{_DIGEST_DIGITS}}}\Z").match


def id_key(identifier: str) -> int:
    """Return the key of an id. Different ids have one key by chance only."""
    if _is_digest(identifier):
        words = _unpack(bytes.fromhex(identifier))
        start = words[0]
    else:
        text = identifier.encode("utf-8", "surrogatepass")
        words = _unpack(sha256(text).digest())
        start = int.from_bytes(text[:_START_BYTES].ljust(_START_BYTES, b"\0"), "big")
    total: int = sum(map(mul, _multipliers(), words))
    return start << _HASH_BITS | (total & (1 << _SUM_BITS) - 1) >> _SUM_BITS - _HASH_BITS


def append_id_keys(column: array[int], identifiers: list[str]) -> None:
    """Append the keys of many ids; hashing all at once makes the scan fast."""
    if set(map(len, identifiers)) == {_DIGEST_DIGITS}:
        _append_digest_keys(column, identifiers)
        return
    digests = [each if len(each) == _DIGEST_DIGITS else _NO_DIGEST for each in identifiers]
    first = len(column)
    _append_digest_keys(column, digests)
    for number, identifier in enumerate(identifiers, first):
        if len(identifier) != _DIGEST_DIGITS:
            column[number] = id_key(identifier)


def _append_digest_keys(column: array[int], identifiers: list[str]) -> None:
    """Append the keys of ids that have the length of a digest, as nearly all ids do."""
    joined = "".join(identifiers)
    try:
        digests = binascii.unhexlify(joined)
    except ValueError:
        digests = b""
    if digests.hex() != joined:
        column.extend(map(id_key, identifiers))  # some are no digests
        return
    words = array("I", digests)
    is_little = sys.byteorder == "little"
    if is_little:
        words.byteswap()
    slots = array("I", bytes(3 * _START_BYTES * len(identifiers)))
    low = slice(0 if is_little else 2, None, 3)
    total = 0
    for number, multiplier in enumerate(_multipliers()[1:], 1):
        slots[low] = words[number::_WORDS]
        total += int.from_bytes(slots, sys.byteorder) * multiplier
    halves = array("I", bytes(2 * _START_BYTES * len(identifiers)))
    halves[is_little::2] = words[::_WORDS]
    hashes = total >> _SUM_BITS - _HASH_BITS
    slots = array("I", hashes.to_bytes(3 * _START_BYTES * len(identifiers), sys.byteorder))
    halves[not is_little :: 2] = slots[low]
    column.frombytes(halves.tobytes())


def key_ranges(prefix: str) -> list[tuple[int, int]]:
    """Return the ranges that have the key of every id that starts with a prefix."""
    text = prefix.encode("utf-8", "surrogatepass")[:_START_BYTES]
    starts = [(text.ljust(_START_BYTES, b"\0"), text.ljust(_START_BYTES, b"\xff"))]
    if _is_start_of_digest(prefix):
        digits = prefix[: 2 * _START_BYTES]
        least, most = (digits.ljust(2 * _START_BYTES, each) for each in "0f")
        starts.append((bytes.fromhex(least), bytes.fromhex(most)))
    lower = (1 << _HASH_BITS) - 1
    return [
        (
            int.from_bytes(low, "big") << _HASH_BITS,
            int.from_bytes(high, "big") << _HASH_BITS | lower,
        )
        for low, high in starts
    ]


def text_hash(text: bytes) -> int:
    """Return 64 bits of a text by the same secret."""
    return int.from_bytes(blake2b(text, digest_size=8, key=_secret()).digest(), "big")


@cache
def secret_fingerprint() -> str:
    """Return what shows whether keys were made by this user's secret, and not the secret."""
    return sha256(b"fingerprint" + _secret()).hexdigest()[:16]


@cache
def _secret() -> bytes:
    return kept_secret()


@cache
def _multipliers() -> tuple[int, ...]:
    """Return a secret number for each word of a digest; 0 for the first, which is in the key."""
    numbers = struct.unpack(f"<{SECRET_BYTES // 8}Q", _secret())[1:_WORDS]
    return 0, *(number & (1 << _SUM_BITS) - 1 for number in numbers)
