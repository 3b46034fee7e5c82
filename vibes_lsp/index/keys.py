"""Ids as numbers, by which the index finds records and the ends of edges. They hold in one process only."""

from __future__ import annotations

import binascii
import re
import sys
from array import array
from typing import Final

from vibes_lsp.model.hashing import sha256

KEY_DIGITS: Final = 8
"""Hexadecimal digits of an id that its key begins with."""
KEY_REST: Final = 32
"""Bits of a key after these."""
_REST: Final = (1 << KEY_REST) - 1
_FULL: Final = 64
_DIGITS: Final = re.compile(rf"[0-9A-Fa-f]{{{KEY_DIGITS}}}\Z").match


def key_of(identifier: str) -> int:
    """Return the 64-bit key of an id in this process: the first digits of a digest, so that a prefix is a range, and a hash of the whole.

    Ids are what somebody wrote: if the digits were all, ids that only count up would have one key, and each would be looked for among all.
    """
    digits = identifier[:KEY_DIGITS] if len(identifier) == _FULL and _DIGITS(identifier[:KEY_DIGITS]) else _digest(identifier)[:KEY_DIGITS]
    return int(digits, 16) << KEY_REST | hash(identifier) & _REST


def add_keys(column: array[int], identifiers: list[str]) -> None:
    """Append the keys of many ids; converting all their digits at once is what makes the scan fast."""
    digests = identifiers
    if set(map(len, identifiers)) != {_FULL}:
        digests = [each if len(each) == _FULL else _digest(each) for each in identifiers]
    try:
        first = array("I", binascii.unhexlify("".join(digests)))[:: _FULL // KEY_DIGITS]
    except ValueError:  # as long as a digest, and none
        column.extend(map(key_of, identifiers))
        return
    is_little = sys.byteorder == "little"
    if is_little:
        first.byteswap()
    halves = array("I", array("q", map(hash, identifiers)).tobytes())
    halves[is_little::2] = first
    column.frombytes(halves.tobytes())


def _digest(identifier: str) -> str:
    return sha256(identifier.encode("utf-8", "surrogatepass"))
