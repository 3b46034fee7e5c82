"""64-bit keys of ids, the same in every process, by which an index finds records and edges."""

from __future__ import annotations

import binascii
import re
import sys
from array import array
from typing import Final

from vibes_lsp.model.hashing import sha256

KEY_DIGITS: Final = 8
"""Hexadecimal digits of an id in the upper half of its key."""
KEY_HASH_BITS: Final = 32
"""Bits in the lower half of a key."""
_WORDS: Final = 8
"""Groups of 32 bits in a digest."""
_FULL: Final = 64
_is_digest: Final = re.compile(r"[0-9A-Fa-f]{64}\Z").match


def id_key(identifier: str) -> int:
    """Return the key of an id.

    The upper half is the first digits of the id, so that a prefix is a range of keys; of an id that
    is no digest, the digits of its digest. The lower half is made of the next digits and the last
    ones: a counter there must not give all ids one key. Different ids may have one key.
    """
    digits = identifier if _is_digest(identifier) else _digest(identifier)
    return int(digits[: 2 * KEY_DIGITS], 16) ^ int(digits[-KEY_DIGITS:], 16)


def append_id_keys(column: array[int], identifiers: list[str]) -> None:
    """Append the keys of many ids; converting all digits at once makes the scan fast."""
    digests = identifiers
    if set(map(len, identifiers)) != {_FULL}:
        digests = [each if len(each) == _FULL else _digest(each) for each in identifiers]
    try:
        words = array("I", binascii.unhexlify("".join(digests)))
    except ValueError:  # as long as a digest, but not hexadecimal
        column.extend(map(id_key, identifiers))
        return
    is_little = sys.byteorder == "little"
    if is_little:
        words.byteswap()
    second, last = (  # all at once, as one long number
        int.from_bytes(words[word::_WORDS].tobytes(), sys.byteorder) for word in (1, _WORDS - 1)
    )
    size = len(identifiers) * words.itemsize
    halves = array("I", bytes(2 * size))
    halves[is_little::2] = words[::_WORDS]
    halves[not is_little :: 2] = array("I", (second ^ last).to_bytes(size, sys.byteorder))
    column.frombytes(halves.tobytes())


def _digest(identifier: str) -> str:
    return sha256(identifier.encode("utf-8", "surrogatepass"))
