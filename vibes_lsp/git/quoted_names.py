"""Names of files as git prints them where it cannot end them with a NUL: quoted like C strings."""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)")
_NAMED: Final = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}


def unquoted_name(name: bytes) -> str:
    """Return a file's name; bytes that are not UTF-8 as `surrogateescape` decodes them."""
    if len(name) >= 2 and name.startswith(b'"') and name.endswith(b'"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1])
    return name.decode("utf-8", "surrogateescape")


def _unescaped(escape: re.Match[bytes]) -> bytes:
    value = escape[1]
    if len(value) == 3:
        return bytes([int(value, 8) & 0xFF])
    return _NAMED.get(value, value)
