"""64-bit keys of ids, by which an index finds records and edges.

The upper half of a key shows how the id begins, so that a prefix is a range of keys. The lower half
is a hash of the rest by a secret of the user. So no author of a trail can choose ids that share
keys, where each look-up would read all of them.
"""

from __future__ import annotations

import re
import sys
from array import array
from functools import cache
from hashlib import blake2b, sha256
from typing import Final

from vibes_lsp.store.user_cache import SECRET_BYTES, kept_secret

_START_BYTES: Final = 4
"""Bytes of a digest in the upper half of its key, or of another id's text."""
_DIGEST_BYTES: Final = 32
_WORD_BITS: Final = 112
"""Bits of each of the two words that follow the start of a digest."""
_HASH_BITS: Final = 32
"""Bits in the lower half of a key."""
_SUM_BITS: Final = _WORD_BITS + _HASH_BITS - 1
"""Bits of the sum of products whose upper ones are the hash (multilinear hashing).

Two ids share a hash with a probability of 2 ** -31. With so many bits a multiplier, the sum of two
products fits into the bits of a digest, so the hashes of many ids are one long number.
"""
_UNUSED_BITS: Final = _SUM_BITS - _HASH_BITS
_AT_ONCE: Final = 1_024
"""Ids in one long number, which then fits into a cache of the processor."""
_WORDS: Final = int.from_bytes(
    ((1 << _WORD_BITS) - 1).to_bytes(_DIGEST_BYTES, "big") * _AT_ONCE, "big"
)
"""Marks the last word of each id of a long number."""
_DIGEST_DIGITS: Final = 2 * _DIGEST_BYTES
_NO_DIGEST: Final = "0" * _DIGEST_DIGITS
_is_digest: Final = re.compile(rf"[0-9a-f]{{{_DIGEST_DIGITS}}}\Z").match
_is_start_of_digest: Final = re.compile(rf"[0-9a-f]{{0,{_DIGEST_DIGITS}}}\Z").match


def id_key(identifier: str) -> int:
    """Return the key of an id. Different ids have one key by chance only."""
    if _is_digest(identifier):
        digest = bytes.fromhex(identifier)
        start = digest[:_START_BYTES]
    else:
        text = identifier.encode("utf-8", "surrogatepass")
        digest = sha256(text).digest()
        start = text[:_START_BYTES].ljust(_START_BYTES, b"\0")
    total = _sums(int.from_bytes(digest, "big")) & (1 << _SUM_BITS) - 1
    return int.from_bytes(start, "big") << _HASH_BITS | total >> _UNUSED_BITS


def append_id_keys(column: array[int], identifiers: list[str]) -> None:
    """Append the keys of many ids; hashing all at once makes the scan fast."""
    for start in range(0, len(identifiers), _AT_ONCE):
        some = identifiers[start : start + _AT_ONCE]
        keys = _digest_keys(some)
        if keys is None:
            digests = [each if len(each) == _DIGEST_DIGITS else _NO_DIGEST for each in some]
            keys = _digest_keys(digests) or array("Q", map(id_key, some))
            for number, identifier in enumerate(some):
                if len(identifier) != _DIGEST_DIGITS:
                    keys[number] = id_key(identifier)
        column.extend(keys)


def _digest_keys(identifiers: list[str]) -> array[int] | None:
    """Return the keys of ids that all are digests, as nearly all ids are; None for others."""
    count, joined = len(identifiers), "\n".join(identifiers)
    try:
        digests = bytes.fromhex(joined)
    except ValueError:
        return None
    if len(digests) != _DIGEST_BYTES * count or digests.hex("\n", -_DIGEST_BYTES) != joined:
        return None
    hashes = _sums(int.from_bytes(digests, "big")) >> _UNUSED_BITS
    starts = array("I", digests)[:: _DIGEST_BYTES // _START_BYTES]
    halves = array("I", hashes.to_bytes(len(digests), "big"))
    step = _DIGEST_BYTES // _START_BYTES
    pairs = array("I", bytes(2 * starts.itemsize * count))
    pairs[::2] = starts
    pairs[1::2] = halves[step - 1 :: step]
    keys = array("Q", pairs.tobytes())
    if sys.byteorder == "little":
        keys.byteswap()
    return keys


def _sums(digests: int) -> int:
    """Return the sum of products of each of up to `_AT_ONCE` digests, all as one long number."""
    first, last = _multipliers()
    return (digests & _WORDS) * last + (digests >> _WORD_BITS & _WORDS) * first


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
def _multipliers() -> tuple[int, int]:
    """Return a secret number for each word of a digest."""
    mask, size = (1 << _SUM_BITS) - 1, SECRET_BYTES // 2
    secret = _secret()
    return (
        int.from_bytes(secret[:size], "big") & mask,
        int.from_bytes(secret[size:], "big") & mask,
    )
